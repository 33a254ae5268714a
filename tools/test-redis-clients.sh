#!/usr/bin/env bash
# Lets the clients that people use talk to the release binary: redis-py, node's redis, redis-cli and redis-benchmark; and sends the same
# commands to Debian's redis-server and to ours. What is missing is installed: by apt as root, from PyPI and npm into target/.
set -euo pipefail
cd "$(dirname "$0")/.."

export PYTHONDONTWRITEBYTECODE=1
redis_py=8.1.0
folder=$PWD/target/redis-clients
MAYHAP=$(realpath "${CARGO_TARGET_DIR:-target}/release/mayhap")
export MAYHAP

missing=()
python3 -c "import ensurepip, venv" 2>/dev/null || missing+=(python3-venv)
command -v npm >/dev/null || missing+=(nodejs npm)
command -v openssl >/dev/null || missing+=(openssl)
command -v redis-cli >/dev/null || missing+=(redis-tools)
command -v redis-server >/dev/null || missing+=(redis-server)
if ((${#missing[@]})); then
  if ! command -v apt-get >/dev/null || [[ $EUID != 0 ]]; then
    echo "redis clients: apt installs ${missing[*]} as root; run 'make test-clients' there" >&2
    exit 1
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
fi

python=$folder/venv/bin/python
if [[ $("$python" -c "import redis; print(redis.__version__)" 2>/dev/null) != "$redis_py" ]]; then
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install --quiet "redis==$redis_py"
fi
# The tests are run where their modules are.
mkdir -p "$folder/node"
cp clients/node/* "$folder/node"
if ! cmp -s "$folder/node/package-lock.json" "$folder/node/node_modules/installed"; then
  (cd "$folder/node" && npm ci --silent --no-audit --no-fund && cp package-lock.json node_modules/installed)
fi

"$python" -m unittest discover --quiet --start-directory clients/python
"$python" -m unittest discover --quiet --start-directory clients/redis
(cd "$folder/node" && node --test --test-reporter=spec filters.test.mjs generic.test.mjs)
"$python" clients/redis/compare.py clients/redis/commands.txt

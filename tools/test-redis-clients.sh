#!/usr/bin/env bash
# Lets the clients that people use talk to `mayhap serve`: redis-py, node's redis, redis-cli and redis-benchmark; and sends the same
# commands to Debian's redis-server and to ours. What is missing is installed: by apt as root, from PyPI and npm into target/.
set -euo pipefail
cd "$(dirname "$0")/.."

export PYTHONDONTWRITEBYTECODE=1
folder=$PWD/target/redis-clients
MAYHAP=$(realpath "${CARGO_TARGET_DIR:-target}/debug/mayhap")
export MAYHAP

python=$(tools/redis-py.sh node=nodejs npm openssl redis-cli=redis-tools redis-server)
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

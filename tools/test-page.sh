#!/usr/bin/env bash
# Tests the web page in Debian's Chromium, driven by playwright-core: the self-contained file and the page of a server. What is missing is
# installed: by apt as root, from npm into target/. With `--screenshots`, writes the pictures of the documentation instead.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install-page-tools.sh test
wasm=$(tools/build-page-wasm.sh)
target=$(realpath "${CARGO_TARGET_DIR:-target}")
folder=$PWD/target/page-tests
mkdir -p "$folder"
MAYHAP=$target/debug/mayhap
"$MAYHAP" page --wasm "$wasm" -o "$folder/mayhap-page.html"
cp clients/page/* "$folder"
if ! cmp -s "$folder/package-lock.json" "$folder/node_modules/installed"; then
  (cd "$folder" && npm ci --silent --no-audit --no-fund && cp package-lock.json node_modules/installed)
fi
export MAYHAP MAYHAP_PAGE=$folder/mayhap-page.html MAYHAP_SOURCE=$PWD
cd "$folder"
if [[ ${1:-} == --screenshots ]]; then
  exec node screenshots.mjs "$MAYHAP_SOURCE/docs/images/page"
fi
exec node --test --test-concurrency=2 --test-reporter=spec ./*.test.mjs

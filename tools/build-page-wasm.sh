#!/usr/bin/env bash
# Builds the planner and the inspector as WebAssembly, small, and prints the path of the packed module.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/install-page-tools.sh

target=${CARGO_TARGET_DIR:-$PWD/target}
folder=$target/wasm32-unknown-unknown/page
# Messages name the files of crates without the folders of this machine.
RUSTFLAGS="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src= --remap-path-prefix=$PWD=mayhap" \
  cargo rustc --quiet -p mayhap-page --lib --crate-type cdylib --target wasm32-unknown-unknown --profile page --target-dir "$target"
packed=$folder/mayhap_page.small.wasm.gz
if [[ ! $packed -nt $folder/mayhap_page.wasm ]]; then
  # Half a tenth smaller each, which leaves room for the page within its 400 KB.
  wasm-opt -Oz --enable-bulk-memory --enable-sign-ext --enable-nontrapping-float-to-int --enable-mutable-globals --enable-reference-types --enable-multivalue \
    "$folder/mayhap_page.wasm" -o "$folder/mayhap_page.small.wasm"
  zopfli --gzip "$folder/mayhap_page.small.wasm"
fi
echo "$packed"

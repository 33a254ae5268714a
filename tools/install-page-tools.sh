#!/usr/bin/env bash
# What builds the page's WebAssembly (Rust's target, wasm-opt, zopfli), and with the argument `test` also what tests it: Chromium and node.
set -euo pipefail
missing=()
command -v wasm-opt >/dev/null || missing+=(binaryen)
command -v zopfli >/dev/null || missing+=(zopfli)
if [[ ${1:-} == test ]]; then
  command -v chromium >/dev/null || missing+=(chromium)
  command -v node >/dev/null || missing+=(nodejs)
  command -v npm >/dev/null || missing+=(npm)
  command -v redis-cli >/dev/null || missing+=(redis-tools)
  # Chinese letters in screenshots.
  [[ -n $(find /usr/share/fonts -iname '*wqy*' -print -quit 2>/dev/null) ]] || missing+=(fonts-wqy-microhei)
fi
((${#missing[@]} == 0)) || "$(dirname "$0")/apt-install.sh" page "${missing[@]}"
if [[ ! -d $(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown ]]; then
  rustup --quiet target add wasm32-unknown-unknown \
    || { echo "page: Rust's target wasm32-unknown-unknown is missing: install it, with rustup or your distribution" >&2; exit 1; }
fi

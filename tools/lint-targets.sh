#!/usr/bin/env bash
# Runs clippy over the library for other platforms: no 64-bit atomics, 32 bits, big-endian, NEON, WebAssembly; without `std`, and with all
# features where the platform has `std`. Warnings are errors. Nothing is linked, so only rustup's targets are needed.
set -euo pipefail
cd "$(dirname "$0")/.."

hosted="aarch64-unknown-linux-gnu i686-unknown-linux-gnu s390x-unknown-linux-gnu wasm32-unknown-unknown"
bare="thumbv7em-none-eabi"

# shellcheck disable=SC2086 # lists of words
rustup --quiet target add $hosted $bare

lint() { # lint "TARGETS" CARGO-OPTIONS...
  local targets=() target
  for target in $1; do targets+=(--target "$target"); done
  shift
  cargo clippy "${targets[@]}" "$@" -- -D warnings
}

# One package at a time: cargo unites the features of those that it builds together.
for package in mayhap-core mayhap; do
  cargo clippy -p $package --no-default-features -- -D warnings
  lint "$bare $hosted" -p $package --no-default-features
  lint "$hosted" -p $package --all-features
done
# The tests of the kernels have parts for each architecture.
lint aarch64-unknown-linux-gnu -p mayhap-core --all-targets

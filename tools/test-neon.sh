#!/usr/bin/env bash
# Runs the tests of the kernels on an emulated aarch64 CPU, unless this is one: then `cargo test` ran them already.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $(uname -m) == aarch64 ]]; then
  echo "neon: this CPU has it; cargo test ran the kernel"; exit 0
fi
if ! command -v qemu-aarch64 >/dev/null || ! command -v aarch64-linux-gnu-gcc >/dev/null; then
  tools/apt-install.sh neon qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross
fi
rustup --quiet target add aarch64-unknown-linux-gnu

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
test_core() { cargo test -p mayhap-core --target aarch64-unknown-linux-gnu "$@"; }
test_core --lib -- simd::
output=$(test_core --test it -- --nocapture kernels:: shared:: laws::)
echo "$output"
grep -q "kernel neon: ran" <<<"$output"

#!/usr/bin/env bash
# Runs the tests of the kernels on an emulated CPU with AVX-512, unless this CPU has it: then `cargo test` ran them already.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $(uname -sm) != "Linux x86_64" ]]; then
  echo "avx512: not an x86-64 Linux machine, nothing to run"; exit 0
fi
if grep -qw avx512f /proc/cpuinfo && grep -qw avx512bw /proc/cpuinfo; then
  echo "avx512: this CPU has it; cargo test ran the kernel"; exit 0
fi

# Static programs: the emulated machine holds nothing else.
build() { # build CARGO-OPTIONS...
  RUSTFLAGS="-C target-feature=+crt-static" cargo test -p mayhap-core "$@" --no-run --message-format=json \
    --target x86_64-unknown-linux-gnu --target-dir target/avx512 |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
}
emulate() { # emulate PROGRAM TESTS...
  RIG_DIR=$PWD/target/avx512/rig tools/run-avx512.sh "$1" --nocapture --test-threads=1 "${@:2}"
}
mkdir -p target/avx512/rig
emulate "$(build --lib)" simd::
output=$(emulate "$(build --test it)" kernels:: shared::)
echo "$output"
grep -q "kernel avx512: ran" <<<"$output"

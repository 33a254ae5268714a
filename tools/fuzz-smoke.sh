#!/usr/bin/env bash
# Runs every fuzz target for FUZZ_SECONDS (60), or those that FUZZ_TARGETS names, beginning with golden files. The corpora stay in
# fuzz/corpus/, what fails in fuzz/artifacts/. Fails at the first crash, hang, or allocation that no input accounts for.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo fuzz --version >/dev/null 2>&1 || cargo install cargo-fuzz --locked
cargo +nightly --version >/dev/null 2>&1 || rustup toolchain install nightly --profile minimal

cargo +nightly fuzz build
for target in ${FUZZ_TARGETS:-$(cargo +nightly fuzz list)}; do
    echo "fuzz: $target"
    seeds=$(cargo run --quiet -p mayhap-fuzz-server --bin seeds -- "$target")
    # Inputs of 64 KiB and a limit of 1 MiB explain no allocation of 64 MiB.
    cargo +nightly fuzz run "$target" -- -seed_inputs="$seeds" -max_total_time="${FUZZ_SECONDS:-60}" \
        -max_len=65536 -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=64 -print_final_stats=1 -verbosity=0
done

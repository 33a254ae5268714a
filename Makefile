# `make test` is what CI runs after `make lint`; `make help` lists the rest.
.DEFAULT_GOAL := help
.PHONY: help test test-rust test-loom test-avx512 test-bench test-python-reader test-clients test-guard test-module module lint bench bench-lines bench-serve bench-module fuzz-smoke soak docs clean

BENCH := benchmarks/Cargo.toml
FUZZ := fuzz/Cargo.toml

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 20

test: test-rust test-loom test-avx512 test-bench test-python-reader test-clients test-guard test-module ## everything below that starts with test-

test-rust: ## unit, integration and documentation tests of all crates
	tools/install-dictionary.sh
	tools/install-strace.sh
	tools/install-redis-tools.sh
	cargo build --release -p mayhap-module
	cargo test --workspace --exclude guard
	cargo test -p mayhap-core --features parallel --test it --test build_memory -- built building

test-loom: ## SharedBloom through the interleavings of two threads
	RUSTFLAGS="--cfg loom" cargo test -p mayhap-core --test loom --release --target-dir target/loom

test-avx512: ## the AVX-512 kernel on an emulated CPU, where this one lacks it
	tools/test-avx512.sh

test-bench: ## the benchmarks once, small: they check every answer
	cargo run --release --manifest-path $(BENCH) -- --quick
	cargo build --release
	cargo run --release --manifest-path $(BENCH) --bin lines -- --quick
	cargo run --release --manifest-path $(BENCH) --bin formats -- --quick
	cargo run --release --manifest-path $(BENCH) --bin serve -- --quick
	cargo run --release --manifest-path $(BENCH) --bin waits -- --quick
	cargo build --release -p mayhap-module
	cargo run --release --manifest-path $(BENCH) --bin module -- --quick

test-python-reader: ## the reader in docs/formats answers as mayhap does
	tools/test-python-reader.sh

test-clients: ## redis-py, node's redis, redis-cli and redis-server beside `mayhap serve`
	cargo build --release
	tools/test-redis-clients.sh

test-module: ## the module in Redis 7.0 and 8.0, Valkey 8.1 and 9.1: replicas, append-only files, a cluster
	cargo build --release -p mayhap-module
	tools/test-module.sh

module: ## the module for Redis and Valkey, as target/mayhap.so
	cargo build --release -p mayhap-module
	mkdir -p target
	cp "$${CARGO_TARGET_DIR:-target}/release/libmayhap_module.so" target/mayhap.so

test-guard: ## examples/guard with a real PostgreSQL: the queries that a filter spares it, by its own count
	tools/install-postgres.sh
	tools/install-redis-tools.sh
	cargo build --release -p mayhap-module
	cargo test -p guard -- --nocapture

lint: ## formatting, clippy, documentation, no_std; warnings are errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
	cargo check -p mayhap-core --no-default-features
	cargo clippy -p mayhap-core --features parallel --all-targets -- -D warnings
	cargo fmt --manifest-path $(BENCH) --check
	cargo fmt --manifest-path $(FUZZ) --check
	cargo clippy --manifest-path $(BENCH) --all-targets -- -D warnings

bench: bench-lines bench-serve bench-module ## mayhap against its peers, about 45 minutes; updates docs/performance/
	cargo run --release --manifest-path $(BENCH) -- --markdown docs/performance/library.md --chart docs/performance/library.svg
	cargo run --release --manifest-path $(BENCH) --bin formats -- --markdown docs/performance/formats.md

bench-lines: ## the command line against huniq and runiq over ten million URLs
	cargo build --release
	cargo install --quiet --root target/peers huniq runiq
	cargo run --release --manifest-path $(BENCH) --bin lines -- --markdown docs/performance/command-line.md

bench-serve: ## the server beside Debian's redis-server, CPU per command; how long others wait for work on a large filter
	cargo build --release
	cargo run --release --manifest-path $(BENCH) --bin serve -- --markdown docs/performance/server.md
	cargo run --release --manifest-path $(BENCH) --bin waits -- --markdown docs/performance/large-filters.md

bench-module: ## the module inside of redis-server, CPU per command
	cargo build --release -p mayhap-module
	cargo run --release --manifest-path $(BENCH) --bin module -- --markdown docs/performance/module.md

fuzz-smoke: ## every fuzz target for a minute, or FUZZ_SECONDS; installs cargo-fuzz where it is missing
	tools/fuzz-smoke.sh

soak: ## the long versions of the tests: hours
	tools/install-postgres.sh
	cargo build --release -p mayhap-module
	MAYHAP_SOAK=1 cargo test --workspace -- --nocapture

docs: ## the API documentation, in target/doc
	cargo doc --workspace --no-deps

clean: ## what was built
	cargo clean
	cargo clean --manifest-path $(BENCH)

# CI runs `make lint test-all`. `make help` lists the targets.
.DEFAULT_GOAL := help
.PHONY: help test test-all test-rust test-python-reader test-index test-clients test-module test-migrate test-parallel test-loom test-avx512 test-neon test-bench \
	test-guard test-leveldb test-java test-python test-page test-datafusion test-cluster test-dist dist lint module c package python page page-screenshots bench bench-batches bench-fuse bench-growing bench-window bench-index bench-c \
	bench-leveldb bench-python bench-lines bench-serve bench-module fuzz-smoke soak docs clean

# The extra workspaces share the target folder, so that what they have in common is built once.
export CARGO_TARGET_DIR ?= $(CURDIR)/target
BENCH := benchmarks/Cargo.toml
FUZZ := fuzz/Cargo.toml
PYTHON := bindings/python/Cargo.toml
DATAFUSION := engines/datafusion/Cargo.toml
TOOLS := $(CARGO_TARGET_DIR)/tools
# The programs and libraries that tests use.
BUILD_WORKSPACE := cargo build --workspace
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 20

# Targets that compute, and those that mostly wait: each list is made in order, the two lists beside each other. Those that link with
# libmayhap_c are in the first, because `cargo test` builds it again.
TEST_COMPUTING := test-rust test-python-reader
TEST_WAITING := test-index test-clients test-module
ALL_COMPUTING := $(TEST_COMPUTING) test-parallel test-loom test-avx512 test-neon test-guard test-leveldb test-java test-datafusion test-python test-bench
ALL_WAITING := $(TEST_WAITING) test-migrate test-page

test: ## the Rust tests, real clients, and the module in real engines
	tools/side-by-side.sh "$(TEST_COMPUTING)" "$(TEST_WAITING)"

test-all: ## `make test`, and everything below that starts with test-, except test-cluster and test-dist
	tools/side-by-side.sh "$(ALL_COMPUTING)" "$(ALL_WAITING)"

test-rust: ## unit, integration and documentation tests of all crates; the golden files
	tools/install-dictionary.sh
	tools/install-strace.sh
	tools/install-redis-tools.sh
	tools/install-c-tools.sh
	tools/install-cbindgen.sh $(TOOLS)
	$(BUILD_WORKSPACE)
	cargo test --workspace
	cargo test -p mayhap --all-features

test-python-reader: ## the reader in docs/formats gives the same answers as mayhap
	tools/test-python-reader.sh

test-index: ## `mayhap which` over folders that pyarrow and DuckDB wrote
	$(BUILD_WORKSPACE)
	tools/test-index.sh

test-clients: ## redis-py, node's redis and redis-cli with `mayhap serve`; the same commands to redis-server
	$(BUILD_WORKSPACE)
	tools/test-redis-clients.sh

test-module: ## the module in Redis 7.0 and 8.0, Valkey 8.1 and 9.1: replicas, append-only files, a cluster
	$(BUILD_WORKSPACE)
	tools/test-module.sh

test-migrate: ## `mayhap migrate` between Redis 7.0 and 8.0, Valkey 8.1 and `mayhap serve`: kills, clusters, TLS
	$(BUILD_WORKSPACE)
	tools/test-migrate.sh

test-parallel: ## static filters built by several threads
	cargo test -p mayhap-core --features parallel --test it --test build_memory -- static_filters building

test-loom: ## SharedBloom through the interleavings of two threads
	RUSTFLAGS="--cfg loom" cargo test -p mayhap-core --test loom --release --target-dir $(CARGO_TARGET_DIR)/loom

test-avx512: ## the AVX-512 kernel, on an emulated CPU if this one lacks it
	tools/test-avx512.sh

test-neon: ## the NEON kernel and the laws, on an emulated CPU unless this is an aarch64 machine
	tools/test-neon.sh

test-guard: ## examples/guard with a real PostgreSQL, which counts the queries that reach it
	tools/install-postgres.sh
	tools/install-redis-tools.sh
	$(BUILD_WORKSPACE)
	cargo test --workspace --test guard -- --nocapture

test-leveldb: ## the filter policies in databases of Debian's LevelDB
	tools/install-leveldb.sh
	$(BUILD_WORKSPACE)
	tools/test-leveldb.sh

test-java: ## the Java sample of the C interface, with Debian 13's java
	$(BUILD_WORKSPACE)
	tools/test-java.sh

test-python: ## the Python package: builds the wheel, installs it and tests it with NumPy, Arrow, Polars, pandas and DuckDB
	$(BUILD_WORKSPACE)
	tools/python-package.sh test

test-page: ## the web page in a real Chromium: the self-contained file, and the page of a server
	$(BUILD_WORKSPACE)
	tools/test-page.sh

test-datafusion: ## the SQL functions in DataFusion
	cargo test --manifest-path $(DATAFUSION)

test-cluster: ## a join on a Ballista cluster with and without a filter, and filters in two versions of Spark; not part of test-all
	tools/test-cluster.sh

test-dist: ## builds `make dist` twice, compares, installs the package in a clean Debian and runs everything in it; not part of test-all
	tools/test-dist.sh

test-bench: ## each benchmark once, small: they check every answer
	cargo build --release -p mayhap-cli -p mayhap-module
	cargo run --release --manifest-path $(BENCH) -- --quick
	cargo run --release --manifest-path $(BENCH) --bin batches -- --quick
	cargo run --release --manifest-path $(BENCH) --bin growing -- --quick
	cargo run --release --manifest-path $(BENCH) --bin c_interface -- --quick
	cargo run --release --manifest-path $(BENCH) --bin fuse -- 100000
	cargo run --release --manifest-path $(BENCH) --bin window -- --quick
	cargo run --release --manifest-path $(BENCH) --bin lines -- --quick
	cargo run --release --manifest-path $(BENCH) --bin index -- --quick
	cargo run --release --manifest-path $(BENCH) --bin formats -- --quick
	cargo run --release --manifest-path $(BENCH) --bin serve -- --quick
	cargo run --release --manifest-path $(BENCH) --bin waits -- --quick
	cargo run --release --manifest-path $(BENCH) --bin pages -- --quick
	cargo run --release --manifest-path $(BENCH) --bin module -- --quick
	tools/python-package.sh bench --quick

lint: ## formatting, clippy, no_std and other platforms, documentation, the oldest Rust, licences; warnings are errors
	cargo fmt --all --check
	cargo fmt --manifest-path $(BENCH) --check
	cargo fmt --manifest-path $(FUZZ) --check
	cargo fmt --manifest-path $(PYTHON) --check
	cargo fmt --manifest-path $(DATAFUSION) --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy -p mayhap-core --features parallel --all-targets -- -D warnings
	cargo clippy -p mayhap -- -D warnings
	cargo clippy -p mayhap --all-features --all-targets -- -D warnings
	cargo clippy --manifest-path $(BENCH) --all-targets -- -D warnings
	cargo clippy --manifest-path $(PYTHON) -- -D warnings
	cargo clippy --manifest-path $(DATAFUSION) --all-targets -- -D warnings
	tools/lint-targets.sh
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
	RUSTDOCFLAGS="-D warnings" cargo doc -p mayhap --all-features --no-deps
	rustup toolchain install --profile minimal $(MSRV)
	cargo +$(MSRV) check --workspace --target-dir $(CARGO_TARGET_DIR)/msrv
	tools/install-cargo-deny.sh $(TOOLS)
	$(TOOLS)/bin/cargo-deny --log-level error check licenses bans sources

module: ## the module for Redis and Valkey, as target/mayhap.so
	cargo build --release -p mayhap-module
	mkdir -p target
	cp $(CARGO_TARGET_DIR)/release/libmayhap_module.so target/mayhap.so

c: ## the C library, its header and pkg-config file, below PREFIX (/usr/local)
	tools/install-c-library.sh $(or $(PREFIX),/usr/local)

python: ## the wheel of the Python package, in target/wheels
	tools/python-package.sh build

page: ## the self-contained web page, as target/mayhap-page.html; adds Rust's target for WebAssembly
	MAYHAP_PAGE_WASM=$$(tools/build-page-wasm.sh) cargo build --release -p mayhap-cli
	mkdir -p target
	$(CARGO_TARGET_DIR)/release/mayhap page -o target/mayhap-page.html

page-screenshots: ## the pictures of the page in docs/images/page
	$(BUILD_WORKSPACE)
	tools/test-page.sh --screenshots

dist: ## a tarball with a static program, a Debian package, a list of what is linked (SBOM) and checksums, in target/dist
	tools/dist.sh

package: ## the .crate files of all crates, in target/package; each is built from its own files
	cargo package --workspace

bench: bench-c bench-leveldb bench-python bench-batches bench-fuse bench-growing bench-window bench-index bench-lines bench-serve bench-module ## mayhap and its peers, about 45 minutes; updates docs/performance/
	cargo run --release --manifest-path $(BENCH) -- --markdown docs/performance/library.md --chart docs/performance/library.svg
	cargo run --release --manifest-path $(BENCH) --bin formats -- --markdown docs/performance/formats.md

bench-growing: ## filters that grow, beside a filter of the right size
	cargo run --release --manifest-path $(BENCH) --bin growing -- --markdown docs/performance/growing.md

bench-window: ## filters that forget, beside a filter of one window
	cargo run --release --manifest-path $(BENCH) --bin window -- --markdown docs/performance/window.md

bench-index: ## `mayhap which` over an index of ten thousand files and a billion keys
	cargo build --release
	cargo run --release --manifest-path $(BENCH) --bin index -- --markdown docs/performance/index.md

bench-batches: ## batches beside single calls, for every kind
	cargo run --release --manifest-path $(BENCH) --bin batches -- --markdown docs/performance/batches.md

bench-fuse: ## fuse filters with cells of every width: size, rate and time of a lookup
	cargo run --release --manifest-path $(BENCH) --bin fuse

bench-c: ## batches through the C interface, beside Rust
	cargo run --release --manifest-path $(BENCH) --bin c_interface -- --markdown docs/performance/c.md

bench-leveldb: ## filters of LevelDB's own policy and of mayhap's
	tools/install-leveldb.sh
	$(MAKE) c PREFIX=$(CARGO_TARGET_DIR)/leveldb
	PKG_CONFIG_PATH=$(CARGO_TARGET_DIR)/leveldb/lib/pkgconfig $(MAKE) -C engines/leveldb BUILD=$(CARGO_TARGET_DIR)/leveldb/bin
	LD_LIBRARY_PATH=$(CARGO_TARGET_DIR)/leveldb/lib $(CARGO_TARGET_DIR)/leveldb/bin/policy_bench >docs/performance/leveldb.md
	cat docs/performance/leveldb.md

bench-python: ## the Python package beside rbloom, pybloom-live, pyprobables and the Rust library
	tools/python-package.sh bench --markdown docs/performance/python.md

bench-lines: ## the command line, huniq and runiq over ten million URLs
	cargo build --release
	cargo install --quiet --root target/peers huniq runiq
	cargo run --release --manifest-path $(BENCH) --bin lines -- --markdown docs/performance/command-line.md

bench-serve: ## CPU per command of the server and Debian's redis-server; latency while a large filter is processed; what open pages cost
	cargo build --release
	cargo run --release --manifest-path $(BENCH) --bin serve -- --markdown docs/performance/server.md
	cargo run --release --manifest-path $(BENCH) --bin waits -- --markdown docs/performance/large-filters.md
	cargo run --release --manifest-path $(BENCH) --bin pages -- --markdown docs/performance/pages.md

bench-module: ## CPU per command of the module inside redis-server
	cargo build --release -p mayhap-module
	cargo run --release --manifest-path $(BENCH) --bin module -- --markdown docs/performance/module.md

fuzz-smoke: ## every fuzz target for a minute, or FUZZ_SECONDS; installs cargo-fuzz if it is missing
	tools/fuzz-smoke.sh

soak: ## the long versions of the tests: hours
	tools/install-postgres.sh
	$(BUILD_WORKSPACE)
	MAYHAP_SOAK=1 cargo test --workspace -- --nocapture
	MAYHAP_SOAK=1 cargo test --workspace --test guard -- --nocapture

docs: ## the book in target/book, the API documentation in target/doc
	test -x $(TOOLS)/bin/mdbook || cargo install --quiet --locked --root $(TOOLS) mdbook
	$(TOOLS)/bin/mdbook build
	cargo doc --workspace --no-deps

clean: ## what was built
	cargo clean

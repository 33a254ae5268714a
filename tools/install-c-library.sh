#!/usr/bin/env bash
# Installs the C library below a folder: install-c-library.sh PREFIX. Builds it first.
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=${1:?usage: install-c-library.sh PREFIX}
# Tests name the folder of libraries that are built already.
profile=${MAYHAP_PROFILE:-release}
[[ $profile != release ]] || cargo build --quiet --release -p mayhap-c
built=${CARGO_TARGET_DIR:-target}/$profile
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
mkdir -p "$prefix/lib/pkgconfig" "$prefix/include"
prefix=$(realpath "$prefix")
install -m 644 crates/mayhap-c/include/mayhap.h "$prefix/include/"
install -m 644 "$built/libmayhap_c.a" "$prefix/lib/"
install -m 755 "$built/libmayhap_c.so" "$prefix/lib/libmayhap_c.so.0"
ln -sf libmayhap_c.so.0 "$prefix/lib/libmayhap_c.so"
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" crates/mayhap-c/mayhap.pc.in >"$prefix/lib/pkgconfig/mayhap.pc"

#!/usr/bin/env bash
# What `make dist` needs besides Rust: a C compiler for musl, debhelper and Python, and Rust's target for static programs. With the argument `test`
# also what installs and checks the packages.
set -euo pipefail
missing=()
command -v cc >/dev/null || missing+=(gcc libc6-dev)
command -v musl-gcc >/dev/null || missing+=(musl-tools)
# The licence of musl, for the static program.
[[ -e /usr/share/doc/musl/copyright ]] || missing+=(musl)
command -v dh >/dev/null || missing+=(debhelper)
command -v python3 >/dev/null || missing+=(python3)
if [[ ${1:-} == test ]]; then
  command -v lintian >/dev/null || missing+=(lintian)
  command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
  command -v mandoc >/dev/null || missing+=(mandoc)
  command -v systemd-analyze >/dev/null || missing+=(systemd)
  command -v strace >/dev/null || missing+=(strace)
  command -v buildah >/dev/null || missing+=(buildah)
  command -v redis-cli >/dev/null || missing+=(redis-tools)
fi
if ((${#missing[@]})); then
  if ! command -v apt-get >/dev/null || [[ $EUID != 0 ]]; then
    echo "dist: ${missing[*]} are missing: install them, or run this on Debian as root" >&2
    exit 1
  fi
  (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -qq -y --no-install-recommends "${missing[@]}") >/dev/null \
    || { echo "dist: apt did not install ${missing[*]}" >&2; exit 1; }
fi
target=$(uname -m)-unknown-linux-musl
if [[ ! -d $(rustc --print sysroot)/lib/rustlib/$target ]]; then
  rustup --quiet target add "$target" \
    || { echo "dist: Rust's target $target is missing: install it, with rustup or your distribution" >&2; exit 1; }
fi

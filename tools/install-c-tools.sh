#!/usr/bin/env bash
# A C and a C++ compiler and valgrind, for the tests of the C interface.
set -euo pipefail
missing=()
command -v cc >/dev/null || missing+=(gcc libc6-dev)
command -v c++ >/dev/null || missing+=(g++)
command -v valgrind >/dev/null || missing+=(valgrind)
command -v pkg-config >/dev/null || missing+=(pkg-config)
((${#missing[@]})) || exit 0
if ! command -v apt-get >/dev/null || [[ $EUID != 0 ]]; then
  echo "${missing[*]} missing: install them, or run this on Debian as root" >&2
  exit 1
fi
(apt-get update -qq && apt-get install -qq -y "${missing[@]}") >/dev/null \
  || { echo "apt did not install ${missing[*]}" >&2; exit 1; }

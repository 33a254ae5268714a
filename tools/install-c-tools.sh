#!/usr/bin/env bash
# A C and a C++ compiler and valgrind, for the tests of the C interface.
set -euo pipefail
missing=()
command -v cc >/dev/null || missing+=(gcc libc6-dev)
command -v c++ >/dev/null || missing+=(g++)
command -v valgrind >/dev/null || missing+=(valgrind libc6-dbg)
command -v pkg-config >/dev/null || missing+=(pkg-config)
((${#missing[@]} == 0)) || exec "$(dirname "$0")/apt-install.sh" "C tools" "${missing[@]}"

#!/usr/bin/env bash
# Builds cbindgen, which generates the header of the C interface, into the folder of tools that is given, unless it is there. Without
# optimisation: it runs for a second.
set -euo pipefail
[[ -x $1/bin/cbindgen ]] || cargo install --quiet --locked --debug --root "$1" cbindgen@0.29.4

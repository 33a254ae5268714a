#!/usr/bin/env bash
# Builds cargo-deny into the folder of tools that is given, unless it is there. Without optimisation: it runs for a second.
set -euo pipefail
[[ -x $1/bin/cargo-deny ]] || cargo install --quiet --locked --debug --root "$1" cargo-deny@0.20.2

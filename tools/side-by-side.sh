#!/usr/bin/env bash
# `side-by-side.sh "TARGETS" "TARGETS"` makes two lists of targets at the same time: one that computes, and one that mostly waits for servers
# and browsers. The second's output comes at the end, in one piece. Fails if either fails.
set -uo pipefail
cd "$(dirname "$0")/.."
tools/install-c-tools.sh && cargo build --workspace || exit 1
# Only here: tests that run would miss a library while it is built again.
make="${MAKE:-make} BUILD_WORKSPACE=:"
output=$(mktemp)
trap 'rm -f "$output"' EXIT
# shellcheck disable=SC2086 # lists of words
$make $2 >"$output" 2>&1 </dev/null &
second=$!
# Servers that wait for a CPU would look as if they had failed.
# shellcheck disable=SC2086
nice $make $1
first_status=$?
wait "$second"
second_status=$?
cat "$output"
if ((first_status || second_status)); then
  ((first_status == 0)) || echo "failed: $1" >&2
  ((second_status == 0)) || echo "failed: $2" >&2
  exit 1
fi

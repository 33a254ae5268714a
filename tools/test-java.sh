#!/usr/bin/env bash
# The Java sample of the C interface, with Debian 13's java. `cargo build --workspace` was run before.
set -euo pipefail
cd "$(dirname "$0")/.."
built=$(realpath "${CARGO_TARGET_DIR:-target}")
java=$(tools/debian13-java.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$java" --enable-native-access=ALL-UNNAMED crates/mayhap-c/samples/Seen.java "$built/debug/libmayhap_c.so" "$work/seen.mayhap" >"$work/output"
cat >"$work/expected" <<END
apple is new: true
apple is new: false
pear is found: false
integers found in the file: 10000
apple is found: true
error: a mapped filter is read-only: open it with mayhap_open to change it
error: false_positive_rate = 2.0 is out of range: give a number above 0 and below 1, such as 0.01
END
diff "$work/expected" "$work/output"
# The command line reads the file that Java saved.
[[ $("$built/debug/mayhap" check "$work/seen.mayhap" -k apple) == apple ]]
echo "test-java: all as expected"

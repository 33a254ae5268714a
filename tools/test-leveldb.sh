#!/usr/bin/env bash
# The filter policies in databases of Debian's LevelDB, also with sanitizers and under valgrind, and what the command line reads of them.
# `cargo build --workspace` was run before.
set -euo pipefail
cd "$(dirname "$0")/.."
built=$(realpath "${CARGO_TARGET_DIR:-target}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/target"
ln -s "$built/debug" "$work/target/installed"
CARGO_TARGET_DIR=$work/target MAYHAP_PROFILE=installed tools/install-c-library.sh "$work/prefix"
export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig LD_LIBRARY_PATH=$work/prefix/lib
make --quiet -C engines/leveldb BUILD="$work/plain"
make --quiet -C engines/leveldb BUILD="$work/sanitized" CXXFLAGS="-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all" "$work/sanitized/policy_test"

"$work/plain/policy_test" "$work/databases"
# LevelDB's own environment is never freed.
ASAN_OPTIONS=detect_leaks=0 "$work/sanitized/policy_test" "$work/sanitized-databases" --hostile
valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite "$work/plain/with_c" "$work/with-c"
"$work/plain/block_reads" "$work/block-reads" 5000
"$work/plain/policy_bench" --quick

# The tables of the drop-in are LevelDB's own: the command line finds their keys.
table=("$work"/databases/drop-in/*.ldb)
"$work/plain/policy_test" --keys | sed -n 1,1000p >"$work/keys"
found=$("$built/debug/mayhap" check -c "${table[0]}" "$work/keys")
if [[ $found != 1000 ]]; then
  echo "test-leveldb: mayhap check finds $found of 1000 keys in ${table[0]}" >&2
  exit 1
fi
echo "test-leveldb: mayhap check finds the keys of the drop-in's table"

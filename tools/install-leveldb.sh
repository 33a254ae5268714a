#!/usr/bin/env bash
# LevelDB's library and headers, for the tests of the filter policies.
set -euo pipefail
"$(dirname "$0")/install-c-tools.sh"
check='#include <leveldb/db.h>'
! echo "$check" | c++ -x c++ -fsyntax-only - 2>/dev/null || exit 0
if ! command -v apt-get >/dev/null || [[ $EUID != 0 ]]; then
  echo "libleveldb-dev missing: install it, or run this on Debian as root" >&2
  exit 1
fi
(apt-get update -qq && apt-get install -qq -y libleveldb-dev) >/dev/null || { echo "apt did not install libleveldb-dev" >&2; exit 1; }

#!/usr/bin/env bash
# LevelDB's library and headers, for the tests of the filter policies.
set -euo pipefail
"$(dirname "$0")/install-c-tools.sh"
check='#include <leveldb/db.h>'
! echo "$check" | c++ -x c++ -fsyntax-only - 2>/dev/null || exit 0
exec "$(dirname "$0")/apt-install.sh" leveldb libleveldb-dev

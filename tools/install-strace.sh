#!/usr/bin/env bash
# strace, for the test that changes are synced before they are acknowledged.
set -euo pipefail
command -v strace >/dev/null && exit 0
exec "$(dirname "$0")/apt-install.sh" strace strace

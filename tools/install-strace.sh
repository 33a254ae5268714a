#!/usr/bin/env bash
# strace, for the test that changes are synced before they are acknowledged. Where there is no apt the test is skipped.
set -euo pipefail
command -v strace >/dev/null && exit 0
if ! command -v apt-get >/dev/null || [[ $EUID != 0 ]]; then
  echo "strace: it is installed by apt as root; the order of system calls is tested only where it is" >&2
  exit 0
fi
(apt-get update -qq && apt-get install -qq -y strace) >/dev/null \
  || echo "strace: apt did not install it; the order of system calls is not tested" >&2

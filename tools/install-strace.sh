#!/usr/bin/env bash
# strace, for the test that changes are synced before they are acknowledged.
set -euo pipefail
command -v strace >/dev/null && exit 0
if ! command -v apt-get >/dev/null || [[ $EUID != 0 ]]; then
  echo "strace is missing: install it, or run this on Debian as root" >&2
  exit 1
fi
(apt-get update -qq && apt-get install -qq -y strace) >/dev/null \
  || { echo "strace: apt did not install it" >&2; exit 1; }

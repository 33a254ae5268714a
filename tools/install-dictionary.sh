#!/usr/bin/env bash
# Debian's list of American words, for the test of the spell check.
set -euo pipefail
[[ -e /usr/share/dict/american-english ]] && exit 0
if ! command -v apt-get >/dev/null || [[ $EUID != 0 ]]; then
  echo "dictionary: /usr/share/dict/american-english is missing: install it, or run this on Debian as root" >&2
  exit 1
fi
(apt-get update -qq && apt-get install -qq -y wamerican) >/dev/null \
  || { echo "dictionary: apt did not install wamerican" >&2; exit 1; }

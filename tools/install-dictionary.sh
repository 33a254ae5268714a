#!/usr/bin/env bash
# Debian's list of American words, for the test of the spell check. Where there is no apt the test is skipped.
set -euo pipefail
[[ -e /usr/share/dict/american-english ]] && exit 0
if ! command -v apt-get >/dev/null || [[ $EUID != 0 ]]; then
  echo "dictionary: wamerican is installed by apt as root; the spell check is tested only where it is" >&2
  exit 0
fi
(apt-get update -qq && apt-get install -qq -y wamerican) >/dev/null \
  || echo "dictionary: apt did not install wamerican; the spell check is not tested" >&2

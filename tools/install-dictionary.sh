#!/usr/bin/env bash
# Debian's list of American words, for the test of the spell check.
set -euo pipefail
[[ -e /usr/share/dict/american-english ]] && exit 0
exec "$(dirname "$0")/apt-install.sh" dictionary wamerican

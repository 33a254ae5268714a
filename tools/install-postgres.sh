#!/usr/bin/env bash
# PostgreSQL and redis-server, between which and its clients examples/guard stands. Debian keeps the programs of the former out of the path.
set -euo pipefail
missing=()
compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || command -v initdb >/dev/null || missing+=(postgresql)
command -v redis-server >/dev/null || missing+=(redis-server)
command -v runuser >/dev/null || missing+=(util-linux)
((${#missing[@]} == 0)) || exec "$(dirname "$0")/apt-install.sh" postgres "${missing[@]}"

#!/usr/bin/env bash
# redis-server, which the module is tested in, and redis-cli, curl and openssl, with which the server's page of the guide is run.
set -euo pipefail
missing=()
command -v redis-server >/dev/null || missing+=(redis-server)
command -v redis-cli >/dev/null || missing+=(redis-tools)
command -v curl >/dev/null || missing+=(curl)
command -v openssl >/dev/null || missing+=(openssl)
((${#missing[@]} == 0)) || exec "$(dirname "$0")/apt-install.sh" "redis tools" "${missing[@]}"

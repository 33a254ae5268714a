#!/usr/bin/env bash
# redis-server, which the module is tested in, and redis-cli, curl and openssl, with which the server's page of the guide is run.
set -euo pipefail
missing=()
command -v redis-server >/dev/null || missing+=(redis-server)
command -v redis-cli >/dev/null || missing+=(redis-tools)
command -v curl >/dev/null || missing+=(curl)
command -v openssl >/dev/null || missing+=(openssl)
((${#missing[@]})) || exit 0
if ! command -v apt-get >/dev/null || [[ $EUID != 0 ]]; then
  echo "redis tools: ${missing[*]} are missing: install them, or run this on Debian as root" >&2
  exit 1
fi
(apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}") >/dev/null \
  || { echo "redis tools: apt did not install ${missing[*]}" >&2; exit 1; }

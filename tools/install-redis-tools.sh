#!/usr/bin/env bash
# redis-server, which the module is tested in, and redis-cli, curl and openssl, with which the server's page of the guide is run. Where
# there is no apt that page is not run, and the module's tests say what they miss.
set -euo pipefail
missing=()
command -v redis-server >/dev/null || missing+=(redis-server)
command -v redis-cli >/dev/null || missing+=(redis-tools)
command -v curl >/dev/null || missing+=(curl)
command -v openssl >/dev/null || missing+=(openssl)
((${#missing[@]})) || exit 0
if ! command -v apt-get >/dev/null || [[ $EUID != 0 ]]; then
  echo "redis tools: apt installs ${missing[*]} as root; the module and the page about the server are tested only where they are" >&2
  exit 0
fi
(apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}") >/dev/null \
  || echo "redis tools: apt did not install ${missing[*]}; the module and the page about the server are not tested" >&2

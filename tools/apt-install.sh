#!/usr/bin/env bash
# `apt-install.sh NAME PACKAGE...` installs Debian packages, as root. NAME says in errors what needs them. Calls wait for each other, because
# apt does not, and steps of the tests run beside each other.
set -euo pipefail
name=$1
shift
if ! command -v apt-get >/dev/null || [[ $EUID != 0 ]]; then
  echo "$name: $* are missing: install them, or run this on Debian as root" >&2
  exit 1
fi
exec 9>"${TMPDIR:-/tmp}/mayhap-apt.lock"
flock 9
export DEBIAN_FRONTEND=noninteractive
(apt-get update -qq && apt-get -o DPkg::Lock::Timeout=600 install -qq -y --no-install-recommends "$@") >/dev/null \
  || { echo "$name: apt did not install $*" >&2; exit 1; }

#!/usr/bin/env bash
# Prints the path of Debian 13's java 25, which runs programs from their source. Java calls C without JNI from version 22 on, and older Debians
# have older ones. The packages are unpacked into target/debian13-java, and start with their own loader and libraries.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/debian13-apt.sh
. tools/debian13-apt.sh

folder=$PWD/target/debian13-java
java=$folder/bin/java
is_installed() { "$java" -version >/dev/null 2>&1; }
if ! is_installed; then
  prepare_apt "$folder" deb
  unpack_packages "$folder" libc6 libgcc-s1 libstdc++6 zlib1g openjdk-25-jre-headless openjdk-25-jdk-headless
  home=$folder/root/usr/lib/jvm/java-25
  ln -sfn "$(basename "$(compgen -G "$home-openjdk-*" | head -1)")" "$home"
  loader=$(loader "$folder")
  cat >"$java" <<END
#!/bin/sh
exec "$loader" --argv0 java --library-path "${loader%/*}:$home/lib:$home/lib/server" "$home/bin/java" "\$@"
END
  chmod +x "$java"
  rm -rf "$folder"/{packages,cache,state}
  is_installed || { echo "debian 13's java: it was unpacked into $folder, and does not start" >&2; exit 1; }
fi
echo "$java"

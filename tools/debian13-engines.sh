#!/usr/bin/env bash
# Prints the paths of three engines of Debian 13, a line each: redis-server (8.0), valkey-server (8.1), and a redis-server that is built from
# the same source with the allocator in it. Debian's own are linked with the system's allocator, and cannot defragment. All of them run on
# older Debians: the packages are unpacked into target/debian13, and start with their own loader and libraries. Nothing is installed but
# the compiler where it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/debian13-apt.sh
. tools/debian13-apt.sh

folder=$PWD/target/debian13
engines=(redis-server valkey-server)
paths=("${engines[@]/#/$folder/bin/}" "$folder/bin/defragmenting/redis-server")
is_installed() {
  for path in "${paths[@]}"; do
    "$path" --version >/dev/null 2>&1 || return 1
  done
}
if is_installed; then
  printf "%s\n" "${paths[@]}"
  exit 0
fi

missing=()
command -v apt-get >/dev/null || { echo "debian 13's engines: apt-get downloads them; run this on Debian" >&2; exit 1; }
for program in gcc g++ make; do
  command -v "$program" >/dev/null || missing=(build-essential)
done
((${#missing[@]} == 0)) || tools/apt-install.sh "debian 13's engines" "${missing[@]}"
prepare_apt "$folder" deb deb-src
mkdir -p "$folder"/{bin/defragmenting,source}
# What the engines are linked with; not what the scripts of the packages run.
packages=$(apt-get "${options[@]}" install --simulate --no-install-recommends "${engines[@]}" |
  awk '/^Inst (lib|zlib|redis|valkey)/ { print $2 }')
# shellcheck disable=SC2086
unpack_packages "$folder" $packages
loader=$(loader "$folder")
for engine in "${engines[@]}"; do
  cat >"$folder/bin/$engine" <<END
#!/bin/sh
exec "$loader" --argv0 $engine --library-path "${loader%/*}" "$folder/root/usr/bin/$engine" "\$@"
END
  chmod +x "$folder/bin/$engine"
done

(cd "$folder/source" && apt-get "${options[@]}" source -qq --download-only redis) >&2
tar --extract --strip-components=1 --directory "$folder/source" --file "$(compgen -G "$folder/source/redis_*.orig.tar.*" | head -1)"
if ! make -C "$folder/source/src" -j"$(nproc)" redis-server MALLOC=jemalloc OPTIMIZATION=-O1 >"$folder/build.log" 2>&1; then
  tail -20 "$folder/build.log" >&2
  echo "debian 13's engines: redis-server does not build; $folder/build.log has all of it" >&2
  exit 1
fi
mv "$folder/source/src/redis-server" "$folder/bin/defragmenting/redis-server"
rm -rf "$folder"/{packages,source,cache,state}

if ! is_installed; then
  echo "debian 13's engines: they were downloaded into $folder, and do not start" >&2
  exit 1
fi
printf "%s\n" "${paths[@]}"

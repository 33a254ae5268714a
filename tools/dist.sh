#!/usr/bin/env bash
# Builds what is published, into target/dist: a tarball with a static program, a Debian package, the list of what is linked, checksums. Equal sources
# and equal tools give equal bytes, in any folder: times are those of the commit, and no path of this machine is in a program.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/install-dist-tools.sh

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || true)}
if [[ -z $SOURCE_DATE_EPOCH ]]; then
  echo "dist: set SOURCE_DATE_EPOCH, the time of the release in seconds: this folder is no git repository to take it from" >&2
  exit 1
fi
# Xz with several threads splits its input by their number.
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC DPKG_DEB_THREADS_MAX=1
umask 022
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
architecture=$(uname -m)
target=${CARGO_TARGET_DIR:-$PWD/target}
out=$PWD/target/dist
work=$target/dist-work
rm -rf "$out" "$work"
mkdir -p "$out" "$work"

MAYHAP_PAGE_WASM=$(tools/build-page-wasm.sh)
export MAYHAP_PAGE_WASM
remaps=("${CARGO_HOME:-$HOME/.cargo}/registry/src=registry" "$(rustc --print sysroot)/lib/rustlib/src/rust=rust" "$PWD=mayhap" "$target=target")
# The variable for flags with spaces takes precedence over others that this machine may have set. The C code of crates gets the same.
flags=$(printf -- '--remap-path-prefix=%s\x1f' "${remaps[@]}")
export CARGO_ENCODED_RUSTFLAGS=${flags%$'\x1f'} CARGO_INCREMENTAL=0
CFLAGS=$(printf -- '-ffile-prefix-map=%q ' "${remaps[@]}")
export CFLAGS CC_SHELL_ESCAPED_FLAGS=1
# Separately: a program gets the features that it asks for, and not those of the others.
for built in mayhap-cli:musl mayhap-cli:gnu mayhap-module:gnu; do
  cargo build --quiet --locked --profile packaged --package "${built%:*}" --target "$architecture-unknown-linux-${built#*:}"
done
tools/linked_crates.py "$architecture" "$work"
musl=$target/$architecture-unknown-linux-musl/packaged
gnu=$target/$architecture-unknown-linux-gnu/packaged
documents=(README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$work/THIRD-PARTY-LICENSES.txt" "$work/sbom.cdx.json")

# `fill FOLDER PROGRAM` puts the program, what it prints about itself, and the documents into FOLDER.
fill() {
  mkdir -p "$1"/{bin,completions}
  cp "$2" "$1/bin"
  "$2" man --dir "$1/man"
  "$2" completions bash >"$1/completions/mayhap"
  "$2" completions zsh >"$1/completions/_mayhap"
  "$2" completions fish >"$1/completions/mayhap.fish"
  cp "${documents[@]}" "$1"
}

name=mayhap-$version-$architecture-linux-musl
fill "$work/$name" "$musl/mayhap"
cp -r packaging/docker "$work/$name/docker"
mkdir "$work/$name/docker/data"
tar --create --directory "$work" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" "$name" \
  | gzip --no-name --best >"$out/$name.tar.gz"

debian=$work/mayhap-$version
fill "$debian" "$gnu/mayhap"
mkdir "$debian/lib"
cp "$gnu/libmayhap_module.so" "$debian/lib/mayhap.so"
cp -r packaging/debian "$debian/debian"
# The licence as a paragraph of Debian's format.
sed '1,4d; s/^$/./; s/^/ /' LICENSE-MIT >"$work/mit"
sed -i -e "/^@MIT@$/{r $work/mit" -e 'd}' "$debian/debian/copyright"
cat >"$debian/debian/changelog" <<TEXT
mayhap ($version-1) unstable; urgency=medium

  * Version $version; /usr/share/doc/mayhap/changelog.gz has the changes.

 -- $(sed -n 's/^Maintainer: //p' packaging/debian/control)  $(date --rfc-email --date="@$SOURCE_DATE_EPOCH")
TEXT
(cd "$debian" && debian/rules binary) >"$work/debhelper.log" 2>&1 || { cat "$work/debhelper.log" >&2; exit 1; }
cp "$work"/*.deb "$out"

cp "$work/sbom.cdx.json" "$out/mayhap-$version.cdx.json"
(cd "$out" && sha256sum -- * >SHA256SUMS)
ls -l "$out"

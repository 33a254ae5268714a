# Sourced by the scripts that run programs of Debian 13 on older Debians. `prepare_apt FOLDER TYPE...` makes FOLDER anew and sets `options`, with
# which apt uses the packages of Debian 13, with a state of its own in FOLDER: nothing counts as installed, and the machine's own lists stay as they
# are. Types are deb and deb-src. The packages come from the mirror that apt uses here, and apt checks their signatures.
# shellcheck shell=bash

# `debian_mirror` prints the address of Debian's archive: the source with the component main of this machine's release.
debian_mirror() {
  local codename uris release mirror
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  uris=$(apt-get update --print-uris)
  for release in "$codename" oldstable stable; do
    mirror=$(sed -nE "s#^'(.*)/dists/$release/main/binary-.*#\1#p" <<<"$uris")
    mirror=${mirror%%$'\n'*}
    [[ -z $mirror ]] || break
  done
  echo "$mirror"
}

prepare_apt() {
  local folder=$1 mirror keyring
  shift
  command -v apt-get >/dev/null || { echo "debian 13: apt-get downloads its packages; run this on Debian" >&2; return 1; }
  mirror=$(debian_mirror)
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  if [[ -z $mirror || ! -e $keyring ]]; then
    echo "debian 13: apt needs a source for Debian's archive, and the package debian-archive-keyring" >&2
    return 1
  fi
  rm -rf "$folder"
  mkdir -p "$folder"/{bin,root,packages,sources,state/lists/partial,cache/archives/partial}
  : >"$folder/state/status"
  printf "%s [signed-by=$keyring] $mirror trixie main\n" "$@" >"$folder/sources/trixie.list"
  options=(
    -o Dir::Etc::SourceList=/dev/null
    -o Dir::Etc::SourceParts="$folder/sources"
    -o Dir::Etc::Preferences=/dev/null
    -o Dir::Etc::PreferencesParts=/dev/null
    -o Dir::State="$folder/state"
    -o Dir::State::status="$folder/state/status"
    -o Dir::Cache="$folder/cache"
    -o Acquire::Languages=none
    -o Acquire::Retries=3
    -o APT::Sandbox::User=
  )
  apt-get "${options[@]}" update -qq --error-on=any >&2
}

# `unpack_packages FOLDER PACKAGE...` downloads packages and unpacks them into FOLDER/root.
unpack_packages() {
  local folder=$1 package
  shift
  (cd "$folder/packages" && apt-get "${options[@]}" download -qq "$@") >&2
  for package in "$folder"/packages/*.deb; do
    dpkg-deb --extract "$package" "$folder/root"
  done
}

# `loader FOLDER` prints the path of the unpacked program loader, in the folder of the unpacked libraries.
loader() {
  compgen -G "$1/root/usr/lib/*-linux-gnu/ld-linux-*.so.*" | head -1
}

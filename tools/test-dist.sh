#!/usr/bin/env bash
# Tests what `make dist` builds: twice, in two folders, with equal bytes; the tarball, the image, and the Debian package in a clean Debian of
# this machine's release. Runs as root on Debian, because it installs packages into a chroot.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/debian13-apt.sh
. tools/debian13-apt.sh
[[ $EUID == 0 ]] || { echo "dist: the test installs the package in a chroot: run it as root" >&2; exit 1; }
tools/install-dist-tools.sh test

# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
work=$(mktemp -d)
processes=()
finish() {
  local process
  for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
  wait
  mountpoint --quiet "$work/debian/proc" && umount "$work/debian/proc"
  rm -rf "$work"
}
trap finish EXIT
step() { echo "dist: $*"; }
fail() { echo "dist: $*" >&2; exit 1; }
equal() { [[ $2 == "$3" ]] || fail "$1: expected '$2', got '$3'"; }

# `ask PORT WORDS...` sends a command when the server has started; the password is in REDISCLI_AUTH.
ask() {
  local port=$1 tries
  shift
  for ((tries = 0; tries < 300; tries++)); do
    [[ $(redis-cli -p "$port" PING 2>/dev/null) != PONG ]] || break
    sleep 0.1
  done
  redis-cli -p "$port" "$@"
}

# `use_program FOLDER COMMAND...` builds a filter with a program that runs in FOLDER, and asks it.
use_program() {
  cd "$1"
  shift
  "$@" --version | grep -q "^mayhap [0-9]" || fail "$*: no version"
  seq 1000 | "$@" build -o filter - || fail "$*: build"
  equal "$* check" 1000 "$(seq 1000 | "$@" check -c filter)"
  "$@" page | grep -q "<!doctype html>" || fail "$*: no page"
  cd - >/dev/null
}

step "build"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
tools/dist.sh
dist=$PWD/target/dist
architecture=$(uname -m)

step "build again in another folder"
mkdir "$work/again"
git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- | tar --extract --directory "$work/again"
(cd "$work/again" && CARGO_TARGET_DIR=$work/again/other-target tools/dist.sh) >/dev/null
diff --recursive "$dist" "$work/again/target/dist" || fail "two builds of the same source differ"
rm -rf "$work/again"
(cd "$dist" && sha256sum --check --quiet SHA256SUMS)

step "the tarball"
tar --extract --gzip --file "$dist"/mayhap-*-linux-musl.tar.gz --directory "$work"
tree=$(echo "$work"/mayhap-*-linux-musl)
program=$tree/bin/mayhap
if readelf --program-headers "$program" | grep -q INTERP; then fail "$program is not static"; fi
use_program "$work" "$program"

step "the list of what is linked"
tools/check_sbom.py "$dist"/mayhap-*.cdx.json "$program"

step "the image"
tools/test-image.sh "$tree"

step "lintian"
lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$dist"/*.deb

step "a clean Debian"
mmdebstrap --quiet --variant=apt --mode=root --include=systemd,man-db,bash-completion,redis-server,redis-tools "$codename" "$work/debian" "$(debian_mirror)"
root=$work/debian
inside() { chroot "$root" "$@"; }
# Nothing starts services there: there is no systemd.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
# The program reads the machine's memory from it.
mount -t proc proc "$root/proc"
cp "$dist"/*.deb "$root/package.deb"
inside apt-get update -qq
DEBIAN_FRONTEND=noninteractive inside apt-get install -qq -y --no-install-recommends /package.deb >"$work/apt.log" 2>&1 || { cat "$work/apt.log" >&2; fail "apt cannot install the package"; }
if grep -aqE "$PWD|${CARGO_HOME:-$HOME/.cargo}" "$root/usr/bin/mayhap" "$root/usr/lib/redis/modules/mayhap.so" "$program"; then
  fail "a program contains a path of this machine"
fi
use_program "$root" inside mayhap

step "manual pages"
for page in "$root"/usr/share/man/man1/mayhap*.1.gz; do
  name=$(basename "$page" .1.gz)
  gunzip --stdout "$page" | mandoc -T lint -W error || fail "$name: mandoc"
  inside man --pager=cat "$name" 2>"$work/man.log" | grep -q SYNOPSIS || fail "$name: man prints nothing"
  [[ ! -s $work/man.log ]] || fail "$name: $(cat "$work/man.log")"
done
# A page for each name in the list of subcommands.
for command in $(inside mayhap --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  [[ $command == help || -e $root/usr/share/man/man1/mayhap-$command.1.gz ]] || fail "mayhap $command has no manual page"
done

step "completions"
# What bash offers after `mayhap mig` and `mayhap serve --pass`.
offers() {
  inside bash -c '. /usr/share/bash-completion/bash_completion
    _completion_loader mayhap || [ $? = 124 ]
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
    $(complete -p mayhap | sed -E "s/.*-F ([^ ]+) .*/\1/") mayhap "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
    echo "${COMPREPLY[*]}"' bash "$@"
}
equal "completion of a subcommand" migrate "$(offers mayhap mig)"
equal "completion of an option" --password-file "$(offers mayhap serve --pass)"
for shell in zsh fish; do
  case $shell in
    zsh) file=/usr/share/zsh/vendor-completions/_mayhap ;;
    fish) file=/usr/share/fish/vendor_completions.d/mayhap.fish ;;
  esac
  [[ -s $root$file ]] || fail "$file is missing"
  ! command -v "$shell" >/dev/null || "$shell" -n "$root$file" || fail "$file is not valid $shell"
done

step "the service"
unit=$root/lib/systemd/system/mayhap.service
[[ -e $unit ]] || unit=$root/usr/lib/systemd/system/mayhap.service
systemd-analyze verify --man=no --root="$root" mayhap.service
systemd-analyze security --offline=true --threshold=20 --no-pager "$unit" >"$work/security" || { cat "$work/security"; fail "the unit is less protected than it was"; }
tail -1 "$work/security"
equal "the user's folder" /var/lib/mayhap "$(inside getent passwd mayhap | cut -d: -f6)"
[[ -L $root/etc/systemd/system/multi-user.target.wants/mayhap.service ]] || fail "the service is not enabled"
# What systemd does: the folder, the user, the options of the file, and the command of the unit. strace reports the system calls.
inside install -d -m 750 -o mayhap -g mayhap /var/lib/mayhap
echo 'MAYHAP_SERVE_OPTIONS="--port 16380 --http 127.0.0.1:0"' >"$root/etc/default/mayhap"
start=$(sed -n 's/^ExecStart=//p' "$unit")
strace --follow-forks --output="$work/strace" --quiet=all chroot --userspec=mayhap:mayhap "$root" \
  /bin/sh -c ". /etc/default/mayhap; exec $start" >"$work/serve.log" &
processes+=($!)
unset REDISCLI_AUTH
equal "BF.ADD" 1 "$(ask 16380 BF.ADD seen apple)"
equal "BF.EXISTS" 1 "$(ask 16380 BF.EXISTS seen apple)"
equal "BGSAVE" "Background saving started" "$(ask 16380 BGSAVE)"
redis-cli -p 16380 SHUTDOWN
wait "${processes[-1]}"
equal "the owner of the data" mayhap "$(inside stat --format=%U /var/lib/mayhap)"
# From the start of the program on, every call is one that the unit allows.
sed -n '/execve("\/usr\/bin\/mayhap"/,$p' "$work/strace" | grep -oE '^[0-9]+ +[a-z_0-9]+\(' | grep -oE '[a-z_0-9]+\($' | tr -d '(' | sort -u >"$work/called"
[[ -s $work/called ]] || fail "strace reported no calls"
tools/check_syscalls.py "$work/called"

step "the module"
inside redis-server --port 16381 --save "" --loadmodule /usr/lib/redis/modules/mayhap.so >"$work/redis.log" &
processes+=($!)
equal "BF.ADD in redis-server" 1 "$(ask 16381 BF.ADD seen apple)"
redis-cli -p 16381 SHUTDOWN NOSAVE
wait "${processes[-1]}"

step "removal"
inside apt-get remove -qq -y mayhap >/dev/null 2>&1
[[ ! -e $root/usr/bin/mayhap && -d $root/var/lib/mayhap && -e $root/etc/default/mayhap ]] || fail "a removal must keep data and settings"
inside apt-get purge -qq -y mayhap >/dev/null 2>&1
for left in /var/lib/mayhap /etc/default/mayhap /usr/lib/redis/modules/mayhap.so /etc/systemd/system/multi-user.target.wants/mayhap.service; do
  [[ ! -e $root$left && ! -L $root$left ]] || fail "a purge leaves $left"
done
step "everything works"

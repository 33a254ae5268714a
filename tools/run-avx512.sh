#!/usr/bin/env bash
# Run a statically linked x86-64 Linux program on an emulated CPU with AVX-512 F/BW/DQ/VL/CD (Bochs).
#
#   run-avx512.sh [VAR=VALUE...] PROGRAM [ARGS...]
#
# It boots Debian's cloud kernel (unpacked, not installed) from an ISO image in Bochs, runs PROGRAM there
# as root in /tmp with no other environment than the VAR=VALUEs, prints what it wrote (stdout and stderr
# together, on stdout) and exits with its status: 128+N if signal N ended it, 124 if the time ran out,
# 125 if the set-up failed or the guest never reported a status.
#
#   RIG_DIR      folder for working files, one run at a time (default: a temporary one, removed at the end);
#                a kept folder saves the kernel's download, and can be watched: output, kernel.log, bochs.log
#   RIG_TIMEOUT  bound on the emulation in seconds (default 1200)
#   RIG_MEM      memory of the guest in MB (default 768)
#   RIG_CPU      Bochs CPU model, see `bochs --help cpu` (default corei7_skylake_x; the icelake_u and tigerlake models hang)
#   RIG_APPEND   more kernel parameters, such as loglevel=7
set -euo pipefail
trap 'echo "$0: failed at line $LINENO" >&2; exit 125' ERR

vars=()
while [[ ${1-} =~ ^[A-Za-z_][A-Za-z0-9_]*= ]]; do vars+=("$1"); shift; done
[[ -f ${1-} ]] || { echo "usage: $0 [VAR=VALUE...] PROGRAM [ARGS...]" >&2; exit 125; }
program=$(realpath "$1"); shift
tools=$(realpath "$(dirname "$0")")
command=$(printf '%q ' "${vars[@]}" /program "$@")

emulator=
if [[ -n ${RIG_DIR-} ]]; then dir=$RIG_DIR; temporary=; else dir=$(mktemp -d); temporary=$dir; fi
trap '[[ -z $emulator ]] || kill $emulator 2>/dev/null; [[ -z $temporary ]] || rm -rf "$temporary"' EXIT
mkdir -p "$dir/iso"; cd "$dir"

# --- packages: the emulator and tools are installed, the kernel is only unpacked
missing=()
for p in bochs bochs-term bochsbios vgabios isolinux syslinux-common xorriso busybox-static cpio; do
  [[ $(dpkg-query -W -f='${db:Status-Status}' $p 2>/dev/null) == installed ]] || missing+=($p)
done
((${#missing[@]} == 0)) || "$tools/apt-install.sh" avx512 "${missing[@]}"
if [[ ! -f iso/vmlinuz ]]; then
  # Its list of packages may be old. `apt-install.sh` has the same lock.
  flock "${TMPDIR:-/tmp}/mayhap-apt.lock" apt-get update -qq >&2
  kernel=$(apt-cache depends linux-image-cloud-amd64 | awk '$1 == "Depends:" && $2 ~ /^linux-image-[0-9]/ {print $2; exit}')
  rm -rf deb; mkdir deb
  (cd deb; apt-get download -qq -o APT::Sandbox::User=root "$kernel" >&2; dpkg -x ./*.deb .)
  cp deb/boot/vmlinuz-* iso/vmlinuz
  rm -rf deb
fi

# --- initramfs: busybox, the program, and an init that runs it with the second serial port as its output
rm -rf root; mkdir -p root/{dev,proc,sys,tmp}
cp "$(command -v busybox)" root/busybox
install -m 755 "$program" root/program
cat >root/init <<EOF
#!/busybox sh
alias b=/busybox
b mount -t proc none /proc; b mount -t sysfs none /sys; b mount -t devtmpfs none /dev
b ip link set lo up
b stty -F /dev/ttyS1 raw -echo 115200
cd /tmp
/busybox env -i HOME=/tmp PATH=/ $command </dev/null >/dev/ttyS1 2>&1
b printf '\n@@status %d\n' \$? >/dev/ttyS1
b poweroff -f
EOF
chmod 755 root/init
(cd root; find . | cpio -o -H newc --quiet) >iso/initrd

# --- boot image. The kernel parameters that matter:
#   clearcpuid   Bochs 2.7 reports a wrong size for the compacted XSAVE format; on seeing it Linux would switch
#                AVX and AVX-512 off. (aperfmperf: only spares the log, Bochs lacks those registers.)
#   tsc_early_khz  the emulated time stamp counter runs at $ips, not at the rate the CPU model claims
#   reboot=t     a kernel panic ends in a triple fault, which ends Bochs
#   cryptomgr.notests, initcall_blacklist   more than halve the boot time
ips=50000000
cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 iso/
cat >iso/isolinux.cfg <<EOF
DEFAULT linux
LABEL linux
  KERNEL vmlinuz
  APPEND initrd=initrd console=ttyS0,115200 quiet panic=-1 reboot=t clearcpuid=xsavec,xsaves,aperfmperf tsc_early_khz=$((ips / 1000)) tsc=reliable no_timer_check mitigations=off nokaslr cryptomgr.notests initcall_blacklist=load_system_certificate_list,trace_eval_init,init_kprobe_trace,cubictcp_register ${RIG_APPEND-}
EOF
xorriso -as mkisofs -quiet -o boot.iso -b isolinux.bin -c boot.cat -no-emul-boot -boot-load-size 4 -boot-info-table iso \
  >xorriso.log 2>&1 || { cat xorriso.log >&2; exit 125; }
cat >bochsrc <<EOF
display_library: term
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
cpu: model=${RIG_CPU:-corei7_skylake_x}, count=1, ips=$ips, reset_on_triple_fault=0
memory: guest=${RIG_MEM:-768}, host=${RIG_MEM:-768}
ata0-master: type=cdrom, path=boot.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=kernel.log
com2: enabled=1, mode=file, dev=output
log: bochs.log
panic: action=fatal
EOF
echo continue >debugrc  # Debian's Bochs is built with its debugger, which would wait for a command

# --- run; Bochs ends (with status 1) when the guest powers off
rm -f output kernel.log; touch output kernel.log
TERM=linux timeout -s KILL -k 5 "${RIG_TIMEOUT:-1200}" bochs -q -f bochsrc -rc debugrc </dev/null >bochs.screen 2>&1 &
emulator=$!
rc=0; wait $emulator 2>/dev/null || rc=$?
emulator=

status=$(tail -n 1 output | sed -n 's/^@@status \([0-9]*\)$/\1/p')
if [[ -n $status ]]; then
  head -c -$((${#status} + 11)) output  # all but "\n@@status N\n"
  exit "$status"
fi
cat output
if [[ $rc == 137 ]]; then echo "$0: stopped after ${RIG_TIMEOUT:-1200} s" >&2; exit 124; fi
echo "$0: the guest reported no status; its kernel's last words and the emulator's:" >&2
tail -n 20 kernel.log >&2; tail -n 5 bochs.screen >&2
exit 125

#!/usr/bin/env python3
"""Fails if a system call of a list, one per line, is none that packaging/debian/mayhap.service allows.

    check_syscalls.py FILE
"""

import subprocess
import sys
from pathlib import Path

UNIT = Path(__file__).resolve().parent.parent / "packaging/debian/mayhap.service"


def calls(name):
    """The system calls of a name in a filter: a group, whose members may be groups, or a call."""
    if not name.startswith("@"):
        return {name}
    listing = subprocess.run(["systemd-analyze", "syscall-filter", name], check=True, stdout=subprocess.PIPE, text=True).stdout
    members = [line.strip() for line in listing.splitlines()[1:]]
    return set().union(*(calls(member) for member in members if member and not member.startswith("#")))


def main():
    allowed = set()
    for line in UNIT.read_text().splitlines():
        if line.startswith("SystemCallFilter="):
            value = line.removeprefix("SystemCallFilter=")
            names = set().union(*(calls(name) for name in value.removeprefix("~").split()))
            allowed = allowed - names if value.startswith("~") else allowed | names
    # Always allowed by systemd.
    allowed |= calls("@default") | {"execve"}
    denied = sorted(set(Path(sys.argv[1]).read_text().split()) - allowed)
    if denied:
        sys.exit(f"mayhap.service denies system calls that the server makes: {', '.join(denied)}")


if __name__ == "__main__":
    main()

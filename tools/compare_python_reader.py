#!/usr/bin/env python3
"""Asks docs/formats/read_mayhap.py what tests/native/answers.rs knows the answers to, and damages files to see it notice."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "docs/formats"))
import read_mayhap


def is_refused(file):
    try:
        read_mayhap.read(bytes(file))
    except SystemExit:
        return True
    return False


files = sorted(pathlib.Path(sys.argv[1]).glob("*.mayhap"))
answers = 0
for path in files:
    file = path.read_bytes()
    may_contain = read_mayhap.read(file)
    keys = path.with_suffix(".keys").read_text().split()
    found = [key for key in keys if may_contain(bytes.fromhex(key))]
    if found != path.with_suffix(".found").read_text().split():
        sys.exit(f"{path.name}: other answers than mayhap's")
    for at in range(0, len(file), max(1, len(file) // 50)):
        damaged = bytearray(file)
        damaged[at] ^= 1
        if not is_refused(damaged):
            sys.exit(f"{path.name}: damage at byte {at} is not noticed")
        if not is_refused(file[:at]):
            sys.exit(f"{path.name}: not noticed that it is cut at byte {at}")
    answers += len(keys)
if len(files) < 40:
    sys.exit(f"{len(files)} files, and there should be 40 or more")
print(f"python reader: {len(files)} files, {answers} answers")

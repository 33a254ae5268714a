#!/usr/bin/env python3
"""Checks the list of linked crates against two other sources: Cargo.lock, and the file names in the messages of a program.

    check_sbom.py SBOM PROGRAM
"""

import json
import re
import sys
import tomllib
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent


def main():
    bill = json.loads(Path(sys.argv[1]).read_text())
    program = Path(sys.argv[2]).read_bytes()
    listed = {(c["name"], c["version"]): c for c in bill["components"]}
    assert len(listed) == len(bill["components"]), "a component is listed twice"
    assert bill["bomFormat"] == "CycloneDX" and bill["specVersion"] == "1.5"

    locked = {(p["name"], p["version"]): p for p in tomllib.loads((SOURCE / "Cargo.lock").read_text())["package"]}
    for crate, entry in listed.items():
        if entry["purl"].startswith("pkg:cargo/"):
            assert crate in locked, f"{crate} is not in Cargo.lock"
            hashes = [h["content"] for h in entry.get("hashes", [])]
            assert hashes == [c for c in [locked[crate].get("checksum")] if c], f"{crate} has another checksum in Cargo.lock"
        assert entry["licenses"], f"{crate} has no licence"

    references = {c["bom-ref"] for c in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    for dependency in bill["dependencies"]:
        assert {dependency["ref"], *dependency["dependsOn"]} <= references, f"{dependency['ref']} names an unknown component"

    # Panics name their file as registry/INDEX/NAME-VERSION/src/..
    named = set(re.findall(rb"registry/[^/\0]+/([A-Za-z0-9_-]+?)-(\d+\.\d+\.\d+[^/\0]*)/", program))
    named = {(name.decode(), version.decode()) for name, version in named}
    assert len(named) > 10, f"the program names only {len(named)} crates"
    missing = sorted(named - set(listed))
    assert not missing, f"linked, but not listed: {missing}"
    print(f"{len(listed)} libraries are listed; {len(named)} of them are named in the program")


if __name__ == "__main__":
    main()

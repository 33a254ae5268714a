#!/usr/bin/env python3
"""Lists what is linked into the programs of `make dist`: sbom.cdx.json (CycloneDX 1.5) and THIRD-PARTY-LICENSES.txt, in a folder.

    linked_crates.py ARCHITECTURE FOLDER

The crates are those that `cargo tree` prints for each program and target; macros and build scripts are not linked. Equal sources give equal
bytes: the time is SOURCE_DATE_EPOCH, the serial number is a hash of the content, and nothing depends on the folder of the sources. (cargo-cyclonedx
names components by the paths of this machine.)
"""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import urllib.parse
import uuid
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
LICENSE_FILE = re.compile(r"(LICEN[CS]E|COPYING|COPYRIGHT|NOTICE|UNLICENSE)([-._].*)?", re.IGNORECASE)


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments], cwd=SOURCE, check=True, stdout=subprocess.PIPE, text=True).stdout


def built(architecture):
    """Packages and the targets that they are built for."""
    return [
        ("mayhap-cli", f"{architecture}-unknown-linux-musl"),
        ("mayhap-cli", f"{architecture}-unknown-linux-gnu"),
        ("mayhap-module", f"{architecture}-unknown-linux-gnu"),
        ("mayhap-page", "wasm32-unknown-unknown"),
    ]


def linked(architecture):
    """The crates, as (name, version), each with the set of crates that it uses."""
    uses = {}
    for package, target in built(architecture):
        tree = cargo("tree", "--locked", "--package", package, "--target", target,
                     "--edges", "normal,no-proc-macro", "--prefix", "depth", "--format", " {p}")
        parents = []
        for line in tree.splitlines():
            depth, name, version = re.match(r"(\d+) (\S+) v(\S+)", line).groups()
            crate = (name, version)
            del parents[int(depth):]
            uses.setdefault(crate, set())
            if parents:
                uses[parents[-1]].add(crate)
            parents.append(crate)
    return uses


def purl(crate):
    return f"pkg:cargo/{crate[0]}@{urllib.parse.quote(crate[1], safe='')}"


def runtimes():
    """What is linked and is no crate: Rust's library, and the libc that it brings for static programs."""
    version = re.search(r"(\d+)\.(\d+)\.\d+", subprocess.run(["rustc", "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout)
    # The release notes of Rust 1.93 name the version; it cannot be asked for.
    musl = "1.2.5" if (int(version[1]), int(version[2])) >= (1, 93) else "1.2.3"
    return [("musl", musl, "MIT"), ("rust-std", version[0], "MIT OR Apache-2.0")]


def component(crate, package, checksums):
    entry = {
        "type": "library",
        "bom-ref": purl(crate),
        "name": crate[0],
        "version": crate[1],
        "purl": purl(crate),
    }
    if package.get("description"):
        entry["description"] = " ".join(package["description"].split())
    # Old manifests have a slash between licences.
    entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if crate in checksums:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksums[crate]}]
    if package.get("repository"):
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return entry


def bill_of_materials(uses, packages, version):
    lock = tomllib.loads((SOURCE / "Cargo.lock").read_text())
    checksums = {(p["name"], p["version"]): p["checksum"] for p in lock["package"] if "checksum" in p}
    root = f"pkg:generic/mayhap@{version}"
    libraries = [
        {"type": "library", "bom-ref": f"pkg:generic/{name}@{number}", "name": name, "version": number,
         "purl": f"pkg:generic/{name}@{number}", "licenses": [{"expression": license}]}
        for name, number, license in runtimes()
    ]
    crates = sorted(uses)
    programs = [purl(crate) for crate in crates if crate[0] in {"mayhap-cli", "mayhap-module", "mayhap-page"}]
    epoch = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": epoch.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "bom-ref": root, "name": "mayhap", "version": version, "purl": root,
                          "licenses": [{"expression": "MIT OR Apache-2.0"}]},
        },
        "components": [component(crate, packages[crate], checksums) for crate in crates] + libraries,
        "dependencies": [{"ref": root, "dependsOn": programs + [library["bom-ref"] for library in libraries]}]
        + [{"ref": purl(crate), "dependsOn": sorted(map(purl, uses[crate]))} for crate in crates],
    }
    content = hashlib.sha256(json.dumps(bill, sort_keys=True).encode()).hexdigest()
    return {"bomFormat": bill.pop("bomFormat"), "specVersion": bill.pop("specVersion"),
            "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}", **bill}


def license_texts(crates, packages):
    """Each text once, with the crates that it is of. A library without one is listed with the names of its licences."""
    owners, without = {}, []
    for crate in crates:
        folder = Path(packages[crate]["manifest_path"]).parent
        files = sorted(path for path in folder.rglob("*") if path.is_file() and LICENSE_FILE.fullmatch(path.name))
        for path in files:
            text = "\n".join(line.rstrip() for line in path.read_text(errors="replace").splitlines()).strip()
            names = owners.setdefault(text, [])
            if crate not in names:
                names.append(crate)
        if not files:
            without.append(f"{crate[0]} {crate[1]}: {packages[crate]['license']}\n")
    for name, version, license in runtimes():
        path = Path("/usr/share/doc", name, "copyright")
        if path.exists():
            owners[path.read_text().strip()] = [(name, version)]
        else:
            without.append(f"{name} {version}: {license}\n")
    yield "The programs of mayhap contain these libraries. A line of equal signs separates their licences.\n"
    for text, names in sorted(owners.items(), key=lambda item: item[1]):
        yield "=" * 80 + "\n" + "".join(f"{name} {version}\n" for name, version in names) + "\n" + text + "\n"
    if without:
        yield "=" * 80 + "\nThese come without a text; LICENSE-APACHE and LICENSE-MIT of mayhap have it:\n\n" + "".join(without)


def main():
    architecture, folder = sys.argv[1], Path(sys.argv[2])
    metadata = json.loads(cargo("metadata", "--locked", "--format-version", "1"))
    packages = {(p["name"], p["version"]): p for p in metadata["packages"]}
    uses = linked(architecture)
    version = packages[next(crate for crate in uses if crate[0] == "mayhap-cli")]["version"]
    bill = bill_of_materials(uses, packages, version)
    (folder / "sbom.cdx.json").write_text(json.dumps(bill, indent=2) + "\n")
    others = sorted(crate for crate in uses if packages[crate]["source"])
    (folder / "THIRD-PARTY-LICENSES.txt").write_text("\n".join(license_texts(others, packages)))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes the program's bill of materials, CycloneDX 1.6 in JSON, to standard output.

    python3 packaging/sbom.py [--features fleet] > codelode.cdx.json

Its components are the crates that are compiled into the program or run while it is built, as `cargo metadata --locked` resolves them; their
hashes are those of Cargo.lock. Tests' and benchmarks' crates are left out. The same commit gives the same bytes.
"""

import argparse, json, subprocess, sys, tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def metadata(features):
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--features", features]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def needed(nodes, root):
    """Ids of the packages that the root is built from, each with the ids that it depends on itself."""
    found, waiting = {}, [root]
    while waiting:
        id = waiting.pop()
        if id in found:
            continue
        used = [dep["pkg"] for dep in nodes[id]["deps"] if any(kind["kind"] != "dev" for kind in dep["dep_kinds"])]
        found[id] = sorted(set(used))
        waiting += used
    return found


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, hashes):
    written = {"type": "library", "bom-ref": purl(package), "name": package["name"], "version": package["version"]}
    if package["license"]:
        # Older crates separate alternatives by a slash.
        written["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    checksum = hashes.get((package["name"], package["version"]))
    if checksum:
        written["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    written["purl"] = purl(package)
    if package["repository"]:
        written["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return written


def main():
    parser = argparse.ArgumentParser(description="Writes a bill of materials to standard output.")
    parser.add_argument("--features", default="fleet", help="as in the build (default: %(default)s)")
    resolved = metadata(parser.parse_args().features)
    packages = {package["id"]: package for package in resolved["packages"]}
    uses = needed({node["id"]: node for node in resolved["resolve"]["nodes"]}, resolved["resolve"]["root"])
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    hashes = {(one["name"], one["version"]): one["checksum"] for one in locked if "checksum" in one}
    root = packages[resolved["resolve"]["root"]]
    order = sorted(uses, key=lambda id: (packages[id]["name"], packages[id]["version"]))
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**component(root, hashes), "type": "application"}},
        "components": [component(packages[id], hashes) for id in order if id != root["id"]],
        "dependencies": [
            {"ref": purl(packages[id]), "dependsOn": sorted({purl(packages[used]) for used in uses[id]})} for id in order
        ],
    }
    json.dump(bill, sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()

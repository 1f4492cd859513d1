#!/usr/bin/env python3
"""Packs built programs for package managers; needs nothing but Python 3.11.

    packaging/pack.py OUT TARGET=PROGRAM [TARGET=PROGRAM ...] [--archives FOLDER]

Into the folder OUT go, for every Rust target that is given: a wheel (PyPI), a package of the platform (npm) and a bundle for desktop
clients (.mcpb); and once: the npm package that people name, and with --archives, where the release's archives lie, a Homebrew formula.
Whatever can be said once is said in Cargo.toml and in TARGETS. The same input gives the same bytes.
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import re
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text())
PACKAGE = MANIFEST["package"] | MANIFEST["workspace"]["package"]
NAME, VERSION, REPOSITORY = PACKAGE["name"], PACKAGE["version"], PACKAGE["repository"]
PAPERS = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"]

# Rust target → npm's names of system, processor and C library; mcpb's name of the system; the wheel's platform, or None when the
# program itself tells it.
TARGETS = {
    "x86_64-unknown-linux-gnu": ("linux", "x64", "glibc", "linux", None),
    "aarch64-unknown-linux-gnu": ("linux", "arm64", "glibc", "linux", None),
    "x86_64-apple-darwin": ("darwin", "x64", None, "darwin", "macosx_10_12_x86_64"),
    "aarch64-apple-darwin": ("darwin", "arm64", None, "darwin", "macosx_11_0_arm64"),
}


def npm_name(target):
    system, processor, *_ = TARGETS[target]
    return f"@{NAME}/{system}-{processor}"


def wheel_platform(target, program):
    """The oldest Linux that a program runs on, by the symbols of glibc that it asks for (PEP 600)."""
    fixed = TARGETS[target][4]
    if fixed:
        return fixed
    minors = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", program)]
    if not minors:
        sys.exit(f"{target}: the program names no version of glibc; is it of this target?")
    # Before 2.17 no platform of that name is accepted.
    return f"manylinux_2_{max(17, *minors)}_{target.split('-')[0]}"


def zipped(path, files, stored=()):
    """Writes a zip of (name, bytes, mode); all of one age, in the order given."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, mode in files:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.external_attr = (0o100000 | mode) << 16
            info.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(info, content)


def wheel(out, target, program):
    platform = wheel_platform(target, program)
    info, data = f"{NAME}-{VERSION}.dist-info", f"{NAME}-{VERSION}.data"
    urls = f"Project-URL: Source, {REPOSITORY}\nProject-URL: Changelog, {REPOSITORY}/blob/main/CHANGELOG.md\n"
    metadata = (
        f"Metadata-Version: 2.4\nName: {NAME}\nVersion: {VERSION}\nSummary: {PACKAGE['description']}\n"
        f"Keywords: {','.join(PACKAGE['keywords'])}\nLicense-Expression: {PACKAGE['license']}\n"
        "License-File: LICENSE-MIT\nLicense-File: LICENSE-APACHE\n"
        f"{urls}Requires-Python: >=3.7\nDescription-Content-Type: text/markdown\n\n{readme()}"
    )
    tag = f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n"
    files = [
        (f"{data}/scripts/{NAME}", program, 0o755),
        (f"{info}/licenses/LICENSE-MIT", (ROOT / "LICENSE-MIT").read_bytes(), 0o644),
        (f"{info}/licenses/LICENSE-APACHE", (ROOT / "LICENSE-APACHE").read_bytes(), 0o644),
        (f"{info}/METADATA", metadata.encode(), 0o644),
        (f"{info}/WHEEL", tag.encode(), 0o644),
    ]

    def line(name, content, _mode):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        return f"{name},sha256={digest},{len(content)}\n"

    record = "".join(line(*file) for file in files) + f"{info}/RECORD,,\n"
    files.append((f"{info}/RECORD", record.encode(), 0o644))
    zipped(out / f"{NAME}-{VERSION}-py3-none-{platform}.whl", files)


def readme():
    """The README, with links that hold outside of the repository."""
    text = (ROOT / "README.md").read_text()
    text = re.sub(r"!\[([^\]]*)\]\((?!https?:)([^)]+)\)", rf"![\1]({REPOSITORY}/raw/v{VERSION}/\2)", text)
    return re.sub(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)", rf"[\1]({REPOSITORY}/blob/v{VERSION}/\2)", text)


def npm(out, manifest, files):
    shared = {
        "version": VERSION,
        "description": PACKAGE["description"],
        "keywords": PACKAGE["keywords"],
        "license": f"({PACKAGE['license']})",
        "repository": {"type": "git", "url": f"git+{REPOSITORY}.git"},
        "homepage": REPOSITORY,
    }
    text = json.dumps({"name": manifest["name"], **shared, **manifest}, indent=2) + "\n"
    papers = [(paper, (ROOT / paper).read_bytes(), 0o644) for paper in PAPERS[1:]]
    files = [("package.json", text.encode(), 0o644), *files, *papers, ("README.md", readme().encode(), 0o644)]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content, mode in files:
            info = tarfile.TarInfo(f"package/{name}")
            info.size, info.mode = len(content), mode
            archive.addfile(info, io.BytesIO(content))
    name = manifest["name"].removeprefix("@").replace("/", "-")
    (out / f"{name}-{VERSION}.tgz").write_bytes(gzip.compress(packed.getvalue(), mtime=0))


def npm_platform(out, target, program):
    system, processor, libc, *_ = TARGETS[target]
    manifest = {
        "name": npm_name(target),
        "description": f"{PACKAGE['description']} (the program for {system} {processor})",
        "os": [system],
        "cpu": [processor],
        **({"libc": [libc]} if libc else {}),
        "preferUnplugged": True,
    }
    npm(out, manifest, [(NAME, program, 0o755)])


def npm_main(out):
    manifest = {
        "name": NAME,
        # By this the registry of MCP servers knows that the package is ours.
        "mcpName": json.loads((ROOT / "schema/server.json").read_text())["name"],
        "bin": {NAME: f"{NAME}.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {npm_name(target): VERSION for target in TARGETS},
    }
    npm(out, manifest, [(f"{NAME}.js", (ROOT / "packaging" / f"{NAME}.js").read_bytes(), 0o755)])


def bundle(out, target, program):
    """A bundle that desktop clients install by a double click (manifest 0.3)."""
    manifest = {
        "manifest_version": "0.3",
        "name": NAME,
        "version": VERSION,
        "description": PACKAGE["description"],
        "author": {"name": f"The authors of {NAME}", "url": REPOSITORY},
        "repository": {"type": "git", "url": REPOSITORY},
        "license": PACKAGE["license"],
        "keywords": PACKAGE["keywords"],
        "server": {
            "type": "binary",
            "entry_point": f"server/{NAME}",
            "mcp_config": {
                "command": f"${{__dirname}}/server/{NAME}",
                "args": ["--repo", "${user_config.folder}", "serve", "--format", "compact"],
            },
        },
        "user_config": {
            "folder": {
                "type": "directory",
                "title": "Folder",
                "description": "The code to answer about. Other folders can be named in a question.",
                "required": True,
                "default": "${HOME}",
            }
        },
        "compatibility": {"platforms": [TARGETS[target][3]]},
        "tools_generated": True,
    }
    papers = [(paper, (ROOT / paper).read_bytes(), 0o644) for paper in PAPERS]
    text = json.dumps(manifest, indent=2).encode() + b"\n"
    zipped(out / f"{NAME}-{VERSION}-{target}.mcpb", [("manifest.json", text, 0o644), (f"server/{NAME}", program, 0o755), *papers])


def formula(out, archives):
    def source(target):
        name = f"{NAME}-v{VERSION}-{target}.tar.gz"
        digest = hashlib.sha256((archives / name).read_bytes()).hexdigest()
        return f'      url "{REPOSITORY}/releases/download/v{VERSION}/{name}"\n      sha256 "{digest}"\n'

    systems = {"macos": "apple-darwin", "linux": "unknown-linux-gnu"}
    blocks = "".join(
        f"  on_{system} do\n"
        + "".join(
            f"    on_{on} do\n{source(f'{processor}-{rest}')}    end\n"
            for on, processor in [("arm", "aarch64"), ("intel", "x86_64")]
        )
        + "  end\n\n"
        for system, rest in systems.items()
    )
    licences = ", ".join(f'"{one}"' for one in PACKAGE["license"].split(" OR "))
    text = (
        f'class {NAME.capitalize()} < Formula\n  desc "{PACKAGE["description"]}"\n  homepage "{REPOSITORY}"\n'
        f'  version "{VERSION}"\n  license any_of: [{licences}]\n\n{blocks}'
        f'  def install\n    bin.install "{NAME}"\n'
        f'    generate_completions_from_executable(bin/"{NAME}", "completions")\n'
        f'    (man1/"{NAME}.1").write Utils.safe_popen_read(bin/"{NAME}", "man")\n  end\n\n'
        f'  test do\n    (testpath/"one.py").write "def answer():\\n    return 42\\n"\n'
        f'    assert_match "answer", shell_output("#{{bin}}/{NAME} search answer")\n  end\nend\n'
    )
    (out / f"{NAME}.rb").write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("programs", nargs="+", metavar="TARGET=PROGRAM")
    parser.add_argument("--archives", type=Path, help="folder of the release's archives, for the formula")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for given in args.programs:
        target, _, path = given.partition("=")
        if target not in TARGETS or not path:
            sys.exit(f"{given}: expected TARGET=PROGRAM, where TARGET is one of {', '.join(TARGETS)}")
        program = Path(path).read_bytes()
        for pack in (wheel, npm_platform, bundle):
            pack(args.out, target, program)
    npm_main(args.out)
    if args.archives:
        formula(args.out, args.archives)
    for path in sorted(args.out.iterdir()):
        print(f"{path.stat().st_size:>11,}  {path.name}")


main()

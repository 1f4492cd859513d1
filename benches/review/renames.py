#!/usr/bin/env python3
"""Judges renames by compilers: random symbols are renamed where `codelode rename` is sure, and the build is checked.

    benches/review/renames.py REPO PATHS CHECK [--program codelode] [--of 15] [--seed 26]

REPO is a clean checkout in which the command CHECK passes, or fails always in the same way; it is left as it was. PATHS is a
regular expression of the files whose symbols are renamed. Draws go on until `--of` renames were made. A build is broken if
CHECK ends otherwise than before: with another status, or with other lines once places are left out.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def run(repo, args, **more):
    return subprocess.run(args, cwd=repo, capture_output=True, text=True, errors="replace", **more)


def ids(symbols):
    for symbol in symbols:
        yield symbol["id"]
        yield from ids(symbol.get("children", []))


def outcome(repo, check, new="", old=""):
    ran = run(repo, check, shell=True)
    text = re.sub(r"\d+", "", ran.stdout + ran.stderr).replace(new or "\0", old)
    return ran.returncode, sorted(line for line in text.splitlines() if "error" in line.lower())


def other_name(name):
    return name + ("Anew" if re.search(r"[a-z][A-Z]|^[A-Z][a-z]", name) else "_ANEW" if name.isupper() else "_anew")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("repo", type=Path)
    parser.add_argument("paths")
    parser.add_argument("check")
    parser.add_argument("--program", default="codelode")
    parser.add_argument("--of", type=int, default=15)
    parser.add_argument("--seed", type=int, default=26)
    given = parser.parse_args()
    repo, draw = given.repo.resolve(), random.Random(given.seed)
    with tempfile.TemporaryDirectory() as index:
        env = {**os.environ, "CODE_INDEX_PATH": index}
        files = [path for path in run(repo, ["git", "ls-files"]).stdout.splitlines() if re.search(given.paths, path)]
        all_ids = []
        for path in files:
            args = json.dumps({"file_path": path, "max_tokens": 1_000_000})
            told = json.loads(run(repo, [given.program, "call", "--json", "get_file_outline", args], env=env).stdout)
            all_ids.extend(ids(told.get("symbols", [])))
        draw.shuffle(all_ids)
        before = outcome(repo, given.check)
        if before != outcome(repo, given.check):
            sys.exit("the check does not end the same way twice")
        n_sure = n_asked = n_broken = 0
        for symbol in all_ids:
            name = re.sub(r"[#~].*", "", symbol.split("::", 1)[1]).split(".")[-1]
            new = other_name(name)
            ran = run(repo, [given.program, "rename", symbol, new, "--quiet"], env=env)
            n_asked += 1
            if ran.returncode:
                why = re.findall(r"\(([^()]*)\)", ran.stderr)[:1] or [ran.stderr.strip()[:90]]
                print(f"refused {symbol}: {why[0]}", file=sys.stderr, flush=True)
                continue
            n_sure += 1
            after = outcome(repo, given.check, new, name)
            if after != before:
                n_broken += 1
                fresh = [line for line in after[1] if line not in before[1]]
                print(f"BROKEN {symbol} -> {new}: {fresh[:3]}", file=sys.stderr, flush=True)
            else:
                print(f"fine {symbol}: {ran.stdout.strip()}", file=sys.stderr, flush=True)
            run(repo, ["git", "checkout", "-q", "."])
            if n_sure == given.of:
                break
    print(f"{given.repo.name:16} {n_asked} asked, {n_sure} renamed, {n_broken} broken builds")


if __name__ == "__main__":
    main()

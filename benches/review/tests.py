#!/usr/bin/env python3
"""Judges the tests that `codelode tests` names, by the merged changes of real repositories.

    benches/review/tests.py CLONES [--program codelode] [--of N] [--only NAME] [--list FILE]

CLONES holds a clone NAME of each repository in repositories.txt; only what is committed there is read. A change is a step of
the first-parent history, back from the pinned commit, that touches sources and tests which were there before. The checkout
is put to the state before the change, the sources alone are changed, and the program is asked for the tests. It has the
change where every test file that was touched is among the first ten that it names (or the first ten are all touched). Beside it:
test files of the same name, and those of the same folder, each completed by the nearest folders.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = re.compile(r"\.(py|go|rs|java|js|mjs|cjs|jsx|ts|mts|cts|tsx)$")
TESTS = re.compile(
    r"(^|/)(test_[^/]*|[^/]*_test|tests?)\.py$|_test\.go$|(^|/)(Test[^/]*|[^/]*Tests?)\.java$"
    r"|\.(test|spec)\.[cm]?[jt]sx?$|(^|/)(__tests__|tests?)/([^/]+/)*[^/]+\.[cm]?[jt]sx?$|(^|/)tests/[^/]+\.rs$"
)
# Files that tests read, show code, or are made.
ASIDE = re.compile(r"(^|/)(fixtures?|__fixtures__|__snapshots__|testdata|examples?|bench(es|marks?)?|docs?|vendor|dist|build"
                   r"|playground|node_modules|helpers?|conftest\.py)(/|$)|\.d\.ts$")
MOST_FILES = 40
FIRST = 10


def git(repo, *args):
    ran = subprocess.run(["git", "-C", str(repo), *args], capture_output=True, text=True, errors="replace")
    if ran.returncode:
        raise RuntimeError(f"git {args}: {ran.stderr}")
    return ran.stdout


def is_test(path):
    return bool(TESTS.search(path)) and not ASIDE.search(path)


def is_source(path):
    in_tests = re.search(r"(^|/)(tests?|__tests__|spec|testing)/", path)
    return bool(SOURCES.search(path)) and not TESTS.search(path) and not ASIDE.search(path) and not in_tests


def changes(repo, pinned, most):
    """Changes of the first-parent history that touch sources and tests that were there before, the newest first."""
    found = []
    for line in git(repo, "log", "--first-parent", "-n", "3000", "--format=%H %P", pinned).splitlines():
        commit, *parents = line.split()
        if not parents:
            continue
        differing = git(repo, "diff", "--name-status", "--no-renames", parents[0], commit).splitlines()
        if len(differing) > MOST_FILES:
            continue
        files = [line.split("\t", 1) for line in differing]
        tests = [path for how, path in files if how == "M" and is_test(path)]
        sources = [(how, path) for how, path in files if is_source(path)]
        if tests and sources:
            found.append((commit, parents[0], sources, tests))
        if len(found) == most:
            break
    return found


def put(repo, commit, parent, sources):
    """The state before a change, with the changed sources."""
    git(repo, "checkout", "-q", "-f", "--detach", parent)
    git(repo, "clean", "-q", "-fdx")
    for how, path in sources:
        if how == "D":
            (repo / path).unlink(missing_ok=True)
        else:
            git(repo, "checkout", "-q", commit, "--", path)
    git(repo, "reset", "-q")


def named(program, repo, index):
    """The test files that the program names, the most direct first."""
    args = [program, "call", "--json", "find_tests", json.dumps({"changed": True, "max_tokens": 100_000})]
    ran = subprocess.run(args, cwd=repo, capture_output=True, text=True, env={**os.environ, "CODE_INDEX_PATH": str(index)})
    answer = json.loads(ran.stdout)
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return [test["file"] for test in answer["tests"]]


def words(path):
    stem = Path(path).name.split(".")[0]
    stem = re.sub(r"^test_|_tests?$|Tests?$|^Test", "", stem)
    return Path(path).parent.name.lower() if stem in ("__init__", "index", "mod", "lib", "main") else stem.lower()


def nearness(path, other):
    a, b = Path(path).parent.parts, Path(other).parent.parts
    common = len(set(a) & set(b))
    return common / max(len(a), len(b), 1)


def ranked(tests, sources, score):
    best = {test: max(score(source, test) for _, source in sources) for test in tests}
    return sorted((test for test in tests if best[test] > 0), key=lambda test: (-best[test], test))


def same_name(tests, sources):
    return ranked(tests, sources, lambda a, b: (words(a) == words(b)) * (1 + nearness(a, b)))


def same_folder(tests, sources):
    return ranked(tests, sources, nearness)


def has(touched, first):
    first = first[:FIRST]
    return set(touched) <= set(first) or (len(touched) > FIRST and set(first) <= set(touched))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("clones", type=Path)
    parser.add_argument("--program", default="codelode")
    parser.add_argument("--of", type=int, default=20)
    parser.add_argument("--only")
    parser.add_argument("--list", type=Path, default=HERE / "repositories.txt")
    given = parser.parse_args()
    program = str(Path(given.program).resolve()) if "/" in given.program else given.program
    columns = ["codelode", "any", "same name", "same folder"]
    totals, n_all = dict.fromkeys(columns, 0), 0
    print(f"{'':24}{'changes':>9}" + "".join(f"{column:>13}" for column in columns), flush=True)
    with tempfile.TemporaryDirectory() as place:
        for line in given.list.read_text().splitlines():
            name, pinned = line.split()[:2]
            if line.startswith("#") or (given.only and given.only not in name):
                continue
            repo, n, sums = Path(place) / "work" / Path(name).name, 0, dict.fromkeys(columns, 0)
            git(".", "clone", "-q", "--shared", "--no-checkout", str((given.clones / Path(name).name).resolve()), str(repo))
            for commit, parent, sources, touched in changes(repo, pinned, given.of):
                put(repo, commit, parent, sources)
                tests = [path for path in git(repo, "ls-files").splitlines() if is_test(path)]
                touched = [test for test in touched if test in tests]
                first = named(program, repo, Path(place) / "index")
                kept = [path for path in first if is_test(path)]
                results = [has(touched, first), bool(set(touched) & set(first[:FIRST])),
                           has(touched, same_name(tests, sources)), has(touched, same_folder(tests, sources))]
                n += 1
                for column, result in zip(columns, results):
                    sums[column] += result
                if not results[0] and os.environ.get("VERBOSE"):
                    places = {test: kept.index(test) + 1 if test in kept else None for test in touched}
                    print(name, commit[:10], [path for _, path in sources][:4], places, first[:3], file=sys.stderr, flush=True)
            n_all += n
            for column in columns:
                totals[column] += sums[column]
            print(f"{name:24}{n:>9}" + "".join(f"{sums[column] / max(n, 1):>13.2f}" for column in columns), flush=True)
    print(f"{'all':24}{n_all:>9}" + "".join(f"{totals[column] / max(n_all, 1):>13.2f}" for column in columns))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Judges the tests that `codelode tests --changed` selects, by tests that fail once a source is broken.

    benches/review/mutations.py REPO RUNNER SOURCES [--program codelode] [--of 20] [--seed 26] [--keep FILE] [--recording FILE]

REPO is a checkout in which RUNNER (pytest, go, mocha, nextest) runs; it is left as it was. SOURCES is a regular expression of
the paths that are broken. A mutation changes one operator or value in one line inside a function; one that no test notices, or
with which nothing can be run, is drawn again. The selection has a failing test if its runner would run it.
FILE keeps the mutations with the tests that fail, so that later runs only ask the program.
"""

import argparse
import contextlib
import itertools
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 900
# Each as a pattern and what it becomes; one that fits the line is drawn.
MUTATIONS = [
    (r" == ", " != "), (r" != ", " == "), (r" === ", " !== "), (r" !== ", " === "), (r" < ", " >= "), (r" > ", " <= "),
    (r" <= ", " > "), (r" >= ", " < "), (r" \+ ", " - "), (r" - ", " + "), (r" and ", " or "), (r" or ", " and "),
    (r" && ", " || "), (r" \|\| ", " && "), (r"\bTrue\b", "False"), (r"\bFalse\b", "True"), (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"), (r"\bnot ", ""), (r"\bis None\b", "is not None"), (r"\b0\b", "1"), (r"\b1\b", "2"),
    (r"if \(", "if (!"), (r"\bif ([a-z]\w*)( \{|:)$", r"if not \1\2"), (r"\+= ", "-= "),
]
COMMENT = re.compile(r"^\s*(#|//|/?\*|\"\"\"|'''|import\b|from\b|use\b|package\b|@|#\[)")


def run(repo, *args, **more):
    try:
        return subprocess.run(args, cwd=repo, capture_output=True, text=True, errors="replace", timeout=LIMIT, **more)
    except subprocess.TimeoutExpired:
        return None


class Pytest:
    def tests(repo, _):
        ran = run(repo, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no", "-rA", "--timeout=60")
        if not ran or ran.returncode not in (0, 1):
            return None
        found = {True: set(), False: set()}
        for how, test in re.findall(r"^(PASSED|FAILED|ERROR) (\S+?::[^\[\s]+)", ran.stdout, re.M):
            found[how == "PASSED"].add(test)
        return found[True] - found[False], found[False]

    def selected(repo, all_tests, arguments):
        def is_in(test):
            return any(test == one or test.startswith(one + "::") for one in arguments)
        return {test for test in all_tests if is_in(test)}


class Go:
    def tests(repo, _):
        ran = run(repo, "go", "test", "-json", "-vet=off", "-timeout", "300s", "./...")
        if not ran or "build failed" in ran.stdout:
            return None
        found = {"pass": set(), "fail": set()}
        for line in ran.stdout.splitlines():
            event = json.loads(line) if line.startswith("{") else {}
            if event.get("Action") in found and "/" not in event.get("Test", "/"):
                found[event["Action"]].add((event["Package"], event["Test"]))
        return found["pass"], found["fail"]

    def selected(repo, all_tests, arguments):
        module = run(repo, "go", "list", "-m").stdout.strip()
        names = arguments[arguments.index("-run") + 1] if "-run" in arguments else ""
        folders = {os.path.normpath(f"{module}/{path}") for path in arguments if path.startswith(".")}
        return {(package, test) for package, test in all_tests if package in folders and re.search(names, test)}


class Mocha:
    def tests(repo, extra):
        with tempfile.NamedTemporaryFile() as report:
            ran = run(repo, "node_modules/.bin/mocha", "--reporter", "json", "--reporter-option", f"output={report.name}", *extra)
            text = Path(report.name).read_text()
        if not ran or not text:
            return None
        told = json.loads(text)
        name = lambda test: (os.path.relpath(test["file"], repo), test["fullTitle"])
        failed = {name(test) for test in told["failures"] if test.get("file")}
        return {name(test) for test in told["passes"]} - failed, failed

    def selected(repo, all_tests, arguments):
        return {test for test in all_tests if test[0] in arguments}


class Nextest:
    def tests(repo, extra):
        ran = run(repo, "cargo", "nextest", "run", "--workspace", "--no-fail-fast", "--color=never", *extra)
        if not ran or "error: could not compile" in ran.stderr:
            return None
        found = {True: set(), False: set()}
        lines = re.findall(r"^ +(PASS|FAIL|TIMEOUT|SIGABRT|SIGSEGV) \[[^\]]*\] (?:\([^)]*\) )?(\S+) (\S+)$", ran.stderr, re.M)
        for how, binary, test in lines:
            found[how == "PASS"].add((binary, test))
        return found[True] - found[False], found[False]

    def selected(repo, all_tests, arguments):
        args = ["cargo", "nextest", "list", "--workspace", "--message-format", "json", "-E", " | ".join(arguments)]
        suites = json.loads(run(repo, *args).stdout)["rust-suites"]
        found = {(name, test) for name, suite in suites.items() for test, one in suite["testcases"].items()
                 if one["filter-match"]["status"] == "matches"}
        return found & all_tests


RUNNERS = {"pytest": Pytest, "go": Go, "mocha": Mocha, "nextest": Nextest}


def places(repo, sources):
    """Lines of sources that are indented, and no comments or documentation."""
    files = [path for path in run(repo, "git", "ls-files").stdout.splitlines() if re.search(sources, path)]
    found = []
    for path in files:
        is_test = in_text = False
        for number, line in enumerate((repo / path).read_text(errors="replace").splitlines()):
            is_test = is_test or "#[cfg(test)]" in line
            was_in_text, in_text = in_text, in_text ^ (line.count('"""') % 2 == 1)
            if not is_test and not was_in_text and line[:1] in (" ", "\t") and not COMMENT.search(line):
                found.append((path, number))
    return found


def mutated(line, draw):
    # Text in quotes says too little.
    code = re.sub(r"\"[^\"]*\"|'[^']*'", lambda text: "_" * len(text.group()), line)
    fitting = [(pattern, new) for pattern, new in MUTATIONS if re.search(pattern, code)]
    if not fitting:
        return None
    pattern, new = draw.choice(fitting)
    if re.search(pattern, line).span() != re.search(pattern, code).span():
        return None
    return re.sub(pattern, new, line, count=1)


def ask(program, repo, env, recording):
    arguments = {"changed": True, "max_tokens": 1_000_000, **({"recording": recording} if recording else {})}
    answer = json.loads(run(repo, program, "call", "--json", "find_tests", json.dumps(arguments), env=env).stdout)
    if answer["_meta"].get("freshness") not in ("fresh", None):
        sys.exit(f"the answer is not about the files as they are: {answer['_meta']}")
    return [argument for one in answer["runs"] for argument in one["arguments"]]


def broken(repo, runner, given, draw, good, bad):
    """Mutations that tests notice: path, line number, line, and the tests that fail."""
    lines = places(repo, given.sources)
    draw.shuffle(lines)
    for path, number in lines:
        text = (repo / path).read_text(errors="replace")
        line = mutated(text.split("\n")[number], draw)
        if line is None:
            continue
        with edited(repo, path, number, line):
            failed = failing(repo, runner, given, good, bad)
            # A test that fails once and passes the next time fails because of something else.
            failed = failed and failed & failing(repo, runner, given, good, bad)
        if failed:
            yield path, number, line, sorted(failed)


def failing(repo, runner, given, good, bad):
    after = runner.tests(repo, given.extra)
    # A suite that ends early tells nothing.
    if not after or len(after[0]) + len(after[1]) < len(good) * 0.95:
        return set()
    return (after[1] - bad) & good


@contextlib.contextmanager
def edited(repo, path, number, line):
    text = (repo / path).read_text(errors="replace")
    lines = text.split("\n")
    lines[number] = line
    try:
        (repo / path).write_text("\n".join(lines))
        yield
    finally:
        (repo / path).write_text(text)


def known(keep, repo, runner, given):
    """The tests that pass, and the mutations: kept ones, and new ones that are kept, too."""
    tests = lambda found: [tuple(one) if isinstance(one, list) else one for one in found]
    if keep and keep.exists():
        rows = [json.loads(line) for line in keep.read_text().splitlines()]
        return set(tests(rows[0])), ((*row[:3], tests(row[3])) for row in rows[1:])
    before = runner.tests(repo, given.extra)
    if not before or not before[0]:
        sys.exit("the tests cannot be run")
    found = broken(repo, runner, given, random.Random(given.seed), *before)

    def kept():
        with (keep or Path(os.devnull)).open("w") as file:
            print(json.dumps(sorted(before[0])), file=file, flush=True)
            for row in itertools.islice(found, given.of):
                print(json.dumps(row), file=file, flush=True)
                yield row
    return before[0], kept()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("repo", type=Path)
    parser.add_argument("runner", choices=RUNNERS)
    parser.add_argument("sources")
    parser.add_argument("--extra", type=shlex.split, default=[], help="further arguments of the runner")
    parser.add_argument("--program", default="codelode")
    parser.add_argument("--of", type=int, default=20)
    parser.add_argument("--seed", type=int, default=26)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--recording", help="a path in REPO: which tests ran which lines")
    given = parser.parse_args()
    repo, runner = given.repo.resolve(), RUNNERS[given.runner]
    good, mutations = known(given.keep, repo, runner, given)
    n, hits, failures, sizes, whole = 0, 0, 0, [], []
    with tempfile.TemporaryDirectory() as index:
        env = {**os.environ, "CODE_INDEX_PATH": index}
        for path, number, line, failed in mutations:
            failed = set(failed)
            with edited(repo, path, number, line):
                arguments = ask(given.program, repo, env, given.recording)
                chosen = runner.selected(repo, good, arguments) if arguments else set()
            n += 1
            hits += len(failed & chosen)
            failures += len(failed)
            sizes.append(len(chosen) / len(good))
            whole.append(len(failed & chosen) / len(failed))
            print(f"{path}:{number + 1} {line.strip()[:60]!r}: {len(failed)} fail, {len(failed & chosen)} of them among "
                  f"{len(chosen)} chosen; missed {sorted(failed - chosen)[:3]}", file=sys.stderr, flush=True)
    size = sum(sizes) / max(n, 1)
    print(f"{given.repo.name:16} {n} mutations, {failures} failing tests, {hits / max(failures, 1):.3f} of them chosen "
          f"({sum(whole) / max(n, 1):.3f} by mutation), {size:.2f} of {len(good)} tests chosen")


if __name__ == "__main__":
    main()

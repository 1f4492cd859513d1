"""Uses of definitions drawn at random, beside what a compiler's front end says: clang for C, pyright for Python."""

import json
import random
import re
from collections import Counter

from lab import HERE, Left, run
from servers import LanguageServer

# A source distribution, the folders of its own code, and for C what the compiler is told.
PYTHON = [("werkzeug==3.1.3", "src/werkzeug"), ("tornado==6.4.2", "tornado"), ("networkx==3.4.2", "networkx/classes")]
C = [("brotli==1.1.0", "-I@/c/include", ["c/common/*.c", "c/dec/*.c", "c/enc/*.c", "c/tools/*.c"]),
     ("hiredis==3.1.0", "-I@/vendor/hiredis", ["vendor/hiredis/*.c"])]
N_QUESTIONS = 250


def measure(lab):
    try:
        ripgrep = lab.rival("ripgrep")
    except Left as left:
        ripgrep = None
        lab.missing["ripgrep"] = str(left)
    pyright = lab.npm("pyright@1.1.407") / "node_modules" / ".bin" / "pyright-langserver"
    for package, part in PYTHON:
        folder = lab.archive(package.split("==")[0], "pypi", package)
        yield table(lab, ripgrep, folder, package, "pyright 1.1.407", from_pyright(pyright, folder, part))
    for package, flags, patterns in C:
        folder = lab.archive(package.split("==")[0], "pypi", package)
        try:
            truth = from_clang(lab, folder, flags, patterns)
        except Left as left:
            lab.missing[f"C ({package}, by clang)"] = str(left)
            continue
        yield table(lab, ripgrep, folder, package, "clang", truth)


def from_pyright(pyright, folder, part):
    """Functions, methods and classes whose name is defined once, so that nobody's answer hangs on a guess about overriding."""
    places, names, judged = [], Counter(), set()
    for path in sorted((folder / part).rglob("*.py")):
        file = str(path.relative_to(folder))
        judged.add(file)
        for line, text in enumerate(path.read_text(errors="replace").split("\n"), 1):
            found = re.match(r"\s*(?:async\s+)?(?:def|class)\s+(\w+)", text)
            if found:
                names[found[1]] += 1
                places.append((file, line, found[1], found.start(1) + 1))
    places = [place for place in places if names[place[2]] == 1 and not place[2].startswith("__")]
    random.Random(7).shuffle(places)
    questions = []
    with LanguageServer([pyright, "--stdio"], folder, "python") as server:
        for file, line, name, column in places[:N_QUESTIONS]:
            expect = {use for use in server.uses(file, line, column) if use[0] in judged}
            questions.append({"file": file, "line": line, "name": name, "expect": expect, "neutral": {(file, line)}})
    return {"questions": questions, "judged": judged, "neutral": {}, "dropped": set()}


def from_clang(lab, folder, flags, patterns):
    out = lab.work / f"{folder.name}.json"
    python = lab.pypi("libclang==18.1.1")
    run([python, HERE.parent / "truth" / "ask_clang.py", folder, "--out", out, f"--limit={N_QUESTIONS}", f"--flags={flags}", *patterns])
    truth = json.loads(out.read_text())
    questions = [{**one, "expect": {tuple(at) for at in one["expect"]},
                  "neutral": {tuple(at) for at in one["neutral"]} | {(one["file"], one["line"])}} for one in truth["references"]]
    return {"questions": questions, "judged": set(truth["judged"]),
            "neutral": {file: set(lines) for file, lines in truth["neutral"].items()},
            "dropped": {(file, line, name) for file, all in truth["dropped"].items() for line, name in all}}


def table(lab, ripgrep, folder, package, truth_by, truth):
    arms = [{"name": "codelode", "version": lab.version, "values": codelode(lab, folder, truth)}]
    if ripgrep:
        arms.append({"name": "ripgrep -w", "version": ripgrep[1], "values": by_name(ripgrep[0], folder, truth)})
    n_lines = sum(len(one["expect"]) for one in truth["questions"])
    return {"corpus": folder.name, "version": package, "arms": arms,
            "size": f"{len(truth['questions'])} definitions with {n_lines:,} lines of uses by {truth_by}"}


def score(truth, answers):
    """Precision and recall by line, over all questions. Lines that the compiler does not read count neither way."""
    right = wrong = missing = 0
    for one, lines in zip(truth["questions"], answers):
        def counts(at):
            return at[0] in truth["judged"] and at not in one["neutral"] and at[1] not in truth["neutral"].get(at[0], ())
        expect, lines = {at for at in one["expect"] if counts(at)}, {at for at in lines if counts(at)}
        lines = {at for at in lines if at in expect or (*at, one["name"]) not in truth["dropped"]}
        right, wrong, missing = right + len(lines & expect), wrong + len(lines - expect), missing + len(expect - lines)
    return {"precision": right / max(1, right + wrong), "recall": right / max(1, right + missing),
            "right": right, "wrong": wrong, "missing": missing}


def codelode(lab, folder, truth):
    answers = []
    with lab.serve(folder) as server:
        server.json("index_folder", path=str(folder))
        for one in truth["questions"]:
            lines, more = set(), {}
            while True:
                answer = server.json("find_references", identifier=one["name"], file=one["file"], line=one["line"],
                                     max_results=1000, max_tokens=100_000, **more)
                lines |= {(use["file"], use["line"]) for use in answer.get("references", [])
                          if use.get("confidence", "resolved") == "resolved"}
                if not answer.get("next_cursor"):
                    break
                more = {"cursor": answer["next_cursor"]}
            answers.append(lines)
    return score(truth, answers)


def by_name(program, folder, truth):
    answers = []
    for one in truth["questions"]:
        out = run([program, "-nw", "--no-heading", "--with-filename", "--no-ignore", one["name"], "."], folder, check=False).stdout
        found = re.findall(r"^(?:\./)?(.+?):(\d+):", out, re.M)
        answers.append({(file, int(line)) for file, line in found})
    return score(truth, answers)

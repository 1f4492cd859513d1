"""Dead code: what each tool says nothing uses, beside the uses that pyright finds, and beside verdicts of a reader."""

import os
import random
import re

from lab import HERE, Left, run
from servers import LanguageServer

# Of each list as many are looked up, drawn at random.
N_JUDGED = 60
# What codelode lists where nobody asks for another confidence.
DEFAULT = 0.8
LESS_SURE = f"at {DEFAULT}, its default"
CORPORA = ["werkzeug==3.1.3", "tornado==6.4.2", "networkx==3.4.2", "docutils==0.21.2"]


def measure(lab):
    yield read(lab)
    pyright = lab.npm("pyright@1.1.407") / "node_modules" / ".bin" / "pyright-langserver"
    try:
        vulture = lab.pypi("vulture==2.14").parent / "vulture"
    except Left as left:
        vulture = None
        lab.missing["vulture"] = str(left)
    for package in CORPORA:
        name = package.split("==")[0]
        folder = lab.archive(name, "pypi", package)
        lists = [("codelode", lab.version, codelode(lab, folder))]
        if vulture:
            lists.append(("vulture", "2.14", with_vulture(vulture, folder)))
        with LanguageServer([pyright, "--stdio"], folder, "python") as server:
            arms = [{"name": tool, "version": version, "values": {"listed": len(listed), **judged(server, folder, listed)}}
                    for tool, version, listed in lists]
        yield {"corpus": name, "version": package, "size": f"{sum(1 for _ in folder.rglob('*.py')):,} Python files", "arms": arms}


def read(lab):
    """Verdicts on repositories in many languages, beside those that a reader gave in `benches/dead/verdicts.tsv`."""
    known, folder = {}, HERE.parent / "dead"
    for line in (folder / "verdicts.tsv").read_text().splitlines():
        name, symbol, verdict = line.split("\t")[:3]
        known[name, symbol] = verdict == "used"
    listed = {1.0: [], DEFAULT: []}
    repositories = [line.split() for line in (folder / "repositories.txt").read_text().splitlines()]
    for repository, commit, _ in repositories:
        name = repository.split("/")[1]
        tree = lab.git(f"dead-{name}", f"https://github.com/{repository}", commit)
        for least, all in listed.items():
            all += [(name, symbol["symbol_id"]) for symbol in dead(lab, tree, least)]
    arms = []
    for least, all in listed.items():
        used = [known[verdict] for verdict in all if verdict in known]
        values = {"listed": len(all), "judged": len(used), "used": sum(used), "right": 1 - sum(used) / max(1, len(used))}
        arms.append({"name": "codelode", "version": lab.version, "values": values, **({} if least == 1.0 else {"variant": LESS_SURE})})
    return {"corpus": f"{len(repositories)} repositories, read by hand", "version": "benches/dead/repositories.txt",
            "size": f"{len(known)} verdicts known", "arms": arms}


def dead(lab, folder, least):
    with lab.serve(folder) as server:
        server.json("index_folder", path=str(folder))
        found, more = [], {}
        while True:
            answer = server.json("find_dead_code", granularity="symbol", min_confidence=least, max_tokens=200_000, **more)
            found += answer.get("dead_symbols") or []
            if not answer.get("next_cursor"):
                return found
            more = {"cursor": answer["next_cursor"]}


def codelode(lab, folder):
    found = [(symbol, re.search(r"(\w+)#(?:function|method|class)\b", symbol["symbol_id"] or "")) for symbol in dead(lab, folder, 1.0)]
    return [(symbol["file"], symbol["line"], id[1]) for symbol, id in found if id and symbol["file"].endswith(".py")]


def with_vulture(vulture, folder):
    """Functions, methods and classes, at its lowest confidence, which is all that it gives for them."""
    out = run([vulture, "."], folder, check=False).stdout
    listed = re.findall(r"^(.+?):(\d+): unused (?:function|method|class) '(\w+)'", out, re.M)
    return [(os.path.normpath(file), int(line), name) for file, line, name in listed]


def is_used(server, folder, file, line, name):
    """Whether the language server finds a use outside of the definition's own line; nothing where there is no such definition."""
    lines = (folder / file).read_text(errors="replace").split("\n")
    # A tool may name the line of a decorator.
    for row, text in enumerate(lines[line - 1:line + 20], line):
        if found := re.search(rf"(def|class)\s+({name})\b", text):
            return bool(server.uses(file, row, found.start(2) + 1) - {(file, row)})
    return None


def judged(server, folder, listed):
    listed = random.Random(5).sample(sorted(listed), min(N_JUDGED, len(listed)))
    used = [verdict for place in listed if (verdict := is_used(server, folder, *place)) is not None]
    return {"judged": len(used), "used": sum(used), "right": 1 - sum(used) / len(used) if used else None}

"""Dead code: what each tool says nothing uses, beside the uses that pyright finds."""

import os
import random
import re

from lab import Left, run
from servers import LanguageServer

# Of each list as many are looked up, drawn at random.
N_JUDGED = 60
CORPORA = ["werkzeug==3.1.3", "networkx==3.4.2", "docutils==0.21.2", "tornado==6.4.2"]


def measure(lab):
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


def codelode(lab, folder):
    with lab.serve(folder) as server:
        server.json("index_folder", path=str(folder))
        answer = server.json("find_dead_code", granularity="symbol", min_confidence=1.0, max_tokens=200_000)
        found = [(symbol, re.search(r"(\w+)#(?:function|method|class)\b", symbol["symbol_id"] or "")) for symbol in answer["dead_symbols"]]
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

"""Two language servers on one project: what they answer at names drawn by a seed, how fast, and in how much memory.

    benches/editors.py FOLDER '*.rs' rust -- target/release/codelode lsp -- rust-analyzer

The first server is ours. Definitions are compared by line, uses by file and line without the definition."""

import argparse
import fnmatch
import os
import random
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote, urlparse

sys.path.insert(0, str(Path(__file__).parent / "proof"))
from servers import LanguageServer

WORD = re.compile(r"[A-Za-z_]\w{2,}")
# A server that is asked again and again has answered nothing by then because it knows nothing.
PATIENCE = 600


def main():
    parts = " ".join(sys.argv[1:]).split(" -- ")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", help="a pattern of file names")
    parser.add_argument("language", help="the protocol's name of the language")
    parser.add_argument("--definitions", type=int, default=200)
    parser.add_argument("--references", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--show", action="store_true", help="print what differs")
    args = parser.parse_args(parts[0].split())
    if len(parts) != 3:
        parser.error("give both servers, each after --")
    spots = drawn(args)
    answers = [asked(command.split(), args, spots) for command in parts[1:]]
    report(args, spots, *answers)


def drawn(args):
    """Names in files of the pattern: a file is drawn by its size, then a line, then a name in it that is no keyword or comment."""
    paths = subprocess.run(["git", "-C", args.folder, "ls-files"], capture_output=True, text=True).stdout.splitlines()
    paths = paths or [str(path.relative_to(args.folder)) for path in args.folder.rglob("*") if path.is_file()]
    texts = {path: (args.folder / path).read_text(errors="replace") for path in sorted(paths)
             if fnmatch.fnmatch(path.rsplit("/", 1)[-1], args.files)}
    choose, spots = random.Random(args.seed), []
    while len(spots) < args.definitions:
        path = choose.choices(list(texts), [len(text) for text in texts.values()])[0]
        lines = texts[path].split("\n")
        number = choose.randrange(len(lines))
        line = re.split(r"//|#(?!\[)|\"", lines[number])[0]
        words = list(WORD.finditer(line)) if line.isascii() else []
        if words:
            word = choose.choice(words)
            spots.append((path, number, word.start(), word.group()))
    return spots


def asked(command, args, spots):
    started = time.monotonic()
    with LanguageServer(command, args.folder, args.language) as server:
        def at(spot):
            path = server.folder / spot[0]
            if spot[0] not in server.opened:
                server.opened.add(spot[0])
                document = {"uri": path.as_uri(), "languageId": args.language, "version": 1, "text": path.read_text(errors="replace")}
                server.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
            return {"textDocument": {"uri": path.as_uri()}, "position": {"line": spot[1], "character": spot[2]}}

        def places(found):
            found = found if isinstance(found, list) else [found] if found else []
            return {place(server, it.get("targetUri") or it["uri"], it.get("targetSelectionRange") or it["range"]) for it in found}

        # One of the names has a definition, which is the first answer.
        first = None
        while first is None and time.monotonic() - started < PATIENCE:
            for spot in spots[:10]:
                if places(server.ask("textDocument/definition", at(spot))):
                    first = time.monotonic() - started
                    break
            else:
                time.sleep(0.1)
        # Loading goes on after the first answer: until the answers of two rounds are the same.
        before = None
        while time.monotonic() - started < PATIENCE:
            now = [places(server.ask("textDocument/definition", at(spot))) for spot in spots[:40]]
            if now == before:
                break
            before = now
            time.sleep(3)
        definitions, references, took = [], [], {"definition": [], "references": []}
        for spot in spots:
            begun = time.monotonic()
            definitions.append(places(server.ask("textDocument/definition", at(spot))))
            took["definition"].append(time.monotonic() - begun)
        for spot in spots[:args.references]:
            begun = time.monotonic()
            found = server.ask("textDocument/references", {**at(spot), "context": {"includeDeclaration": False}})
            took["references"].append(time.monotonic() - begun)
            references.append(places(found))
        return {"first": first, "took": took, "memory": memory(server.process.pid), "definitions": definitions, "references": references}


def place(server, uri, range_):
    path = unquote(urlparse(uri).path)
    return os.path.relpath(path, server.folder), range_["start"]["line"] + 1


def memory(pid):
    """Memory of their own of a process and those that it started, in megabytes."""
    own = 0
    for task in [pid, *children(pid)]:
        rollup = Path(f"/proc/{task}/smaps_rollup").read_text()
        own += sum(int(kilobytes) for kilobytes in re.findall(r"^Private_\w+:\s+(\d+)", rollup, re.M))
    return own / 1024


def children(pid):
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [task for child in found for task in (child, *children(child))]


def report(args, spots, ours, theirs):
    """Outside of the project only whether both find something counts, since packages may be there in several copies."""
    kinds = {"same": 0, "different": 0, "ours only": 0, "theirs only": 0, "theirs only, outside of the project": 0, "neither": 0}
    for spot, own, other in zip(spots, ours["definitions"], theirs["definitions"]):
        inside = [{it for it in found if not it[0].startswith("..")} for found in (own, other)]
        if not own and not other:
            kind = "neither"
        elif own and other:
            kind = "same" if inside[0] & inside[1] or not any(inside) else "different"
        else:
            kind = "ours only" if own else "theirs only" if inside[1] else "theirs only, outside of the project"
        kinds[kind] += 1
        if args.show and kind not in ("same", "neither"):
            print(kind, f"{spot[0]}:{spot[1] + 1}", spot[3], sorted(own)[:3], sorted(other)[:3])
    # Of what both know in the project: another's library is used everywhere, and is no business of an index of the project.
    uses, asked = [0, 0, 0], 0
    for at, spot in enumerate(spots[: args.references]):
        if not any(not it[0].startswith("..") for it in ours["definitions"][at] & theirs["definitions"][at]):
            continue
        asked += 1
        found = [{it for it in places if not it[0].startswith("..")} for places in (ours["references"][at], theirs["references"][at])]
        uses = [n + more for n, more in zip(uses, (len(found[0] & found[1]), len(found[0] - found[1]), len(found[1] - found[0])))]
        if args.show and found[0] != found[1]:
            print("uses", f"{spot[0]}:{spot[1] + 1}", spot[3], "ours only", sorted(found[0] - found[1])[:3], "theirs only", sorted(found[1] - found[0])[:3])
    print(f"| {args.definitions} definitions |", ", ".join(f"{kind} {n}" for kind, n in kinds.items()), "|")
    print(f"| references of {asked} | both {uses[0]}, ours only {uses[1]}, theirs only {uses[2]} |")
    print(f"| first answer, s: ours, theirs | {ours['first']:.1f}, {theirs['first']:.1f} |")
    for name in ("definition", "references"):
        times = [f"{statistics.median(it['took'][name]) * 1000:.1f} / {quantile(it['took'][name]) * 1000:.1f}" for it in (ours, theirs)]
        print(f"| {name}, p50 / p95 ms: ours, theirs | {', '.join(times)} |")
    print(f"| private memory, MB: ours, theirs | {ours['memory']:.0f}, {theirs['memory']:.0f} |")


def quantile(times):
    return sorted(times)[int(len(times) * 0.95)]


if __name__ == "__main__":
    main()

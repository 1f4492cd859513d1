"""Tokens that a model reads until code that answers a question is in front of it."""

import json
import re
import statistics
import subprocess

from finding import KIT, TREES, wanted
from lab import run
from tokens import COUNT, counter

# Words of questions that say nothing about code.
STOP = set("a all an and are as at be between by can code do does for from handle handled handles has have how if in into is it its "
           "of on or the that their then they this to use used using was what when where which who why with work works".split())
# Files that a reader opens before giving up, as many as there are hits on a page.
MOST_FILES = 10
# Tokens that one call may answer with.
BUDGET = 3_000
LINES = 100


def measure(lab):
    python = counter(lab)
    own = lab.own("semble")
    kit = (own or lab.git("semble", *KIT)) / "benchmarks"
    note = {"note": "the questions came from a folder beside the script, not from their repository"} if own else {}
    program, version = lab.rival("ripgrep")
    for name, url, commit, part in TREES:
        folder = lab.git(f"{name}-asked", url, commit) / part
        questions = json.loads((kit / "annotations" / f"{name}.json").read_text())
        asked = [(one["query"], wanted(one, part)) for one in questions]
        grepped = [(listing, files, answers) for query, answers in asked for listing, files in [grep(program, folder, query)]]
        whole = [until(listing, [(file, text(folder, file)) for file, _ in files], answers) for listing, files, answers in grepped]
        ranges = [until(listing, [(file, around(folder, file, line)) for file, line in files], answers) for listing, files, answers in grepped]
        with lab.serve(folder, "all", "--format", "compact") as server:
            server.call("index_folder", path=str(folder))
            sources = [searched(server, query, answers) for query, answers in asked]
            context = [in_one(server, query, answers) for query, answers in asked]
        arms = [("codelode", lab.version, sources), ("codelode, one call", lab.version, context),
                ("ripgrep, lines", version, ranges), ("ripgrep, whole files", version, whole)]
        yield {"corpus": name, "version": commit[:9], "size": f"{len(asked)} questions", **note,
               "arms": [{"name": arm, "version": kind, "values": judge(python, read)} for arm, kind, read in arms]}


def grep(program, folder, query):
    """What ripgrep lists for the words of a question, and the files with the most of them, each with the line where most stand."""
    words = list(dict.fromkeys(word for word in re.findall(r"[A-Za-z_][\w.]{2,}", query) if word.lower() not in STOP))
    found = run([program, "-n", "-i", "--no-heading", "--with-filename", "-e", "|".join(map(re.escape, words)) or query, "."],
                folder, check=False).stdout.splitlines()
    files = {}
    for line in found:
        file, number, code = line.split(":", 2)
        held = {word for word in words if word.lower() in code.lower()}
        files.setdefault(file.removeprefix("./"), []).append((len(held), -int(number), held))
    worth = {file: (len(set().union(*(held for _, _, held in lines))), len(lines)) for file, lines in files.items()}
    first = sorted(files, key=lambda file: worth[file], reverse=True)[:MOST_FILES]
    listing = "\n".join(f"{file}:{worth[file][1]}" for file in first)
    return listing, [(file, -max(files[file], key=lambda hit: hit[:2])[1]) for file in first]


def text(folder, file):
    return (folder / file).read_text(errors="replace")


def around(folder, file, line):
    """The window of lines around one."""
    first = max(line - LINES // 2, 0)
    return "\n".join(text(folder, file).split("\n")[first:first + LINES])


def is_answer(file, answers):
    return any(file == want or file.endswith("/" + want) or want.endswith("/" + file) for want in answers)


def until(listing, parts, answers):
    """All that is read until a part of a file that answers, and whether one does."""
    read = [listing]
    for file, part in parts:
        read.append(part)
        if is_answer(file, answers):
            return "\n".join(read), True
    return "\n".join(read), False


def searched(server, query, answers):
    """A search, then the sources of its hits in their order, one call each."""
    listing = server.call("search_symbols", query=query, max_results=MOST_FILES)
    # The ids that the model would read from it.
    hits = server.json("search_symbols", query=query, max_results=MOST_FILES, format="json").get("results", [])
    sources = ((hit["file"], server.call("get_symbol_source", symbol_id=hit["id"])) for hit in hits)
    return until(listing, sources, answers)


def in_one(server, query, answers):
    """One call that answers with candidates and the sources of the best."""
    answer = server.json("get_ranked_context", query=query, token_budget=BUDGET, format="json")
    shown = server.call("get_ranked_context", query=query, token_budget=BUDGET)
    return shown, any(is_answer(item["symbol_id"].split("::")[0], answers) and item_is_shown(item, shown) for item in answer.get("items", []))


def item_is_shown(item, shown):
    """Whether a line of an item's source that says much stands in the compact text."""
    return any(line in shown for line in sorted(item.get("source", "").split("\n"), key=len)[-3:] if line.strip())


def judge(python, read):
    """Quartiles of what was read where it led to an answer, the mean of all, and the share that did."""
    texts = json.dumps([text for text, _ in read])
    counts = json.loads(subprocess.run([python, "-c", COUNT], input=texts, text=True, capture_output=True, check=True).stdout)
    right = [count for count, (_, is_right) in zip(counts, read) if is_right]
    quarters = statistics.quantiles(right, n=4, method="inclusive") if len(right) > 1 else None
    return {"tokens": statistics.median(right) if right else None, "quarters": quarters and [quarters[0], quarters[2]],
            "mean": statistics.mean(counts), "answered": len(right) / len(read)}

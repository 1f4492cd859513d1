"""Questions in words with answers that semble's authors wrote, and names as people type them with answers of universal-ctags."""

import json
import math
import random
import re

from lab import Left, run

KIT = ("https://github.com/MinishLab/semble", "215a047606926e9be1662e1a88004ba7cf63b100", "benchmarks")
# Those of its repositories that may be looked at while codelode is worked on, and the part of each that its questions are about.
TREES = [
    ("axum", "https://github.com/tokio-rs/axum", "309d1bd9530eec2217134cb262760af1df42ee3b", "axum/src"),
    ("fastapi", "https://github.com/fastapi/fastapi", "c3c9dd6b1a08bcda766e7b43eafe72c4c5e9e193", "fastapi"),
    ("gin", "https://github.com/gin-gonic/gin", "d3ffc9985281dcf4d3bef604cce4e662b1a327a6", ""),
    ("gson", "https://github.com/google/gson", "f4d371d29c04066dbe7fdb31f642831f9c7f40cd", "gson"),
    ("zod", "https://github.com/colinhacks/zod", "c7805073fef5b6b8857307c3d4b3597a70613bc2", "packages/zod/src"),
    ("libuv", "https://github.com/libuv/libuv", "40178b916e5937ed43c557aa051bdb3f86f6ca93", "src"),
    ("messagepack-csharp", "https://github.com/MessagePack-CSharp/MessagePack-CSharp",
     "84db9f79e3ecc5f4e8b7c7f77cd15d7745f5f2a7", "src/MessagePack"),
]
N_NAMES = 30


def measure(lab):
    own = lab.own("semble")
    kit = (own or lab.git("semble", *KIT)) / "benchmarks"
    note = {"note": "the questions came from a folder beside the script, not from their repository"} if own else {}
    published = {}
    for tool, file in [("semble", "semble-hybrid-1ea77add4c1b.json"), ("codegraph", "codegraph-eea6c8746580.json")]:
        rows = json.loads((kit / "results" / file).read_text())["repos"]
        published[tool] = {row["repo"]: row["ndcg10"] for row in rows}
    try:
        codegraph = lab.rival("codegraph")
    except Left as left:
        codegraph = None
        lab.missing["codegraph"] = str(left)
    lab.missing["semble"] = "it loads a model from huggingface.co when it starts, which is no registry; its row is the published one"
    for name, url, commit, part in TREES:
        tree = lab.git(f"{name}-asked", url, commit)
        questions = json.loads((kit / "annotations" / f"{name}.json").read_text())
        names = typed(lab, tree / part, name)
        arms = [{"name": "codelode", "version": lab.version, "values": codelode(lab, tree, part, questions, names)}]
        if codegraph:
            values = ask_codegraph(codegraph[0], tree, part, questions, names)
            arms.append({"name": "codegraph", "version": codegraph[1], "values": values})
        arms += [{"name": tool, "version": KIT[1][:9], "source": "published", "values": {"ndcg": rows[name]}}
                 for tool, rows in published.items() if name in rows]
        yield {"corpus": name, "version": commit[:9], "size": f"{len(questions)} questions, {len(names)} names", "arms": arms, **note}


def wanted(question, part):
    """The files that answer a question, from the folder that is indexed; an answer is a path, or a path with lines."""
    paths = [answer if isinstance(answer, str) else answer["path"] for answer in question["relevant"] + question.get("secondary", [])]
    return [path.removeprefix(part).strip("/") for path in paths]


def ndcg(answers, files):
    """Discounted gain of the first ten files, beside the best that there is; a path may be from an inner folder."""
    first, ranks = list(dict.fromkeys(files))[:10], set()
    for want in answers:
        for rank, file in enumerate(first, 1):
            if file == want or file.endswith("/" + want) or want.endswith("/" + file):
                ranks.add(rank)
                break
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(10, len(answers)) + 1))
    return sum(1 / math.log2(rank + 1) for rank in ranks) / ideal


def typed(lab, folder, seed):
    """Names of functions, methods and classes that universal-ctags knows once: as written, in words, with a letter left out."""
    ctags, _ = lab.rival("universal-ctags")
    out = run([ctags, "-R", "--output-format=json", "--fields=+nK", "-f", "-", "."], folder).stdout
    tags = {}
    for line in out.splitlines():
        tag = json.loads(line)
        if tag.get("kind") in ("function", "method", "class", "struct", "func", "interface") and len(tag["name"]) > 5:
            tags.setdefault(tag["name"], []).append((tag["path"].removeprefix("./"), tag["line"]))
    once = sorted((name, places[0]) for name, places in tags.items() if len(places) == 1 and not re.search(r"\W|anon", name))
    chance = random.Random(seed)
    asked = []
    for name, place in chance.sample(once, min(N_NAMES, len(once))):
        words = re.sub(r"_|(?<=[a-z0-9])(?=[A-Z])", " ", name).strip().lower()
        at = chance.randrange(1, len(name))
        form = chance.choice(["written", "words", "slip"])
        query = {"written": name, "words": words, "slip": name[:at] + name[at + 1:]}[form]
        asked.append((query, name, place[0]))
    return asked


def values(gains, right):
    return {"ndcg": sum(gains) / len(gains), "first": sum(right) / len(right)}


def codelode(lab, tree, part, questions, names):
    folder = tree / part
    with lab.serve(folder) as server:
        server.json("index_folder", path=str(folder))

        def files(query):
            answer = server.json("search_symbols", query=query, max_results=50, max_tokens=100_000)
            return [hit["file"] for hit in answer.get("results", [])]

        gains = [ndcg(wanted(one, part), files(one["query"])) for one in questions]
        right = []
        for query, name, file in names:
            hits = server.json("search_symbols", query=query, max_results=1).get("results", [])
            right.append(bool(hits) and (hits[0]["name"], hits[0]["file"]) == (name, file))
    return values(gains, right)


def ask_codegraph(program, tree, part, questions, names):
    folder, env = tree / part, {"CODEGRAPH_TELEMETRY": "0"}
    run([program, "init", "-i", folder], folder, env)

    def nodes(query, most):
        ran = run([program, "query", "-j", "-l", most, query], folder, env, check=False)
        return [hit["node"] for hit in json.loads(ran.stdout)] if ran.stdout.startswith("[") else []

    gains = [ndcg(wanted(one, part), [node["filePath"] for node in nodes(one["query"], 50)]) for one in questions]
    right = []
    for query, name, file in names:
        first = nodes(query, 1)
        right.append(bool(first) and (first[0]["name"], first[0]["filePath"]) == (name, file))
    return values(gains, right)

"""Call edges beside somebody else's oracle: repowise-bench's `g4-oracle-anchored`, whose answers are the TypeScript checker's.

The oracle and the rows of five tools come from that repository. The commits of zod and hono are those whose trees give every
count that it publishes; where one differs nothing is measured.
"""

import json
import math
import shutil
import sqlite3

from lab import Left, run

KIT = ("https://github.com/repowise-dev/repowise-bench", "65dae4bb90a66e0aa3f1b1ae76e94173d9150c34",
       "graph/experiments/g4-oracle-anchored")
# With node's types, which is what gives the published counts.
PACKAGES = ("typescript@5.9.3", "@types/node@24.19.2")
CELLS = [
    ("zod", "2026-05-04", "https://github.com/colinhacks/zod", "f3c9ec03ba7a28ae72d25cc295f38674bee0f559", "packages/zod/src"),
    ("hono", "2026-06-30", "https://github.com/honojs/hono", "03a9416a13a681028011e23841ba89d1dd6c9a62", "src"),
]
OUTERMOST = "calls in nested functions counted for the outermost one, as the oracle does"


def measure(lab):
    kit = lab.own("g4") or lab.git("repowise-bench", *KIT) / KIT[2]
    for name, version, url, commit, sources in CELLS:
        published = json.loads((kit / f"{name}-notests-g4.json").read_text())
        folder = lab.git(name, url, commit)
        header, reached, oracle = ask_checker(lab, kit, folder, sources)
        counts = published["oracle"]["counts"]
        if header["counts"] != counts:
            raise Left(f"the oracle's counts of {name} are not those that it publishes: {header['counts']}")
        judge = Judge(set(header["analysed_files"]), reached, oracle)
        edges, folded = codelode_edges(lab, folder, header["analysed_files"])
        arms = [
            {"name": "codelode", "version": lab.version, "values": judge.values(edges)},
            {"name": "codelode", "version": lab.version, "values": judge.values(folded),
             "variant": OUTERMOST},
        ]
        try:
            arms += codegraph(lab, folder, judge)
        except Left as left:
            lab.missing["codegraph"] = str(left)
        for arm, row in published["arms"].items():
            arms.append({"name": arm, "version": row["version"], "source": "published", "values": judge.rates(
                row["edges_in_scope"], row["matched"], row["contradicted"])})
        note = {"note": "the oracle's files came from a folder beside the script, not from its repository"}
        yield {"corpus": name, "version": f"{version} ({commit[:9]})", "arms": arms, **(note if lab.own("g4") else {}),
               "size": f"{len(header['analysed_files'])} files, {len(judge.oracle):,} edges, "
                       f"{header['counts']['functions_judged']} functions judged"}


def ask_checker(lab, kit, folder, sources):
    home = lab.npm(*PACKAGES)
    for module in ("oracle.mjs", "package.json"):
        shutil.copy(kit / "oracle-ts" / module, home / module)
    out = lab.work / f"{folder.name}.jsonl"
    run(["node", home / "oracle.mjs", "-repo", folder, "-subdir", sources, "-out", out], folder=home)
    header, reached, *edges = (json.loads(line) for line in out.read_text().splitlines())
    keys = {(edge["caller_decl_file"], edge["caller_decl_line"], edge["callee_file"], edge["callee_line"])
            for edge in edges if edge["caller_decl_file"] and edge["callee_file"]}
    return header, {tuple(place) for place in reached["funcs"]}, keys


class Judge:
    """Precision over the callers that the oracle judges, and recall over its edges; an edge is two declarations' lines."""

    def __init__(self, files, reached, oracle):
        self.files, self.reached = files, reached
        self.oracle = {edge for edge in oracle if edge[0] in files and edge[2] in files}

    def values(self, edges):
        edges = {edge for edge in edges if edge[0] in self.files and edge[2] in self.files}
        denied = {edge for edge in edges - self.oracle if edge[:2] in self.reached}
        return self.rates(len(edges), len(edges & self.oracle), len(denied))

    def rates(self, n_edges, matched, denied):
        return {"precision": matched / (matched + denied), "precision_range": wilson(matched, matched + denied),
                "recall": matched / len(self.oracle), "recall_range": wilson(matched, len(self.oracle)),
                "edges": n_edges, "denied": denied, "unjudged": n_edges - matched - denied}


def wilson(part, whole, z=1.96):
    """The 95 % interval of a share."""
    share, spread = part / whole, z * z / whole
    middle = share + spread / 2
    half = z * math.sqrt(share * (1 - share) / whole + spread / whole / 4)
    return [(middle - half) / (1 + spread), (middle + half) / (1 + spread)]


def codelode_edges(lab, folder, files):
    """Resolved calls as the tool gives them, and with the calls of nested functions counted for the outermost one."""
    edges, folded = set(), set()
    with lab.serve(folder) as server:
        server.json("index_folder", path=str(folder))

        def visit(file, symbols, outermost):
            for symbol in symbols:
                is_function = symbol["kind"] in ("function", "method")
                line = outermost or (symbol["line"] if is_function else None)
                if is_function or symbol["kind"] == "class":
                    answer = server.json("get_call_hierarchy", symbol_id=symbol["id"], direction="callees", depth=1,
                                         max_tokens=100_000)
                    for callee in answer.get("callees") or []:
                        place = (callee["file"], callee["line"])
                        edges.add((file, symbol["line"], *place))
                        folded.add((file, line or symbol["line"], *place))
                visit(file, symbol.get("children", []), line)

        for file in files:
            visit(file, server.json("get_file_outline", file_path=file, max_tokens=200_000).get("symbols", []), None)
    return edges, folded


def codegraph(lab, folder, judge):
    program, version = lab.rival("codegraph")
    home = folder / ".codegraph"
    shutil.rmtree(home, ignore_errors=True)
    run([program, "init", "-i", folder], folder=folder, env={"CODEGRAPH_TELEMETRY": "0"})
    with sqlite3.connect(home / "codegraph.db") as database:
        rows = database.execute(
            "SELECT DISTINCT caller.file_path, caller.start_line, callee.file_path, callee.start_line FROM edges "
            "JOIN nodes caller ON caller.id = edges.source JOIN nodes callee ON callee.id = edges.target "
            "WHERE edges.kind = 'calls'")
        edges = {(row[0], int(row[1] or 0), row[2], int(row[3] or 0)) for row in rows if row[0] and row[2]}
        functions = database.execute(
            "SELECT file_path, start_line, end_line FROM nodes WHERE kind IN ('function', 'method') ORDER BY start_line").fetchall()
    shutil.rmtree(home)
    within = {}
    for file, first, last in functions:
        within.setdefault(file, []).append((first, last))

    def outermost(file, line):
        return next((first for first, last in within.get(file, []) if first <= line <= last), line)

    folded = {(caller, outermost(caller, line), *callee) for caller, line, *callee in edges}
    arm = {"name": "codegraph", "version": version}
    return [{**arm, "values": judge.values(edges)}, {**arm, "values": judge.values(folded), "variant": OUTERMOST}]

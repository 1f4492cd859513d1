"""Files made to break what reads them: each lies in a folder beside a harmless one, which must still be indexed and found."""

import shutil

from lab import Left, cost, run

# Name, what the file repeats, and how often. Each made a parser or an index take gigabytes, minutes or its process with it.
FILES = [
    ("comma.ts", "[,a", 12_000), ("greater.js", "[>a", 12_000), ("less.cs", "a<", 12_000), ("lambdas.java", "a=>", 20_000),
    ("labels.ts", "{a:", 160_000), ("brackets.py", "(", 240_000), ("modules.rs", "mod a{", 80_000), ("rebound.py", "a=a.b\n", 80_000),
    ("recursive.py", "def f(a): return f(a)\n", 21_000), ("declarators.c", "int " + "a," * 6_000 + "a;\n", 1),
    ("remarks.py", "x = (\n" + "#\n" * 240_000 + "y)\n", 1), ("line.py", "x = '" + "ab" * 240_000 + "'\n", 1),
]
HARMLESS = "def harmless_neighbour():\n    return 1\n"
SECONDS = 15


def measure(lab):
    tools = {"codelode": (lab.version, codelode)}
    for name, arm in [("codegraph", codegraph), ("universal-ctags", ctags)]:
        try:
            program, version = lab.rival(name)
            tools[name] = (version, arm(program))
        except Left as left:
            lab.missing[name] = str(left)
    arms = []
    for name, (version, survives) in tools.items():
        survived, costs = 0, []
        for file, piece, times in FILES:
            folder = lab.fresh("attack")
            (folder / file).write_text(piece * times, encoding="latin-1")
            (folder / "harmless.py").write_text(HARMLESS)
            measured, is_found = survives(lab, folder)
            survived += is_found and measured["status"] == 0
            costs.append(measured)
        arms.append({"name": name, "version": version, "values": {
            "survived": survived, "cpu": max(one["cpu"] for one in costs), "mb": max(one["mb"] for one in costs)}})
    yield {"corpus": f"{len(FILES)} hostile files", "version": "made by the script", "arms": arms,
           "size": f"up to 480 KB each; at most {SECONDS} s of processor time"}


def codelode(lab, folder):
    index = lab.index("attack")
    shutil.rmtree(index["CODE_INDEX_PATH"], ignore_errors=True)
    measured = cost([lab.program, "index", folder], folder, index, SECONDS)
    found = cost([lab.program, "search", "harmless_neighbour"], folder, index, SECONDS)
    return measured, found["status"] == 0 and b"harmless.py" in found["output"]


def codegraph(program):
    def survives(lab, folder):
        env = {"CODEGRAPH_TELEMETRY": "0"}
        measured = cost([program, "init", "-i", folder], folder, env, SECONDS)
        found = run([program, "query", "-j", "harmless_neighbour"], folder, env, check=False)
        return measured, "harmless.py" in found.stdout
    return survives


def ctags(program):
    def survives(lab, folder):
        tags = lab.work / "attack.tags"
        tags.unlink(missing_ok=True)
        measured = cost([program, "-R", "-f", tags, "."], folder, None, SECONDS)
        return measured, tags.exists() and b"harmless_neighbour" in tags.read_bytes()
    return survives

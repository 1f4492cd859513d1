"""Cold indexing: each tool makes its index of the same tree from nothing, as a process of its own, in turns."""

import shutil
import statistics
import time

from lab import Left, cost, run
from servers import Server

ROUNDS = 3


def measure(lab):
    for name, kind, package in [("tornado", "pypi", "tornado==6.4.2"), ("django", "pypi", "django==5.2.19"), ("eslint", "npm", "eslint@10.15.0")]:
        folder = lab.archive(name, kind, package)
        yield {"corpus": name, "version": package, "size": size(folder), "arms": cold(lab, folder)}


def size(folder):
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return f"{len(files):,} files, {sum(path.stat().st_size for path in files) / 1e6:,.0f} MB"


def cold(lab, folder):
    store = lab.work / "index" / "cold"

    def codelode():
        shutil.rmtree(store, ignore_errors=True)
        return cost([lab.program, "index", folder], folder, lab.index("cold")), store

    tools = {"codelode": (lab.version, codelode)}
    for name, arm in [("codegraph", codegraph), ("code-index-mcp", code_index), ("universal-ctags", ctags)]:
        try:
            program, version = lab.rival(name)
            tools[name] = (version, arm(lab, program, folder))
        except Left as left:
            lab.missing[name] = str(left)
    try:
        semble(lab, folder)
    except Left as left:
        lab.missing["semble"] = str(left)

    rounds = {name: [] for name in tools}
    for _ in range(ROUNDS):
        for name, (_, arm) in tools.items():
            # What takes minutes is measured once.
            if name in lab.missing or any(one["wall"] > 120 for one in rounds[name]):
                continue
            try:
                measured, made = arm()
                if measured["status"]:
                    raise Left(f"it ends with {measured['status']}")
                rounds[name].append({**measured, "disk": disk(made)})
            except (Left, RuntimeError) as error:
                lab.missing[name] = str(error)
    return [{"name": name, "version": tools[name][0],
             "values": {key: statistics.median(one[key] for one in all) for key in ("cpu", "wall", "mb", "disk")}}
            for name, all in rounds.items() if all]


def disk(path):
    paths = [path] if path.is_file() else [inner for inner in path.rglob("*") if inner.is_file()]
    return sum(inner.stat().st_size for inner in paths) / 1e6


def codegraph(lab, program, folder):
    def once():
        home = folder / ".codegraph"
        shutil.rmtree(home, ignore_errors=True)
        measured = cost([program, "init", "-i", folder], folder, {"CODEGRAPH_TELEMETRY": "0"})
        kept = lab.fresh("codegraph") / "home"
        home.rename(kept)
        return measured, kept
    return once


def ctags(lab, program, folder):
    def once():
        tags = lab.work / "tags"
        return cost([program, "-R", "--fields=+nKS", "-f", tags, folder], folder), tags
    return once


def code_index(lab, program, folder):
    """A server that is told a folder and asked for its deep index; its processor time is read before it ends."""
    def once():
        kept = lab.fresh("code-index")
        began = time.monotonic()
        with Server([program, "--indexer-path", str(kept)], folder, {"HOME": str(kept), "TMPDIR": str(kept)}, 300) as server:
            server.call("set_project_path", path=str(folder))
            server.call("build_deep_index", timeout=600)
            if server.is_error:
                raise Left("build_deep_index fails")
            return {"wall": time.monotonic() - began, "cpu": server.processor_seconds(), "mb": server.peak_mb(), "status": 0}, kept
    return once


def semble(lab, folder):
    program, _ = lab.rival("semble")
    ran = run([program, "search", "parse", folder], check=False)
    if ran.returncode:
        raise Left(f"it loads a model from huggingface.co, and did not run: {(ran.stderr or ran.stdout).strip().splitlines()[-1]}")
    raise Left("it keeps no index of a folder apart from its answers")

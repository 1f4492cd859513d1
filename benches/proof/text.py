"""Text search beside ripgrep: whole processes that write to a null device, in turns, and the lines that both find."""

import os
import statistics
import subprocess
import time

from cost import size
from lab import Left, cost, run

ROUNDS = 7
SETS = [
    ("django", [("pypi", "django==5.2.19")]),
    ("five packages", [("pypi", "django==5.2.19"), ("npm", "three@0.187.0"), ("npm", "effect@4.1.0"), ("npm", "eslint@10.15.0"),
                       ("npm", "webpack@5.112.2")]),
]
# What is searched: a name that few lines hold, a pattern with a word, a word on many lines, a pattern without any word.
QUERIES = [("rare name", ["-w", "get_language_info"]), ("pattern with a word", [r"def \w+_related\b"]),
           ("frequent word", ["-w", "return"]), ("pattern without words", ["[0-9]{9,}"])]


def measure(lab):
    program, version = lab.rival("ripgrep")
    for name, packages in SETS:
        folder = lab.work / "corpora" / "text" / name.replace(" ", "-")
        for kind, package in packages:
            bare = package.split("==")[0].split("@")[0]
            copy = folder / bare
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                run(["cp", "-r", lab.archive(bare, kind, package), copy])
        index = lab.index(f"text-{name.replace(' ', '-')}")
        run([lab.program, "index", folder], folder, index)
        ours = [lab.program, "text"]
        tools = [("codelode", ours, index), ("codelode, index as it is", [*ours, "--as-indexed"], index), ("ripgrep", [program], {})]
        plain = ask(tools, folder)
        with Watched(lab, folder, index):
            watched = ask([("codelode, folder watched", ours, index), ("ripgrep", [program], {})], folder)
        for label, _ in QUERIES:
            arms = [{"name": tool, "version": version if tool == "ripgrep" else lab.version, "values": values}
                    for tool, values in plain[label].items()]
            values = watched[label]["codelode, folder watched"]
            # Each is compared with the ripgrep of its own turn.
            values["ratio"] = watched[label]["ripgrep"]["cpu"] / values["cpu"] if values["cpu"] else None
            arms.insert(2, {"name": "codelode, folder watched", "version": lab.version, "values": values})
            yield {"corpus": f"{name}, {label}", "version": ", ".join(package for _, package in packages), "size": size(folder), "arms": arms}


class Watched:
    """A folder that `codelode watch` keeps fresh, from when it says so."""

    def __init__(self, lab, folder, index):
        self.command, self.folder, self.index = [lab.program, "watch", str(folder)], folder, index

    def __enter__(self):
        self.process = subprocess.Popen(self.command, cwd=self.folder, env={**os.environ, **self.index},
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(10)
        if self.process.poll() is not None:
            raise Left("`codelode watch` ends at once")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def ask(tools, folder):
    """For each query and tool the median times of whole processes in turns, and the lines they print."""
    answers = {}
    for label, pattern in QUERIES:
        times = {tool: [] for tool, _, _ in tools}
        lines = {}
        for turn in range(ROUNDS + 1):
            for tool, command, env in tools:
                measured = cost([*command, "-n", "--no-heading", *pattern], folder, env)
                if measured["status"] not in (0, 1):
                    raise Left(f"{tool} ends with {measured['status']} for {pattern}")
                lines[tool] = measured["output"].count(b"\n")
                if turn:
                    times[tool].append(measured)
        median = {tool: {key: statistics.median(one[key] for one in all) * 1000 for key in ("cpu", "wall")}
                  for tool, all in times.items()}
        for tool, values in median.items():
            values["lines"] = lines[tool]
            values["ratio"] = median["ripgrep"]["cpu"] / values["cpu"] if values["cpu"] else None
        answers[label] = median
    return answers

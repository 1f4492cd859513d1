#!/usr/bin/env python3
"""Counts the instructions of an index, of questions and of edits, beside the last table.

    benches/instructions/count.py PROGRAM            # prints the counts beside the table
    benches/instructions/count.py PROGRAM --write    # writes the table anew

They are counted by valgrind's callgrind, on one processor. The corpus is `corpus.txt`, small projects in each language with relations, each
copied. The table is `benches/results/instructions.md`; it names the compiler and the build that it holds for.

Two runs of one program differ: by up to 8 % for an index, a search or an edit, and by up to half for relations and context. A server works
beside its questions, and how much it does until they end depends on the clock. So no test holds a program against the table.
"""

import argparse, concurrent.futures, json, os, re, shutil, subprocess, sys, tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TABLE = HERE.parent / "results" / "instructions.md"
COPIES = 2
SORTS = {
    "search: a name": ("search_symbols", lambda name, symbol: {"query": name}),
    "search: words": ("search_symbols", lambda name, symbol: {"query": f"where is {name} of the shop made"}),
    "source": ("get_symbol_source", lambda name, symbol: {"symbol_id": symbol}),
    "references": ("find_references", lambda name, symbol: {"symbol_id": symbol}),
    "callers": ("get_call_hierarchy", lambda name, symbol: {"symbol_id": symbol}),
    "text": ("search_text", lambda name, symbol: {"query": name}),
    "context": ("get_ranked_context", lambda name, symbol: {"query": f"how is {name} used"}),
}


def unpack(folder):
    """Writes the projects of the corpus, each several times, into a folder for each language."""
    files = re.split(r"^--- (.*)\n", (HERE / "corpus.txt").read_text(), flags=re.M)
    for name, text in zip(files[1::2], files[2::2]):
        language, rest = name.split("/", 1)
        for copy in range(COPIES):
            file = folder / language / str(copy) / rest
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


class Place:
    """A copy of a folder with an index of its own."""

    def __init__(self, program, folder, scratch):
        self.program = program
        self.home = Path(tempfile.mkdtemp(dir=scratch))
        self.folder = self.home / "code"
        shutil.copytree(folder, self.folder)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "CODE_INDEX_PATH": str(self.home / "index"), "RAYON_NUM_THREADS": "1"}

    def run(self, *arguments, asked=None):
        """Runs the program without counting."""
        command = ["taskset", "-c", "0", self.program, *arguments]
        return subprocess.run(command, cwd=self.folder, env=self.environment, input=asked, capture_output=True, text=True, check=True).stdout

    def count(self, *arguments, asked=None):
        """Runs the program, and returns the instructions that it took."""
        out = self.home / "callgrind"
        command = ["taskset", "-c", "0", "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", self.program, *arguments]
        subprocess.run(command, cwd=self.folder, env=self.environment, input=asked, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, check=True)
        return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.M).group(1))


def messages(calls):
    """The messages of a client that asks these calls, one a line."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "count", "version": "1"}}
    lines = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    lines += [{"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": {"name": tool, "arguments": arguments}} for at, (tool, arguments) in enumerate(calls, 1)]
    return "".join(json.dumps(line) + "\n" for line in lines)


def edited(place, number):
    """Changes one file of the place."""
    file = place.folder / "python" / "0" / "0" / f"edited{number}.py"
    file.write_text(f"def edited_{number}():\n    return {number}\n\n\ndef user():\n    return edited_{number}()\n")


def measures(program, folder, scratch, questions):
    """What is counted: a name, and a function that counts it."""
    for language in sorted(path.name for path in folder.iterdir()):
        yield f"index: {language}", lambda language=language: Place(program, folder / language, scratch).count("index", ".")
    indexed = Place(program, folder, scratch)
    indexed.run("index", ".")
    ranked = json.loads(indexed.run("importance", "--top-n", "100", "--json"))["ranked_symbols"]
    symbols = [(symbol["symbol_id"].split("::")[1].split("#")[0].split(".")[-1], symbol["symbol_id"]) for symbol in ranked]
    for sort, (tool, arguments) in SORTS.items():
        calls = [(tool, arguments(*symbols[at % len(symbols)])) for at in range(questions)]

        def ask(calls=calls):
            place = Place(program, folder, scratch)
            place.run("index", ".")
            return place.count("serve", "--tools", "full", asked=messages(calls))

        yield f"{questions} × {sort}", ask

    def edit():
        place = Place(program, folder, scratch)
        place.run("index", ".")
        edited(place, 1)
        return place.count("index", ".")

    def relation():
        place = Place(program, folder, scratch)
        place.run("index", ".")
        place.run("refs", "sell")
        edited(place, 1)
        return place.count("refs", "edited_1")

    yield "an edit", edit
    yield "a relation after an edit", relation


def build(program):
    """The compiler and the kind of build, which a table holds for."""
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    return f"rustc {compiler}, {'debug' if 'debug' in Path(program).parts else 'release'} build"


def held():
    """The rows of the table, and the build that it holds for."""
    if not TABLE.exists():
        return {}, None
    text = TABLE.read_text()
    rows = re.findall(r"^\| ([^|]+?) \| ([\d.]+) \|$", text, re.M)
    return {name: float(count) for name, count in rows}, re.search(r"^Counted with (.*)\.$", text, re.M).group(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--write", action="store_true", help="write the table")
    parser.add_argument("--questions", type=int, default=300, help="questions of each sort")
    parser.add_argument("--only", default="", help="count only what begins so")
    arguments = parser.parse_args()
    program = str(Path(arguments.program).resolve())
    before, holds_for = held()
    if holds_for not in (None, build(program)):
        print(f"the table holds for {holds_for}, this is {build(program)}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "corpus"
        unpack(folder)
        jobs = [job for job in measures(program, folder, scratch, arguments.questions) if job[0].startswith(arguments.only)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            counts = dict(zip([name for name, _ in jobs], pool.map(lambda job: job[1]() / 1e6, jobs)))
    for name, count in counts.items():
        was = before.get(name)
        print(f"{name:32} {count:10.1f}" + (f" {count / was:7.3f} of {was}" if was else ""))
    if arguments.write:
        rows = "".join(f"| {name} | {count:.1f} |\n" for name, count in counts.items())
        TABLE.parent.mkdir(exist_ok=True)
        TABLE.write_text(f"# Instructions\n\nMillions of instructions, by `benches/instructions/count.py`.\n\n"
                         f"Counted with {build(program)}.\n\n| what | million |\n|---|---|\n{rows}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares what every tool answers in two programs, whole, as JSON and as dense text.

    python3 benches/outputs.py OLD NEW FOLDER [FOLDER ...]

Each program indexes each folder anew and answers some four hundred calls about it: the names that most depends on, their beginnings and a
sentence. Times, ages and savings are left out. Answers that a time limit cut are counted apart: a slower build finds less before it.
"""

import argparse, collections, json, os, re, subprocess, tempfile
from pathlib import Path

VOLATILE = re.compile(r'"?(\w*timing_ms|\w*tokens_saved|indexed_at|\w*_ms|\w*seconds|freshness)"?: ?("[^"]*"|[-\w.:+]+|\{[^{}]*\})')
CUT = re.compile(r"at_least|no time|timed_out|unchecked|indexing")
OF_A_SYMBOL = ("find_references", "find_implementations", "find_tests", "get_blast_radius", "get_call_hierarchy", "get_class_hierarchy", "get_context_bundle",
               "get_related_symbols", "get_symbol", "get_symbol_history", "get_symbol_source", "plan_delete", "plan_rename")
OF_A_FILE = ("find_importers", "get_dependency_graph", "get_file_content", "get_file_outline")
OF_A_REPOSITORY = ("find_dead_code", "get_file_tree", "get_repo_map", "get_repo_outline", "get_symbol_importance", "suggest_queries")
OF_WORDS = ("get_ranked_context", "search_commits", "search_symbols", "search_text")


class Server:
    """A server that answers about one folder, with an index of its own."""

    def __init__(self, program, home, folder):
        command = [program, "serve", "--tools", "full"]
        self.process = subprocess.Popen(command, cwd=folder, env={**os.environ, "CODE_INDEX_PATH": home}, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.folder, self.asked = str(folder), 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "outputs", "version": "1"}})
        self.process.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def ask(self, method, params):
        self.asked += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.asked and "method" not in answer:
                return answer
        raise SystemExit("the server has ended")

    def call(self, tool, arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result["content"][0]["text"]


def calls(server):
    """Calls about a folder, by what the program finds important there."""
    important = json.loads(server.call("get_symbol_importance", {"top_n": 12}))["ranked_symbols"]
    ids = [symbol["symbol_id"] for symbol in important]
    names = [re.split(r"::|\.", symbol.split("#")[0])[-1] for symbol in ids]
    for tool in OF_A_REPOSITORY:
        yield tool, {}
    for file in sorted({symbol.split("::")[0] for symbol in ids}):
        yield from ((tool, {"file" if tool == "get_dependency_graph" else "file_path": file}) for tool in OF_A_FILE)
    for symbol in ids:
        for tool in OF_A_SYMBOL:
            more = {"new_name": "renamed_by_nobody"} if tool == "plan_rename" else {}
            yield tool, {"targets": [symbol]} if tool == "find_tests" else {"symbol_id": symbol, **more}
    for words in [*names, *(name[:4] for name in names), "how is an error of the parser shown", "zzq_nothing"]:
        yield from ((tool, {"query": words}) for tool in OF_WORDS)
    for name in names:
        yield from ((tool, {"identifier": name}) for tool in ("check_references", "find_references"))
    yield "search_ast", {"pattern": "return $X"}
    yield "get_changed_symbols", {"since_sha": "HEAD~3"}
    yield "review_changes", {"base": "HEAD~3", "head": "HEAD"}


def answers(program, folder, asked):
    """Each call with its answer; the calls are those that the first program chose."""
    with tempfile.TemporaryDirectory() as home:
        server = Server(program, home, folder)
        server.call("index_folder", {"path": str(folder)})
        asked = asked or list(calls(server))
        for tool, arguments in asked:
            for form in ("json", "compact"):
                yield (tool, arguments), form, server.call(tool, {**arguments, "format": form})
        server.process.stdin.close()
        server.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("folders", nargs="+", type=Path)
    given = parser.parse_args()
    for folder in (folder.resolve() for folder in given.folders):
        old = list(answers(given.old, folder, None))
        asked = [call for call, form, _ in old if form == "json"]
        new = list(answers(given.new, folder, asked))
        differ = collections.Counter()
        for (call, form, before), (_, _, after) in zip(old, new, strict=True):
            plain = [VOLATILE.sub("", text) for text in (before, after)]
            if plain[0] != plain[1]:
                is_cut = bool(CUT.search(before) or CUT.search(after))
                differ[call[0], "cut by time" if is_cut else "differs"] += 1
                if not is_cut:
                    at = next((at for at, (a, b) in enumerate(zip(*plain)) if a != b), min(map(len, plain)))
                    print(*call, form, *(f"\n    …{text[max(0, at - 60):at + 100]!r}" for text in plain))
        print(f"{folder.name}: {len(old)} answers, {sum(differ.values())} differ", dict(differ))


if __name__ == "__main__":
    main()

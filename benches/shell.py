#!/usr/bin/env python3
"""Counts what a shell gets from the ten commonest commands, in bytes and tokens, of one program or of two.

    python3 benches/shell.py [--rows] FOLDER [FOLDER ...] -- PROGRAM [PROGRAM ...]

Each program indexes each folder anew. Symbols and files are those that most of a folder depends on, so that both programs are asked
the same; standard error counts as well, since whoever runs a command reads it. The median of each command is over all its calls.
"""

import json, os, statistics, subprocess, sys, tempfile
from pathlib import Path

ASKED = 4
QUESTIONS = ("where are errors turned into messages for the user", "how is the configuration read")


def run(program, home, folder, *arguments):
    environment = {**os.environ, "CODE_INDEX_PATH": home, "NO_COLOR": "1"}
    ran = subprocess.run([program, *arguments], cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL)
    return ran.stdout + ran.stderr


def commands(program, home, folder):
    """Calls about a folder, by what the program finds important there."""
    ranked = json.loads(run(program, home, folder, "importance", "--top-n", "60", "--json"))["ranked_symbols"]
    symbols = [(one["symbol_id"], one["symbol_id"].split("::")[1].split("#")[0], one["symbol_id"].rsplit("#", 1)[1].split("~")[0]) for one in ranked]
    functions = [(id, name) for id, name, kind in symbols if kind in ("function", "method")][:ASKED]
    types = [(id, name) for id, name, kind in symbols if kind in ("class", "type")][:ASKED]
    files = sorted({id.split("::")[0] for id, *_ in symbols})[:ASKED]
    for id, name in functions:
        last = name.split(".")[-1]
        yield "search NAME", ("search", name)
        yield "search part", ("search", last[:max(4, len(last) // 2)])
        yield "refs", ("refs", id)
        yield "calls", ("calls", id)
        yield "get", ("get", id)
    for id, name in types:
        yield "refs NAME", ("refs", name.split(".")[-1])
        yield "hierarchy", ("hierarchy", id)
    for file in files:
        yield "outline", ("outline", file)
    for words in QUESTIONS:
        yield "search words", ("search", words)
        yield "context", ("context", words)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--rows"]
    split = arguments.index("--")
    folders, programs = [Path(path).resolve() for path in arguments[:split]], arguments[split + 1:]
    sizes = {}
    asked = {}
    for program in programs:
        for folder in folders:
            with tempfile.TemporaryDirectory() as home:
                run(program, home, folder, "index", ".")
                asked.setdefault(folder, None)
                asked[folder] = asked[folder] or list(commands(program, home, folder))
                for command, words in asked[folder]:
                    answer = run(program, home, folder, *words)
                    sizes.setdefault(command, {}).setdefault(program, []).append((len(answer), tokens(answer)))
                    if "--rows" in sys.argv:
                        print(len(answer), folder.name, *words, sep="\t")
    print("command", *(f"bytes of {i}\ttokens of {i}" for i in range(1, len(programs) + 1)), sep="\t")
    for command, of in sizes.items():
        print(command, *(f"{statistics.median(b for b, _ in of[p]):.0f}\t{statistics.median(t for _, t in of[p]):.0f}" for p in programs), sep="\t")
    print("all", *(f"{sum(b for of in sizes.values() for b, _ in of[p])}\t{sum(t for of in sizes.values() for _, t in of[p])}" for p in programs), sep="\t")


def tokens(answer):
    """Tokens as cl100k counts them, or a fourth of the bytes where its package is missing."""
    text = answer.decode("utf-8", "replace")
    try:
        import tiktoken
    except ImportError:
        return len(answer) // 4
    return len(tiktoken.get_encoding("cl100k_base").encode_ordinary(text))


main()

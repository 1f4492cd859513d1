#!/usr/bin/env python3
"""Times what it costs that another node holds a repository: the same question at a node that holds it and at one that passes it on.

    python3 benches/fleet/overhead.py PROGRAM FOLDER [FOLDER ...] [--rounds 300]

Three nodes over a place, and repositories of the folders (ten are enough). Of each repository, one node does not hold it. Both are
asked in turns, one question at a time: a symbol by its name, its source, its uses.
"""

import argparse
import json
import re
import tempfile
import time

from parts import SYMBOLS, Client, Fleet, get, percentile, questions, repositories

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("folders", nargs="+")
parser.add_argument("--rounds", type=int, default=300)
parser.add_argument("--repositories", type=int, default=10)
parser.add_argument("--nats", help="the program nats-server")
parser.add_argument("--keep", help="a folder for everything, which stays")
options = parser.parse_args()


def passed_on(node):
    found = re.search(r'codelode_fleet_questions_total\{outcome="answered"\} (\d+)', get(node, "/metrics"))
    return int(found[1]) if found else 0


with tempfile.TemporaryDirectory(prefix="codelode-overhead-") as scratch:
    folder = options.keep or scratch
    repos = repositories(options.folders, f"{folder}/repositories", options.repositories)
    with Fleet(options.program, f"{folder}/fleet", nats=options.nats) as fleet:
        fleet.index(repos)
        nodes, client, rows = fleet.nodes(["node-0", "node-1", "node-2"]), Client(), []
        for repo in repos:
            named = [args["query"] for tool, args in questions([repo], client, nodes[0], 40, 7) if tool == SYMBOLS]
            one = {"repo": f"local/{repo.name}", "format": "json"}
            found = json.loads(client.ask(nodes[0], SYMBOLS, {**one, "query": named[0], "max_results": 1})[0])["results"]
            if not found:
                continue
            asked = [(SYMBOLS, {**one, "query": named[0]}), ("get_symbol_source", {**one, "symbol_id": found[0]["id"]}),
                     ("find_references", {**one, "symbol_id": found[0]["id"]})]
            ways = {}
            for node in nodes:
                before = passed_on(node)
                client.ask(node, *asked[0])
                ways["passed" if passed_on(node) > before else "held"] = node
            rows += [(ways, tool, args) for tool, args in asked if len(ways) == 2]
        times = {"held": [], "passed": []}
        for at in range(options.rounds + 20):
            ways, tool, args = rows[at % len(rows)]
            for way, node in ways.items():
                begun = time.perf_counter()
                client.ask(node, tool, args)
                if at >= 20:
                    times[way].append((time.perf_counter() - begun) * 1000)
        for way, all_times in times.items():
            print(f"{way}: {len(all_times)} calls, p50 {percentile(all_times, .5):.2f} ms, p90 {percentile(all_times, .9):.2f}, p99 {percentile(all_times, .99):.2f}")
        more = [passed - held for passed, held in zip(times["passed"], times["held"])]
        print(f"more, of the same question at the same time: p50 {percentile(more, .5):.2f} ms, p90 {percentile(more, .9):.2f}")

#!/usr/bin/env python3
"""Two programs beside each other: how well each finds what benches/weights asks.

    python3 benches/beside.py --corpora DIR BEFORE AFTER [repository ...]

BEFORE and AFTER are programs; DIR is that of benches/weights.py. Both are asked every question for its first ten answers. Shown are recall at ten,
the mean reciprocal rank (MRR) and how often the first is right, and the differences with 95 % intervals, from drawing repositories again a
thousand times. Takes numpy.
"""

import argparse
import tempfile
from pathlib import Path

import numpy
from client import Server
from weights import is_right, suites

MOST = 10
DRAWS = 1000


def named(item):
    """An answer with its name, which some programs give within the id alone."""
    own = item.get("id", "").split("::")[-1].split("#")[0].split(".")[-1].split("~")[0]
    return {"name": own, **item}


def ranks(program, index, asked):
    """The rank of the first right answer by question, 0 where there is none."""
    found = {}
    for tree, questions in asked.items():
        server = Server(program, {"CODELODE_MAX_TOKENS": "100000000", "CODELODE_INDEX_PATH": index})
        repo = server.call("index_folder", path=str(tree.resolve()))["repo"]
        for suite, name, query, gold in questions:
            answers = server.call("search_symbols", query=query, repo=repo, max_results=MOST)["results"]
            right = [any(is_right(named(answer), place) for place in gold) for answer in answers]
            found[suite, name, query] = right.index(True) + 1 if True in right else 0
        server.end()
    return found


def measures(found, keys):
    return numpy.array([[found[key] > 0, 1 / found[key] if found[key] else 0, found[key] == 1] for key in keys], float) * 100


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", required=True)
    parser.add_argument("programs", nargs=2, metavar="PROGRAM")
    parser.add_argument("repositories", nargs="*")
    options = parser.parse_args()
    options.questions = None
    asked = {}
    for suite, name, tree, query, gold in suites(options):
        if tree.is_dir() and (not options.repositories or name in options.repositories):
            asked.setdefault(tree, []).append((suite, name, query, gold))
    found = []
    for program in options.programs:
        # Programs of other times have other stores.
        with tempfile.TemporaryDirectory() as index:
            found.append(ranks(str(Path(program).resolve()), index, asked))
    random = numpy.random.default_rng(1)
    for suite in sorted({key[0] for key in found[0]}):
        keys = [key for key in found[0] if key[0] == suite]
        before, after = (measures(own, keys) for own in found)
        difference = after - before
        of = numpy.array([key[1] for key in keys])
        groups = [numpy.flatnonzero(of == name) for name in numpy.unique(of)]
        drawn = (numpy.concatenate([groups[i] for i in random.integers(0, len(groups), len(groups))]) for _ in range(DRAWS))
        low, high = numpy.percentile([difference[draw].mean(0) for draw in drawn], [2.5, 97.5], axis=0)
        print(f"{suite}: {len(keys)} questions, {len(groups)} repositories")
        for i, what in enumerate(["recall at 10", "MRR", "first is right"]):
            print(f"  {what:15}{before[:, i].mean():6.1f}{after[:, i].mean():6.1f}  {difference[:, i].mean():+.1f} ({low[i]:+.1f} to {high[i]:+.1f})")


if __name__ == "__main__":
    main()

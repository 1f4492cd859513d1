#!/usr/bin/env python3
"""Weights of the parts of a symbol's score: how much each helps, and a fit on some repositories that is judged on others.

    python3 benches/weights.py --program codelode --corpora DIR [--questions DIR --trees DIR] [--fit SUITE] [--save FILE] [repository ...]

DIR of corpora holds NAME/plain, a tree of the commit that weights/repositories.tsv names, which is asked with weights/commits.tsv (titles of
later commits, and the functions that they changed), and NAME/nodoc, the same with its documentation blanked, which is asked with
weights/sentences.tsv (first sentences of that documentation, and their functions). DIR of questions holds public sets as JSON: a list of {suite,
repo, query, expected: {file} or {targets: [{file}]} or {evidence: [{file}]}}; DIR of trees their repositories. Each question is asked once, with
the parts of the scores of 200 answers; everything else is reckoned from those. Takes numpy.

Without --fit every part of the scores is left out and doubled in turn. With it, the weights of a suite are looked for from those as built, one
after the other, in five folds of repositories (of questions, where a suite has one repository), and judged on the fold that was left out.
"""

import argparse
import csv
import json
import math
import os
import pickle
import random
import re
from pathlib import Path

import numpy
from client import Server

HERE = Path(__file__).parent / "weights"
DEPTH = 200
# Parts that are added: words found in a field; "again" for other words of the same meaning.
FIELDS = ["text", "name", "parent", "signature", "summary", "text again", "name again"]
# Parts that multiply, as exponents.
SIGNS = ["test, example, generated or vendored", "type", "value", "name", "file", "verb", "question", "words in text", "words in signature",
         "words in owner", "short", "length of name", "nested", "constructor", "name that several bear", "name, file and area", "size",
         "meaning"]
STEPS = (0, .5, 1.5, 2)


def rows(name):
    with open(HERE / name, newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def suites(options):
    """Questions by suite and tree: (question, whether an answer is right, whether files are counted)."""
    for suite, corpus in (("commits", "plain"), ("sentences", "nodoc")):
        for row in rows(f"{suite}.tsv"):
            gold = [answer.rsplit(":", 2) for answer in row["answers"].split(" ")]
            gold = [(file, name, [tuple(map(int, span.split("-"))) for span in lines.split(",")]) for file, name, lines in gold]
            yield suite, row["repository"], Path(options.corpora) / row["repository"] / corpus, row["question"], gold
    for path in sorted(Path(options.questions).glob("*.json")) if options.questions else []:
        tasks = json.loads(path.read_text())
        for task in tasks if isinstance(tasks, list) else []:
            expected = task.get("expected", {})
            gold = [place["file"] for place in expected.get("targets") or expected.get("evidence") or [expected] if "file" in place]
            # A name is no question, and a whole issue is another sort.
            if gold and task.get("category") != "symbol" and len(task["query"]) < 500:
                yield task["suite"], task["repo"], Path(options.trees) / task["repo"], task["query"], gold


def is_right(item, gold):
    if isinstance(gold, str):
        return item["file"] == gold or item["file"].startswith(gold + "/")
    file, name, spans = gold
    return item["file"] == file and item["name"] == name and any(first <= item["line"] <= last for first, last in spans)


def parts(item):
    """Of each field, of each sign, and what else multiplies."""
    fields, signs, rest, seen = [0.0] * len(FIELDS), [0.0] * len(SIGNS), 1.0, set()
    for part in item["explain"]:
        what, kind, value = re.fullmatch(r"(.*) ([×+-])([\d.]+)", part).groups()
        value = float(value)
        if kind == "×" and what in SIGNS:
            signs[SIGNS.index(what)] += math.log(max(value, 1e-9))
        elif kind == "×":
            rest *= value
        elif what in FIELDS:
            # Fields are told in one order: one that comes again, or late, is that of other words.
            again = what in ("text", "name") and (what in seen or seen & {"parent", "signature", "summary", "text again"})
            fields[FIELDS.index(f"{what} again" if again else what)] += value
            seen.add(f"{what} again" if again else what)
    return fields, signs, rest


def collect(options):
    asked = {}
    for suite, repo, tree, query, gold in suites(options):
        if tree.is_dir() and (not options.repositories or repo in options.repositories):
            asked.setdefault(tree, []).append((suite, repo, query, gold))
    known = []
    for tree, questions in asked.items():
        server = Server(options.program, {"CODELODE_MAX_TOKENS": "1000000"})
        repo = server.call("index_folder", path=str(tree.resolve()))["repo"]
        for suite, name, query, gold in questions:
            found = server.call("search_symbols", query=query, repo=repo, max_results=DEPTH, explain=True)["results"]
            if not found:
                known.append((suite, name, None))
                continue
            fields, signs, rest = map(numpy.array, zip(*map(parts, found)))
            files = {file: at for at, file in enumerate(dict.fromkeys(item["file"] for item in found))}
            right = numpy.array([[is_right(item, one) for one in gold] for item in found])
            known.append((suite, name, (fields, signs, rest, numpy.array([files[item["file"]] for item in found]), right)))
        server.end()
        print(tree, len(questions), flush=True)
    return known


def measure(suite, question, weights):
    """Reciprocal rank of the first right one of ten; for the sets whose answers are files, NDCG over the first ten files."""
    if question is None:
        return 0.0
    (fields, signs, rest, files, right), (of_fields, of_signs, share) = question, weights
    scores = (fields @ of_fields) * numpy.exp(signs @ of_signs) * rest
    order = numpy.argsort(-scores, kind="stable")
    # A little of each file's three best, as the program adds it.
    seen, sums = numpy.zeros(files.max() + 1, int), numpy.zeros(files.max() + 1)
    for at in order:
        if seen[files[at]] < 3:
            sums[files[at]] += scores[at] / (1 + seen[files[at]])
            seen[files[at]] += 1
    order = numpy.argsort(-(scores + share * sums[files]), kind="stable")
    if suite in ("commits", "sentences", "cosqa"):
        first = next((n for n, at in enumerate(order[:10], 1) if right[at].any()), None)
        return 1 / first if first else 0.0
    gain, found, shown = 0.0, set(), []
    for at in order:
        if files[at] in shown:
            continue
        shown.append(files[at])
        new = set(numpy.flatnonzero(right[at])) - found
        if new:
            found.add(min(new))
            gain += 1 / math.log2(len(shown) + 1)
        if len(shown) == 10:
            break
    return gain / sum(1 / math.log2(n + 2) for n in range(min(right.shape[1], 10)))


def built():
    return numpy.ones(len(FIELDS)), numpy.ones(len(SIGNS)), None


def weighed(changes, share):
    """Weights as built but for some: by name, as multiples."""
    fields, signs, _ = built()
    for (kind, name), multiple in changes.items():
        if kind == "share":
            share *= multiple
        else:
            (fields if kind == "field" else signs)[(FIELDS if kind == "field" else SIGNS).index(name)] = multiple
    return fields, signs, share


PARTS = [("field", name) for name in FIELDS] + [("sign", name) for name in SIGNS] + [("share", "")]


def mean(questions, changes, share):
    return numpy.mean([measure(suite, question, weighed(changes, share)) for suite, _, question in questions])


def fitted(questions, share, cost, seed):
    changes, best = {}, mean(questions, {}, share)
    draw = random.Random(seed)
    for _ in range(2):
        before = dict(changes)
        for part in draw.sample(PARTS, len(PARTS)):
            for step in STEPS:
                tried = {**changes, part: step}
                # What is changed must pay for it.
                value = mean(questions, tried, share) - cost * len(tried)
                if value > best:
                    best, changes = value, tried
        if changes == before:
            break
    return changes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="codelode")
    parser.add_argument("--corpora", default="target/corpora/weights")
    parser.add_argument("--questions")
    parser.add_argument("--trees")
    parser.add_argument("--fit", metavar="SUITE", action="append")
    parser.add_argument("--cost", type=float, default=.002, help="gain that a changed weight must bring")
    parser.add_argument("--save", help="parts of scores, read again when it is there")
    parser.add_argument("repositories", nargs="*")
    options = parser.parse_args()
    if options.save and os.path.exists(options.save):
        known = pickle.load(open(options.save, "rb"))
    else:
        known = collect(options)
        if options.save:
            pickle.dump(known, open(options.save, "wb"))
    by_suite = {}
    for question in known:
        by_suite.setdefault(question[0], []).append(question)
    share = {suite: .1 if suite in ("commits", "sentences") else .2 for suite in by_suite}
    for suite, questions in by_suite.items():
        print(f"{suite}: {len(questions)} questions of {len({repo for _, repo, _ in questions})} repositories, {mean(questions, {}, share[suite]):.4f} as built")
    if not options.fit:
        for part in PARTS:
            told = [f"{suite} " + " / ".join(f"{mean(questions, {part: step}, share[suite]) - mean(questions, {}, share[suite]):+.4f}" for step in (0, 2))
                    for suite, questions in by_suite.items()]
            print(f"{' '.join(part):46} without / doubled: " + "; ".join(told), flush=True)
        return
    questions = [question for suite in options.fit for question in by_suite[suite]]
    own = share[options.fit[0]]
    repos = sorted({repo for _, repo, _ in questions})
    place = {repo: at % 5 for at, repo in enumerate(repos)}
    many = {repo for repo in repos if sum(other == repo for _, other, _ in questions) > 100}
    fold = [n % 5 if repo in many else place[repo] for n, (_, repo, _) in enumerate(questions)]
    gains = {}
    for out in range(5):
        changes = fitted([question for question, own_fold in zip(questions, fold) if own_fold != out], own, options.cost, out)
        print(f"without fold {out}: " + ", ".join(f"{' '.join(part)} ×{step}" for part, step in changes.items()), flush=True)
        for question, own_fold in zip(questions, fold):
            if own_fold == out:
                gain = measure(question[0], question[2], weighed(changes, own)) - measure(question[0], question[2], weighed({}, own))
                gains.setdefault(question[0], []).append(gain)
    for suite, gain in gains.items():
        print(f"{suite}, judged on what was left out: {numpy.mean(gain):+.4f} ± {1.96 * numpy.std(gain) / math.sqrt(len(gain)):.4f}")


if __name__ == "__main__":
    main()

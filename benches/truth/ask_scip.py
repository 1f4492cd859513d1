"""Compares the uses that `codelode export` writes as SCIP with an index that a compiler made (npm's @sourcegraph/scip-typescript).

    scip-typescript index --output index.scip
    python3 ask_scip.py codelode FOLDER index.scip [--at packages/zod] [--show 10] [--strict]

An occurrence of ours that is a use counts if the compiler has one at the same place whose symbol has a definition in the project. The two
agree if the definitions are at the same place. Two kinds of differences are shown apart, since the compiler's index has another meaning there:
a local symbol that is defined nowhere, as scip-typescript writes for `export { default as a } from "./a"` and some names that an import carries
on, and the constructor of a class whose name is written. `--strict` counts them as differences, which is the lower of the two figures.
"""
import argparse, collections, os, subprocess, tempfile

def numbers(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at

def fields(data):
    """The fields of a message of Protocol Buffers: number and value."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            length = {1: 8, 5: 4}[tag & 7]
            value, at = data[at:at + length], at + length
        yield tag >> 3, value

def read(path, folder):
    """By path: occurrences as range, symbol, roles. A range is a line and two columns."""
    documents = collections.defaultdict(list)
    with open(path, "rb") as file:
        data = file.read()
    for number, document in fields(data):
        if number != 2:
            continue
        name, occurrences = "", []
        for number, value in fields(document):
            if number == 1:
                name = value.decode()
            elif number == 2:
                place, symbol, roles = (), "", 0
                for number, part in fields(value):
                    if number == 1:
                        place = tuple(numbers(part))
                    elif number == 2:
                        symbol = part.decode()
                    elif number == 3:
                        roles = part
                if len(place) == 3:
                    occurrences.append((place, symbol, roles))
        name = os.path.normpath(os.path.join(folder, name))
        documents[name] += [(place, f"{name} {symbol}" if symbol.startswith("local ") else symbol, roles) for place, symbol, roles in occurrences]
    return documents

def definitions(documents):
    """By symbol: where it is defined. A file itself, at its first byte, is none."""
    found = collections.defaultdict(set)
    for path, occurrences in documents.items():
        for place, symbol, roles in occurrences:
            if roles & 1 and place[1:] != (0, 0):
                found[symbol].add((path, place[0], place[1]))
    return found

p = argparse.ArgumentParser()
p.add_argument("codelode"); p.add_argument("folder"); p.add_argument("index"); p.add_argument("--at", default=""); p.add_argument("--show", type=int, default=0)
p.add_argument("--strict", action="store_true")
a = p.parse_args()
theirs = read(a.index, a.at)
with tempfile.TemporaryDirectory() as index:
    run = lambda *words: subprocess.run([os.path.abspath(a.codelode), *words, "--index-dir", index], cwd=a.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    run("index", ".")
    with open(os.path.join(index, "ours.scip"), "wb") as out:
        out.write(run("export", "--format", "scip"))
    ours = read(os.path.join(index, "ours.scip"), "")
their_definitions, our_definitions = definitions(theirs), definitions(ours)
texts = {}
def line_of(path, line):
    if path not in texts:
        with open(os.path.join(a.folder, path), encoding="utf-8", errors="replace") as text:
            texts[path] = text.read().split("\n")
    return texts[path][line] if line < len(texts[path]) else ""
agree, differ = 0, collections.defaultdict(list)
for path, occurrences in ours.items():
    by_place = collections.defaultdict(set)
    for place, symbol, roles in theirs.get(path, ()):
        by_place[place].add(symbol)
    for place, symbol, roles in occurrences:
        targets, found = our_definitions.get(symbol, set()), by_place.get(place, set())
        if roles & 1 or not targets or not found:
            continue
        known = set().union(*(their_definitions.get(name, set()) for name in found))
        if targets & known:
            agree += 1
        elif known:
            is_constructor = all(line_of(other[0], other[1])[other[2]:].startswith("constructor") for other in known)
            kind = "the constructor" if is_constructor else "another file" if all(other[0] != path for other in known) else "the same file"
            differ[kind].append((path, place, sorted(targets)[0], sorted(known)[0]))
        elif all(" local " in name for name in found):
            differ["a local symbol without a definition"].append((path, place, sorted(targets)[0], None))
apart = () if a.strict else ("the constructor", "a local symbol without a definition")
count = sum(len(rows) for kind, rows in differ.items() if kind not in apart)
for kind, rows in differ.items():
    print(f"{len(rows)} differ, the compiler means {kind}")
    for path, place, our, their in rows[:a.show]:
        print(f"    {path}:{place[0] + 1}:{place[1]} {line_of(path, place[0]).strip()[:90]}\n        ours {our[0]}:{our[1] + 1} {line_of(our[0], our[1]).strip()[:70]}")
        if their:
            print(f"        theirs {their[0]}:{their[1] + 1} {line_of(their[0], their[1]).strip()[:70]}")
print(f"{agree + count} uses, {agree / max(1, agree + count):.4f} agree")

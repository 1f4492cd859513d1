#!/usr/bin/env python3
"""Names whose uses are overlooked: defined once, written often, and without a use.

    python3 benches/truth/suspects.py PROGRAM FOLDER... [--mentions 5] [--index-dir DIR] [--tsv FILE]

Each folder is indexed and exported. A name is looked at if it is a word of three letters at least that one definition bears
in the files of its language, and that its files write so often besides: comments and texts are left out, roughly, and
so are `name:` and `name=` of keys and keyword arguments. It is a suspect if the program binds no use to the definition and
tells of none that is possible. Many suspects are innocent: a name of the definition may be one of a library, too. What
they have in common shows what the resolver overlooks.
"""
import argparse, collections, json, os, pathlib, re, subprocess, sys, tempfile

LANGUAGES = {"python": (".py",), "javascript": (".js", ".jsx", ".mjs", ".cjs"), "typescript": (".ts", ".tsx", ".mts", ".cts"),
             "tsx": (".tsx",), "go": (".go",), "java": (".java",), "rust": (".rs",)}
ALIKE = [("javascript", "typescript", "tsx")]
TEXTS = re.compile(r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.M)
COMMENTS = {"python": re.compile(r"#[^\n]*")}
OTHERS = re.compile(r"/\*[\s\S]*?\*/|//[^\n]*")
WORD = re.compile(r"[A-Za-z_$][\w$]*")


def run(program, *args):
    out = subprocess.run([program, *args], capture_output=True, text=True)
    return out.stdout


def group(language):
    return next((group for group in ALIKE if language in group), (language,))


def code(text, language):
    """The text of a file without comments and texts."""
    text = TEXTS.sub('""', text)
    return COMMENTS.get(language, OTHERS).sub("", text)


def mentions(folder, paths):
    """How often each word is written in the code of some files, and where."""
    counts, places = collections.Counter(), collections.defaultdict(list)
    for path, language in paths:
        try:
            text = (folder / path).read_text(errors="replace")
        except OSError:
            continue
        if len(text) > 500_000:
            continue
        for number, line in enumerate(code(text, language).split("\n"), 1):
            for word in WORD.finditer(line):
                if re.match(r"\s*(:(?!:)|=(?!=))", line[word.end():]):
                    continue
                counts[word[0]] += 1
                if len(places[word[0]]) < 4:
                    places[word[0]].append(f"{path}:{number}")
    return counts, places


def suspects(program, folder, index, least):
    run(program, "index", str(folder), "--index-dir", index, "-q")
    lines = run(program, "export", "--format", "ndjson", "--repo", str(folder), "--index-dir", index).splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    used = {row["to"] for row in rows if row["type"] == "reference"}
    definitions = [row for row in rows if row["type"] == "definition" and row["language"] in LANGUAGES]
    looked, found = 0, []
    for languages in {group(row["language"]) for row in definitions}:
        ours = [row for row in definitions if row["language"] in languages]
        named = collections.Counter(row["name"] for row in ours)
        counts, places = mentions(folder, sorted({(row["path"], row["language"]) for row in ours}))
        for row in ours:
            name = row["name"]
            if named[name] != 1 or not WORD.fullmatch(name) or len(name) < 3 or counts[name] - 1 < least:
                continue
            looked += 1
            if row["id"] in used:
                continue
            answer = run(program, "--json", "call", "find_references", json.dumps({"symbol_id": row["id"]}),
                         "--repo", str(folder), "--index-dir", index)
            try:
                answer = json.loads(answer)
            except ValueError:
                continue
            if not any(answer.get(part) for part in ("references", "possible", "also", "possible_count", "external")):
                found.append((row["language"], row["id"], row["kind"], counts[name] - 1, " ".join(places[name])))
    return looked, found


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("program")
    args.add_argument("folders", nargs="+")
    args.add_argument("--mentions", type=int, default=5)
    args.add_argument("--index-dir")
    args.add_argument("--tsv", help="write the suspects into this file")
    args = args.parse_args()
    out = open(args.tsv, "w") if args.tsv else sys.stdout
    with tempfile.TemporaryDirectory() as index:
        for folder in map(pathlib.Path, args.folders):
            looked, found = suspects(os.path.abspath(args.program), folder.resolve(), args.index_dir or index, args.mentions)
            print(f"{folder.name}: {len(found)} of {looked} names", file=sys.stderr, flush=True)
            for row in found:
                print(folder.name, *row, sep="\t", file=out, flush=True)


main()

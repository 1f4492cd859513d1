"""Compares codelode's symbols with definitions that were written down by reading (definitions/*.tsv, see draw_definitions.py).

    python3 ask_definitions.py codelode CLONES [LANGUAGE…] [--show] [--rows definitions/second]

A row of kind `read` says which lines of a file were read; all others are a definition with its line, its kind and its name. A symbol is right
if its name and its kind are those of a row whose line is its first or one of the next five, where attributes or a result stand before the
name. Kinds: type (also modules and extensions), callable, value. Where a file was read in part, symbols that begin outside of it do not count.

Counted is what the language names at the level of a file, a module or a type, and functions and types within functions, but no values there;
a value is a field, a property, a constant, a case of an enum or a constructor of data. Signature and clauses of one function are one definition. What is
only declared elsewhere (prototypes, `extern`, `@class`) and what only adds to a type without naming one (an `impl`, an instance, an
`@implementation`) is none.
"""
import argparse, collections, csv, json, os, re, subprocess, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {"class": "type", "type": "type", "function": "callable", "method": "callable", "constant": "value"}
AFTER = 5

def bare(name, language):
    """The last part of a name without quotes, parentheses, type parameters; of a selector, its first word."""
    name = name.strip().strip('"`')
    if name.startswith("("):
        name = name.strip("() ")
    if language == "objc":
        name = name.split(":")[0]
    if re.match(r"[\w$@~'.]+", name) and " " not in name:
        name = re.match(r"[\w$@~'.?!-]+", name)[0]
        name = name.rsplit(".", 1)[-1] or name
    return name.lstrip("~")

def symbols(program, clone, commit, files):
    """Symbols of these files by path, from a folder with nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            text = subprocess.run(["git", "-C", clone, "show", f"{commit}:{file}"], stdout=subprocess.PIPE, check=True).stdout
            path = os.path.join(folder, "code", file)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as out:
                out.write(text)
        run = lambda *words: subprocess.run([program, *words, "--index-dir", os.path.join(folder, "index")], cwd=os.path.join(folder, "code"),
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout
        run("index", ".")
        found = collections.defaultdict(list)
        for line in run("export", "--format", "ndjson").splitlines():
            row = json.loads(line)
            if row["type"] == "definition" and row["kind"] in KINDS:
                found[row["path"]].append(row)
        return found

def compare(rows, ours, language, with_kinds):
    """Rows without a symbol and symbols without a row."""
    free, missed = list(ours), []
    for row in rows:
        fits = [one for one in free if bare(one["name"], language) == bare(row["name"], language)
                and one["line"] <= row["line"] <= one["line"] + AFTER and (not with_kinds or KINDS[one["kind"]] == row["kind"])]
        if fits:
            free.remove(max(fits, key=lambda one: (one["line"], KINDS[one["kind"]] == row["kind"])))
        else:
            missed.append(row)
    return missed, free

p = argparse.ArgumentParser()
p.add_argument("codelode"); p.add_argument("clones"); p.add_argument("languages", nargs="*"); p.add_argument("--show", action="store_true"); p.add_argument("--rows", default="definitions")
a = p.parse_args()
with open(os.path.join(HERE, "definitions/repositories.tsv"), encoding="utf-8") as text:
    repositories = [line.split() for line in text]
for language in a.languages or list(dict.fromkeys(row[0] for row in repositories)):
    with open(os.path.join(HERE, a.rows, f"{language}.tsv"), encoding="utf-8") as text:
        table = list(csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE))
    right = wrong = lost = kinds = 0
    for _, repository, commit in (row for row in repositories if row[0] == language):
        parts, truth = collections.defaultdict(list), collections.defaultdict(list)
        for row in (row for row in table if row["repository"] == repository):
            if row["kind"] == "read":
                parts[row["file"]].append(tuple(map(int, row["line"].split("-"))))
            else:
                truth[row["file"]].append({"line": int(row["line"]), "kind": row["kind"], "name": row["name"]})
        if not parts:
            continue
        found = symbols(os.path.abspath(a.codelode), os.path.join(a.clones, repository.split("/")[1]), commit, parts)
        for file, lines in parts.items():
            ours = [one for one in found[file] if any(first <= one["line"] <= last for first, last in lines)]
            missed, extra = compare(truth[file], ours, language, True)
            named, _ = compare(truth[file], ours, language, False)
            right += len(truth[file]) - len(missed); lost += len(missed); wrong += len(extra); kinds += len(missed) - len(named)
            if a.show and (missed or extra):
                print(f"{repository} {file}")
                for row in missed:
                    print(f"    not found {row['line']} {row['kind']} {row['name']}")
                for one in extra:
                    print(f"    only ours {one['line']} {KINDS[one['kind']]} {one['name']} ({one['detail']})")
    precision, recall = right / max(1, right + wrong), right / max(1, right + lost)
    print(f"{language}: {right + lost} definitions, {right + wrong} symbols, P {precision:.3f} R {recall:.3f} "
          f"F1 {2 * precision * recall / max(1e-9, precision + recall):.3f}; {kinds} only by their kind")

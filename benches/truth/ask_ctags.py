"""Compares the symbols of a language with universal-ctags' tags (Debian's package `universal-ctags`).

    python3 ask_ctags.py codelode LANGUAGE FOLDER… [--show 10]

A tag and a symbol are the same if they have the last part of a name and a file in common, and the tag's line lies in the symbol; several
tags may be one symbol, as clauses of a function. Kinds that only one of the two has do not count: those of ctags that are not in the
table below, those of codelode that no tag of the language could be. Neither do tags without a name of the source, such as `<lambda>`,
and tags that are wrong by the rules of `is_wrong`, nor folders with the code of others. Differences are listed by kind.
"""
import argparse, bisect, collections, json, os, subprocess

# By language: ctags' name of it, the kinds of tags that count, kinds and details of symbols that do not.
LANGUAGES = {
    "c": ("C", "egfmstuvd", "type/include"),
    "cpp": ("C++", "cdefgmnpstuv", "function/macro"),
    "csharp": ("C#", "cefgEimnps", "type/delegate class/record"),
    "php": ("PHP", "cdfit", "constant/member constant/property constant/field constant/variable type/namespace type/enum"),
    "ruby": ("Ruby", "cfmSA", "constant/constant constant/variable method/alias"),
    "kotlin": ("Kotlin", "cimoT", "constant method/constructor"),
    "lua": ("Lua", "f", "constant type class"),
    "bash": ("Sh", "f", "constant"),
    "elixir": ("Elixir", "adefgimopr", "constant type/alias type/type"),
    "erlang": ("Erlang", "dfmrt", "constant/field function/protocol"),
    "powershell": ("PowerShell", "f", "constant method class type"),
    "objc": ("ObjectiveC", "IPmc", "function constant type/alias type/enum type/extension"),
    "ocaml": ("OCaml", "cmMtfveCrp", ""),
    "julia": ("Julia", "fmnst", "constant"),
    "python": ("Python", "cfm", "constant"),
}

# Folders with the code of others.
VENDORED = {"vendor", "vendored", "third_party", "3rdparty", "external", "deps"}

def last(name, language):
    """The last part of a name, without the marks around one."""
    name = name.strip().strip("`").lstrip(":")
    if language in ("lua", "elixir"):
        return name.replace(":", ".").rsplit(".", 1)[-1]
    if language == "objc":
        return name.split(":")[0]
    if language == "julia":
        return name.split("{")[0]
    if language == "cpp":
        return name.rsplit("::", 1)[-1].replace(" ", "")
    return name.removesuffix("=") if language == "ruby" else name

def is_wrong(tag, language, text):
    """Tags of what is no definition: names of macros before a name, guards of headers, words of comments."""
    name, line = tag["name"], text[tag["line"] - 1] if tag["line"] <= len(text) else ""
    if name.startswith(("<", "__anon", "AnonymousClass")) or not name.strip():
        return True
    if language == "lua":
        return not last(name, language).isidentifier()
    if language == "kotlin":
        # Without the word of a function before it, a call; a companion has no name of its own; one in backquotes is read as others.
        return tag["kind"] == "method" and ("fun" not in line or "`" in line) or name.strip() == "Companion"
    if language in ("c", "cpp") and tag["kind"] == "macro":
        return line.split("//")[0].split("/*")[0].rstrip().endswith(name)
    if language in ("c", "cpp") and tag["kind"] in ("function", "member", "prototype"):
        return name.isupper() and len(name) > 3
    if language == "bash":
        return name.endswith("=") or "()" not in line.replace(" ", "") and "function" not in line
    return language == "csharp" and tag["kind"] in ("field", "method", "property") and name[:1] == "I" and f"<{name}" in line + " <"

p = argparse.ArgumentParser()
p.add_argument("codelode"); p.add_argument("language"); p.add_argument("folders", nargs="+"); p.add_argument("--show", type=int, default=0)
a = p.parse_args()
named, kinds, without = LANGUAGES[a.language]
without = set(without.split())

def lines(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return [json.loads(line) for line in done.stdout.decode(errors="replace").splitlines() if line.startswith("{")]

total = [0, 0, 0]
for folder in a.folders:
    subprocess.run([a.codelode, "index", "."], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    ours = [row for row in lines([a.codelode, "export", "--format", "ndjson"], folder) if row["type"] == "definition" and row["language"] == a.language]
    ours = [row for row in ours if not VENDORED & set(row["path"].split("/")) and "googletest" not in row["path"]]
    files = sorted({row["path"] for row in ours})
    ours = [row for row in ours if not {row["kind"], f"{row['kind']}/{row.get('detail', row['kind'])}"} & without]
    texts = {path: open(os.path.join(folder, path), encoding="utf-8", errors="replace").read().splitlines() for path in files}
    theirs = []
    for start in range(0, len(files), 500):
        command = ["ctags", "--output-format=json", "--fields=+nKl", f"--language-force={named}", f"--kinds-{named}={kinds}", "-o", "-", *files[start:start + 500]]
        theirs += [row for row in lines(command, folder) if row.get("language") == named]
    by_name = collections.defaultdict(list)
    for row in ours:
        by_name[row["path"], last(row["name"], a.language)].append(row)
    missed, matched = {}, set()
    neither = set()
    for tag in theirs:
        if is_wrong(tag, a.language, texts[tag["path"]]):
            neither.add((tag["path"], tag["line"]))
            continue
        key = tag["path"], last(tag["name"], a.language)
        fits = [row for row in by_name[key] if row["line"] <= tag["line"] <= row["end_line"]]
        if fits:
            matched.add(max(fits, key=lambda row: (row["id"] not in matched, row["line"]))["id"] if len(fits) > 1 else fits[0]["id"])
        else:
            missed.setdefault((*key, tag["line"]), tag)
    missed = list(missed.values())
    ours = [row for row in ours if row["id"] in matched or (row["path"], row["line"]) not in neither]
    extra = [row for row in ours if row["id"] not in matched]
    total[0] += len(ours) - len(extra)
    total[1] += len(extra)
    total[2] += len(missed)
    if a.show:
        print(f"{os.path.basename(os.path.realpath(folder))}: only codelode {len(extra)}, only ctags {len(missed)}")
        for title, rows, of in (("only codelode", extra, lambda row: f"{row['kind']}/{row.get('detail', '')}"), ("only ctags", missed, lambda row: row["kind"])):
            groups = collections.defaultdict(list)
            for row in rows:
                groups[of(row)].append(row)
            for kind, rows in sorted(groups.items(), key=lambda group: -len(group[1])):
                shown = ", ".join(f"{row['name']} {row['path']}:{row['line']}" for row in rows[:a.show])
                print(f"  {title} {len(rows)} {kind}: {shown}")
right, extra, missed = total
precision, recall = right / max(1, right + extra), right / max(1, right + missed)
print(f"{a.language}: {right + extra} symbols, {right + missed} tags, P {precision:.3f} R {recall:.3f} F1 {2 * precision * recall / max(1e-9, precision + recall):.3f}")

"""Compares the symbols of a language with universal-ctags' tags (Debian's package `universal-ctags`).

    python3 ask_ctags.py codelode LANGUAGE FOLDER… [--show 10]

A tag and a symbol are the same if they have the last part of a name and a file in common, and the tag's line lies in the symbol; several
tags may be one symbol, as clauses of a function. Kinds that only one of the two has do not count: those of ctags that are not in the
table below, those of codelode that no tag of the language could be. Neither do tags without a name of the source, such as `<lambda>`,
and tags that are wrong by the rules of `is_wrong`, nor folders with the code of others, nor symbols where ctags has lost its place by
the rules of `is_lost`, whose number is printed. Differences are listed by kind.
"""
import argparse, collections, functools, json, os, re, subprocess, tempfile

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
        return name.split("{")[0].removeprefix("Base.")
    if language == "erlang":
        return name.strip("'")
    if language == "cpp":
        return name.rsplit("::", 1)[-1].replace(" ", "")
    return name.removesuffix("=") if language == "ruby" else name

def is_wrong(tag, language, text):
    """Tags of what is no definition: names of macros before a name, guards of headers, words of comments."""
    name, line = tag["name"], text[tag["line"] - 1] if tag["line"] <= len(text) else ""
    if name.startswith(("<", "__anon", "AnonymousClass")) or not name.strip():
        return True
    if language in HEREDOCS and tag["line"] in in_text(text, language):
        return True
    if language == "lua":
        # A function that is called or handed on, or the word in a text.
        word = re.escape(last(name, language))
        return not re.search(r"\bfunction\s+[\w.:]*\b" + word + r"\s*\(|\b" + word + r"\s*=\s*function\b", line)
    if language == "elixir":
        # Cut off within a word.
        return re.search(re.escape(name) + r"[\w?!]", line) is not None and not re.search(re.escape(name) + r"(?![\w?!])", line)
    if language == "julia":
        # An operator is only known by its module: `Base.:(==)(a, b)`.
        return re.search(r"\b" + re.escape(name) + r"\.:?[^\w\s]", line) is not None
    if language == "kotlin":
        # Without the word of a function before it, a call; a companion has no name of its own; one in backquotes is read as others.
        return tag["kind"] == "method" and ("fun" not in line or "`" in line) or name.strip() == "Companion"
    if language in ("c", "cpp") and tag["kind"] == "macro":
        return line.split("//")[0].split("/*")[0].rstrip().endswith(name)
    if language in ("c", "cpp") and tag["kind"] in ("function", "member", "prototype"):
        return name.isupper() and len(name) > 3
    if language == "bash":
        # A word of a text, or a call in a text of another language.
        return not re.search(r"(?:^|[;{&|]|\b(?:then|do|else))\s*(?:function\s+" + re.escape(name) + r"|" + re.escape(name) + r"\s*\(\s*\)\s*(?:[({#]|$))", line)
    return language == "csharp" and tag["kind"] in ("field", "method", "property") and name[:1] == "I" and f"<{name}" in line + " <"

# Signs around texts of several lines, which begin and end with lines that hold one of them.
HEREDOCS = {"elixir": ('"""', "'''"), "julia": ('"""',), "erlang": ('"',), "powershell": ("@'", '@"')}

@functools.lru_cache(maxsize=8)
def in_text_of(lines, language):
    found, sign = set(), ""
    for at, line in enumerate(lines, 1):
        if sign:
            found.add(at)
        if language == "powershell":
            if not sign and line.rstrip().endswith(HEREDOCS[language]):
                sign = line.rstrip()[-1] + "@"
            elif sign and line.startswith(sign):
                sign = ""
            continue
        if language == "erlang":
            # Quoted atoms and comments hold quotes of their own.
            line = re.sub(r"\\\\.|\\\$\\\\?.", "", line) if sign else re.sub(r"\\\\.|\\\$\\\\?.|'[^']*'", "", line)
            line = line if sign else re.sub(r"(^[^\"%]*(?:\"[^\"]*\"[^\"%]*)*)%.*", r"\1", line)
        for mark in HEREDOCS[language]:
            if sign in ("", mark) and line.count(mark) % 2:
                sign = "" if sign else mark
    return frozenset(found)

def in_text(lines, language):
    """The lines that begin within a text of several lines."""
    return in_text_of(tuple(lines), language)

# By language: a line that is plainly a definition of a name.
PLAIN = {
    "powershell": r"^\s*(?:function|filter)\s+(?:\w+:)?{name}(?![\w-])",
    "julia": r"^\s*(?:@\w+\s+)*(?:function\s+(?:[\w.]+\.)?:?\(?{name}\)?\s*[({{]|(?:mutable\s+)?struct\s+{name}\b|(?:[\w.]+\.)?{name}(?:\{{[^}}]*\}})?\(.*\)[^=]*=(?!=))",
}

def is_lost(row, language, text, tags):
    """Symbols where ctags has none for a reason: it reads one branch of a condition of C alone, takes a macro with arguments before a
    field for a function, loses its place for the rest of a file in PowerShell and Julia, knows no operators of Julia, no name of Kotlin
    in backquotes and no annotation within its parameters."""
    name = last(row["name"], language)
    at = next((at for at in range(row["line"], min(row["line"] + 10, len(text)) + 1) if name in text[at - 1]), row["line"])
    line = text[at - 1]
    if language in ("c", "cpp"):
        branch = branches(tuple(text)).get(at)
        is_skipped = branch is not None and not line[:1].isspace() and not any(branches(tuple(text)).get(tag["line"]) == branch for tag in tags)
        return is_skipped or re.match(r"\s*[A-Z_]+\([\w, ]*\)\s+" + re.escape(name) + r"\s*;", line) is not None
    if language == "kotlin":
        if "`" in row["name"]:
            return True
        head = " ".join(text[at - 1:row["end_line"]]).split("{", 1)[0]
        return row["kind"] == "function" and "@" in head.split("(", 1)[-1]
    if language in PLAIN:
        is_operator = language == "julia" and not re.match(r"[^\W\d]", name)
        is_behind = all(tag["line"] < row["line"] for tag in tags)
        return is_operator or is_behind and re.match(PLAIN[language].format(name=re.escape(name)), line) is not None
    return False

@functools.lru_cache(maxsize=8)
def branches(lines):
    """Lines of C within `#if 0` or behind an `#else` or `#elif`, with the line where this branch begins."""
    found, stack = {}, []
    for at, line in enumerate(lines, 1):
        word = re.match(r"\s*#\s*(if\w*|el\w+|endif)\b\s*(.*)", line)
        if word and word[1].startswith("if"):
            stack.append(at if word[1] == "if" and word[2].strip() == "0" else None)
        elif word and word[1] == "endif":
            stack = stack[:-1]
        elif word and stack:
            stack[-1] = at
        inner = [start for start in stack if start]
        if inner:
            found[at] = inner[0]
    return found

p = argparse.ArgumentParser()
p.add_argument("codelode"); p.add_argument("language"); p.add_argument("folders", nargs="+"); p.add_argument("--show", type=int, default=0)
a = p.parse_args()
named, kinds, without = LANGUAGES[a.language]
without = set(without.split())

def lines(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return [json.loads(line) for line in done.stdout.decode(errors="replace").splitlines() if line.startswith("{")]

total, left_out = [0, 0, 0], 0
for folder in a.folders:
    with tempfile.TemporaryDirectory() as index:
        program = [os.path.abspath(a.codelode), "--index-dir", index]
        subprocess.run([*program, "index", "."], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        ours = lines([*program, "export", "--format", "ndjson"], folder)
    ours = [row for row in ours if row["type"] == "definition" and row["language"] == a.language]
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
    tags_of = collections.defaultdict(list)
    for tag in theirs:
        if is_wrong(tag, a.language, texts[tag["path"]]):
            neither.add((tag["path"], tag["line"]))
            continue
        tags_of[tag["path"]].append(tag)
        key = tag["path"], last(tag["name"], a.language)
        fits = [row for row in by_name[key] if row["line"] <= tag["line"] <= row["end_line"]]
        if fits:
            matched.add(max(fits, key=lambda row: (row["id"] not in matched, row["line"]))["id"] if len(fits) > 1 else fits[0]["id"])
        else:
            missed.setdefault((*key, tag["line"]), tag)
    missed = list(missed.values())
    # A tag is where the name is, which annotations may precede.
    heads = lambda row: range(row["line"], next((at for at in range(row["line"], row["end_line"]) if row["name"] in texts[row["path"]][at - 1]), row["line"]) + 1)
    ours = [row for row in ours if row["id"] in matched or not any((row["path"], at) in neither for at in heads(row))]
    lost = {row["id"] for row in ours if row["id"] not in matched and is_lost(row, a.language, texts[row["path"]], tags_of[row["path"]])}
    left = [row for row in ours if row["id"] in lost]
    ours = [row for row in ours if row["id"] not in lost]
    left_out += len(left)
    extra = [row for row in ours if row["id"] not in matched]
    total[0] += len(ours) - len(extra)
    total[1] += len(extra)
    total[2] += len(missed)
    if a.show:
        print(f"{os.path.basename(os.path.realpath(folder))}: only codelode {len(extra)}, only ctags {len(missed)}")
        for title, rows, of in (("only codelode", extra, lambda row: f"{row['kind']}/{row.get('detail', '')}"), ("only ctags", missed, lambda row: row["kind"]),
                                ("left out", left, lambda row: row["kind"])):
            groups = collections.defaultdict(list)
            for row in rows:
                groups[of(row)].append(row)
            for kind, rows in sorted(groups.items(), key=lambda group: -len(group[1])):
                shown = ", ".join(f"{row['name']} {row['path']}:{row['line']}" for row in rows[:a.show])
                print(f"  {title} {len(rows)} {kind}: {shown}")
right, extra, missed = total
precision, recall = right / max(1, right + extra), right / max(1, right + missed)
print(f"{a.language}: {right + extra} symbols, {right + missed} tags, P {precision:.3f} R {recall:.3f} F1 {2 * precision * recall / max(1e-9, precision + recall):.3f}"
      f"; {left_out} symbols where ctags is lost")

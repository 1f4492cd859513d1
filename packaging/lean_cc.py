#!/usr/bin/env python3
"""A C compiler that makes grammars small; needs nothing but Python 3.11.

    CC="$PWD/packaging/lean_cc.py" cargo build --locked --profile dist --features fleet

Every call is handed to the real compiler ($LEAN_CC, or cc), but a grammar's parser.c is first written anew, to mean the same:

* A table of actions has rows with a place for each symbol, and rows that list symbols, for states in which few can come. The generator
  of parsers lists up to 64. Here every row is listed that takes at most a share of its full size (SHARES). The states keep their numbers,
  so that the trees are the same.
* The generator asks that lexers of large grammars be compiled without optimisation, because that is quick to compile. Here they are
  built for size, which also runs faster.

A file that does not look as expected is compiled as it is, and a line says so.
"""

import os
import re
import sys
import subprocess
import tempfile
from pathlib import Path

# The most of its full size that a row may take when it is listed. A listed row is searched from its start, which costs time: with the
# shares of the languages that are named, no parsing got more than three hundredths slower.
SHARES = {
    **dict.fromkeys(["go", "java", "javascript", "python", "rust", "tsx", "typescript"], 0),
    **dict.fromkeys(["c", "c_sharp", "cpp", "php", "php_only", "ruby", "swift"], 1 / 3),
    "scala": 1 / 2,
    **dict.fromkeys(["julia", "kotlin"], 2 / 3),
}
OTHERS = 1 / 2

FULL = "static const uint16_t ts_parse_table[LARGE_STATE_COUNT][SYMBOL_COUNT] = {\n"
LISTED = "static const uint16_t ts_small_parse_table[] = {\n"
PLACES = "static const uint32_t ts_small_parse_table_map[] = {\n"
ROW = re.compile(r"  \[(?:STATE\()?(\d+)\)?\] = \{\n((?:    \[\w+\] = \w+\(\d+\),\n)*)  \},\n")
LISTED_ROW = re.compile(r"^  \[(\d+)\] = \d+,\n", re.MULTILINE)
SLOW = re.compile(r'^#pragma (?:clang optimize off|GCC optimize \("O0"\)|optimize\("", off\))$', re.MULTILINE)


def number(text, name):
    return int(re.search(rf"^#define {name} (\d+)$", text, re.MULTILINE)[1])


def grouped(row):
    """The actions of a row of full size, each with its symbols, small groups first."""
    groups = {}
    for line in row.splitlines():
        symbol, action = line.strip().removesuffix(",").split("] = ")
        groups.setdefault(action, []).append(symbol[1:])
    return sorted(groups.items(), key=lambda group: len(group[1]))


def listed_size(groups):
    return 1 + sum(2 + len(symbols) for _, symbols in groups)


def end_of_listed(text, start, end):
    """How many numbers the table of listed rows has."""
    *_, last = LISTED_ROW.finditer(text, start, end)
    rest = re.sub(r"\(\d+\)", "", text[last.end() : end])
    return int(last[1]) + 1 + rest.count(",")


def packed(text, share):
    """The text of a parser with the rows at the end of its full table listed, as far as they are within the share."""
    if not share or FULL not in text or PLACES not in text:
        return text
    symbols, large = number(text, "SYMBOL_COUNT"), number(text, "LARGE_STATE_COUNT")
    start = text.index(FULL) + len(FULL)
    end = text.index("\n};\n", start) + 1
    rows = list(ROW.finditer(text, start, end))
    if [int(row[1]) for row in rows] != list(range(large)) or sum(len(row[0]) for row in rows) != len(text[start:end].replace("\n\n", "\n")):
        raise ValueError("rows of another form")
    groups = [grouped(row[2]) for row in rows]
    # The first two states are the generator's own, and stay.
    kept = large
    while kept > 2 and listed_size(groups[kept - 1]) <= symbols * share:
        kept -= 1
    if kept == large:
        return text
    first = text.index(LISTED, end) + len(LISTED)
    last = text.index("\n};\n", first) + 1
    at = end_of_listed(text, first, last)
    lines, places, known = [], [], {}
    for state in range(kept, large):
        row = rows[state][2]
        if row not in known:
            known[row] = at
            lines.append(f"  [{at}] = {len(groups[state])},\n")
            lines += (f"{action}, {len(names)},\n{','.join(names)},\n" for action, names in groups[state])
            at += listed_size(groups[state])
        places.append(f"  [SMALL_STATE({state})] = {known[row]},\n")
    place = text.index(PLACES, last) + len(PLACES)
    parts = [text[: rows[kept].start()], text[end:last], *lines, text[last:place], *places, text[place:]]
    return re.sub(r"^#define LARGE_STATE_COUNT \d+$", f"#define LARGE_STATE_COUNT {kept}", "".join(parts), count=1, flags=re.MULTILINE)


def lean(text):
    """The text of a parser, written anew, and the flags that it is compiled with beside the usual."""
    language = re.search(r"const TSLanguage \*tree_sitter_(\w+)\(void\)", text)[1]
    quick = SLOW.sub("", text)
    return packed(quick, SHARES.get(language, OTHERS)), ["-Os"] if quick != text else []


def main():
    compiler = os.environ.get("LEAN_CC", "cc")
    arguments = sys.argv[1:]
    source = next((at for at, argument in enumerate(arguments) if Path(argument).name == "parser.c"), None)
    if source is None or "-c" not in arguments:
        os.execvp(compiler, [compiler, *arguments])
    path = Path(arguments[source])
    try:
        text, flags = lean(path.read_text(encoding="utf-8"))
    except (ValueError, TypeError) as error:
        print(f"{path}: compiled as it is: {error}", file=sys.stderr)
        os.execvp(compiler, [compiler, *arguments])
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "parser.c"
        written.write_text(text, encoding="utf-8")
        arguments[source] = str(written)
        sys.exit(subprocess.call([compiler, *arguments, *flags, "-iquote", str(path.parent)]))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Draws docs/PROOF.md and its pictures from results.json, which `run.py` measures. `--check` says whether they are as drawn."""

import dataclasses
import html
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"
OURS = "codelode"


@dataclasses.dataclass
class Column:
    key: str
    label: str
    # How a number is written, and whether more is better, less is, or neither.
    form: str = "{:,.0f}"
    better: str = ""
    # A time by the clock, which says nothing where the machine was shared.
    is_clock: bool = False


@dataclasses.dataclass
class Section:
    name: str
    title: str
    text: str
    columns: list
    # The column of the picture, and that of the range that a line through each bar shows.
    plot: str
    spread: str = ""


SECTIONS = [
    Section(
        "oracle",
        "An oracle of others: call edges of TypeScript",
        "[repowise-bench](https://github.com/repowise-dev/repowise-bench) has call graphs of two libraries, made by the "
        "TypeScript checker, and rows of five tools measured by its authors. Its oracle runs here on the commits that give "
        "every count it publishes, and the same rule judges: an edge is the line of a caller and of the called definition. "
        "Precision counts only callers that the oracle judges, recall all of its edges. A range is the 95 % interval. Rows "
        "marked *published* are the numbers of that repository; the script measured the others. An edge to each signature of an "
        "overloaded function counts as denied, because the oracle's goes to the one with a body.",
        [Column("precision", "precision", "{:.3f}", "more"), Column("precision_range", "range", "{:.3f}"),
         Column("recall", "recall", "{:.3f}", "more"), Column("recall_range", "range", "{:.3f}"),
         Column("edges", "edges"), Column("denied", "denied"), Column("unjudged", "unjudged")],
        "recall",
    ),
    Section(
        "relations",
        "Uses beside compilers",
        "Definitions drawn at random, and the lines on which a compiler's front end finds each used: clang for C, pyright for "
        "Python (of names defined once). codelode answers with its resolved uses, ripgrep with every line with the name, which "
        "an agent without an index reads. Directives, other declarations of the same name and code that the compiler does not "
        "read are not counted. Calls in TypeScript are judged [above](#oracle).",
        [Column("precision", "precision", "{:.3f}", "more"), Column("recall", "recall", "{:.3f}", "more"),
         Column("right", "right"), Column("wrong", "wrong"), Column("missing", "missing")],
        "precision",
    ),
    Section(
        "dead",
        "Dead code",
        "Unused functions, methods and classes: codelode's at confidence 1.0, and vulture's, which names no surer ones. Sixty "
        "of each list were looked up in pyright; where it finds a use, the tool was wrong. pyright does not see names looked up "
        "at run time, so the share covers only its judgements. A library's public functions without a use in it count as right. "
        "The repositories read by hand are 22 in six languages; every verdict was looked up in the code in November 2026 "
        "(`benches/dead/verdicts.tsv`). Causes of mistakes in the first twelve were fixed before the other ten were read, so "
        "the row is better than one of unknown code would be.",
        [Column("listed", "listed", "{:,.0f}", "more"), Column("judged", "looked up"), Column("used", "of these used"), Column("right", "share right", "{:.2f}", "more")],
        "right",
    ),
    Section(
        "finding",
        "Finding",
        "Questions in words about repositories, with the files that the authors of "
        "[semble](https://github.com/MinishLab/semble) named as answers (NDCG at 10, by files). Then 30 names each of functions "
        "and classes that universal-ctags knows once, drawn at random and typed as written, as words or with a letter left out "
        "(the first hit is right). codelode was worked on with these questions of semble in sight; the other tools were not "
        "tuned on them.",
        [Column("ndcg", "questions, NDCG at 10", "{:.2f}", "more"), Column("first", "names, first right", "{:.2f}", "more")],
        "ndcg",
    ),
    Section(
        "tokens",
        "Tokens until the answer",
        "Functions with a known name that universal-ctags knows once, drawn at random: the tokens (cl100k) that a model reads "
        "until it has the whole source. codelode: a search for three hits and the first one's source, in compact form. "
        "codegraph: its one tool. code-index-mcp: a search and the symbol's body, with the file given. shell: ripgrep for the "
        "name, and the two hundred lines from the definition. *Answered* is the share whose every line was read; the median "
        "covers these.",
        [Column("tokens", "median tokens", "{:,.0f}", "less"), Column("mean", "mean of all", "{:,.0f}", "less"),
         Column("answered", "answered", "{:.2f}", "more")],
        "tokens",
    ),
    Section(
        "savings",
        "Tokens until a question is answered",
        "The same questions in words as [above](#finding): the tokens (cl100k) that a model reads until it has code of a file "
        "that answers. codelode: a search for ten hits, then their sources one after the other, in compact form; in one call: "
        "`get_ranked_context` with a budget of 3,000 tokens, the whole answer. ripgrep: all words of the question except *how*, *the* and their like. Ten "
        "files are named, those with the most words first; then whole files, or the hundred lines around the line with the most "
        "words, one after the other. Quartiles and median cover answered questions, the mean all questions. A file that answers "
        "is not yet an answer that was understood.",
        [Column("tokens", "median tokens", "{:,.0f}", "less"), Column("quarters", "quartiles"), Column("mean", "mean of all", "{:,.0f}", "less"),
         Column("answered", "answered", "{:.2f}", "more")],
        "tokens",
        "quarters",
    ),
    Section(
        "text",
        "Text beside ripgrep",
        "Whole processes that print every line, in turns, seven times; the median. ripgrep opens every file. codelode asks an "
        "index that was made before. It first checks the time of every file, unless a process watches the folder or it may use "
        "the index without checking. A factor is ripgrep's processor time divided by the tool's, in the same turns. Lines "
        "differ where one of the two skips files (codelode: lock files, minified files, files above 500 KB).",
        [Column("cpu", "processor ms", "{:,.0f}", "less"), Column("ratio", "× ripgrep", "{:,.1f}"), Column("wall", "wall ms", is_clock=True),
         Column("lines", "lines")],
        "cpu",
    ),
    Section(
        "cost",
        "Cold indexing",
        "Each tool makes its index from nothing, in turns, three times (once if that takes more than two minutes); the median. "
        "universal-ctags makes only a list of definitions, codegraph a graph without text search, code-index-mcp symbols. "
        "codelode makes symbols, text and facts, from which it derives edges at the first question about them.",
        [Column("cpu", "processor s", "{:,.1f}", "less"), Column("wall", "wall s", "{:,.1f}", is_clock=True), Column("mb", "peak MB", "{:,.0f}", "less"),
         Column("disk", "index MB", "{:,.1f}", "less")],
        "cpu",
    ),
    Section(
        "attacks",
        "Hostile files",
        "Each is in a folder beside a harmless file. A tool survives if it ends well, in time, and then finds the function of "
        "the harmless file. The worst processor time and memory are of whole processes that index.",
        [Column("survived", "survived", "{:,.0f}", "more"), Column("cpu", "worst processor s", "{:,.1f}", "less"),
         Column("mb", "worst peak MB", "{:,.0f}", "less")],
        "survived",
    ),
]


def read():
    path = HERE / "results.json"
    return json.loads(path.read_text()) if path.exists() else {"tables": [], "missing": [], "machine": {}}


def form(column, value):
    if value is None:
        return "–"
    if isinstance(value, list):
        return " – ".join(column.form.format(part) for part in value)
    return column.form.format(value)


def name(arm):
    if "variant" in arm:
        return f"– {arm['variant']}"
    return f"{arm['name']} {arm['version']}" + (", published" if arm.get("source") == "published" else "")


def best(table, column):
    """The value that wins a column. Values that are written alike are equal."""
    values = [arm["values"].get(column.key) for arm in table["arms"] if "variant" not in arm]
    values = [value for value in values if value is not None]
    if not column.better or len(values) < 2:
        return None
    return max(values) if column.better == "more" else min(values)


def lost(section, table):
    """The columns in which others are better than ours, with all of their names, the best first."""
    ours = next((arm for arm in table["arms"] if arm["name"] == OURS), None)
    for column in (column for column in section.columns if column.better):
        value = ours and ours["values"].get(column.key)
        sign = 1 if column.better == "more" else -1
        better = [(sign * arm["values"][column.key], arm) for arm in table["arms"]
                  if not arm["name"].startswith(OURS) and "variant" not in arm and value is not None
                  and arm["values"].get(column.key) is not None]
        better = [(other, arm) for other, arm in better
                  if other > sign * value and form(column, sign * other) != form(column, value)]
        if better:
            better.sort(key=lambda pair: -pair[0])
            others = "; ".join(f"{name(arm)} {form(column, sign * other)}" for other, arm in better)
            yield f"{column.label} {form(column, value)}; {others}"


def page(results):
    tables = results["tables"]
    machine = results["machine"]
    dates = sorted({table["date"] for table in tables})
    lines = [
        "# Proof",
        "",
        "<!-- Made by benches/proof/run.py from what it measured; change that, not this. -->",
        "",
        "Figures that anyone can make again: `python3 benches/proof/run.py --codelode target/release/codelode` installs the rivals, fetches "
        "the code, measures one thing after the other and draws this page. Nothing is on it that the script did not measure, but for "
        "rows marked *published*. Best values are bold. Every row that codelode loses is listed first.",
        "",
        f"Measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))} on {machine['cores']} cores ({machine['processor']}, "
        f"{machine['memory_gb']} GB, {machine['system']}). *Load* is of the machine while a row was measured: above "
        "its cores others used it too, and times by the clock are left out; processor times are of what is measured alone, and compared in one run.",
        "",
        "## What we lose",
        "",
    ]
    losses = [f"- [{section.title}](#{section.name}), {table['corpus']}: {line}"
              for section in SECTIONS for table in tables if table["section"] == section.name for line in lost(section, table)]
    lines += losses or ["Nothing that was measured."]
    known = {row["section"] for row in tables + results["missing"]}
    if waiting := [section.title for section in SECTIONS if section.name not in known]:
        lines += ["", f"Not measured yet: {', '.join(waiting)}."]
    for section in SECTIONS:
        own = [table for table in tables if table["section"] == section.name]
        missing = [row for row in results["missing"] if row["section"] == section.name]
        if not own and not missing:
            continue
        lines += ["", f'<a id="{section.name}"></a>', "", f"## {section.title}", "", section.text, ""]
        if own:
            lines += [f"`python3 benches/proof/run.py --only {section.name}`", ""]
            lines += [f"![{section.title}](proof/{section.name}.svg)", ""]
            is_shared = any(table["load"] > machine["cores"] for table in own)
            columns = [column for column in section.columns if not (column.is_clock and is_shared)]
            lines.append("| code | tool | " + " | ".join(column.label for column in columns) + " |")
            lines.append("|---" * (len(columns) + 2) + "|")
            lines += [line for table in own for line in rows(columns, table)]
            lines += ["", *origins(own)]
        lines += [f"- Left out: {row['name']}. {row['reason']}" for row in missing]
    return "\n".join(lines) + "\n"


def origins(tables):
    """What each table is of, its size and date; tables of the same code are one line."""
    groups = {}
    for table in tables:
        groups.setdefault((table["version"], table["size"], table["date"], table.get("note")), []).append(table)
    for (version, size, date, note), own in groups.items():
        loads = sorted({table["load"] for table in own})
        load = " – ".join(str(load) for load in dict.fromkeys((loads[0], loads[-1])))
        names = "; ".join(table["corpus"] for table in own)
        yield f"- {names}: {version}; {size}; {date}, load {load}" + (f"; {note}" if note else "")


def rows(columns, table):
    for arm in table["arms"]:
        cells = []
        for column in columns:
            value = arm["values"].get(column.key)
            cell, top = form(column, value), best(table, column)
            is_best = top is not None and "variant" not in arm and cell == form(column, top)
            cells.append(f"**{cell}**" if is_best else cell)
        yield f"| {table['corpus']} | {name(arm)} | {' | '.join(cells)} |"


def ends(section, arm):
    """The ends of an arm's range; zeros without one."""
    return arm["values"].get(section.spread) or (0, 0)


def picture(section, tables):
    """A bar for each tool, grouped by code."""
    column = next(column for column in section.columns if column.key == section.plot)
    bars, y = [], 34
    arms = [arm for table in tables for arm in table["arms"]]
    most = max([arm["values"].get(column.key) or 0 for arm in arms] + [ends(section, arm)[1] for arm in arms], default=1) or 1
    for table in tables:
        bars.append(f'<text x="10" y="{y + 13}" class="code">{html.escape(table["corpus"])}</text>')
        y += 20
        for arm in table["arms"]:
            value = arm["values"].get(column.key)
            if value is None or "variant" in arm:
                continue
            width, (low, high) = 330 * value / most, ends(section, arm)
            kind = "ours" if arm["name"] == OURS else "other"
            bars.append(f'<text x="250" y="{y + 12}" text-anchor="end">{html.escape(name(arm))}</text>'
                        f'<rect x="260" y="{y + 1}" width="{width:.1f}" height="14" class="{kind}"/>'
                        f'<text x="{266 + max(width, 330 * high / most):.1f}" y="{y + 12}">{form(column, value)}</text>')
            if high:
                bars.append(f'<path d="M{260 + 330 * low / most:.1f} {y + 8}H{260 + 330 * high / most:.1f}" class="spread"/>')
            y += 19
        y += 8
    spread = "; the line goes from the lower to the upper quartile" if section.spread else ""
    line = ".spread { stroke: #c2410c; stroke-width: 2 } " if section.spread else ""
    better = {"more": ", more is better", "less": ", less is better"}.get(column.better, "")
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 {y + 4}" width="680" height="{y + 4}" role="img">',
        f"<title>{html.escape(section.title)}: {column.label}</title>",
        "<style>text { font: 12px sans-serif; fill: #444 } .code, .title { font-weight: bold } .ours { fill: #0a7d5a } "
        f".other {{ fill: #9aa4ad }} {line}@media (prefers-color-scheme: dark) {{ text {{ fill: #ccc }} }}</style>",
        f'<text x="10" y="18" class="title">{html.escape(column.label)}{better}{spread}</text>',
        *bars,
        "</svg>",
        "",
    ])


# The README's six figures, two of them lost: label, section, column, corpora (all, if none is named), and the other tools.
FIGURES = [
    ("calls in TypeScript, found of the compiler's ([an oracle of others](docs/PROOF.md#oracle))", "oracle", "recall", None,
     ["repowise", "codebase-memory-mcp", "codegraph"]),
    ("uses of a name, found of pyright's and clang's, by line", "relations", "recall", None, ["ripgrep -w"]),
    ("– right among the answered lines", "relations", "precision", None, ["ripgrep -w"]),
    ("tokens that a model reads until it has a function's source, median", "tokens", "tokens", None, ["shell", "codegraph"]),
    ("find a rare name in django, processor ms, folder watched", "text", "cpu", "django, rare name", ["ripgrep"]),
    ("questions in words, right files among ten (semble's, NDCG@10)", "finding", "ndcg", None, ["semble", "codegraph"]),
]
WATCHED = "codelode, folder watched"
BEGIN, END = "<!-- The figures are made by benches/proof/draw.py. -->\n", "<!-- The figures end. -->"


def figures(results):
    """A table of means over the corpora, of what is on the page."""
    lines = ["| | codelode | others |", "|---|---|---|"]
    for label, section, key, corpus, others in FIGURES:
        tables = [table for table in results["tables"] if table["section"] == section and corpus in (None, table["corpus"])]
        column = next(column for one in SECTIONS if one.name == section for column in one.columns if column.key == key)

        def mean(tool):
            found = [next((arm for arm in table["arms"] if arm["name"] == tool and "variant" not in arm and key in arm["values"]), None)
                     for table in tables]
            if not found or None in found:
                return None, ""
            source = ", published" if found[0].get("source") == "published" else ""
            return sum(arm["values"][key] for arm in found) / len(found), source

        ours, _ = mean(WATCHED if label.endswith("watched") else OURS)
        beside = [(tool, *mean(tool)) for tool in others]
        if ours is None or all(value is None for _, value, _ in beside):
            continue
        cells = []
        for tool, value, source in beside:
            if value is not None:
                is_better = (value > ours) == (column.better == "more") and form(column, value) != form(column, ours)
                text = f"{tool} {form(column, value)}{source}"
                cells.append(f"**{text}**" if is_better else text)
        lines.append(f"| {label} | {form(column, ours)} | {'; '.join(cells)} |")
    return "\n".join(lines) + "\n"


def files():
    results = read()
    drawn = {DOCS / "PROOF.md": page(results)}
    readme = DOCS.parent / "README.md"
    before, _, rest = readme.read_text().partition(BEGIN)
    drawn[readme] = before + BEGIN + figures(results) + END + rest.partition(END)[2]
    for section in SECTIONS:
        tables = [table for table in results["tables"] if table["section"] == section.name]
        if tables:
            drawn[DOCS / "proof" / f"{section.name}.svg"] = picture(section, tables)
    return drawn


def write():
    for path, text in files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def main():
    if sys.argv[1:] != ["--check"]:
        return write()
    drawn = files()
    wrong = [path for path, text in drawn.items() if not path.exists() or path.read_text() != text]
    wrong += [path for path in (DOCS / "proof").glob("*.svg") if path not in drawn]
    for path in wrong:
        print(f"{path} is not what results.json gives; run benches/proof/draw.py")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

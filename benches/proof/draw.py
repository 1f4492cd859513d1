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


@dataclasses.dataclass
class Section:
    name: str
    title: str
    text: str
    columns: list
    # The column of the picture.
    plot: str


SECTIONS = [
    Section(
        "oracle",
        "Somebody else's oracle: call edges of TypeScript",
        "[repowise-bench](https://github.com/repowise-dev/repowise-bench) holds call graphs of two libraries that the TypeScript "
        "checker made, and rows of five tools measured by its authors. Its oracle runs here on the commits that give every count it "
        "publishes, and the same rule judges: an edge is the line of a caller and of what it calls; precision counts only callers "
        "that the oracle judges, recall all of its edges. A range is the 95 % interval. Rows marked *published* are the numbers of that "
        "repository, the others were measured by the script. An edge to each signature of an overloaded function is one that the oracle "
        "denies, since it goes to the one with a body.",
        [Column("precision", "precision", "{:.3f}", "more"), Column("precision_range", "range", "{:.3f}"),
         Column("recall", "recall", "{:.3f}", "more"), Column("recall_range", "range", "{:.3f}"),
         Column("edges", "edges"), Column("denied", "denied"), Column("unjudged", "unjudged")],
        "recall",
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
                  if "variant" not in arm and value is not None and arm["values"].get(column.key) is not None]
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
        f"{machine['memory_gb']} GB, {machine['system']}). *Load* is what else ran: where it is above 1 the machine was shared, and processor "
        "times and ratios of one run hold better than times by the clock.",
        "",
        "## What we lose",
        "",
    ]
    losses = [f"- [{section.title}](#{section.name}), {table['corpus']}: {line}"
              for section in SECTIONS for table in tables if table["section"] == section.name for line in lost(section, table)]
    lines += losses or ["Nothing that was measured."]
    for section in SECTIONS:
        own = [table for table in tables if table["section"] == section.name]
        missing = [row for row in results["missing"] if row["section"] == section.name]
        if not own and not missing:
            continue
        lines += ["", f'<a id="{section.name}"></a>', "", f"## {section.title}", "", section.text, ""]
        if own:
            lines += [f"`python3 benches/proof/run.py --only {section.name}`", ""]
            lines += [f"![{section.title}](proof/{section.name}.svg)", ""]
            lines.append("| code | tool | " + " | ".join(column.label for column in section.columns) + " |")
            lines.append("|---" * (len(section.columns) + 2) + "|")
            lines += [line for table in own for line in rows(section, table)]
            lines.append("")
            for table in own:
                note = f"; {table['note']}" if "note" in table else ""
                lines.append(f"- {table['corpus']}: {table['version']}; {table['size']}; {table['date']}, load {table['load']}{note}")
        lines += [f"- Left out: {row['name']}. {row['reason']}" for row in missing]
    return "\n".join(lines) + "\n"


def rows(section, table):
    for arm in table["arms"]:
        cells = []
        for column in section.columns:
            value = arm["values"].get(column.key)
            cell, top = form(column, value), best(table, column)
            is_best = top is not None and "variant" not in arm and cell == form(column, top)
            cells.append(f"**{cell}**" if is_best else cell)
        yield f"| {table['corpus']} | {name(arm)} | {' | '.join(cells)} |"


def picture(section, tables):
    """A bar for each tool, grouped by code."""
    column = next(column for column in section.columns if column.key == section.plot)
    bars, y = [], 34
    most = max((arm["values"].get(column.key) or 0 for table in tables for arm in table["arms"]), default=1) or 1
    for table in tables:
        bars.append(f'<text x="10" y="{y + 13}" class="code">{html.escape(table["corpus"])}</text>')
        y += 20
        for arm in table["arms"]:
            value = arm["values"].get(column.key)
            if value is None or "variant" in arm:
                continue
            width = 330 * value / most
            kind = "ours" if arm["name"] == OURS else "other"
            bars.append(f'<text x="250" y="{y + 12}" text-anchor="end">{html.escape(name(arm))}</text>'
                        f'<rect x="260" y="{y + 1}" width="{width:.1f}" height="14" class="{kind}"/>'
                        f'<text x="{266 + width:.1f}" y="{y + 12}">{form(column, value)}</text>')
            y += 19
        y += 8
    better = {"more": ", more is better", "less": ", less is better"}.get(column.better, "")
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 {y + 4}" width="680" height="{y + 4}" role="img">',
        f"<title>{html.escape(section.title)}: {column.label}</title>",
        "<style>text { font: 12px sans-serif; fill: #444 } .code, .title { font-weight: bold } .ours { fill: #0a7d5a } "
        ".other { fill: #9aa4ad } @media (prefers-color-scheme: dark) { text { fill: #ccc } }</style>",
        f'<text x="10" y="18" class="title">{html.escape(column.label)}{better}</text>',
        *bars,
        "</svg>",
        "",
    ])


def files():
    results = read()
    drawn = {DOCS / "PROOF.md": page(results)}
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

#!/usr/bin/env python3
"""Draws RESULTS.md from results.json, which `run.py` adds to. `--check` says whether it is as drawn."""

import json
import statistics
import sys
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results.json"


def read(path):
    return json.loads(path.read_text()) if path.exists() else []


def page(rows):
    lines = [
        "# Agents with and without codelode",
        "",
        "<!-- Made by benches/agents/report.py from results.json; change that, not this. -->",
        "",
        "The tasks are in [tasks.json](tasks.json), the ends are checked by [run.py](run.py), which says how to run them.",
        "",
    ]
    if not rows:
        return "\n".join([*lines, "**Not measured.** Nobody has run them with a model yet.", ""])
    models = dict.fromkeys((row["model"], row["wire"]) for row in rows)
    for model, wire in models:
        own = [row for row in rows if (row["model"], row["wire"]) == (model, wire)]
        dates = sorted({row["date"] for row in own})
        lines += [f"## {model}", "", f"{' to '.join(dict.fromkeys((dates[0], dates[-1])))}, {wire}.", "",
                  "| arm | runs | ends reached | calls, median | tokens read, median | tokens written, median | seconds, median |",
                  "|---|---|---|---|---|---|---|"]
        for arm, tool in dict.fromkeys((row["arm"], row["tool"]) for row in own):
            runs = [row for row in own if (row["arm"], row["tool"]) == (arm, tool)]
            middle = [f"{statistics.median(row[key] for row in runs):,.0f}" for key in ("calls", "tokens_in", "tokens_out", "seconds")]
            lines.append(f"| {arm} ({tool}) | {len(runs)} | {sum(row['success'] for row in runs)} | {' | '.join(middle)} |")
        arms = list(dict.fromkeys(row["arm"] for row in own))
        lines += ["", "Ends reached of runs, and tokens read on average:", "", "| task | " + " | ".join(arms) + " |", "|---" * (len(arms) + 1) + "|"]
        for task in dict.fromkeys(row["task"] for row in own):
            cells = []
            for arm in arms:
                runs = [row for row in own if (row["task"], row["arm"]) == (task, arm)]
                tokens = f"{statistics.mean(row['tokens_in'] for row in runs):,.0f}" if runs else ""
                cells.append(f"{sum(row['success'] for row in runs)} of {len(runs)}, {tokens}" if runs else "–")
            lines.append(f"| {task} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def write(path):
    path.with_name("RESULTS.md").write_text(page(read(path)))


def main():
    drawn = page(read(RESULTS))
    if sys.argv[1:] != ["--check"]:
        return write(RESULTS)
    if RESULTS.with_name("RESULTS.md").read_text() != drawn:
        sys.exit("RESULTS.md is not what results.json gives; run benches/agents/report.py")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures the rows of docs/PROOF.md and draws the page.

    benches/proof/run.py --codelode target/release/codelode [--only oracle,text] [--work FOLDER] [--have FOLDER]

Rivals come from registries into WORK, corpora from registries and from git, all at pinned versions. A section that is
measured replaces its rows in results.json; the others stay as they are, with their dates. Measurements run one after the
other. HAVE is a folder of things that this machine cannot download, by the names that the sections use.
"""

import argparse
import datetime
import importlib
import json
import os
import sys
import traceback

import draw
from lab import HERE, Lab, Left, machine


def keep(name, tables, missing):
    """Puts the tables of a section in the place of its former ones."""
    sections = [section.name for section in draw.SECTIONS]
    results = draw.read()
    results["tables"] = [table for table in results["tables"] if table["section"] != name] + tables
    results["tables"].sort(key=lambda table: sections.index(table["section"]))
    results["missing"] = [row for row in results["missing"] if row["section"] != name]
    results["missing"] += [{"section": name, "name": rival, "reason": why} for rival, why in missing.items()]
    results["machine"] = machine()
    (HERE / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--codelode", default="target/release/codelode", help="the program that is measured")
    parser.add_argument("--work", default="target/proof", help="scratch folder for rivals, corpora and indexes")
    parser.add_argument("--have", help="a folder of things that cannot be downloaded here")
    parser.add_argument("--only", help="sections, with commas between")
    args = parser.parse_args()
    sections = [section.name for section in draw.SECTIONS]
    wanted = args.only.split(",") if args.only else sections
    for name in set(wanted) - set(sections):
        parser.error(f"no section is called {name}; there are {', '.join(sections)}")

    lab = Lab(args.codelode, args.work, args.have)
    failed = False
    for name in (name for name in sections if name in wanted):
        print(f"measuring {name}", file=sys.stderr)
        lab.missing = {}
        tables = []
        try:
            for table in importlib.import_module(name).measure(lab):
                load = os.getloadavg()[0]
                tables.append({"section": name, "date": datetime.date.today().isoformat(), "load": round(load, 1), **table})
                print(f"  {table['corpus']}", file=sys.stderr)
                keep(name, tables, lab.missing)
        except Left as left:
            lab.missing["all rows"] = str(left)
            failed = True
        except Exception:
            traceback.print_exc()
            failed = True
        if tables or lab.missing:
            keep(name, tables, lab.missing)
    draw.write()
    sys.exit(failed)


if __name__ == "__main__":
    main()

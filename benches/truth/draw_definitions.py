"""Draws parts of files whose definitions are to be written down by reading, before codelode is asked about them.

    python3 draw_definitions.py CLONES LANGUAGE [--lines 500] [--seed 1]

CLONES holds a clone of each repository of the language in definitions/repositories.tsv, under the last part of its name. Files are drawn by
a seed, tests and what is made by programs aside: whole up to 200 lines, else 200 lines from a drawn place, until a repository has given so
many lines. Blank lines and lines of comments are not shown.
"""
import argparse, os, random, re, subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ENDINGS = {
    "swift": ".swift", "scala": ".scala", "csharp": ".cs", "dart": ".dart", "haskell": ".hs", "ocaml": ".ml .mli", "zig": ".zig",
    "solidity": ".sol", "objc": ".m .h", "groovy": ".groovy", "pascal": ".pas", "gleam": ".gleam", "rlang": ".R",
}
ASIDE = re.compile(r"(^|/)(\.|[^/]*(test|spec|demo|example|sample|generated|benchmark|docs?/|doc_src|vendor|\.g\.))", re.I)
COMMENT = {"haskell": "--", "ocaml": "(*", "rlang": "#"}
WHOLE = 200

p = argparse.ArgumentParser()
p.add_argument("clones"); p.add_argument("language"); p.add_argument("--lines", type=int, default=500); p.add_argument("--seed", default="1")
a = p.parse_args()
marks = tuple(COMMENT.get(a.language, "// /* * */").split())
for row in open(os.path.join(HERE, "definitions/repositories.tsv"), encoding="utf-8"):
    language, repository, commit = row.split()
    if language != a.language:
        continue
    git = ["git", "-C", os.path.join(a.clones, repository.split("/")[1])]
    names = subprocess.run([*git, "ls-tree", "-r", "--name-only", commit], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    names = sorted(name for name in names if name.endswith(tuple(ENDINGS[language].split())) and not ASIDE.search(name))
    drawn = random.Random(f"{a.seed} {repository}")
    drawn.shuffle(names)
    left = a.lines
    for name in names:
        text = subprocess.run([*git, "show", f"{commit}:{name}"], stdout=subprocess.PIPE, check=True).stdout.decode(errors="replace").splitlines()
        first = drawn.randrange(len(text) - WHOLE + 1) if len(text) > WHOLE else 0
        part = text[first:first + WHOLE]
        if len(part) < 30:
            continue
        print(f"== {repository} {name} {first + 1}-{first + len(part)}")
        for number, line in enumerate(part, first + 1):
            if line.strip() and not line.strip().startswith(marks):
                print(number, line)
        left -= len(part)
        if left <= 0:
            break

"""Tokens that a model reads until it has the whole source of a function whose name it knows."""

import json
import random
import statistics
import subprocess

from lab import Left, run
from servers import Server

CORPORA = [("werkzeug==3.1.3", "src/werkzeug"), ("tornado==6.4.2", "tornado")]
N_FUNCTIONS = 40
# Ranks of cl100k lie in litellm's package, so that none has to be fetched from elsewhere.
COUNT = """
import importlib.util as u, json, os, sys
os.environ["TIKTOKEN_CACHE_DIR"] = os.path.join(os.path.dirname(u.find_spec("litellm").origin), "litellm_core_utils", "tokenizers")
import tiktoken
encoding = tiktoken.get_encoding("cl100k_base")
json.dump([len(encoding.encode(text, disallowed_special=())) for text in json.load(sys.stdin)], sys.stdout)
"""


def measure(lab):
    python = counter(lab)
    for package, part in CORPORA:
        folder = lab.archive(package.split("==")[0], "pypi", package)
        functions = drawn(lab, folder, part)
        arms = []
        for name, arm in [("codelode", codelode), ("codegraph", codegraph), ("code-index-mcp", code_index), ("shell", shell)]:
            try:
                version, texts = arm(lab, folder, functions)
            except Left as left:
                lab.missing[name] = str(left)
                continue
            arms.append({"name": name, "version": version, "values": judge(python, functions, texts)})
        yield {"corpus": folder.name, "version": package, "size": f"{len(functions)} functions", "arms": arms}


def counter(lab):
    """The python that counts tokens."""
    python = lab.pypi("tiktoken==0.9.0")
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "litellm==1.74.0"])
    return python


def drawn(lab, folder, part):
    """Functions of five lines or more whose name universal-ctags knows once, with their text."""
    ctags, _ = lab.rival("universal-ctags")
    out = run([ctags, "-R", "--languages=Python", "--output-format=json", "--fields=+neK", "-f", "-", part], folder).stdout
    tags, places = [json.loads(line) for line in out.splitlines()], {}
    for tag in tags:
        places.setdefault(tag["name"], []).append(tag)
    once = [all[0] for _, all in sorted(places.items()) if len(all) == 1 and all[0]["kind"] in ("function", "member")
            and all[0].get("end", 0) - all[0]["line"] >= 5]
    functions = []
    for tag in random.Random(11).sample(once, min(N_FUNCTIONS, len(once))):
        lines = (folder / tag["path"]).read_text().split("\n")[tag["line"] - 1:tag["end"]]
        functions.append({"name": tag["name"], "file": tag["path"], "line": tag["line"], "end": tag["end"], "lines": lines})
    return functions


def judge(python, functions, texts):
    """The median of what was read where all of the function's lines are in it, and the share of functions for which they are."""
    whole = [all(line.strip() in text for line in function["lines"]) for function, text in zip(functions, texts)]
    counts = json.loads(subprocess.run([python, "-c", COUNT], input=json.dumps(texts), text=True, capture_output=True, check=True).stdout)
    reached = [count for count, is_whole in zip(counts, whole) if is_whole]
    return {"tokens": statistics.median(reached) if reached else None, "mean": statistics.mean(counts), "answered": sum(whole) / len(whole)}


def codelode(lab, folder, functions):
    """As a client for models has it: a search, then the source of the first hit."""
    texts = []
    with lab.serve(folder, "all", "--format", "compact") as server:
        server.call("index_folder", path=str(folder))
        for function in functions:
            text = server.call("search_symbols", query=function["name"], max_results=3)
            # The id that the model would read from it.
            hits = server.json("search_symbols", query=function["name"], max_results=1, format="json").get("results")
            texts.append(text + (server.call("get_symbol_source", symbol_id=hits[0]["id"]) if hits else ""))
    return lab.version, texts


def codegraph(lab, folder, functions):
    program, version = lab.rival("codegraph")
    env = {"CODEGRAPH_TELEMETRY": "0", "CODEGRAPH_NO_DAEMON": "1"}
    run([program, "init", "-i", folder], folder, env)
    with Server([program, "serve", "--mcp", "-p", str(folder)], folder, env) as server:
        return version, [server.call("codegraph_explore", query=function["name"]) for function in functions]


def code_index(lab, folder, functions):
    """A search for the name, then its body in the file where it is."""
    program, version = lab.rival("code-index-mcp")
    kept = str(lab.fresh("code-index"))
    texts = []
    with Server([program, "--indexer-path", kept], folder, {"HOME": kept}) as server:
        server.call("set_project_path", path=str(folder))
        server.call("build_deep_index")
        for function in functions:
            text = server.call("search_code_advanced", pattern=f"def {function['name']}", regex=False)
            texts.append(text + server.call("get_symbol_body", file_path=function["file"], symbol_name=function["name"]))
    return version, texts


def shell(lab, folder, functions):
    """ripgrep for the definition, then the two hundred lines from it that a reader without outline takes."""
    program, version = lab.rival("ripgrep")
    texts = []
    for function in functions:
        found = run([program, "-n", "--no-heading", "--with-filename", "--no-ignore", rf"\b{function['name']}\b", "."], folder, check=False).stdout
        lines = (folder / function["file"]).read_text().split("\n")[function["line"] - 1:function["line"] + 199]
        texts.append(found + "\n".join(lines))
    return f"ripgrep {version}, sed", texts

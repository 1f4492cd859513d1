"""Questions about a project with a language server's own answers, for ask.py.

    python3 ask_lsp.py 'node intelephense.js --stdio' FOLDER --out questions.json --language php --ending .php FOLDER_OF_SOURCES...

The definitions are those of `textDocument/documentSymbol`, and the lines those of `textDocument/references`. A server may
count the uses of a method for all classes that have one of that name, so of these methods nothing is asked. Lines of
comments count neither way.
"""
import argparse, collections, glob, json, os, random, subprocess, sys, tempfile, time

p = argparse.ArgumentParser()
p.add_argument("server"); p.add_argument("folder"); p.add_argument("sources", nargs="+")
p.add_argument("--out", required=True); p.add_argument("--language", required=True); p.add_argument("--ending", required=True)
p.add_argument("--limit", type=int, default=500); p.add_argument("--wait", type=float, default=30)
a = p.parse_args()
root = os.path.realpath(a.folder)
uri = lambda path: "file://" + path
server = subprocess.Popen(a.server.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
number = 0
def write(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body); server.stdin.flush()
def read():
    length = 0
    while (line := server.stdout.readline().strip()):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return json.loads(server.stdout.read(length))
ended = False
def take():
    global ended
    message = read()
    if message.get("method") in ("indexingEnded",):
        ended = True
    if "id" in message and "method" in message:
        items = message.get("params", {}).get("items", []) if isinstance(message.get("params"), dict) else []
        write({"id": message["id"], "result": [{} for _ in items] if message["method"] == "workspace/configuration" else None})
    return message
def ask(method, params):
    global number
    number += 1
    own = number
    write({"id": own, "method": method, "params": params})
    while True:
        message = take()
        if message.get("id") == own and "method" not in message:
            return message.get("result")
with tempfile.TemporaryDirectory() as store:
    ask("initialize", {"processId": os.getpid(), "rootUri": uri(root), "rootPath": root, "workspaceFolders": [{"uri": uri(root), "name": "x"}],
        "capabilities": {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}, "workspace": {"configuration": True, "workspaceFolders": True}},
        "initializationOptions": {"storagePath": store, "globalStoragePath": store, "clearCache": True}})
    write({"method": "initialized", "params": {}})
    end = time.time() + a.wait
    while not ended and time.time() < end:
        take()
    files = sorted(f for s in a.sources for f in glob.glob(os.path.join(root, s, "**", "*" + a.ending), recursive=True))
    found, texts = [], {}
    def walk(symbols, f):
        for s in symbols or []:
            at = s["selectionRange"]["start"]
            line = texts[f][at["line"]]
            name = s["name"].lstrip("$")
            kind = {5: "class", 6: "method", 7: "property", 8: "property", 9: "constructor", 10: "class", 11: "class", 12: "function", 13: "variable", 14: "constant", 22: "constant"}.get(s["kind"])
            if kind and kind != "variable" and name in line:
                found.append((f, at, name, kind))
            if s["kind"] not in (12, 6, 9):
                walk(s.get("children"), f)
    for f in files:
        text = open(f, encoding="utf8", errors="replace").read()
        texts[f] = text.split("\n")
        write({"method": "textDocument/didOpen", "params": {"textDocument": {"uri": uri(f), "languageId": a.language, "version": 1, "text": text}}})
        walk(ask("textDocument/documentSymbol", {"textDocument": {"uri": uri(f)}}), f)
    count = collections.Counter(name for _, _, name, kind in found if kind == "method")
    found = [one for one in found if one[3] != "method" or count[one[2]] == 1]
    random.Random(7).shuffle(found)
    questions = []
    for f, at, name, kind in found[:a.limit]:
        places = ask("textDocument/references", {"textDocument": {"uri": uri(f)}, "position": at, "context": {"includeDeclaration": False}}) or []
        lines = sorted({(os.path.relpath(x["uri"][7:], root), x["range"]["start"]["line"] + 1) for x in places})
        questions.append({"file": os.path.relpath(f, root), "line": at["line"] + 1, "name": name, "kind": kind, "expect": lines})
server.kill()
comments = {os.path.relpath(f, root): [n for n, line in enumerate(texts[f], 1) if line.strip().startswith(("*", "/*", "//", "#"))] for f in files}
json.dump({"language": a.language, "judged": list(comments), "neutral": comments, "references": questions}, open(a.out, "w"))
print(len(files), "files;", len(found), "definitions;", len(questions), "questions;", sum(len(q["expect"]) for q in questions), "lines")

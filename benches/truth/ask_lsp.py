"""Questions about a project with a language server's own answers, for ask.py.

    python3 ask_lsp.py 'node intelephense.js --stdio' FOLDER --out questions.json --language php --ending .php FOLDER_OF_SOURCES...
    python3 ask_lsp.py 'pyright-langserver --stdio' FOLDER --out questions.json --language python --ending .py --definitions SOURCES...

The definitions are those of `textDocument/documentSymbol`, and the lines those of `textDocument/references`. A server may
count the uses of a method for all classes that have one of that name, so of these methods nothing is asked. Lines of
comments count neither way.

With `--definitions`, each place where a name is written is asked for its `textDocument/definition`, and is expected where
that is the definition in question. What the server cannot resolve counts neither way, nor do references that it gives
although they are defined elsewhere, uses of overriding and overridden methods (`textDocument/implementation`), and lines where
the name is not written (aliases). Methods of one name are asked for
too. Names that are written once in the project are left out, for nothing can be said of them; so are names in functions and
blocks, keys of objects, macros, and what the server takes to be compiled out.
"""
import argparse, collections, glob, json, os, queue, random, re, subprocess, tempfile, threading, time, urllib.parse

p = argparse.ArgumentParser()
p.add_argument("server"); p.add_argument("folder"); p.add_argument("sources", nargs="+")
p.add_argument("--out", required=True); p.add_argument("--language", required=True); p.add_argument("--ending", required=True, action="append")
p.add_argument("--limit", type=int, default=500); p.add_argument("--wait", type=float, default=30)
p.add_argument("--definitions", action="store_true"); p.add_argument("--options", default="{}", help="the server's settings, as JSON")
a = p.parse_args()
root, options = os.path.realpath(a.folder), json.loads(a.options)
uri = lambda path: "file://" + urllib.parse.quote(path)
path_of = lambda uri: os.path.relpath(urllib.parse.unquote(uri.removeprefix("file://")), root)
server = subprocess.Popen(a.server.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=root)
number, messages, ended = 0, queue.Queue(), False


def write(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body); server.stdin.flush()


def read():
    while True:
        length = 0
        while (line := server.stdout.readline().strip()):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        if not length:
            return
        messages.put(json.loads(server.stdout.read(length)))


def setting(section):
    value = options
    for part in (section or "").split("."):
        value = value.get(part, {}) if part and isinstance(value, dict) else value
    return value


def take(seconds):
    """The next message of the server, whose own questions are answered. Nothing when there is none for so long."""
    global ended
    try:
        message = messages.get(timeout=seconds)
    except queue.Empty:
        return {}
    params = message.get("params") or {}
    if message.get("method") == "indexingEnded" or message.get("method") == "experimental/serverStatus" and params.get("quiescent"):
        ended = True
    if "id" in message and "method" in message:
        configuration = message["method"] == "workspace/configuration"
        write({"id": message["id"], "result": [setting(item.get("section")) for item in params["items"]] if configuration else None})
    return message


def ask(method, params):
    global number
    number += 1
    own = number
    write({"id": own, "method": method, "params": params})
    while True:
        message = take(600)
        if not message:
            raise SystemExit(f"no answer to {method}")
        if message.get("id") == own and "method" not in message:
            return message.get("result")


def start(store):
    threading.Thread(target=read, daemon=True).start()
    return ask("initialize", {"processId": os.getpid(), "rootUri": uri(root), "rootPath": root, "workspaceFolders": [{"uri": uri(root), "name": "x"}],
        "capabilities": {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}, "workspace": {"configuration": True, "workspaceFolders": True},
                         "experimental": {"serverStatusNotification": True}},
        "initializationOptions": {"storagePath": store, "globalStoragePath": store, "clearCache": True, **options}})["capabilities"]


def settle():
    write({"method": "initialized", "params": {}})
    end = time.time() + a.wait
    while not ended and time.time() < end:
        take(1)


KINDS = {5: "class", 6: "method", 7: "property", 8: "property", 9: "constructor", 10: "class", 11: "class", 12: "function", 13: "variable", 14: "constant", 22: "constant", 23: "class"}
found, texts, makers, owners = [], {}, {}, {}


def walk(symbols, f, top=True, owner=None):
    for s in symbols or []:
        at = s["selectionRange"]["start"]
        line = texts[f][at["line"]]
        name = s["name"].lstrip("$")
        kind = KINDS.get(s["kind"])
        if a.definitions and kind in ("variable", "constant") and top and s["kind"] != 22:
            kind = "variable" if in_block(f, at["line"]) else "constant"
        sites.add((f, at["line"], at["character"]))
        place = (os.path.relpath(f, root), at["line"] + 1)
        owners[place] = owner
        if kind and kind != "variable" and name in line and not (a.definitions and (kind == "constructor" or "macro_rules!" in line)):
            found.append((f, at, name, kind))
            # Who makes an instance may be told of what makes it.
            makers[f, at["line"]] = {c["selectionRange"]["start"]["line"] + 1 for c in s.get("children") or [] if c["kind"] == 9 or c["name"] in ("__init__", "__new__")} if kind == "class" else set()
        # The keys of an object are no fields.
        if s["kind"] not in (12, 6, 9, *((7, 8, 13, 14) if a.definitions else ())):
            walk(s.get("children"), f, top and s["kind"] in (2, 3, 4), place if kind == "class" else owner)


def indexed(files):
    """Without files that an index leaves out: larger than 500 KB, or named by the ignore files of the project."""
    said = subprocess.run(["git", "-C", root, "check-ignore", "--no-index", "--stdin"], input="\n".join(files), capture_output=True, text=True)
    ignored = set(said.stdout.splitlines())
    return [f for f in files if f not in ignored and os.path.getsize(f) <= 500_000]


def in_block(f, n):
    """Whether a line is in a block that is no list of names: the nearest line above that is indented less says so."""
    indent = lambda line: len(line) - len(line.lstrip())
    own = indent(texts[f][n])
    above = next((line for line in reversed(texts[f][:n]) if line.strip() and indent(line) < own), "") if own else ""
    if re.match(r"\s*(for|while|catch|} catch)\b", texts[f][n]):
        return True
    return bool(above) and not re.match(r"(export\s+)?(const|let|var)\b", above.strip())


answers, sites = {}, set()


def defined(f, line, column):
    """Where the server says that the name at a place is defined."""
    if (f, line, column) not in answers:
        places = ask("textDocument/definition", {"textDocument": {"uri": uri(f)}, "position": {"line": line, "character": column}}) or []
        places = [places] if isinstance(places, dict) else places
        answers[f, line, column] = {(path_of(x.get("targetUri") or x["uri"]), (x.get("targetSelectionRange") or x["range"])["start"]["line"] + 1) for x in places}
    return answers[f, line, column]


implemented = {}


def implementations(f, line, column):
    """Where a method is implemented, as far as the server says."""
    if (f, line, column) not in implemented:
        places = ask("textDocument/implementation", {"textDocument": {"uri": uri(f)}, "position": {"line": line, "character": column}}) if "implementationProvider" in able else []
        places = [places] if isinstance(places, dict) else places or []
        implemented[f, line, column] = {(path_of(x.get("targetUri") or x["uri"]), (x.get("targetSelectionRange") or x["range"])["start"]["line"] + 1) for x in places}
    return implemented[f, line, column]


bases = {}


def above(of):
    """A class and all above it, by the names in its head."""
    if of not in bases:
        bases[of] = {of}
        f, line = os.path.join(root, of[0]), of[1] - 1
        head, depth, start = [], 0, line
        while f in texts and line < min(start + 12, len(texts[f])):
            text = texts[f][line]
            head += [(line, word.start()) for word in re.finditer(r"[^\W\d]\w*", text)]
            depth += text.count("(") - text.count(")")
            line += 1
            if depth <= 0:
                break
        for at in head[2:]:
            for place in defined(f, *at):
                if place in owners and place != of:
                    bases[of] |= above(place)
    return bases[of]


def is_related(f, at, name, places):
    """Whether a method is implemented by one of those at the places, or implements one."""
    own = (os.path.relpath(f, root), at["line"] + 1)
    for other in (owners.get(place) for place in places):
        if other and owners.get(own) and (other in above(owners[own]) or owners[own] in above(other)):
            return True
    if places & implementations(f, at["line"], at["character"]):
        return True
    for file, line in places:
        other = os.path.join(root, file)
        for column in [word.start() for word in re.finditer(r"\b" + re.escape(name) + r"\b", texts[other][line - 1])] if other in texts else []:
            if own in implementations(other, line - 1, column):
                return True
    return False


def question(f, at, name, kind):
    places = ask("textDocument/references", {"textDocument": {"uri": uri(f)}, "position": at, "context": {"includeDeclaration": False}}) or []
    lines = {(path_of(x["uri"]), x["range"]["start"]["line"] + 1) for x in places}
    declared = ask("textDocument/references", {"textDocument": {"uri": uri(f)}, "position": at, "context": {"includeDeclaration": True}}) or [] if a.definitions else []
    declared = {(path_of(x["uri"]), x["range"]["start"]["line"] + 1) for x in declared} - lines
    asked = {"file": os.path.relpath(f, root), "line": at["line"] + 1, "name": name, "kind": kind}
    if not a.definitions:
        return {**asked, "expect": sorted(lines)}
    if not defined(f, at["line"], at["character"]):
        # Compiled out, as far as the server knows.
        return None
    own = {(asked["file"], asked["line"])} | {(asked["file"], line) for line in makers[f, at["line"]]}
    own |= {place for place in defined(f, at["line"], at["character"]) if place[0] == asked["file"]}
    expect, related = set(), set()
    for other, line, column in words[name]:
        if (other, line, column) in sites:
            continue
        places = defined(other, line, column)
        if not places:
            dropped[os.path.relpath(other, root)].add((line + 1, name))
        elif kind in ("method", "function") and (os.path.relpath(other, root), line + 1) in places:
            related.add((os.path.relpath(other, root), line + 1))
        elif places & own:
            expect.add((os.path.relpath(other, root), line + 1))
        elif kind == "method" and is_related(f, at, name, places):
            related.add((os.path.relpath(other, root), line + 1))
    return {**asked, "expect": sorted(expect - own - declared), "neutral": sorted(own | declared | (lines | related) - expect)}


with tempfile.TemporaryDirectory() as store:
    able = start(store)
    settle()
    files = sorted({f for s in a.sources for ending in a.ending for f in glob.glob(os.path.join(root, s, "**", "*" + ending), recursive=True)})
    if a.definitions:
        files = indexed(files)
    words, dropped = collections.defaultdict(list), collections.defaultdict(set)
    for f in files:
        text = open(f, encoding="utf8", errors="replace").read()
        texts[f] = text.split("\n")
        for n, line in enumerate(texts[f]):
            for word in re.finditer(r"[^\W\d][\w$]*|\$[\w$]*", line):
                words[word.group()].append((f, n, word.start()))
        write({"method": "textDocument/didOpen", "params": {"textDocument": {"uri": uri(f), "languageId": a.language, "version": 1, "text": text}}})
    for f in files:
        walk(ask("textDocument/documentSymbol", {"textDocument": {"uri": uri(f)}}), f)
    count = collections.Counter(name for _, _, name, kind in found if kind == "method")
    found = [one for one in found if (len(words[one[2]]) > 1 if a.definitions else one[3] != "method" or count[one[2]] == 1)]
    random.Random(7).shuffle(found)
    questions = [asked for asked in (question(*one) for one in found[:a.limit]) if asked]
server.kill()
comments = {os.path.relpath(f, root): [n for n, line in enumerate(texts[f], 1) if line.strip().startswith(("*", "/*", "//", "#"))] for f in files}
json.dump({"language": a.language, "is_written": a.definitions, "judged": list(comments), "neutral": comments, "dropped": {f: sorted(names) for f, names in dropped.items()}, "references": questions}, open(a.out, "w"))
print(len(files), "files;", len(found), "definitions;", len(questions), "questions;", sum(len(q["expect"]) for q in questions), "lines")

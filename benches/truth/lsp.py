"""Adapter of the judge of relations for a language server, so that the same questions are asked through LSP as through tools.

The judge takes it by name, and starts whatever COMMAND says; the language server is started here. LSP_COMMAND names it.
"""
import collections, json, os, re, shlex, subprocess, time, urllib.parse

COMMAND = os.environ.get("OURS_COMMAND", "codelode serve")
ENV = {}
SERVER = os.environ.get("LSP_COMMAND", "codelode lsp")


class Adapter:
    usages = importers = imports = blast = dead = importance = None

    def __init__(self, _mcp, root):
        self.root, self.number, self.texts, self.dt, self.bytes = os.path.realpath(root), 0, {}, 0, 0

    def index(self):
        began = time.time()
        self.server = subprocess.Popen(shlex.split(SERVER), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self.root)
        uri = self.uri("")
        self.ask("initialize", {"processId": None, "rootUri": uri, "workspaceFolders": [{"uri": uri, "name": "corpus"}], "capabilities": {"general": {"positionEncodings": ["utf-8"]}}})
        self.write({"method": "initialized", "params": {}})
        # The first answer comes when the folder is indexed.
        self.ask("workspace/symbol", {"query": "a"})
        return time.time() - began, {}

    def uri(self, path):
        return "file://" + urllib.parse.quote(os.path.join(self.root, path).rstrip("/"))

    def path(self, uri):
        return os.path.relpath(urllib.parse.unquote(uri.removeprefix("file://")), self.root)

    def write(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        began = time.perf_counter()
        self.write({"id": self.number, "method": method, "params": params})
        while True:
            length = 0
            while line := self.server.stdout.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = self.server.stdout.read(length)
            message = json.loads(body)
            if "method" in message and "id" in message:
                self.write({"id": message["id"], "result": None})
            elif message.get("id") == self.number:
                self.dt, self.bytes = time.perf_counter() - began, len(body)
                return message.get("result")

    def at(self, question):
        """The position of a definition's name, on its line or on one of the next."""
        file = question["file"]
        if file not in self.texts:
            self.texts[file] = open(os.path.join(self.root, file), "rb").read().split(b"\n")
        lines, word = self.texts[file], re.compile(rb"(?<![\w$])" + re.escape(question["name"].encode()) + rb"(?![\w$])")
        for line in range(question["line"] - 1, min(question["line"] + 3, len(lines))):
            found = word.search(lines[line])
            if found:
                return {"textDocument": {"uri": self.uri(file)}, "position": {"line": line, "character": found.start()}}
        return {"textDocument": {"uri": self.uri(file)}, "position": {"line": question["line"] - 1, "character": 0}}

    def references(self, question):
        found = self.ask("textDocument/references", self.at(question) | {"context": {"includeDeclaration": False}}) or []
        lines = {(self.path(one["uri"]), one["range"]["start"]["line"] + 1) for one in found}
        return {"files": {file for file, _ in lines}, "lines": lines}

    def row(self, item):
        return {"file": self.path(item["uri"]), "name": item["name"].split(".")[-1].split("(")[0], "line": item["selectionRange"]["start"]["line"] + 1}

    def calls(self, question, method, key):
        items = self.ask("textDocument/prepareCallHierarchy", self.at(question))
        if not items:
            return None
        found = [call[key] for item in items[:1] for call in self.ask(method, {"item": item}) or []]
        return [self.row(item) for item in found if item["kind"] != 1]

    def callers(self, question):
        return self.calls(question, "callHierarchy/incomingCalls", "from")

    def callees(self, question):
        return self.calls(question, "callHierarchy/outgoingCalls", "to")

    def hierarchy(self, question):
        items = self.ask("textDocument/prepareTypeHierarchy", self.at(question)) or []
        return {"ancestors": self.all(items[:1], "typeHierarchy/supertypes"), "descendants": self.all(items[:1], "typeHierarchy/subtypes")}

    def all(self, items, method):
        found, waiting, seen = [], collections.deque(items), set()
        while waiting:
            for item in self.ask(method, {"item": waiting.popleft()}) or []:
                key = (item["uri"], json.dumps(item["selectionRange"]))
                if key not in seen:
                    seen.add(key)
                    found.append(self.row(item))
                    waiting.append(item)
        return found

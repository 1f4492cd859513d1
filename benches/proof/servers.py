"""Servers over standard streams: of MCP, with the processor time they take, and of the language server protocol."""

import json
import os
import subprocess
import threading
import time
from urllib.parse import unquote, urlparse

TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid):
    """Processor time (user and system) of a process and its living descendants, and of those they have waited for."""
    total, parents = 0.0, {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry)] = (int(fields[1]), sum(map(int, fields[11:15])))
    for entry, (_, ticks) in parents.items():
        above = entry
        while above in parents and above != pid:
            above = parents[above][0]
        if above == pid:
            total += ticks / TICKS
    return total


class Server:
    """One server; `call` gives the text that a model would read, and what the answer cost."""

    def __init__(self, command, folder, env=None, patience=600):
        self.number, self.patience = 0, patience
        self.process = subprocess.Popen(command, cwd=folder, env={**os.environ, **(env or {})}, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "proof", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        end = threading.Timer(self.patience, self.process.kill)
        end.start()
        try:
            return self.answer(method)
        finally:
            end.cancel()

    def answer(self, method):
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"the server ended, or took longer than {self.patience} s, while it was asked for {method}")
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def call(self, tool, **arguments):
        began = time.monotonic()
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        self.seconds = time.monotonic() - began
        self.is_error = bool(result.get("isError"))
        return "\n".join(part.get("text", "") for part in result.get("content", []))

    def json(self, tool, **arguments):
        return json.loads(self.call(tool, **arguments))

    def processor_seconds(self):
        return processor_seconds(self.process.pid)

    def peak_mb(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class LanguageServer:
    """One language server; `uses` gives the places where it finds a definition used, from 1."""

    def __init__(self, command, folder, language):
        self.folder, self.language, self.number, self.opened = folder.resolve(), language, 0, set()
        self.process = subprocess.Popen([str(part) for part in command], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        root = self.folder.as_uri()
        self.ask("initialize", {"processId": None, "rootUri": root, "workspaceFolders": [{"uri": root, "name": "proof"}],
                                "capabilities": {"workspace": {"configuration": True}}})
        self.send({"method": "initialized", "params": {}})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not length:
                raise RuntimeError(f"the language server ended while it was asked for {method}")
            message = json.loads(self.process.stdout.read(length))
            if "method" in message and "id" in message:
                items = message["params"].get("items") if message["method"] == "workspace/configuration" else None
                self.send({"id": message["id"], "result": [{} for _ in items] if items else None})
            elif message.get("id") == self.number:
                return message.get("result")

    def uses(self, file, line, column):
        path = self.folder / file
        if file not in self.opened:
            self.opened.add(file)
            document = {"uri": path.as_uri(), "languageId": self.language, "version": 1, "text": path.read_text(errors="replace")}
            self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        found = self.ask("textDocument/references", {
            "textDocument": {"uri": path.as_uri()}, "position": {"line": line - 1, "character": column - 1},
            "context": {"includeDeclaration": False}}) or []
        places = [(unquote(urlparse(use["uri"]).path), use["range"]["start"]["line"] + 1) for use in found]
        return {(os.path.relpath(path, self.folder), line) for path, line in places}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

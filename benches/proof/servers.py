"""Servers that speak MCP over standard streams, asked one call at a time, with the time and processor time they take."""

import json
import os
import subprocess
import time

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

    def __init__(self, command, folder, env=None):
        self.number = 0
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
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"the server ended while it was asked for {method}")
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

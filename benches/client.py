"""A client of a server over standard streams, for the benches."""

import json
import os
import subprocess


class Server:
    """A server with some variables; asked one question at a time."""

    def __init__(self, program, environment):
        self.process = subprocess.Popen([program, "serve"], env={**os.environ, **environment}, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.n_asked = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        """The result of a request, or its error."""
        self.n_asked += 1
        self.send({"id": self.n_asked, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.n_asked and "method" not in answer:
                return answer.get("result", answer)
        raise SystemExit("the server has ended")

    def call(self, tool, **arguments):
        """The answer of a tool as a value. An error of the tool is raised."""
        result = self.ask("tools/call", {"name": tool, "arguments": {**arguments, "format": "json"}})
        value = json.loads(result["content"][0]["text"])
        if result.get("isError"):
            raise RuntimeError(str(value)[:500])
        return value

    def end(self):
        self.process.kill()
        self.process.wait()

"""What an agent may use: a shell in the tree, alone or with the tools of an MCP server beside it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "proof"))
from servers import Server  # noqa: E402

MOST = 30_000
SHELL = {
    "name": "shell",
    "description": "Runs a command with sh in the repository and gives its output.",
    "schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}


class Arm:
    """The tools of one run, in one tree."""

    def __init__(self, tree, server, env):
        self.tree, self.env = tree, env
        self.server = Server(server, tree, env) if server else None
        self.tools, self.served = [SHELL], set()
        if self.server:
            for tool in self.server.ask("tools/list", {})["tools"]:
                self.served.add(tool["name"])
                self.tools.append({"name": tool["name"], "description": tool.get("description", ""), "schema": tool["inputSchema"]})

    def call(self, name, arguments):
        if name in self.served:
            try:
                text = self.server.call(name, **arguments)
            except RuntimeError as error:
                text = str(error)
        elif name == "shell":
            text = self.shell(str(arguments.get("command", "")))
        else:
            text = f"there is no tool {name}"
        return text if len(text) <= MOST else text[:MOST] + f"\n… {len(text) - MOST} more letters"

    def shell(self, command):
        process = subprocess.Popen(["sh", "-c", command], cwd=self.tree, env={**os.environ, **self.env}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        try:
            return process.communicate(timeout=60)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()[0] + "\n(ended after 60 seconds)"

    def close(self):
        if self.server:
            self.server.close()

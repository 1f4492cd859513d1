#!/usr/bin/env python3
"""Asks a fleet 1,000 questions at 50 a second while its nodes, workers and NATS servers are killed and started again at random.

    python3 benches/fleet/chaos.py PROGRAM FOLDER [FOLDER ...] [--rate 50] [--calls 1000] [--nodes 4] [--kill-every 2.5]

First, in quiet, every question is asked once of a server that holds everything for its right answer, and then at the same rate for times. After that a dice kills a
node, a worker or one of three NATS servers every few seconds, each for a few seconds (no two nodes, and no two servers, at once),
while commits are made, submitted and published in repositories that no question is about. A question whose node is gone is asked at
another, as by a load balancer. An answer is wrong when it differs from the right one and does not say that it is partial.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from parts import SYMBOLS, Client, Fleet, get, percentile, questions, repositories, told, until

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("folders", nargs="+")
parser.add_argument("--rate", type=float, default=50)
parser.add_argument("--calls", type=int, default=1000)
parser.add_argument("--different", type=int, default=100, help="different questions")
parser.add_argument("--nodes", type=int, default=4)
parser.add_argument("--repositories", type=int)
parser.add_argument("--kill-every", type=float, default=2.5, help="seconds")
parser.add_argument("--deadline", type=float, default=10, help="seconds")
parser.add_argument("--seed", type=int, default=25)
parser.add_argument("--nats", help="the program nats-server")
parser.add_argument("--moto", help="the program moto_server")
parser.add_argument("--keep", help="a folder for everything, which stays")
options = parser.parse_args()
draw = random.Random(options.seed)


def essence(tool, answer):
    if tool == SYMBOLS:
        return [(hit["repo"], hit["id"], round(hit["score"], 4)) for hit in answer.get("results", [])]
    # Matches that are not shown are counted for a few milliseconds; a cursor stands for its arguments, too.
    return {key: value for key, value in answer.items() if key not in ("total", "at_least", "count", "left", "_meta", "next_cursor")}


def differing(one, other):
    """The first parts of two answers that differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *other]:
            if one.get(key) != other.get(key):
                return f"{key}: {differing(one.get(key), other.get(key))}"
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (mine, theirs) in enumerate(zip(one, other)):
            if mine != theirs:
                return f"{at}: {differing(mine, theirs)}"
    return f"{str(one)[:250]} INSTEAD OF {str(other)[:250]}"


def git(repo, *arguments):
    subprocess.run(["git", "-C", str(repo), "-c", "user.name=x", "-c", "user.email=x@example.com", *arguments], check=True, capture_output=True)


class Load:
    """Questions at a rate, whatever becomes of the earlier ones."""

    def __init__(self, nodes, asked, right):
        self.nodes, self.asked, self.right, self.client = nodes, asked, right, Client()
        self.times, self.wrong, self.partial, self.failed, self.again = [], [], [], [], 0
        self.lock = threading.Lock()

    def one(self, number, due):
        tool, args = self.asked[number % len(self.asked)]
        order = self.nodes[number % len(self.nodes):] + self.nodes[:number % len(self.nodes)]
        problem, text, is_error = None, None, False
        for attempt, node in enumerate(order):
            try:
                text, is_error = self.client.ask(node, tool, args)
                problem = None
            except Exception as err:  # A node that is gone.
                problem = f"{node.name}: {err!r}"
                with self.lock:
                    self.again += 1
                continue
            if not is_error or json.loads(text).get("code") != "unavailable":
                break
        took = time.monotonic() - due
        with self.lock:
            self.times.append(took)
            if problem or is_error != self.right[number % len(self.asked)][1]:
                self.failed.append((tool, args, problem or text[:300]))
                return
            answer, meta = told(text)
            if meta.get("fleet", {}).get("partial"):
                self.partial.append((f"{time.monotonic() - self.begun:.1f} s", node.name, meta["fleet"]))
            elif answer.get("timed_out"):
                self.partial.append((f"{time.monotonic() - self.begun:.1f} s", node.name, "timed out"))
            elif essence(tool, answer) != self.right[number % len(self.asked)][0]:
                self.wrong.append((tool, args, differing(essence(tool, answer), self.right[number % len(self.asked)][0]), meta))

    def run(self, n, rate):
        begun = self.begun = time.monotonic()
        with ThreadPoolExecutor(max_workers=200) as pool:
            for number in range(n):
                due = begun + number / rate
                time.sleep(max(0, due - time.monotonic()))
                pool.submit(self.one, number, due)
        return self

    def say(self, what):
        p = [percentile(self.times, part) * 1000 for part in (.5, .9, .99)]
        print(f"{what}: {len(self.times)} calls, p50 {p[0]:.1f} ms, p90 {p[1]:.1f}, p99 {p[2]:.1f}, longest {max(self.times) * 1000:.0f}; "
              f"{len(self.wrong)} wrong, {len(self.partial)} partial and marked, {len(self.failed)} failed, {self.again} asked at another node", flush=True)
        for tool, args, differ, meta in self.wrong[:8]:
            print(f"  WRONG {tool} {str(args)[:200]}\n   {differ[:600]}\n   {meta.get('fleet')}")
        for partial in self.partial[::max(1, len(self.partial) // 5)]:
            print(f"  PARTIAL {str(partial)[:400]}")
        for failure in self.failed[:3]:
            print(f"  FAILED {failure}")
        return p


class Chaos(threading.Thread):
    """Kills and restarts until told to end."""

    def __init__(self, fleet, nodes, workers):
        super().__init__(daemon=True)
        self.fleet, self.nodes, self.workers, self.over = fleet, nodes, workers, threading.Event()
        self.kills = {"node": 0, "worker": 0, "server": 0}
        self.back = []

    def run(self):
        self.begun = time.monotonic()
        while not self.over.wait(options.kill_every * draw.uniform(0.5, 1.5)):
            now = time.monotonic()
            for due, start in [entry for entry in self.back if entry[0] <= now]:
                print(f"  {now - self.begun:.1f} s: {start.__self__.log.stem} started", flush=True)
                start()
            self.back = [entry for entry in self.back if entry[0] > now]
            kind = draw.choice(["node", "node", "worker", "worker", "server"])
            all_of_kind = {"node": self.nodes, "worker": self.workers, "server": self.fleet.nats.servers}[kind]
            away = [process for process in all_of_kind if not process.is_alive()]
            if kind != "worker" and away:
                continue
            victim = draw.choice([process for process in all_of_kind if process.is_alive()] or [None])
            if victim is None:
                continue
            victim.end()
            self.kills[kind] += 1
            print(f"  {time.monotonic() - self.begun:.1f} s: {victim.log.stem} killed", flush=True)
            self.back.append((time.monotonic() + draw.uniform(1, 6), victim.start))
        for _, start in self.back:
            start()


class Commits(threading.Thread):
    """Makes and submits commits, so that workers have work."""

    def __init__(self, fleet, repos):
        super().__init__(daemon=True)
        self.fleet, self.repos, self.over, self.made = fleet, repos, threading.Event(), 0

    def run(self):
        while not self.over.wait(0.5):
            repo = self.repos[self.made % len(self.repos)]
            (repo / "shop.py").write_text(f"def made_{self.made}():\n    return {self.made}\n")
            git(repo, "add", "-A")
            git(repo, "commit", "-q", "-m", str(self.made))
            self.made += 1
            # Servers may be away: the next one submits this, too.
            subprocess.run([self.fleet.program, "fleet", "index", "--to", self.fleet.place, str(repo), "--json"], capture_output=True,
                           env={**os.environ, **self.fleet.environment})


with tempfile.TemporaryDirectory(prefix="codelode-chaos-") as scratch:
    folder = Path(options.keep or scratch)
    repos = repositories(options.folders, folder / "repositories", options.repositories)
    with Fleet(options.program, folder / "fleet", servers=3, moto=options.moto, nats=options.nats) as fleet:
        print(f"{len(repos)} repositories, {fleet.index(repos):.1f} s of processor time", flush=True)
        nodes = fleet.nodes([f"node-{at}" for at in range(options.nodes)])
        client, alone = Client(), fleet.node("alone", is_member=False).start()
        until("the server alone", lambda: "codelode_" in get(alone, "/metrics"))
        asked = questions(repos, client, alone, options.different, options.seed)
        for node in nodes:
            for tool, args in asked:
                client.ask(node, tool, args)
        right = []
        for tool, args in asked:
            text, is_error = client.ask(alone, tool, args)
            right.append((essence(tool, told(text)[0]) if not is_error else None, is_error))
        alone.end()
        quiet = Load(nodes, asked, right).run(options.calls, options.rate).say("quiet")
        busy = []
        shutil.rmtree(folder / "busy", ignore_errors=True)
        for at in range(6):
            repo = folder / "busy" / f"busy{at}"
            repo.mkdir(parents=True)
            git(repo, "init", "-q", "-b", "main")
            (repo / "a.py").write_text("def begun(): pass\n")
            git(repo, "add", "-A")
            git(repo, "commit", "-q", "-m", "0")
            busy.append(repo)
        # What commits add is in no answer: the questions name the repositories that they are about.
        names = [f"local/{repo.name}" for repo in repos]
        asked = [(tool, {**args, "repos": names} if "repos" in args else args) for tool, args in asked]
        workers = [fleet.worker(f"worker-{at}", "--attempts", "1000", "--silence", "10s").start() for at in range(2)]
        chaos, commits = Chaos(fleet, nodes, workers), Commits(fleet, busy)
        chaos.start()
        commits.start()
        load = Load(nodes, asked, right).run(options.calls, options.rate)
        commits.over.set()
        chaos.over.set()
        commits.join()
        chaos.join()
        loud = load.say(f"chaos, killed {chaos.kills}")
        until("the servers of NATS", lambda: all(map(fleet.nats.is_ready, range(3))))
        fleet.submit(busy)
        until("the workers", lambda: (lambda status: status["waiting"] + status["at_work"] == 0)(fleet.run("fleet", "status")), 300)
        counts, status = fleet.submit(busy)["counts"], fleet.run("fleet", "status")
        print(f"{commits.made} commits in {len(busy)} repositories; after it: {counts}, {status['dead']} jobs dead", flush=True)
        held = {"wrong": not load.wrong and not load.failed, "partial": len(load.partial) <= options.calls / 100, "p90": loud[1] <= 3 * quiet[1],
                "p99": loud[2] <= options.deadline * 1000, "jobs": status["dead"] == 0 and counts == {"published": len(busy)}}
        print("held: " + ", ".join(f"{what} {'yes' if holds else 'NO'}" for what, holds in held.items()))
        sys.exit(0 if all(held.values()) else 1)

#!/usr/bin/env python3
"""Measures what indexing and publishing costs per gigabyte of source, and for a terabyte.

    python3 benches/fleet/cost.py PROGRAM FOLDER [FOLDER ...] --moto target/papers/bin/moto_server

Each folder's folders are repositories (such as those of ~/.cargo/registry/src/*); those without git are copied and committed. One
worker indexes them into a bucket of PyPI's moto, whose log counts requests. Prints processor time of the worker, bytes stored, and
requests by method; then the same again with one commit more in every tenth repository, and with nothing to do.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

from parts import Fleet, repositories

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("folders", nargs="+")
parser.add_argument("--moto", required=True, help="the program moto_server")
parser.add_argument("--nats", help="the program nats-server")
parser.add_argument("--repositories", type=int)
parser.add_argument("--keep", help="a folder for everything, which stays")
options = parser.parse_args()


def size(repo):
    paths = subprocess.run(["git", "-C", repo, "ls-files", "-z"], capture_output=True, text=True).stdout.split("\0")
    return sum((repo / path).stat().st_size for path in paths if path and (repo / path).is_file() and not (repo / path).is_symlink())


class Bill:
    """What happened since the last look."""

    def __init__(self, fleet):
        self.fleet, self.read = fleet, [0, 0]

    def _new(self, at, path):
        with open(path, "rb") as log:
            log.seek(self.read[at])
            text = log.read()
        self.read[at] += len(text)
        return text.decode(errors="replace")

    def look(self):
        requests = collections.Counter(re.findall(r'"(?:\x1b\[[0-9;]*m)*(GET|PUT|POST|HEAD|DELETE) /', self._new(0, self.fleet.folder / "moto.log")))
        worker = self.fleet.folder / "worker.log"
        lines = self._new(1, worker).splitlines() if worker.exists() else []
        events = [json.loads(line) for line in lines if line.startswith("{")]
        published = [event for event in events if event["event"] == "published"]
        others = collections.Counter(event["event"] for event in events if event["event"] != "published")
        return requests, len(published), sum(event["objects"] for event in published), sum(event["bytes"] for event in published), dict(others)


def say(what, seconds, wall, gigabytes, look):
    requests, n, objects, stored, others = look
    print(f"{what}: {n} published {others or ''}, {seconds:.1f} s of processor time of the worker, {wall:.0f} s by the clock; "
          f"{objects} objects, {stored / 1e6:.1f} MB sent; requests: {dict(requests)}")
    if gigabytes:
        writes, reads = requests["PUT"] + requests["POST"], requests["GET"] + requests["HEAD"]
        print(f"  per GB of source: {seconds / 3600 / gigabytes:.3f} hours of one core, {stored / 1e9 / gigabytes:.2f} GB stored, "
              f"{writes / gigabytes:.0f} writes and {reads / gigabytes:.0f} reads")
        print(f"  for 1 TB (x {1000 / gigabytes:.0f}): {seconds / 3600 / gigabytes * 1000:.0f} hours of one core, {stored / 1e9 / gigabytes:.2f} TB stored, "
              f"{writes / gigabytes / 1000:.1f} million writes and {reads / gigabytes / 1000:.1f} million reads", flush=True)


with tempfile.TemporaryDirectory(prefix="codelode-cost-") as scratch:
    folder = options.keep or scratch
    repos = repositories(options.folders, f"{folder}/repositories", options.repositories)
    total = sum(map(size, repos)) / 1e9
    print(f"{len(repos)} repositories, {total:.3f} GB of files in git", flush=True)
    with Fleet(options.program, f"{folder}/fleet", moto=options.moto, nats=options.nats) as fleet:
        bill = Bill(fleet)
        bill.look()
        for what, changed, gigabytes in (("all", [], total), ("a commit in every tenth", repos[::10], None), ("nothing new", [], None)):
            for repo in changed:
                (repo / "codelode_cost.py").write_text("def one_more():\n    return 1\n")
                for command in (["add", "-A", "-f"], ["-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "-q", "-m", "One more"]):
                    subprocess.run(["git", "-C", repo, *command], check=True)
            begun, before = time.monotonic(), os.times()
            fleet.submit(repos)
            submitting = os.times()
            requests, *_ = bill.look()
            print(f"{what}: submitted, {submitting.children_user + submitting.children_system - before.children_user - before.children_system:.1f} s, "
                  f"requests {dict(requests)}", flush=True)
            middle = os.times()
            worker = fleet.worker("worker", "--until-empty").start()
            worker.child.wait()
            after = os.times()
            seconds = after.children_user + after.children_system - middle.children_user - middle.children_system
            say(what, seconds, time.monotonic() - begun, gigabytes, bill.look())

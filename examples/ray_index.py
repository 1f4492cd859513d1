#!/usr/bin/env python3
"""Indexes many repositories on a Ray cluster, and publishes their indexes in a bucket or a shared folder.

    ray_index.py s3://our-bucket/indexes repos.toml [--address auto] [--cpus 2] [--attempts 3]

The file is that of `codelode serve --repos`: `["acme/shop"]`, `url = "https://github.com/acme/shop"`, `ref = "main"`. Every node
needs `codelode` on its PATH and the variables for the bucket and for git. A commit that is published is not indexed again, so a
driver that was killed is simply started again.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import tomllib

import ray

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("to", help="the place of the indexes: s3://bucket/folder, a folder that all nodes see")
parser.add_argument("repos", help="the file of repositories")
parser.add_argument("--address", help="the cluster; none for this machine alone")
parser.add_argument("--cpus", type=float, default=2, help="cores for one repository")
parser.add_argument("--attempts", type=int, default=3, help="runs of one repository")
options = parser.parse_args()


class Failed(Exception):
    """A run that may go well the next time."""


def index(name: str, url: str, ref: str | None, to: str) -> dict:
    """Indexes one repository in a folder of its own, and publishes it."""
    command = ["codelode", "index-repo", url, *([ref] if ref else []), "--push", to, "--json"]
    command += ["--name", name] if "/" in name else []
    with tempfile.TemporaryDirectory(prefix="codelode-") as folder:
        run = subprocess.run([*command, "--index-dir", folder], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failed(run.stderr.strip() or run.stdout.strip())
    return json.loads(run.stdout.strip().splitlines()[-1])


ray.init(address=options.address, log_to_driver=False)
task = ray.remote(num_cpus=options.cpus, max_retries=options.attempts - 1, retry_exceptions=[Failed])(index)
entries = tomllib.load(open(options.repos, "rb"))
waiting = {
    task.remote(name, entry.get("url") or entry["path"], entry.get("ref"), options.to): name for name, entry in entries.items()
}
n_failed = 0
while waiting:
    [done], _ = ray.wait(list(waiting))
    name = waiting.pop(done)
    try:
        answer = ray.get(done)
        print(f"{name}: {'was published' if answer['up_to_date'] else 'published'}", flush=True)
    except Exception as problem:  # One repository holds up no other.
        n_failed += 1
        print(f"{name}: failed: {str(problem).strip().splitlines()[-1]}", file=sys.stderr, flush=True)
print(f"{len(entries)} repositories, {n_failed} failed")
sys.exit(1 if n_failed else 0)

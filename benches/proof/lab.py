"""Rivals and corpora at pinned versions in a scratch folder, and commands that are measured."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

from servers import Server

HERE = Path(__file__).resolve().parent

# Where each rival comes from. Registries only, and licences that let anyone run and compare.
RIVALS = {
    "codegraph": ("npm", "@colbymchenry/codegraph", "1.6.1"),
    "ast-grep": ("npm", "@ast-grep/cli", "0.51.1"),
    "code-index-mcp": ("pypi", "code-index-mcp", "2.17.1"),
    "semble": ("pypi", "semble", "0.7.0"),
    "ripgrep": ("pypi", "ripgrep", "15.1.0"),
    "universal-ctags": ("path", "ctags", None),
}
FREE = ("MIT", "Apache", "BSD", "ISC", "Unlicense", "MPL", "GPL")


class Left(Exception):
    """A measurement or a rival that is left out; the message is the reason."""


def run(command, folder=None, env=None, check=True, text=True):
    ran = subprocess.run([str(part) for part in command], cwd=folder, env={**os.environ, **(env or {})}, text=text,
                         stdin=subprocess.DEVNULL, capture_output=True)
    if check and ran.returncode:
        said = (ran.stderr or ran.stdout)[-300:]
        raise Left(f"`{' '.join(map(str, command))}` ends with {ran.returncode}: {said}")
    return ran


def cost(command, folder=None, env=None, seconds=3600):
    """Wall time, processor time (user and system) and peak memory of a whole process, and its output.

    A process that takes more processor time than `seconds`, or a hundred times as long by the clock, is ended with its children.
    """
    began = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], cwd=folder, env={**os.environ, **(env or {})},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)))
    end = threading.Timer(100 * seconds, os.killpg, (process.pid, signal.SIGKILL))
    end.start()
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    end.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return {"wall": time.monotonic() - began, "cpu": usage.ru_utime + usage.ru_stime, "mb": usage.ru_maxrss / 1024,
            "status": process.returncode, "output": output}


class Lab:
    """The scratch folder, the program, and what is installed beside it."""

    def __init__(self, codelode, work, have):
        self.program = str(Path(codelode).resolve())
        self.work = Path(work).resolve()
        self.have = Path(have).resolve() if have else None
        self.work.mkdir(parents=True, exist_ok=True)
        self.version = run([self.program, "--version"]).stdout.split()[-1]
        self.missing = {}

    # Rivals

    def rival(self, name):
        """The path of a rival's program and its version; `Left` with the reason where it cannot be had."""
        kind, package, version = RIVALS[name]
        if kind == "npm":
            home = self.npm(f"{package}@{version}")
            about = json.loads((home / "node_modules" / package / "package.json").read_text())
            found, licence = about["version"], about.get("license", "")
            program = home / "node_modules" / ".bin" / name
        elif kind == "pypi":
            python = self.pypi(f"{package}=={version}")
            code = ("import importlib.metadata as m, sys; d = m.metadata(sys.argv[1]); "
                    "print(d['Version']); print((d['License-Expression'] or d['License'] or '').splitlines()[:1], "
                    "[c for c in d.get_all('Classifier') or [] if c.startswith('License')])")
            found, licence = run([python, "-c", code, package]).stdout.split("\n", 1)
            program = python.parent / ("rg" if name == "ripgrep" else name)
        else:
            program = shutil.which(package)
            if not program:
                raise Left(f"`{package}` is not on the path")
            found = run([program, "--version"]).stdout.split(",")[0].split("(")[0].split()[-1]
            licence = "GPL-2.0"
        if not any(word in licence for word in FREE):
            raise Left(f"its licence is {licence.strip() or 'not named'}")
        return str(program), found

    def npm(self, *packages):
        """A folder with `node_modules` that holds the packages."""
        home = self.work / "npm" / packages[0].strip("@").replace("/", "+")
        if not (home / "installed").exists():
            home.mkdir(parents=True, exist_ok=True)
            run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", home, *packages])
            (home / "installed").touch()
        return home

    def pypi(self, *packages):
        """The python of an environment of its own that holds the packages."""
        home = self.work / "pypi" / packages[0].replace("==", "-")
        python = home / "bin" / "python"
        if not (home / "installed").exists():
            run([sys.executable, "-m", "venv", home])
            run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
            (home / "installed").touch()
        return python

    # Corpora

    def git(self, name, url, commit, only=None):
        """A tree as it was at a commit, fetched alone, with a repository of its own."""
        home = self.work / "corpora" / name
        if not home.exists():
            part = self.fresh(f"unfinished/{name}")
            run(["git", "init", "-q", part])
            run(["git", "-C", part, "fetch", "-q", "--depth", "1", url, commit])
            run(["git", "-C", part, "checkout", "-q", "FETCH_HEAD", *(["--", only] if only else [])])
            home.parent.mkdir(exist_ok=True)
            part.rename(home)
        return home

    def archive(self, name, kind, package):
        """What a package of PyPI (as source) or npm holds."""
        home = self.work / "corpora" / name
        if not home.exists():
            part = self.fresh(f"unfinished/{name}")
            if kind == "pypi":
                bare = package.split("==")[0]
                run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                     "--no-binary", bare, "--dest", part, package])
            else:
                run(["npm", "pack", "--silent", package], folder=part)
            packed = next(path for path in part.iterdir() if path.name.endswith(("gz", "tgz")))
            with tarfile.open(packed) as tar:
                tar.extractall(part / "tree", filter="data")
            home.parent.mkdir(exist_ok=True)
            next((part / "tree").iterdir()).rename(home)
        return home

    def fresh(self, name):
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def own(self, name):
        """A folder laid beside by hand for what this machine cannot download, or nothing."""
        return self.have / name if self.have and (self.have / name).exists() else None

    # The program

    def index(self, name):
        return {"CODE_INDEX_PATH": str(self.work / "index" / name)}

    def serve(self, folder, index="all", *flags):
        return Server([self.program, "serve", *flags], folder, self.index(index))


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"processor": model, "cores": os.cpu_count(), "memory_gb": round(memory), "system": os.uname().sysname}

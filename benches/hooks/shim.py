#!/usr/bin/env python3
"""Compares the `rg` and the `grep` of `codelode shim` with ripgrep and GNU grep, over command lines made from the searches of recorded
agent runs and by mutation.

    benches/hooks/shim.py PROGRAM RUNS FOLDER WORK [--lines 5000] [--seed 1] [--grep]

RUNS is as for replay.py; patterns, paths and flags are taken from its searches. FOLDER is the project to search, WORK a scratch folder
for the index and the links. Standard output and error have to be the same, ripgrep's file by file in any order and grep's byte by byte,
and so has the exit status.
Printed are the number of lines, those that the index answered, every difference, and the times of both over the lines that the index answered.
"""

import argparse
import os
import pathlib
import random
import re
import subprocess
import time

import replay


def material(runs, folder):
    """Patterns and paths of the searches in recorded runs; paths that the folder has."""
    found, places = set(), {"."}
    for run in sorted(runs.glob("*__*/*.traj.json")):
        for command, _ in replay.commands(run):
            if replay.SEARCH.search(command):
                found.update(replay.patterns(command))
                words = command.replace(replay.ROOT + "/", "").split()
                places.update(word for word in words if (folder / word).exists() and not word.startswith(("-", "/", "..")))
    return sorted(pattern for pattern in found if "\n" not in pattern), sorted(places)


SWITCHES = ["-n", "-n", "-n", "-i", "-w", "-l", "-c", "-o", "-F", "-S", "-H", "-I", "-N", "-s", "-q", "--no-heading", "--hidden", "--no-ignore", "-v", "-x", "-U", "--vimgrep", "--column", "--count-matches", "--trim", "--stats", "--json", "-uu", "-P", "-a"]
VALUED = [("-A", "3"), ("-B", "2"), ("-C", "1"), ("-m", "2"), ("-g", "*.py"), ("-g", "!tests"), ("--glob", "*.txt"), ("-t", "py"), ("-t", "html"), ("-T", "js"), ("--type", "css"), ("--color", "never"), ("--sort", "path"), ("--max-depth", "2"), ("-r", "x")]


GREP_SWITCHES = ["-n", "-n", "-n", "-i", "-w", "-l", "-o", "-F", "-E", "-H", "-h", "-I", "-s", "-q", "-x", "-a", "-b", "-c", "-v", "-L", "-P", "-z"]
GREP_VALUED = [("-A", "3"), ("-B", "2"), ("-C", "1"), ("-m", "2"), ("--include=", "*.py"), ("--include=", "*.txt"), ("--exclude=", "test_*"), ("--exclude-dir=", "tests"), ("--exclude-dir=", ".git"), ("--color=", "never")]


def grep_lines(patterns, places, n, pick):
    for _ in range(n):
        args = [pick.choice(["-r", "-r", "-r", "-rn", "-rn", "-R", ""])]
        args += pick.sample(GREP_SWITCHES[:17] if pick.random() < 0.8 else GREP_SWITCHES, k=pick.choice([0, 1, 1, 2]))
        args += [flag + value for flag, value in pick.sample(GREP_VALUED, k=pick.choice([0, 0, 1, 2]))]
        several = [mutated(pattern, pick) for pattern in pick.sample(patterns, k=pick.choice([1, 1, 1, 1, 2]))]
        args += several if len(several) == 1 and not several[0].startswith("-") else [word for pattern in several for word in ("-e", pattern)]
        if pick.random() < 0.8 or args[0] == "":
            args += pick.sample(places, k=min(len(places), pick.choice([1, 1, 1, 2])))
        yield [arg for arg in args if arg]


def mutated(pattern, pick):
    """The pattern, or one with a part gone, doubled, escaped or joined to another."""
    at = pick.randrange(len(pattern) + 1)
    changes = [
        lambda: pattern[:at] + pattern[at + 1:],
        lambda: pattern[:at] + pick.choice(r".*+?|()[]{}^$\sbw_aZ0 ") + pattern[at:],
        lambda: pattern + "|" + pattern[:at],
        lambda: pattern.replace("(", r"\("),
        lambda: pattern.upper(),
        lambda: r"\b" + pattern,
        lambda: "[" + pattern[:3] + "]" + pattern[3:],
    ]
    return pick.choice(changes)() if pick.random() < 0.4 else pattern


def lines(patterns, places, n, pick):
    for _ in range(n):
        args = pick.sample(SWITCHES[:17] if pick.random() < 0.8 else SWITCHES, k=pick.choice([0, 1, 1, 1, 2, 3]))
        for flag, value in pick.sample(VALUED[:10] if pick.random() < 0.8 else VALUED, k=pick.choice([0, 0, 1, 2])):
            args += pick.choice([[flag, value], [flag + ("=" if flag.startswith("--") else "") + value]])
        several = pick.sample(patterns, k=pick.choice([1, 1, 1, 1, 2]))
        several = [mutated(pattern, pick) for pattern in several]
        given = several if len(several) == 1 and not several[0].startswith("-") else [word for pattern in several for word in ("-e", pattern)]
        args += given
        if pick.random() < 0.6:
            args += pick.sample(places, k=min(len(places), pick.choice([1, 1, 1, 2])))
        yield args


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "runs", "folder", "work"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--lines", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--grep", action="store_true", help="lines of grep, not of rg")
    asked = parser.parse_args()
    asked.program, work, folder = asked.program.resolve(), asked.work.resolve(), asked.folder.resolve()
    environment = {name: value for name, value in os.environ.items() if name != "RIPGREP_CONFIG_PATH"} | {"CODELODE_INDEX_PATH": str(work / "index")}
    environment["CODELODE_SHIM_FROM_FILES"] = "500"  # as if the project were a large one
    subprocess.run([asked.program, "index", folder, "--quiet"], check=True, env=environment, stdout=subprocess.DEVNULL)
    name = "grep" if asked.grep else "rg"
    real = subprocess.run(["sh", "-c", f"command -v {name}"], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run([asked.program, "shim", "--install", work / "shim"], check=True, stdout=subprocess.DEVNULL)
    # Notes how the real program was asked: ripgrep for its list of files, or grep for files that the shim has chosen.
    (work / "bin").mkdir(exist_ok=True)
    log = work / "log"
    noted = '-- case " $* " in *" -- /dev/null "*) echo chosen;; *) echo "$@";; esac' if asked.grep else 'echo "$1 $2"'
    (work / "bin" / name).write_text(f'#!/bin/sh\n{noted.removeprefix("-- ")} >> "{log}"\nexec "{real}" "$@"\n')
    (work / "bin" / name).chmod(0o755)
    is_served = (lambda text: text == "chosen\n") if asked.grep else (lambda text: text.replace("--no-config --files\n", "") == "")
    parts = (lambda out: out) if asked.grep else (lambda out: sorted(out.splitlines(True)))

    def ran(program, args, noting=False):
        path = f"{work / 'bin'}:{os.environ['PATH']}" if noting else os.environ["PATH"]
        began = time.perf_counter()
        out = subprocess.run([program, *args], cwd=folder, env=environment | {"PATH": path}, stdin=subprocess.DEVNULL, capture_output=True)
        # Grep's messages begin with the name that it was called by.
        said = re.sub(rb"(?m)^\S*grep: ", b"grep: ", out.stderr) if asked.grep else out.stderr
        return parts(out.stdout), parts(said), out.returncode, time.perf_counter() - began

    n_served, n_different, ours, theirs = 0, 0, [], []
    patterns, places = material(asked.runs, folder)
    made = grep_lines if asked.grep else lines
    for args in made(patterns, places, asked.lines, random.Random(asked.seed)):
        log.write_text("")
        expected, found = ran(real, args), ran(work / "shim" / name, args, noting=True)
        by_index = is_served(log.read_text())
        n_served += by_index
        # Times that ripgrep measures differ from run to run.
        if not {"--stats", "--json"} & set(args) and expected[:3] != found[:3]:
            n_different += 1
            print("DIFFERENT", args, "by the index" if by_index else "by the real program", expected[2], found[2], flush=True)
        if by_index:
            theirs.append(ran(real, args)[3])
            ours.append(ran(work / "shim" / name, args)[3])
    print(f"{asked.lines} lines from {len(patterns)} patterns and {len(places)} paths: {n_served} answered by the index, {n_different} different")
    if ours:
        middle = lambda times: sorted(times)[len(times) // 2] * 1000
        last = lambda times: sorted(times)[len(times) * 99 // 100] * 1000
        print(f"answered by the index: the program p50 {middle(theirs):.1f} p99 {last(theirs):.1f} ms, shim p50 {middle(ours):.1f} p99 {last(ours):.1f} ms")


if __name__ == "__main__":
    main()

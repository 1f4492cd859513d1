#!/usr/bin/env python3
"""Times `codelode hook` on the searches of recorded agent runs, as the process that a client starts for each.

    benches/hooks/cost.py PROGRAM RUNS FOLDER [--only django] [--limit 500]

RUNS is as for replay.py. FOLDER is a checkout of the project whose runs are taken, indexed in the index directory of the environment,
with its names resolved (`codelode refs NAME`). Processor time is printed beside that of the clock, for machines that do other work.
"""

import argparse
import json
import os
import pathlib
import subprocess
import time

import replay


def events(runs, only, folder):
    """What a client gives to the hook after each search."""
    for run in sorted(runs.glob(f"{only}*/*.traj.json")):
        for command, seen in replay.commands(run):
            if replay.SEARCH.search(command) and replay.patterns(command):
                tool = {"tool_name": "Bash", "tool_input": {"command": command.replace(replay.ROOT, folder)}}
                yield {"hook_event_name": "PostToolUse", "cwd": folder, **tool, "tool_response": {"stdout": seen.replace(replay.ROOT, folder)}}


def timed(command, given=b""):
    """Milliseconds by the clock and of the processor, and whether the process said something."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(given)
    process.stdin.close()
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return (time.perf_counter() - began) * 1000, (usage.ru_utime + usage.ru_stime) * 1000, bool(said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "runs", "folder"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--only", default="django", help="runs whose name begins so")
    parser.add_argument("--limit", type=int, default=500)
    asked = parser.parse_args()
    all_events = list(events(asked.runs, asked.only, str(asked.folder.resolve())))
    chosen = all_events[:: max(1, len(all_events) // asked.limit)][: asked.limit]
    program = str(asked.program.resolve())
    answers = [timed([program, "hook"], json.dumps(event).encode()) for event in chosen]
    nothing = [timed([program, "--version"]) for _ in range(50)]
    shown = lambda name, times: print(name, *(f"p{part} {sorted(times)[min(len(times) - 1, len(times) * part // 100)]:.1f}" for part in (50, 90, 99)), "ms")
    print(f"{len(answers)} searches, {sum(said for *_, said in answers)} told")
    shown("by the clock:", [clock for clock, *_ in answers])
    shown("processor:", [processor for _, processor, _ in answers])
    shown("a process that does nothing, by the clock:", [clock for clock, *_ in nothing])


if __name__ == "__main__":
    main()

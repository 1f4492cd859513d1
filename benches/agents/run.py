#!/usr/bin/env python3
"""Runs an agent on tasks with ends that a program checks: with a shell alone, with a rival beside it, with codelode beside it.

    AGENT_MODEL=… OPENAI_API_KEY=… [OPENAI_BASE_URL=…] benches/agents/run.py --codelode target/release/codelode
    AGENT_MODEL=… ANTHROPIC_API_KEY=… [ANTHROPIC_BASE_URL=…] benches/agents/run.py --codelode …

Any endpoint that speaks one of the two forms will do; AGENT_WIRE chooses where both keys are set. The model's commands run
on this machine with the rights of whoever starts this: use a container. A run adds its rows to results.json and draws
RESULTS.md.
"""

import argparse
import datetime
import json
import os
import shutil
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "proof"))

import report  # noqa: E402
from arms import Arm  # noqa: E402
from lab import Lab, Left, run  # noqa: E402
from wire import Talk, endpoint  # noqa: E402

MOST_TURNS = 40
SYSTEM = ("You work in a repository of source code, with tools. Do what is asked with as few calls as it takes. When you are done, "
          "write your answer as a last line that begins with ANSWER: and call no tool.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--codelode", default="target/release/codelode", help="the program")
    parser.add_argument("--rival", help="a rival's MCP server, as a command; {tree} stands for the tree (default: codegraph from npm)")
    parser.add_argument("--arms", default="shell,rival,codelode", help="which arms, with commas between")
    parser.add_argument("--tasks", default=HERE / "tasks.json", type=Path, help="the tasks")
    parser.add_argument("--only", help="tasks by name, with commas between")
    parser.add_argument("--times", type=int, default=1, help="how often each task is run")
    parser.add_argument("--work", default="target/agents", help="scratch folder")
    parser.add_argument("--results", default=HERE / "results.json", type=Path, help="the file that rows are added to")
    args = parser.parse_args()
    to = endpoint(os.environ)
    if not to:
        sys.exit("name a model and a key: AGENT_MODEL with OPENAI_API_KEY or ANTHROPIC_API_KEY")

    lab = Lab(args.codelode, args.work, None)
    tasks = json.loads(args.tasks.read_text())
    wanted = args.only.split(",") if args.only else [task["name"] for task in tasks]
    rows = report.read(args.results)
    for task in (task for task in tasks if task["name"] in wanted):
        for turn in range(args.times):
            for arm in args.arms.split(","):
                try:
                    row = once(lab, args.rival, to, arm, task)
                except Left as left:
                    print(f"{task['name']} {arm}: left out: {left}", file=sys.stderr)
                    continue
                print(f"{task['name']} {arm}: {'reached' if row['success'] else 'not reached'}, {row['calls']} calls, "
                      f"{row['tokens_in']} + {row['tokens_out']} tokens, {row['seconds']} s", file=sys.stderr)
                rows.append(row)
                args.results.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    report.write(args.results)


def once(lab, rival, to, arm, task):
    source = lab.git(f"{task['repository'].rsplit('/', 1)[-1]}-{task['commit'][:9]}", task["repository"], task["commit"])
    tree = lab.fresh("run") / source.name
    shutil.copytree(source, tree, symlinks=True)
    version, server, env = tools(lab, rival, arm, tree)
    began = time.monotonic()
    used = Arm(tree, server, env)
    talk, calls, text, failed = Talk(to, SYSTEM, used.tools), 0, "", None
    try:
        text, asked = talk.say(task["ask"])
        for _ in range(MOST_TURNS):
            if not asked:
                break
            calls += len(asked)
            text, asked = talk.results([(call, used.call(name, arguments)) for call, name, arguments in asked])
    except RuntimeError as error:
        failed = str(error)
    finally:
        used.close()
    seconds = time.monotonic() - began
    row = {"task": task["name"], "arm": arm, "tool": version, "model": to["model"], "wire": to["wire"],
           "date": datetime.date.today().isoformat(), "success": not failed and reached(task, text, tree), "calls": calls,
           "tokens_in": talk.tokens_in, "tokens_out": talk.tokens_out, "seconds": round(seconds, 1)}
    return {**row, "failed": failed} if failed else row


def tools(lab, rival, arm, tree):
    """Version, server and environment of an arm. Indexes are made before the clock starts."""
    if arm == "shell":
        return "sh", None, {}
    if arm == "codelode":
        env = {"CODE_INDEX_PATH": str(lab.fresh("index"))}
        run([lab.program, "index", tree], tree, env)
        return f"codelode {lab.version}", [lab.program, "serve", "--format", "compact"], env
    if rival:
        return rival.split()[0].rsplit("/", 1)[-1], [word.replace("{tree}", str(tree)) for word in rival.split()], {}
    program, version = lab.rival("codegraph")
    env = {"CODEGRAPH_TELEMETRY": "0", "CODEGRAPH_NO_DAEMON": "1"}
    run([program, "init", "-i", tree], tree, env)
    return f"codegraph {version}", [program, "serve", "--mcp", "-p", str(tree)], env


def reached(task, text, tree):
    """Whether the end is reached: the names after ANSWER: are those of the task, and its command ends well in the tree."""
    if "answer" in task:
        lines = [line for line in text.splitlines() if line.strip().upper().lstrip("*").startswith("ANSWER:")]
        said = lines[-1].split(":", 1)[1] if lines else ""
        names = {name.strip(" `*.()\"'").lower() for name in said.replace(" and ", ",").split(",")}
        if names - {""} != {name.lower() for name in task["answer"]}:
            return False
    return "check" not in task or run(["sh", "-c", task["check"]], tree, check=False).returncode == 0


if __name__ == "__main__":
    main()

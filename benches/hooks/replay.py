#!/usr/bin/env python3
"""Replays the shell searches of recorded agent runs through `codelode hook`, and counts how often it helps.

    benches/hooks/replay.py PROGRAM RUNS REPOSITORIES WORK [--only NAME] [--show]

RUNS holds runs of mini-swe-agent on SWE-bench Verified: RUNS/<owner>__<name>-<number>/*.traj.json, as some public repositories keep
them (gruckion/mini-swe-agent: 500 runs). REPOSITORIES holds clones, bare or not: REPOSITORIES/<owner>+<name>, with history; a run
whose pull request is not in the history is left out. WORK is a scratch folder for checkouts and the index.

Each search is given to the hook as a client gives it: the command, the folder, and the result that the agent saw. Counted are

    fires     of the searches for a name or a phrase, those after which the hook says something;
    helps     of those that fired and were followed by the opening of a file of the repository, those whose added lines name it;
    disturbs  of all searches, those after which the added lines name no file that is in the result, or that the run reads or edits at any time.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shlex
import subprocess
import time

ROOT = "/testbed"
# On a busy machine the hook is ended by its own clock, which says nothing of what it knows: it is asked again.
LATE, TRIES = 0.9, 5
SEARCH = re.compile(r"(?:^|[|;&(]\s*|xargs (?:-\S+ )*)(?:git )?(grep|egrep|fgrep|rg|ag|ack)\s|\bfind\s[^|]*-i?name\s")
VALUED = set("eABCmfgtTd") | {"include", "exclude", "exclude-dir", "type", "glob", "regexp", "max-count"}
OPENS = re.compile(r"(?:^|[|;&]\s*)(?:cat|head|tail|less|nl|sed|vi|vim|view)\s")
FILE = re.compile(r"[\w./+-]+\.\w{1,4}\b")


def commands(run):
    """The commands of a run, each with the result that the agent saw."""
    messages = json.loads(run.read_text())["messages"]
    for message, answer in zip(messages, messages[1:]):
        text = message["content"] if isinstance(message["content"], str) else "".join(p.get("text", "") for p in message["content"])
        blocks = re.findall(r"```bash\s*\n(.*?)\n```", text, re.S)
        if message["role"] == "assistant" and len(blocks) == 1:
            seen = answer["content"] if isinstance(answer["content"], str) else "".join(p.get("text", "") for p in answer["content"])
            yield blocks[0].strip(), seen


def patterns(command):
    """The patterns of the searches in a command that read files, not the output of another program."""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars="|;&()")
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return []
    found, start, piped = [], 0, False
    for at, word in enumerate(words + [";"]):
        if word and set(word) <= set("|;&()"):
            part = words[start:at]
            if part and part[0] == "git":
                part = part[1:]
            if part and part[0] in ("grep", "egrep", "fgrep", "rg", "ag", "ack") and not piped:
                found += pattern(part[1:])
            if part and part[0] == "xargs" and "grep" in part:
                found += pattern(part[part.index("grep") + 1:])
            if part and part[0] == "find":
                found += [w for flag, w in zip(part, part[1:]) if flag in ("-name", "-iname") and not re.search(r"\.\w+$", w)]
            start, piped = at + 1, word == "|"
    return found


def pattern(words):
    given, rest, skip = [], [], False
    for at, word in enumerate(words):
        if skip:
            skip = False
        elif word.startswith("--"):
            name = word[2:].split("=")[0]
            if name == "regexp" and "=" in word:
                given.append(word.split("=", 1)[1])
            skip = name in VALUED and "=" not in word
        elif word.startswith("-") and len(word) > 1:
            if word.endswith("e") and at + 1 < len(words) and not word.endswith("include"):
                given.append(words[at + 1])
            skip = word[-1] in VALUED
        else:
            rest.append(word)
    return given or rest[:1]


def is_asked(pattern):
    """Whether a pattern is a name or a phrase: an identifier, perhaps behind a keyword, or words."""
    for part in re.split(r"\\?\|", pattern):
        text = re.sub(r"\\[bs]\*?\+?|\\|[()^$\"':=*]|\.\*", " ", part).strip()
        text = re.sub(r"^(?:class|def|function|import|from|return|async)\s+", "", text)
        if re.fullmatch(r"\.?[A-Za-z_]\w{2,}(?:\.[A-Za-z_]\w+)*", text) or re.fullmatch(r"[A-Za-z]{2,}(?:[ ,]+[A-Za-z]{2,}){1,7}", text):
            return True
    return False


def opened(command, files):
    """Files of the repository that a command reads or writes."""
    return [name for name in (found.replace(ROOT + "/", "").removeprefix("./") for found in FILE.findall(command)) if name in files]


def checkout(repository, number, place):
    """Puts the repository as it was before a pull request into a folder; false if its history does not know it."""
    git = ["git", "-C", str(repository)]
    for said in (f"Merge pull request #{number} ", f"(#{number})", f"#{number}"):
        found = subprocess.run(git + ["log", "--all", "-F", "--grep", said, "--format=%H %P", "--reverse", "-1"], capture_output=True, text=True)
        if found.stdout.split()[1:]:
            base = found.stdout.split()[1]
            break
    else:
        return False
    place.mkdir(parents=True, exist_ok=True)
    work = ["git", f"--git-dir={repository}", f"--work-tree={place}"]
    environment = os.environ | {"GIT_INDEX_FILE": str(place) + ".git-index"}
    subprocess.run(work + ["read-tree", "-u", "--reset", base], check=True, env=environment, capture_output=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "runs", "repositories", "work"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--only", default="", help="runs whose name begins so")
    parser.add_argument("--show", action="store_true", help="print what did not help")
    asked = parser.parse_args()
    asked.program = asked.program.resolve()
    environment = os.environ | {"CODELODE_INDEX_PATH": str(asked.work.resolve() / "index")}
    counts, left_out = collections.Counter(), 0
    runs = sorted((run for run in asked.runs.glob("*__*/*.traj.json") if run.parent.name.startswith(asked.only)), key=lambda run: (run.parent.name.rsplit("-", 1)[0], int(run.parent.name.rsplit("-", 1)[1])))
    for run in runs:
        name, number = run.parent.name.rsplit("-", 1)
        repository = asked.repositories / name.replace("__", "+")
        repository = repository / "repo" if (repository / "repo").is_dir() else repository
        place = (asked.work / name).resolve()
        releases = [int(entry.name) for entry in repository.glob("*") if entry.name.isdigit() and int(entry.name) <= int(number)]
        steps = list(commands(run))
        if not any(SEARCH.search(command) for command, _ in steps):
            continue
        if releases:
            place = (repository / str(max(releases))).resolve()
        elif not repository.is_dir() or not checkout(repository, number, place):
            left_out += 1
            continue
        subprocess.run([asked.program, "index", place], check=True, env=environment, capture_output=True)
        files = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
        counts["runs"] += 1
        for at, (command, seen) in enumerate(steps):
            wanted = patterns(command) if SEARCH.search(command) else []
            if not wanted:
                continue
            here = str(place)
            event = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "cwd": here, "tool_input": {"command": command.replace(ROOT, here)}, "tool_response": {"stdout": seen.replace(ROOT, here)}}
            for _ in range(TRIES):
                began = time.monotonic()
                said = subprocess.run([asked.program, "hook"], input=json.dumps(event), capture_output=True, text=True, env=environment)
                assert said.returncode == 0, said
                if said.stdout or time.monotonic() - began < LATE:
                    break
                counts["late"] += 1
            added = json.loads(said.stdout)["hookSpecificOutput"]["additionalContext"] if said.stdout else ""
            is_for_name = any(is_asked(pattern) for pattern in wanted)
            ever = [opened(command, files) for command, _ in steps]
            later = [opened(command, files) for command, _ in steps[at + 1:]]
            following = next((names[0] for (next_command, _), names in zip(steps[at + 1:], later) if names and OPENS.search(next_command)), None)
            counts["searches"] += 1
            counts["for a name or phrase"] += is_for_name
            counts["fires"] += bool(added) and is_for_name
            counts["says something"] += bool(added)
            if added:
                named = {name for name in FILE.findall(added) if name in files}
                touched = set(sum(ever, [])) | {name for name in named if name in seen or "./" + name in seen}
                is_vain = not named & touched
                counts["disturbs"] += is_vain
                if following:
                    counts["fires before an opening"] += 1
                    counts["helps"] += following in added
                    counts["already open"] += following in command
                if asked.show and (is_vain or (following and following not in added)):
                    print(f"{run.parent.name} {'VAIN' if is_vain else 'MISS'} next: {following}\n  $ {command}\n  {added}")
            elif is_for_name and asked.show:
                print(f"{run.parent.name} SILENT next: {following}\n  $ {command}")
        share = lambda part, whole: counts[part] / max(1, counts[whole])
        print(f"{run.parent.name}: {dict(counts)} fires {share('fires', 'for a name or phrase'):.3f} helps {share('helps', 'fires before an opening'):.3f} disturbs {share('disturbs', 'searches'):.3f}", flush=True)
    print(f"left out: {left_out} runs")


if __name__ == "__main__":
    main()

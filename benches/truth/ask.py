"""Asks a server for the references of questions.json and scores its answers by line.

    python3 ask.py 'codelode serve' FOLDER questions.json [--show 20]

Precision and recall pool the answers of all questions. A question names a definition by file, line and name, and has the
lines of its references. Lines outside of the judged files, and those listed as neutral, count neither way.
"""
import argparse, collections, json, os, re, subprocess, sys

p = argparse.ArgumentParser()
p.add_argument("server"); p.add_argument("folder"); p.add_argument("questions"); p.add_argument("--show", type=int, default=0)
a = p.parse_args()
truth = json.load(open(a.questions))
server = subprocess.Popen(a.server.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
number = 0
def send(method, params, answer=True):
    global number
    number += 1
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if answer:
        message["id"] = number
    server.stdin.write(json.dumps(message) + "\n"); server.stdin.flush()
    while answer:
        line = json.loads(server.stdout.readline())
        if line.get("id") == number:
            return line
def tool(name, **arguments):
    answer = send("tools/call", {"name": name, "arguments": arguments})
    content = answer["result"].get("structuredContent") or json.loads(answer["result"]["content"][0]["text"])
    return content
send("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "judge", "version": "1"}})
send("notifications/initialized", {}, answer=False)
root = os.path.realpath(a.folder)
indexed = tool("index_folder", path=root)
repo = indexed["repo"]

judged = set(truth["judged"])
neutral = {f: set(lines) for f, lines in truth.get("neutral", {}).items()}
# Where only names as they are written are known, uses by another name count neither way.
texts = {f: open(os.path.join(a.folder, f), errors="replace").read().split("\n") for f in judged} if truth.get("is_written") else {}
dropped = {(f, line, name) for f, all in truth.get("dropped", {}).items() for line, name in all}
totals = collections.defaultdict(lambda: [0, 0, 0, 0])
mistakes = []
for q in truth["references"]:
    cursor, lines, failed = None, set(), False
    while True:
        more = {"cursor": cursor} if cursor else {}
        v = tool("find_references", repo=repo, identifier=q["name"], file=q["file"], line=q["line"], max_results=1000, max_tokens=100000, format="json", **more)
        if "error" in v:
            failed = True
            break
        for r in v.get("references", []):
            if r.get("confidence", "resolved") == "resolved":
                lines.add((r["file"], r["line"]))
        cursor = v.get("next_cursor")
        if not cursor:
            break
    expect = {tuple(e) for e in q["expect"]}
    own = {tuple(n) for n in q.get("neutral", [])} | {(q["file"], q["line"])}
    counts = lambda at: at[0] in judged and at not in own and at[1] not in neutral.get(at[0], ()) and (not texts or q["name"] in texts[at[0]][at[1] - 1])
    expect, lines = {e for e in expect if counts(e)}, {l for l in lines if counts(l)}
    lines = {at for at in lines if at in expect or (*at, q["name"]) not in dropped}
    t = totals[q["kind"]]
    t[0] += len(lines & expect); t[1] += len(lines - expect); t[2] += len(expect - lines); t[3] += failed
    if lines ^ expect or failed:
        wrong, missing = sorted(lines - expect), sorted(expect - lines)
        text = f"{q['kind']} {q['name']} {q['file']}:{q['line']}{' not found' if failed else ''} wrong {len(wrong)} {wrong[:3]} missing {len(missing)} {missing[:3]}"
        mistakes.append((len(wrong), len(missing), text))
server.stdin.close()
mistakes.sort(reverse=True)
most_missing = sorted(mistakes, key=lambda mistake: -mistake[1])
for _, _, text in dict.fromkeys(mistakes[:a.show] + most_missing[:a.show]):
    print(text)
def row(kind, t):
    right, wrong, missing, failed = t
    print(f"{kind:10} P {right / max(1, right + wrong):.3f}  R {right / max(1, right + missing):.3f}  right {right} wrong {wrong} missing {missing} no symbol {failed}")
for kind in sorted(totals):
    row(kind, totals[kind])
row("all", [sum(t[i] for t in totals.values()) for i in range(4)])

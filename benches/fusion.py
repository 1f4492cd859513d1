#!/usr/bin/env python3
"""Meaning beside words: how much of it helps, fitted on some repositories and judged on others.

  fusion.py --program codelode --model FOLDER --queries DIR --corpora DIR [--save FILE | --as-built] [repository ...]

DIR of queries holds A/NAME.jsonl (titles of commits) and B/NAME.jsonl (first sentences of documentation), a line each with
`query` and `gold`: [{file, name, lines: [[first, last], ...]}]. DIR of corpora holds NAME/plain, asked with A, and
NAME/nodoc, the same code without comments, asked with B; names are asked for there too. Both are what a scorer of
searches needs anyway. Each repository is embedded (a minute for 1,500 definitions), then the parts of every score are
read once, and shares of meaning are compared offline, for each form of question that the program tells apart. With
--as-built nothing is fitted: each question is asked by words and by meaning, as users ask it.
"""
import argparse, collections, json, math, os, pickle, random, re, subprocess

from client import Server

DEPTH = 1000
WEIGHT = 0.7
SHARES = (0, .05, .1, .15, .2, .3, .4, .5, .6, .7)
# Forms of a question by the exponent that the program turns a weight into a share with (crates/query/src/symbols/meaning.rs).
FORMS = (('description', 1.5), ('change', 2.7), ('table', 3.0), ('name', 99))


def answers(item, gold):
    return item['file'] == gold['file'] and any(a - 1 <= item['line'] <= b for a, b in gold['lines'])


def candidates(server, repo, query, gold):
    """The form of a question, and of each candidate the share of words, the share of meaning, and the places of gold."""
    value = server.call('search_symbols', repo=repo, query=query, semantic=True, semantic_weight=WEIGHT, explain=True, max_results=DEPTH)
    rows, joined = [], False
    for item in value.get('results', []):
        parts = dict(found.groups() for found in (re.match(r'(words|meaning) \+?(-?[\d.]+)', part) for part in item.get('explain', [])) if found)
        joined |= 'meaning' in parts
        rows.append((float(parts.get('words', item['score'])), float(parts.get('meaning', 0)), tuple(i for i, one in enumerate(gold) if answers(item, one))))
    if not joined:              # a name that is found: words alone answer
        return 'named', rows
    words, meaning = (max((row[at] for row in rows), default=0) / 100 for at in (0, 1))
    share = 1 - words if words else meaning
    exponent = math.log(max(min(share, .999), .001)) / math.log(WEIGHT)
    form = next(form for form, most in FORMS if exponent < most)
    return form, [(row[0] / 100 / max(1 - share, .001), row[1] / 100 / max(share, .001), row[2]) for row in rows]


def as_built(server, repo, query, gold):
    """What the program's own fusion adds to recall of ten and reciprocal rank, and these without it."""
    def asked(**how):
        found, first = set(), 0
        for n, item in enumerate(server.call('search_symbols', repo=repo, query=query, max_results=10, **how).get('results', []), 1):
            own = {i for i, one in enumerate(gold) if answers(item, one)}
            found |= own
            first = first or (n if own else 0)
        return len(found) / len(gold), 1 / first if first else 0
    words, both = asked(), asked(semantic=True)
    return words, tuple(b - w for w, b in zip(words, both))


def names_of(queries, seed):
    """Names and their words, of what the sentences describe."""
    draw, out = random.Random(seed), []
    for q in queries:
        name = q['gold'][0]['name']
        words = ' '.join(re.findall(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+', name)).lower()
        for query in (name, words, name[:max(4, 2 * len(name) // 3)]):
            if len(query) > 3:
                out.append({'query': query, 'gold': q['gold']})
    draw.shuffle(out)
    return out[:60]


def collect(a, repo):
    out = {}
    for kind, corpus in (('B', 'nodoc'), ('A', 'plain')):
        path, root = os.path.join(a.queries, kind, repo + '.jsonl'), os.path.join(a.corpora, repo, corpus)
        if kind not in a.kinds or not os.path.exists(path) or not os.path.isdir(root):
            continue
        env = {'CODELODE_EMBED_MODEL': a.model, 'CODELODE_MAX_TOKENS': '1000000', 'CODELODE_FRESHNESS': 'relaxed'}
        if a.index:
            env['CODE_INDEX_PATH'] = a.index
        root = os.path.realpath(root)
        for command in [('index', root)] + ([] if a.embedded else [('embed',)]):
            done = subprocess.run([a.program, *command], cwd=root, env={**os.environ, **env}, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f'{root}: {done.stderr}')
        server = Server(a.program, env)
        queries = [json.loads(line) for line in open(path)]
        sets = [(kind, queries)] + ([('names', names_of(queries, repo))] if kind == 'B' else [])
        for name, asked in sets:
            for q in asked:
                parts = as_built(server, root, q['query'], q['gold']) if a.as_built else (len(q['gold']), *candidates(server, root, q['query'], q['gold']))
                out.setdefault(name, []).append(parts)
        server.end()
    return out


def measures(query, share):
    """Recall of the first ten, reciprocal rank of the first, with a share of meaning; with none, meaning adds nothing."""
    n_gold, form, rows = query
    if form != 'named':
        kept = rows if share else [row for row in rows if row[0] > 0]
        rows = sorted(kept, key=lambda row: -((1 - share) * row[0] + share * row[1]))
    found, first = set(), 0
    for n, row in enumerate(rows[:10], 1):
        found |= set(row[2])
        first = first or (n if row[2] else 0)
    return len(found) / n_gold, 1 / first if first else 0


def mean(xs):
    return sum(xs) / len(xs) if xs else 0.0


def interval(per_repo):
    """Mean and 95 % interval, by drawing repositories and questions again."""
    draw, means, repos = random.Random(7), [], [one for one in per_repo if one]
    for _ in range(2000):
        means.append(mean([x for repo in draw.choices(repos, k=len(repos)) for x in draw.choices(repo, k=len(repo))]))
    means.sort()
    return f'{100 * mean([x for repo in repos for x in repo]):+.1f} ({100 * means[50]:+.1f} to {100 * means[1949]:+.1f})'


def judge(all_repos):
    sets = [name for name in ('B', 'A', 'names') if any(name in asked for asked in all_repos.values())]
    asked = [(repo, name, q) for repo, by_name in all_repos.items() for name, queries in by_name.items() for q in queries]
    gains = {}
    for n, (_, _, q) in enumerate(asked):
        without = measures(q, 0)
        for share in SHARES:
            gains[n, share] = tuple(a - b for a, b in zip(measures(q, share), without))
    for name in sets:
        alone = [measures(q, 0) for _, other, q in asked if other == name]
        print(f'{name}: {len(alone)} questions, words alone {100 * mean([x[0] for x in alone]):.1f} / {100 * mean([x[1] for x in alone]):.1f}')
    forms = sorted({q[1] for _, _, q in asked} - {'named'})
    print('\nrecall of ten / MRR against words alone, by form of the question and share of meaning (no fit):')
    for form in forms:
        for share in SHARES[1:]:
            of = lambda name, at: 100 * mean([gains[n, share][at] for n, (_, other, q) in enumerate(asked) if other == name and q[1] == form])
            print(f'{form:12} {share:<5}', '   '.join(f'{name} {of(name, 0):+.1f} / {of(name, 1):+.1f}' for name in sets))
    chosen, left = collections.Counter(), {name: {repo: [] for repo in all_repos} for name in sets}
    for out in all_repos:
        for form in forms:
            rest = [n for n, (repo, _, q) in enumerate(asked) if repo != out and q[1] == form]
            share = max(SHARES, key=lambda share: mean([gains[n, share][0] + gains[n, share][1] / 2 for n in rest]))
            chosen[form, share] += 1
            for n, (repo, name, q) in enumerate(asked):
                if repo == out and q[1] == form:
                    left[name][repo].append(gains[n, share])
        for repo, name, q in asked:
            if repo == out and q[1] == 'named':
                left[name][repo].append((0.0, 0.0))
    print(f'\na share for each form, fitted on the other repositories, judged on each: {dict(chosen)}')
    for name in sets:
        print(f'  {name}: recall of ten {interval([[x[0] for x in one] for one in left[name].values()])}, MRR {interval([[x[1] for x in one] for one in left[name].values()])}')


def judge_as_built(all_repos):
    for name in [name for name in ('B', 'A', 'names') if any(name in asked for asked in all_repos.values())]:
        left = [asked.get(name, []) for asked in all_repos.values()]
        words = [words for one in left for words, _ in one]
        print(f'{name}: {len(words)} questions, words alone {100 * mean([x[0] for x in words]):.1f} / {100 * mean([x[1] for x in words]):.1f}; by meaning too: '
              f'recall of ten {interval([[x[0] for _, x in one] for one in left])}, MRR {interval([[x[1] for _, x in one] for one in left])}')


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--program', default='codelode')
    p.add_argument('--model', required=True)
    p.add_argument('--queries', required=True)
    p.add_argument('--corpora', required=True)
    p.add_argument('--index', help='index directory (default: the usual one)')
    p.add_argument('--kinds', default='AB')
    p.add_argument('--embedded', action='store_true', help='everything is embedded already')
    p.add_argument('--as-built', action='store_true', help='judge the shares that the program has')
    p.add_argument('--save', help='parts of scores, read again when it is there')
    p.add_argument('repos', nargs='*')
    a = p.parse_args()
    known = pickle.load(open(a.save, 'rb')) if a.save and os.path.exists(a.save) else {}
    for repo in a.repos or sorted(os.listdir(a.corpora)):
        if repo not in known:
            known[repo] = collect(a, repo)
            print(repo, {name: len(asked) for name, asked in known[repo].items()}, flush=True)
            if a.save:
                pickle.dump(known, open(a.save, 'wb'))
    if a.as_built:
        return judge_as_built(known)
    judge({repo: sets for repo, sets in known.items() if 'B' in sets and (not a.repos or repo in a.repos)})


if __name__ == '__main__':
    main()

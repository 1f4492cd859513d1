"""Trains the tables of learned words: static vectors of stems that bring descriptions near the functions they describe.

    python3 benches/learned/train.py PROGRAM WORDS MODEL OUT.bin      # PROGRAM: the example `words`; WORDS: its output, a file a source;
                                                                     # MODEL: the folder of the model that minilm.py reads

A description's vector is the sum of its stems' rows in one table, a function's that of its stems in the other. They
are trained as a residual: beside what BM25 says of the words that both share, so that they learn what words mean and
not which words are equal. First on batches in which the other functions are the wrong ones (InfoNCE), mostly of the
same source; then on the functions that BM25 finds for each description. Both tables begin with what a model of sentences
says of each stem's most frequent word, and are the mean of several trainings, which begin alike and so can be added.
"""
import collections, hashlib, json, os, re, subprocess, sys, time
import numpy as np
import scipy.sparse as sp
import minilm

DIM, SEEDS = 64, (11, 12, 13)
WORDS = 10_000                       # at most, in each table
# The weight of each field; occurrences in the body saturate.
FIELDS = {'name': 3.0, 'owner': 1.0, 'path': 0.7, 'signature': 1.0, 'body': 0.7}
MOST_BODY = 250                      # stems of a body that are read
EPOCHS, BATCH, GROUP = 6, 768, 96
PER_SOURCE = 12_000                  # descriptions of one source at most
HARD, HARD_EPOCHS, HARD_PER_SOURCE = 24, 2, 300
STOP = set('a an and are as at be but by can do does for from has have if in into is it its no not of on or should so such than that the '
           'their then there these this to was we were when where which while will with would how what i you'.split())
SKIP = re.compile(r'(deprecated|todo|fixme|see |inherit|overrid|implements? |same as|like |alias|copyright|eslint|internal|private|note)', re.I)


def sentence(doc, name):
    """First sentence of a documentation comment, without markup and without the name that Go begins with."""
    doc = re.split(r'\n\s*\n|\n\s*(?:@\w+|:\w+|Args?:|Arguments:|Parameters|Returns:|Example|#|```|>>>|\.\. )', doc.strip())[0]
    doc = re.sub(r'\{@\w+\s+([^}]*)\}', r'\1', doc)
    doc = re.sub(r'<[^>]{1,30}>', ' ', doc)
    doc = re.sub(r':\w+:`~?([^`<]*)[^`]*`', r'\1', doc)
    doc = re.sub(r'\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?', r'\1', doc)
    doc = re.sub(r'@\w+.*', '', re.sub(r'[`*]', '', doc), flags=re.S)
    doc = re.split(r'(?<=[a-z0-9)"\'])[.:;](?:\s|$)', re.sub(r'\s+', ' ', doc).strip())[0].strip()
    return doc[len(name):].strip(' -:,') if re.match(re.escape(name) + r'\b', doc) else doc


def stemmed(program, texts):
    """The stems of each text's words without stop words, as the program splits and stems them."""
    told = [' '.join(w for w in t.split() if re.sub(r'^\W+|\W+$', '', w).lower() not in STOP) for t in texts]
    out = subprocess.run([program], input='\n'.join(told) + '\n', stdout=subprocess.PIPE, check=True, text=True).stdout
    lines = out.split('\n')[:-1]
    assert len(lines) == len(texts)
    return [list(dict.fromkeys(line.split())) for line in lines]


def csr(rows, width, data=None):
    ip = np.cumsum([0] + [len(r) for r in rows])
    ix = np.fromiter((x for r in rows for x in r), np.int32, ip[-1])
    m = sp.csr_matrix((np.ones(len(ix), np.float32), ix, ip), shape=(len(rows), width))
    m.sum_duplicates()
    return m


def bm25(m, k1=.8, b=.5):
    n, ln = m.shape[0], np.asarray(m.sum(1)).ravel()
    df = np.bincount(m.indices, minlength=m.shape[1])
    idf = np.log(1 + (n - df + .5) / (df + .5)).astype(np.float32)
    norm = np.repeat(k1 * (1 - b + b * ln / max(ln.mean(), 1e-9)), np.diff(m.indptr))
    w = m.copy()
    w.data = (idf[m.indices] * m.data * (k1 + 1) / (m.data + norm)).astype(np.float32)
    return w, idf


class Source:
    """Functions of one source as matrices over all stems, and the descriptions of some."""

    def __init__(self, path, vocabulary, rng, seen):
        self.name = os.path.basename(path).rsplit('.', 1)[0]
        rows, docs, self.lines, nested = collections.defaultdict(list), [], [], []
        for line in open(path):
            r = json.loads(line)
            if r['kind'] not in ('function', 'method'):
                continue
            for k in FIELDS:
                rows[k].append([vocabulary.setdefault(t, len(vocabulary)) for t in r[k].split()[:MOST_BODY]])
            docs.append(sentence(r['doc'], r['title']) if r['doc'] else '')
            self.lines.append(r['end'] - r['line'] + 1)
            nested.append(r['nested'])
        self.rows, self.n = rows, len(docs)
        uses = collections.Counter(d.lower() for d in docs)
        self.pairs = []
        for i, d in enumerate(docs):
            if not d or not d.isascii() or not 3 <= len(d.split()) <= 40 or nested[i] or SKIP.match(d) or uses[d.lower()] > 3:
                continue
            key = (d.lower(), tuple(rows['name'][i]))
            if key not in seen:
                seen.add(key)
                self.pairs.append((d, i, uses[d.lower()] == 1 and self.lines[i] > 3 and len(d.split()) > 3))
        self.pairs = [self.pairs[i] for i in rng.permutation(len(self.pairs))]
        self.pairs = self.pairs[:PER_SOURCE]

    def build(self, width):
        self.f = {k: csr(self.rows.pop(k), width) for k in FIELDS}
        self.w = {k: bm25(self.f[k]) for k in ('name', 'owner', 'signature')}
        bag, self.idf = bm25(self.f['path'] + self.f['owner'] + self.f['signature'] + self.f['body'])
        self.total = (2 * bag + self.w['name'][0] + self.w['owner'][0] + self.w['signature'][0]).tocsr()
        self.held = ((self.f['name'] + self.f['owner'] + self.f['path']) > 0).astype(np.float32)
        self.bag = (bag > 0).astype(np.float32)


def document(f, rows, v):
    out = None
    for k, w in FIELDS.items():
        m = f[k][rows][:, :v].astype(np.float32)
        m.data = w * (1 + np.log(m.data)) if k == 'body' else w * np.minimum(m.data, 1)
        out = m if out is None else out + m
    return out.tocsr()


class Adam:
    def __init__(self, p, lr):
        self.p, self.lr, self.m, self.v, self.t = p, lr, np.zeros_like(p), np.zeros_like(p), 0

    def step(self, g):
        self.t += 1
        self.m += .1 * (g - self.m)
        self.v += .01 * (g * g - self.v)
        self.p -= self.lr * np.sqrt(1 - .99 ** self.t) / (1 - .9 ** self.t) * self.m / (np.sqrt(self.v) + 1e-8)


def normed(x):
    n = np.sqrt((x * x).sum(1, keepdims=True)) + 1e-6
    return x / n, n


def back(g, xn, n):
    return (g - xn * (g * xn).sum(1, keepdims=True)) / n


def dropped(m, share, rng):
    m = m.copy()
    m.data = m.data * (rng.random(len(m.data)) > share)
    return m


def batches(source, rng):
    chunks = []
    for s in np.unique(source):
        i = rng.permutation(np.flatnonzero(source == s))
        chunks += [i[a:a + GROUP] for a in range(0, len(i), GROUP)]
    held, out = [], []
    for c in rng.permutation(len(chunks)):
        held.append(chunks[c])
        if sum(map(len, held)) >= BATCH:
            out.append(np.concatenate(held))
            held = []
    return out


def in_batches(sources, v, frequency, n, start, rng):
    t0 = time.time()
    Q, D, L, S = [], [], [], []
    for k, s in enumerate(sources):
        ps = [([x for x in q if x < v], i) for q, i, _ in s.pairs]
        ps = [(q, i) for q, i in ps if len(q) > 1]
        if ps:
            rows = np.array([i for _, i in ps])
            Q.append(csr([q for q, _ in ps], v)); D.append(document(s.f, rows, v)); L.append(s.total[rows][:, :v].tocsr())
            S += [k] * len(ps)
    Q, D, L, S = sp.vstack(Q).tocsr(), sp.vstack(D).tocsr(), sp.vstack(L).tocsr(), np.array(S)
    idf = np.log(1 + n / (frequency[:v] + 1.0)).astype(np.float32)
    base = start * (idf / idf.mean())[:, None]
    Eq, Ed, s, beta = base.copy(), base.copy(), np.array([8.0], np.float32), np.array([.3], np.float32)
    oq, od, os_, ob = Adam(Eq, 0), Adam(Ed, 0), Adam(s, .05), Adam(beta, .005)
    hold = rng.permutation(len(S))[:1500]
    train = np.setdiff1d(np.arange(len(S)), hold)
    print(len(S), 'pairs of', len(sources), 'sources', round(time.time() - t0), flush=True)
    for epoch in range(EPOCHS):
        oq.lr = od.lr = 3e-3 * (1 - epoch / EPOCHS) + 3e-4
        for b in batches(S[train], rng):
            b = train[b]
            m = len(b)
            lex = (Q[b] @ L[b].T).toarray()
            q, d = dropped(Q[b], .1, rng), dropped(D[b], .2, rng)
            (qn, nq), (dn, nd) = normed(q @ Eq), normed(d @ Ed)
            C = qn @ dn.T
            X = s * C + beta * lex
            P, R = np.exp(X - X.max(1, keepdims=True)), np.exp(X - X.max(0, keepdims=True))
            G = .7 * P / P.sum(1, keepdims=True) + .3 * R / R.sum(0, keepdims=True)
            G[np.arange(m), np.arange(m)] -= 1
            G /= m
            ob.step(np.array([(G * lex).sum()], np.float32))
            gs = np.array([(G * C).sum()], np.float32)
            gq, gd = back(s * (G @ dn), qn, nq), back(s * (G.T @ qn), dn, nd)
            oq.step((q.T.tocsr() @ gq).astype(np.float32))
            od.step((d.T.tocsr() @ gd).astype(np.float32))
            os_.step(gs)
        C, lex, ar = normed(Q[hold] @ Eq)[0] @ normed(D[hold] @ Ed)[0].T, (Q[hold] @ L[hold].T).toarray(), np.arange(len(hold))
        rr = lambda X: float((1 / (1 + (X > X[ar, ar][:, None]).sum(1))).mean())
        print(f'epoch {epoch}: held-out MRR words {rr(lex):.3f}, vectors {rr(C):.3f}, both {rr(s * C + beta * lex):.3f}; {time.time() - t0:.0f} s, processor {time.process_time():.0f} s', flush=True)
    return Eq, Ed


def features(s, q, cand, score, best):
    """What words say of candidates: BM25, and the shares of the description's idf that name, owner and path hold, and the text."""
    idf = s.idf[q]
    idf = idf / max(idf.sum(), 1e-6)
    sub = lambda m: np.asarray(m[cand][:, q] @ idf).ravel()
    name = (s.f['name'][cand][:, q] > 0).astype(np.float32)
    length = np.maximum(np.diff(s.f['name'][cand].indptr), 1)
    lines = np.array([s.lines[c] for c in cand])
    return np.stack([np.log(score + 1e-3), score / max(best, 1e-3), sub(s.held), sub(s.bag), np.asarray(name @ idf).ravel(),
                     np.asarray(name.sum(1)).ravel() / length, np.log(length), np.log(np.minimum(lines, 200)), lines <= 3], 1)


def hard(sources, v, Eq, Ed, rng, lr=5e-4):
    t0 = time.time()
    Q, X, C, D, base = [], [], [], [], 0
    for s in sources:
        T = s.total.T.tocsr()
        ps = [(q, i) for q, i, strict in s.pairs if strict][:HARD_PER_SOURCE]
        rows = []
        if s.n < 200:
            continue
        for a in range(0, len(ps), 100):
            S = (csr([q for q, _ in ps[a:a + 100]], s.total.shape[1]) @ T).toarray()
            for (q, gold), score in zip(ps[a:a + 100], S):
                mid = [x for x in q if x < v]
                if len(mid) < 2 or score[gold] <= 0:
                    continue
                top = np.argpartition(-score, 40)[:40]
                top = [x for x in top[np.argsort(-score[top], kind='stable')] if x != gold]
                wrong = top[:12] + list(rng.permutation(top[12:36])[:HARD - 13])
                if score[wrong].min() <= 0:
                    continue
                cand = np.array([gold] + wrong)
                order = score[cand]
                X.append(features(s, q, cand, order, score[top[0]]))
                Q.append(mid)
                rows.append(cand)
        if rows:
            u, inv = np.unique(np.array(rows), return_inverse=True)
            D.append(document(s.f, u, v)); C.append(inv.reshape(-1, HARD) + base)
            base += len(u)
    Q, X, C, D = csr(Q, v), np.array(X, np.float32), np.concatenate(C), sp.vstack(D).tocsr()
    X /= X.reshape(-1, X.shape[2]).std(0) + 1e-6
    w, s = np.zeros(X.shape[2], np.float32), np.array([6.0], np.float32)
    w[0] = 2
    oq, od, ow, os_ = Adam(Eq, lr), Adam(Ed, lr), Adam(w, .03), Adam(s, .03)
    hold = rng.permutation(len(C))[:1500]
    train = np.setdiff1d(np.arange(len(C)), hold)
    print(len(C), 'descriptions with their', HARD, 'candidates', round(time.time() - t0), flush=True)
    for epoch in range(HARD_EPOCHS):
        perm = rng.permutation(train)
        for a in range(0, len(perm), 96):
            b = perm[a:a + 96]
            q, d = dropped(Q[b], .1, rng), dropped(D[C[b].ravel()], .2, rng)
            (qn, nq), (dn, nd) = normed(q @ Eq), normed(d @ Ed)
            d3 = dn.reshape(len(b), HARD, -1)
            c = np.einsum('qd,qcd->qc', qn, d3)
            z = X[b] @ w + s * c
            P = np.exp(z - z.max(1, keepdims=True))
            P /= P.sum(1, keepdims=True)
            P[:, 0] -= 1
            P /= len(b)
            ow.step(np.einsum('qc,qcf->f', P, X[b]) + 1e-3 * w)
            gq = back(s * np.einsum('qc,qcd->qd', P, d3), qn, nq)
            gd = back((s * P[:, :, None] * qn[:, None]).reshape(dn.shape), dn, nd)
            os_.step(np.array([(P * c).sum()], np.float32))
            oq.step((q.T.tocsr() @ gq).astype(np.float32))
            od.step((d.T.tocsr() @ gd).astype(np.float32))
        qn, dn = normed(Q[hold] @ Eq)[0], normed(D[C[hold].ravel()] @ Ed)[0].reshape(len(hold), HARD, -1)
        c, lex = np.einsum('qd,qcd->qc', qn, dn), X[hold] @ w
        rr = lambda z: float((1 / (1 + (z[:, 1:] >= z[:, :1]).sum(1))).mean())
        print(f'candidates, epoch {epoch}: held-out MRR words {rr(lex):.3f}, vectors {rr(c):.3f}, both {rr(lex + s * c):.3f} (scale {s[0]:.1f}); {time.time() - t0:.0f} s', flush=True)
    return Eq, Ed


def initial(stems, program, model, files):
    """What the model says of each stem's most frequent word, in its main directions."""
    count = collections.Counter()
    for file in files:
        for line in open(file):
            count.update(re.findall(r'[a-z]{2,}', json.loads(line)['doc'].lower()))
    words = [word for word, _ in count.most_common(60_000)]
    out = subprocess.run([program], input='\n'.join(words) + '\n', stdout=subprocess.PIPE, check=True, text=True).stdout
    written = {}
    for word, stem in zip(words, out.split('\n')):
        if stem and ' ' not in stem:
            written.setdefault(stem, word)
    e = minilm.Model(model).embed([written.get(stem, stem) for stem in stems])
    u, scale, _ = np.linalg.svd(e - e.mean(0), full_matrices=False)
    return normed((u * scale)[:, :DIM])[0].astype(np.float32)


def packed(E):
    """Four bits a number, from -7 to 7: the second half of a row above the first; and the scale of each row."""
    scale = np.abs(E).max(1) / 7 + 1e-9
    bits = (np.rint(E / scale[:, None]).astype(np.int8) & 15).astype(np.uint8)
    return bits[:, :DIM // 2] | bits[:, DIM // 2:] << 4, scale.astype('<f4')


def write(path, stems, Eq, Ed):
    """Counts, stems in the order of their bytes with a newline each, the scales of both tables, then their rows."""
    order = sorted(range(len(stems)), key=lambda i: stems[i].encode())
    (q, sq), (d, sd) = packed(Eq[order]), packed(Ed[order])
    text = ''.join(stems[i] + '\n' for i in order).encode()
    data = b'clwords\2' + np.array([len(stems), len(text)], '<u4').tobytes() + text + b'\0' * (-len(text) % 4) + sq.tobytes() + sd.tobytes() + q.tobytes() + d.tobytes()
    open(path, 'wb').write(data)
    print(path, len(stems), 'stems', len(data), 'bytes, sha256', hashlib.sha256(data).hexdigest())


def trained(seed, sources, v, frequency, n, start):
    rng = np.random.default_rng(seed)
    for source in sources:
        source.pairs = [source.pairs[i] for i in rng.permutation(len(source.pairs))]
    return hard(sources, v, *in_batches(sources, v, frequency, n, start, rng), rng)


def main(program, folder, model, out):
    t0, rng = time.time(), np.random.default_rng(SEEDS[0])
    vocabulary, seen = {}, set()
    files = [os.path.join(folder, file) for file in sorted(os.listdir(folder))]
    sources = [Source(file, vocabulary, rng, seen) for file in files]
    asked = iter(stemmed(program, [d for s in sources for d, _, _ in s.pairs]))
    for s in sources:
        pairs = [([vocabulary.setdefault(t, len(vocabulary)) for t in next(asked)], i, strict) for _, i, strict in s.pairs]
        s.pairs = [p for p in pairs if len(p[0]) > 1]
    spelled = list(vocabulary)
    in_sources, frequency = np.zeros(len(spelled), int), np.zeros(len(spelled), int)
    for s in sources:
        c = np.zeros(len(spelled), int)
        for k in ('name', 'signature', 'body'):
            for r in s.rows[k]:
                c[list(set(r))] += 1
        for q, _, _ in s.pairs:
            c[q] += 1
        frequency += c
        in_sources += c > 0
    n = sum(s.n for s in sources)
    good = [i for i, t in enumerate(spelled) if in_sources[i] >= 3 and frequency[i] >= 5 and not t.isdigit() and 1 < len(t) < 25 and t.isascii()]
    good.sort(key=lambda i: (-in_sources[i], -frequency[i], spelled[i]))
    place = np.full(len(spelled), -1)
    good = good[:WORDS]
    rest = np.setdiff1d(np.arange(len(spelled)), good)
    place[np.concatenate([good, rest])] = np.arange(len(spelled))
    for s in sources:
        for k in FIELDS:
            s.rows[k] = [place[r] for r in s.rows[k]]
        s.pairs = [(list(place[q]), i, strict) for q, i, strict in s.pairs]
        s.build(len(spelled))
    v = len(good)
    print(n, 'functions,', sum(len(s.pairs) for s in sources), 'descriptions,', v, 'of', len(spelled), 'stems', round(time.time() - t0), flush=True)
    stems = [spelled[i] for i in good]
    start = initial(stems, program, model, files)
    all_q, all_d = np.zeros((v, DIM), np.float32), np.zeros((v, DIM), np.float32)
    for seed in SEEDS:
        Eq, Ed = trained(seed, sources, v, frequency[np.concatenate([good, rest])], n, start)
        all_q += Eq / np.linalg.norm(Eq, axis=1).mean()
        all_d += Ed / np.linalg.norm(Ed, axis=1).mean()
    write(out, stems, all_q, all_d)
    print('processor', round(time.process_time()), 's')


if __name__ == '__main__':
    main(*sys.argv[1:5])

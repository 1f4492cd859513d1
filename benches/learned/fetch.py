"""Brings the sources of sources.txt at their commits, their code without tests: python3 benches/learned/fetch.py [FOLDER]

FOLDER is target/corpora/learned by default; what is there stays. Needs git. Of the corpora that benches/corpora.sh
brings, those named in sources.txt are linked.
"""
import os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
CODE = re.compile(r'\.(py|js|jsx|ts|tsx|mjs|cjs|go|rs|java)$')
SKIP = re.compile(r'(^|/)(node_modules|vendor|third_party|dist|build|tests?|testing|__tests__|spec|fixtures|testdata)/|\.min\.js$|\.pb\.go$'
                  r'|_test\.go$|\.(test|spec)\.|/test_[^/]*$|Tests?\.java$|zz_generated')
LARGEST = 500_000


def bring(repository, commit, into):
    bare = into + '.git'
    git = lambda *a, **k: subprocess.run(['git', '--git-dir', bare, *a], check=True, capture_output=True, **k).stdout
    if not os.path.isdir(bare):
        subprocess.run(['git', 'init', '--quiet', '--bare', bare], check=True)
    git('fetch', '--quiet', '--depth', '1', 'https://github.com/' + repository, commit)
    files = []
    for entry in git('ls-tree', '-r', '-z', '-l', commit).decode('utf8', 'replace').split('\0'):
        if entry:
            about, path = entry.split('\t', 1)
            mode, kind, blob, size = about.split()
            if kind == 'blob' and mode != '120000' and size != '-' and int(size) <= LARGEST and CODE.search(path) and not SKIP.search(path):
                files.append((path, blob))
    out, at = git('cat-file', '--batch', input='\n'.join(blob for _, blob in files).encode() + b'\n'), 0
    for path, _ in files:
        end = out.index(b'\n', at)
        size = int(out[at:end].split()[2])
        text, at = out[end + 1:end + 1 + size], end + 2 + size
        target = os.path.join(into + '.part', path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        open(target, 'wb').write(text)
    os.rename(into + '.part', into)
    subprocess.run(['rm', '-rf', bare], check=True)


def main(folder):
    corpora = os.environ.get('CODELODE_CORPORA', os.path.join(HERE, '../../target/corpora'))
    folder = folder or os.path.join(corpora, 'learned')
    os.makedirs(folder, exist_ok=True)
    for line in open(os.path.join(HERE, 'sources.txt')):
        source, commit, _ = line.split()
        into = os.path.join(folder, source.split('/')[-1])
        if os.path.exists(into):
            continue
        if commit == 'corpora.sh':
            os.symlink(os.path.abspath(os.path.join(corpora, source)), into)
            continue
        print('fetching', source, flush=True)
        bring(source, commit, into)


if __name__ == '__main__':
    main(sys.argv[1] if len(sys.argv) > 1 else None)

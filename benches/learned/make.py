"""Makes the tables of learned words from the sources that fetch.py brought: python3 benches/learned/make.py MODEL OUT [FOLDER]

Runs the example `words` on each source and train.py on what it prints. MODEL is the folder
of the model that minilm.py reads. Needs cargo, and python with numpy, scipy, safetensors and tokenizers.
"""
import os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '../..')


def main(model, out, folder=None):
    folder = folder or os.path.join(os.environ.get('CODELODE_CORPORA', os.path.join(ROOT, 'target/corpora')), 'learned')
    subprocess.run(['cargo', 'build', '--release', '--locked', '--example', 'words'], cwd=ROOT, check=True)
    program = os.path.join(os.environ.get('CARGO_TARGET_DIR', os.path.join(ROOT, 'target')), 'release/examples/words')
    with tempfile.TemporaryDirectory() as words:
        for line in open(os.path.join(HERE, 'sources.txt')):
            name = line.split()[0].split('/')[-1]
            with open(os.path.join(words, name + '.jsonl'), 'w') as into:
                subprocess.run([program, os.path.join(folder, name)], stdout=into, check=True)
        subprocess.run([sys.executable, os.path.join(HERE, 'train.py'), program, words, model, out], check=True)


if __name__ == '__main__':
    main(*sys.argv[1:])

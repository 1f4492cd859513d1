#!/bin/sh
# Brings the code that the benches read, at pinned versions: ./benches/corpora.sh [FOLDER], by default target/corpora.
# What is there stays. Needs python3 with pip, cargo, npm and, for Go and Java, Debian 12; what a machine cannot bring is
# told and left out, and the benches do without it. The last step counts everything into FOLDER/STATS.tsv.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
all=${1:-${CODELODE_CORPORA:-$here/target/corpora}}
mkdir -p "$all" && cd "$all" && all=$(pwd) || exit 1
work=$all/.unfinished
rm -rf "$work"
trap 'rm -rf "$work"' EXIT

# corpus NAME COMMAND...: runs the command in an empty folder, where it makes `tree`; only a whole tree gets its name.
corpus() {
    name=$1
    shift
    [ -e "$all/$name" ] && return
    echo "fetching $name" >&2
    mkdir -p "$work/$name"
    # Not in a condition: there a shell goes on after an error.
    (set -e; cd "$work/$name"; "$@" >&2)
    case $? in
        0) mv "$work/$name/tree" "$all/$name" ;;
        *) echo "$name could not be fetched" >&2 ;;
    esac
}

from_pypi() {
    python3 -m pip download --quiet --no-deps --no-binary "${1%==*}" "$1"
    mkdir tree
    tar xzf ./*.tar.gz -C tree --strip-components=1
}

from_crates() {
    mkdir src tree
    : >src/lib.rs
    { printf '[package]\nname = "corpus"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n'
      for crate; do printf '%s = { version = "=%s", default-features = false }\n' "${crate%@*}" "${crate#*@}"; done
    } >Cargo.toml
    cargo vendor --quiet --versioned-dirs >/dev/null
    # Only what was named: dependencies would be another corpus with every release.
    for crate; do mv "vendor/${crate%@*}-${crate#*@}" tree/; done
}

# from_npm DROPPED PACKAGE...: without the files whose names match the extended regular expression.
from_npm() {
    dropped=$1
    shift
    for package; do
        archive=$(npm pack --silent "$package")
        into=tree/$(basename "${package%@*}")
        mkdir -p "$into"
        tar xzf "$archive" -C "$into" --strip-components=1
    done
    find tree -regextype posix-extended -type f -regex ".*($dropped)" -delete
    find tree -type d -empty -delete
}

# from_debian PACKAGE PATH: a folder or a zip file of a package, which is unpacked and not installed.
from_debian() {
    apt-get -o APT::Sandbox::User=root download "$1"
    dpkg-deb --extract ./*.deb root
    if [ -d "root/$2" ]; then mv "root/$2" tree; else python3 -m zipfile -e "root/$2" tree; fi
}

# The package's source as its authors released it. The machine's own archives are asked, by a list of our own: most machines
# do not ask for sources, and that is theirs to decide.
from_debian_source() {
    mkdir -p sources lists/partial
    sed -s 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/*debian*.sources >sources/all.sources 2>/dev/null || :
    [ ! -e /etc/apt/sources.list ] || sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >sources/all.list
    apt() {
        apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$PWD/sources" \
            -o Dir::State::Lists="$PWD/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
            -o APT::Sandbox::User=root "$@"
    }
    apt update
    apt source --download-only "$1"
    mkdir tree
    tar xf ./*.orig.tar.* -C tree --strip-components=1
}

corpus py-django from_pypi django==5.2.19
corpus py-sqlalchemy from_pypi sqlalchemy==2.1.9
corpus rust-crates from_crates \
    tokio@1.54.1 tantivy@0.27.0 tantivy-columnar@0.27.0 tantivy-sstable@0.27.0 regex-automata@0.4.18 regex-syntax@0.8.11 \
    aho-corasick@1.1.5 memchr@2.8.3 clap_builder@4.6.7 hyper@1.12.0 h2@0.4.20 axum@0.8.9 rustls@0.23.46 syn@3.0.9 \
    serde_json@1.0.154 rayon@1.12.0 indexmap@2.14.2 futures-util@0.3.34 gix@0.90.0 gix-pack@0.77.0 gix-odb@0.87.0 \
    gix-object@0.66.1 gix-ref@0.69.1 gix-index@0.58.0 gix-config@0.62.2 gix-diff@0.70.0 gix-protocol@0.68.0 \
    gix-revwalk@0.38.0 gix-status@0.37.0 gix-filter@0.36.1
corpus go-std from_debian golang-1.19-src=1.19.8-2 usr/share/go-1.19/src
corpus java-guava from_debian_source guava-libraries=31.1-1
# Debian keeps only the newest 17.x, so this one corpus is not pinned.
corpus java-jdk from_debian openjdk-17-source usr/lib/jvm/openjdk-17/lib/src.zip
corpus js-mix from_npm '\.map|\.min\.js' \
    express@5.3.0 lodash@4.18.1 webpack@5.112.2 eslint@10.15.0 three@0.187.0 react@19.3.1
# These packages carry their sources and what was compiled from them; only the sources are code that somebody wrote.
corpus ts-mix from_npm '\.[cm]?js|\.map|\.d\.[cm]?ts' rxjs@7.8.2 effect@3.19.0 zod@4.6.7 @tanstack/query-core@5.108.0

python3 - <<'PY' | tee STATS.tsv
from collections import Counter
from pathlib import Path

print("corpus", "ending", "files", "lines", "bytes", sep="\t")
for corpus in sorted(path for path in Path().iterdir() if path.is_dir() and path.name[0] != "."):
    files, lines, size = Counter(), Counter(), Counter()
    for path in corpus.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        for key in "all", path.suffix.lower() or "none":
            files[key] += 1
            lines[key] += data.count(b"\n")
            size[key] += len(data)
    # Endings of a few files say nothing about a corpus.
    for key, total in size.most_common(5):
        print(corpus, key, files[key], lines[key], total, sep="\t")
PY

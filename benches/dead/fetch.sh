#!/bin/sh
# Brings the repositories of repositories.txt at their commits or tags: ./benches/dead/fetch.sh [FOLDER], by default
# target/corpora/dead. What is there stays, and what is not to be had is left out. Needs git.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
all=${1:-${CODELODE_CORPORA:-$here/../../target/corpora}/dead}
mkdir -p "$all"
while read -r repository commit _; do
    into=$all/${repository#*/}
    [ -e "$into" ] && continue
    echo "fetching $repository" >&2
    rm -rf "$into.part"
    git init --quiet "$into.part"
    git -C "$into.part" fetch --quiet --depth 1 "https://github.com/$repository" "$commit" || continue
    git -C "$into.part" checkout --quiet FETCH_HEAD
    mv "$into.part" "$into"
done <"$here/repositories.txt"

#!/usr/bin/env bash
# Makes the corpora that are tested from what `fuzz/run.sh` has found: the smallest inputs that reach everything that
# all of them reach, at most so many: `bash fuzz/keep.sh [target ...]`.
set -euo pipefail
cd "$(dirname "$0")/.."
most=${MOST:-300}
targets=("$@")
[[ $# -gt 0 ]] || mapfile -t targets < <(ls fuzz/work)
for target in "${targets[@]}"; do
  cargo +nightly fuzz cmin --sanitizer none "$target" "fuzz/work/$target" -- -max_len=16384
  # Nothing in the archive depends on who made it and when.
  (cd "fuzz/work/$target" && ls -Sr | sed -n "1,${most}p" | sort) |
    tar -c -C "fuzz/work/$target" --owner=0 --group=0 --mode=644 --mtime=@0 --format=ustar -T - |
    gzip -9n > "fuzz/corpus/$target.tar.gz"
done

#!/usr/bin/env bash
# Runs fuzz targets one after the other: `bash fuzz/run.sh [seconds for each] [target ...]`. It wants Linux, a nightly
# toolchain and `cargo install cargo-fuzz`.
#
# An input that panics, takes ten seconds or a gigabyte is kept in fuzz/artifacts. What is new otherwise is kept in
# fuzz/work, and `bash fuzz/keep.sh` makes the corpora from it.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}
shift || true
targets=("$@")
if [[ $# -eq 0 ]]; then
  mapfile -t targets < <(cd fuzz/targets && printf '%s\n' *.rs | sed 's/\.rs$//')
fi

# The versions that the crate itself is built with.
cp Cargo.lock fuzz/Cargo.lock
# Sessions leave their folders behind.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
failed=()
for target in "${targets[@]}"; do
  # Whole paths: some targets work in a folder of their own.
  work=$PWD/fuzz/work/$target
  mkdir -p "$work" "fuzz/artifacts/$target"
  tar -xzf "fuzz/corpus/$target.tar.gz" -C "$work"
  cargo +nightly fuzz run --sanitizer none "$target" "$work" -- -max_total_time="$seconds" \
    -max_len=16384 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 || failed+=("$target")
done
[[ ${#failed[@]} -eq 0 ]] || { echo "failed: ${failed[*]}"; exit 1; }

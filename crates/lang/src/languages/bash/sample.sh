#!/usr/bin/env bash
# Counts what a shop sells.

set -euo pipefail

# Most items that one may buy.
LIMIT=10
readonly NAME="shop" # shellcheck disable=SC2034
declare -a items=(bread milk)
export PATH="$PATH:/opt/bin"

# Says something.
# On two lines.
say() {
  local text="$1"
  PREFIX=x echo "$text" && return 0 || return 1
}

function sell {
  local count=$1
  if [[ $count -lt 1 || $count -gt $LIMIT ]]; then
    return 1
  elif [ "$count" = 2 ]; then
    say two
  fi
  for item in "${items[@]}"; do
    case "$item" in
      bread) say "$item" ;;
      *) ;;
    esac
  done
  while read -r line; do say "$line"; done < <(cat <<EOT
text $(say inner)
EOT
)
}

shorten() {
  local rest="${1#*\"name\":[}"
  say "${rest%%]*}" ${rest#*{"$1"}
}

function main() (
  sell "$@"
)

main "$@"

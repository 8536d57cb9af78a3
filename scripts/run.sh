#!/usr/bin/env bash
# Builds holdfast and starts it with the demo event on sale. Ctrl-C stops it.
#   scripts/run.sh [options of `holdfast serve`]   e.g. --listen 127.0.0.1:9000
# The data folder is ./data of the repository unless --data, --config or HOLDFAST_STORAGE_DATA says otherwise.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/scripts/build_release.sh" holdfast

arguments=(--demo)
data_chosen=${HOLDFAST_STORAGE_DATA:+yes}
for argument in "$@"; do
  case $argument in
    --data | --data=* | --config | --config=*) data_chosen=yes ;;
    --demo) arguments=() ;;
  esac
done
[[ -n $data_chosen ]] || arguments+=(--data "$root/data")

# The server says `ready URL admin URL` once it accepts connections; only then is there something to try.
announce() {
  trap '' INT TERM  # the server stops by the same Ctrl-C and may still have something to say
  while IFS= read -r line; do
    printf '%s\n' "$line"
    [[ $line == "ready http"* ]] || continue
    url=${line#ready }
    url=${url%% *}
    cat <<TEXT

holdfast is up: $url   (Ctrl-C stops it)
Take two seats of the demo event:

  curl -X POST $url/v1/events/demo/holds -H 'content-type: application/json' -d '{"best":{"quantity":2}}'

TEXT
  done
}
exec "$root/build/release/holdfast" serve "${arguments[@]}" "$@" > >(announce)

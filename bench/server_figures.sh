#!/usr/bin/env bash
# Two figures of a running server, each printed with how it was measured:
#   * importing a plan and opening its sale: from POST /v1/events until `state` is `open`;
#   * memory of an event of 100,000 seats: VmRSS with it minus VmRSS of the empty server.
# Usage: bench/server_figures.sh [PLAN.json]   (a seats.io drawing; default the demo plan)
# Needs build/release/holdfast, curl and jq. Listens on loopback only, removes its data folder.
set -euo pipefail
if [[ ${1-} == -h || ${1-} == --help ]]; then
    sed -n '2,/^set/{/^#/s/^# \?//p}' "$0"
    exit
fi
root=$(cd "$(dirname "$0")/.." && pwd)
plan=${1:-$root/src/services/demo_plan.json}
scratch=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$scratch"
}
trap finish EXIT

export HOLDFAST_ADMIN_TOKEN=figures-$RANDOM$RANDOM
: >"$scratch/ready"
"$root/build/release/holdfast" serve --data "$scratch/data" --listen 127.0.0.1:0 \
    --admin-listen 127.0.0.1:0 >"$scratch/ready" 2>"$scratch/log" &
server=$!
until grep -q '^ready ' "$scratch/ready"; do
    kill -0 "$server" || { cat "$scratch/log"; exit 1; }
    sleep 0.02
done
url=$(awk '{print $2}' "$scratch/ready")

rss_kib() { awk '/^VmRSS/ {print $2}' "/proc/$server/status"; }
post_event() { # FILE: creates the event and waits until it is open; prints milliseconds
    local from to id
    from=$(date +%s%N)
    id=$(curl -sS --fail-with-body -X POST "$url/v1/events" -H 'content-type: application/json' \
        -H "authorization: Bearer $HOLDFAST_ADMIN_TOKEN" --data-binary "@$1" | jq -r .event)
    until [ "$(curl -sS "$url/v1/events/$id" | jq -r .state)" = open ]; do sleep 0.005; done
    to=$(date +%s%N)
    echo $(((to - from) / 1000000))
}

jq -c '{id:"imported", name:"Imported", publish:true,
        import:{format:"seatsio", disambiguate:true, plan:.}}' "$plan" >"$scratch/import.json"
jq -nc '{id:"large", name:"Large", publish:true,
         categories:[{key:"std", name:"Standard", price:4500}],
         sections:[range(50) | {id:"S\(.)", name:"Section \(.)", category:"std",
                   rows:[range(50) | {label:"\(. + 1)", seats:40}]}]}' >"$scratch/large.json"

empty=$(rss_kib)
post_event "$scratch/large.json" >/dev/null
large=$(rss_kib)
echo "event of 100,000 seats: $(((large - empty) / 1024)) MiB VmRSS beyond the empty server ($((empty / 1024)) MiB)"
times=()
for run in 1 2 3 4 5; do
    jq -c ".id = \"imported-$run\"" "$scratch/import.json" >"$scratch/one.json"
    times+=("$(post_event "$scratch/one.json")")
done
echo "import of $(basename "$plan") and opening of its sale, 5 runs: ${times[*]} ms"

#!/usr/bin/env bash
# Durable claims a second over HTTP: the server on core 0, wrk with 64 connections and without
# pipelining on core 1. One JSON line a round, then one with the median and the best.
#
#   bench/http_claims.sh [path of holdfast]
#
# ROUNDS (7), SECONDS_PER_ROUND (5), CONNECTIONS (64), PLACES (4000000), HOLD_TTL_S (300), DATA_IN
# (the folder for the scratch data; a disk, not a tmpfs, if durable is to mean anything).
# With the defaults no hold expires while a round runs; HOLD_TTL_S=2 measures claims and expiry.
# BACKUPS=1: one backup after the other is made meanwhile, and a line says how long the last one took.
set -euo pipefail

if [[ ${1-} == -h || ${1-} == --help ]]; then
  sed -n '2,/^set/{/^#/s/^# \?//p}' "$0"
  exit
fi
here=$(cd "$(dirname "$0")" && pwd)
holdfast=${1:-$here/../build/release/holdfast}
rounds=${ROUNDS:-7}
seconds=${SECONDS_PER_ROUND:-5}
connections=${CONNECTIONS:-64}
places=${PLACES:-4000000}
ttl=${HOLD_TTL_S:-300}

for tool in wrk curl taskset; do
  command -v "$tool" >/dev/null || { echo "http_claims: $tool is missing" >&2; exit 2; }
done
[ -x "$holdfast" ] || { echo "http_claims: no executable $holdfast" >&2; exit 2; }
if [ "$(nproc)" -lt 2 ]; then echo "http_claims: needs two cores" >&2; exit 2; fi

scratch=$(mktemp -d "${DATA_IN:-${TMPDIR:-/tmp}}/holdfast-claims-XXXXXX")
server=
backups=
cleanup() {
  if [ -n "$backups" ]; then kill "$backups" 2>/dev/null || true; wait "$backups" || true; fi
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" || true; fi
  rm -rf "$scratch"
}
trap cleanup EXIT

token=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
HOLDFAST_ADMIN_TOKEN=$token HOLDFAST_HOLD_TTL_MIN_S=1 HOLDFAST_LOG_LEVEL=warn \
  taskset -c 0 "$holdfast" serve --data "$scratch/data" --listen 127.0.0.1:0 \
  --admin-listen 127.0.0.1:0 --io-threads 1 >"$scratch/ready" 2>"$scratch/log" &
server=$!
for _ in $(seq 300); do
  if grep -q '^ready ' "$scratch/ready"; then break; fi
  kill -0 "$server" 2>/dev/null || { cat "$scratch/log" >&2; exit 1; }
  sleep 0.1
done
url=$(awk '/^ready /{print $2}' "$scratch/ready")
[ -n "$url" ] || { echo "http_claims: the server was not ready in 30 s" >&2; exit 1; }

# One event a round: a run must end because its time is up, not because it is sold out.
new_event() {
  curl -sS -o "$scratch/answer" -w '%{http_code}' -X POST "$url/v1/events" \
    -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
    -d '{"id":"'"$1"'","name":"Claims","publish":true,
         "policy":{"hold_ttl_s":'"$ttl"',"hold_max_life_s":'"$((ttl > 900 ? ttl : 900))"'},
         "categories":[{"key":"std","name":"Standard","price":4500}],
         "sections":[{"id":"GA","name":"Floor","category":"std","capacity":'"$places"'}]}' \
    | grep -q '^202$' || { cat "$scratch/answer" >&2; exit 1; }
  for _ in $(seq 300); do
    if curl -sS "$url/v1/events/$1" -H "Authorization: Bearer $token" |
      grep -q '"state":"open"'; then return; fi
    sleep 0.1
  done
  echo "http_claims: event $1 did not open in 30 s" >&2
  exit 1
}

claims() {  # event, seconds
  EVENT=$1 taskset -c 1 wrk -t1 -c"$connections" -d"$2"s -s "$here/claims.lua" "$url" |
    grep '^{' || { echo "http_claims: wrk printed no result" >&2; exit 1; }
}

new_event round-1
claims round-1 1 >/dev/null  # caches and branches warm
back_up() {
  for number in $(seq 100000); do
    began=$(date +%s%N)
    told=$(HOLDFAST_ADMIN_TOKEN=$token "$holdfast" backup --data "$scratch/data" --to "$scratch/copy-$number")
    echo "{\"backup\":$number,\"ms\":$((($(date +%s%N) - began) / 1000000)),\"told\":\"${told#*: }\"}" >"$scratch/backup"
    rm -rf "$scratch/copy-$number"
  done
}
if [ "${BACKUPS:-0}" = 1 ]; then
  back_up &
  backups=$!
fi
for round in $(seq "$rounds"); do
  if [ "$round" -gt 1 ] && [ $((round % 4)) -eq 1 ]; then new_event "round-$round"; fi
  claims "round-$((round - (round - 1) % 4))" "$seconds" | tee -a "$scratch/rounds"
done
kill -0 "$server" 2>/dev/null || { echo "http_claims: the server ended" >&2; exit 1; }
if [ -n "$backups" ]; then
  kill -0 "$backups" 2>/dev/null || { echo "http_claims: a backup failed" >&2; exit 1; }
  cat "$scratch/backup"
fi

grep -o '"claims_per_s":[0-9]*' "$scratch/rounds" | cut -d: -f2 | sort -n |
  awk -v cpu="$(awk -F': ' '/model name/{print $2; exit}' /proc/cpuinfo)" -v kernel="$(uname -r)" \
    '{v[NR] = $1} END {
      printf "{\"bench\":\"http_claims\",\"rounds\":%d,\"median\":%d,\"best\":%d,\"worst\":%d,", \
             NR, v[int((NR + 1) / 2)], v[NR], v[1]
      printf "\"cpu\":\"%s\",\"kernel\":\"%s\"}\n", cpu, kernel}'

#!/usr/bin/env bash
# How long a durable claim takes below the peak load, and what of that is not the server's: beside it
# stand one write and fdatasync of this disk, nginx's constant answer at the same rate on the same
# cores, and how long the machine keeps its cores from a program that only looks at the clock.
#
#   bench/half_load.sh [--share PERCENT] [path of holdfast]
#
# PERCENT of the peak, 50 if it is not said. The disk and the clock alone, then the peak by wrk, then in
# turn nginx and holdfast at that share of holdfast's peak, each anew, by bench_paced: wrk would send
# what is due once a millisecond, all of it at once. Needs a release build, wrk, jq, python3; without
# nginx its figures are null. ROUNDS (3), SECONDS_PER_ROUND (4), DATA_IN as in
# http_claims.sh (the disk to measure). Nothing else should run. One JSON line with medians.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/peers
build=$here/../../build/release
share=50
holdfast=$build/holdfast
while [ $# -gt 0 ]; do
  case $1 in
    --share) share=${2-}; [ $# -eq 1 ] || shift ;;
    -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) holdfast=$1 ;;
  esac
  shift
done
[[ $share =~ ^[1-9][0-9]?$ ]] || { echo "half_load: --share 1 to 99" >&2; exit 2; }
rounds=${ROUNDS:-3}
seconds=${SECONDS_PER_ROUND:-4}
# What the parts of bench/peers/run.sh ask for.
# shellcheck disable=SC2034
quick='' only='' server_cores=0 load_core=1 connections=64 idle=1000 places=4000000
PATH=$PATH:/usr/sbin:/sbin
for tool in wrk curl taskset setpriv jq python3; do
  command -v "$tool" >/dev/null || { echo "half_load: $tool is missing" >&2; exit 4; }
done

below=${DATA_IN:-${TMPDIR:-/tmp}}
scratch=$(mktemp -d "$below/holdfast-half-load-XXXXXX")
load=
finish() {
  if [ -n "$load" ]; then kill "$load" 2>/dev/null || true; fi
  stop_server
  rm -rf "$scratch"
}
fail() { echo "half_load: $*" >&2; exit 1; }
# shellcheck source=bench/peers/servers.sh
. "$here/servers.sh"
# shellcheck source=bench/peers/loads.sh
. "$here/loads.sh"
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# shellcheck disable=SC2034
token=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
steal() { awk '/^cpu /{ print $9 }' /proc/stat; }

raise_file_limit
stalls=$("$here/../stalls.py")
disk=$("$build/bench/bench_journal" --json --data "$below" 2>/dev/null | jq -c .fdatasync_us)
servers=(holdfast)
if has nginx; then servers=(nginx holdfast); fi
note_constant_answer

steal_before=$(steal)
began=$SECONDS
start_holdfast
new_event holdfast peak "$places"
claim_over_http peak 1 claims
for _ in 1 2 3; do
  claim_over_http peak "$seconds" claims
  echo "$rate" >>"$scratch/peaks"
done
stop_server
peak=$(sort -n "$scratch/peaks" | sed -n 2p)
for _ in $(seq "$rounds"); do
  for name in "${servers[@]}"; do
    "start_$name"
    new_event "$name" below "$places"
    for _ in warm measured; do  # a server that has just begun makes its spare segments
      run_load "$build/bench/bench_paced" --url "http://127.0.0.1:$port" --event below \
        --rate $((peak * share / 100)) --seconds "$seconds"
    done
    stop_server
    jq -nc --arg server "$name" --argjson rate "$(told claims_per_s)" --argjson p50 "$(told p50_us)" \
      --argjson p99 "$(told p99_us)" '$ARGS.named' >>"$scratch/paced"
  done
done
stolen=$(awk -v n=$(($(steal) - steal_before)) -v s=$((SECONDS - began)) -v c="$(nproc)" \
  -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.2f", 100 * n / hz / s / c }')

jq -sc --argjson disk "$disk" --argjson stalls "$stalls" --argjson peak "$peak" \
  --argjson share "$share" --argjson stolen "$stolen" '
  def median: sort | .[length / 2 | floor];
  def figure($server; $what): map(select(.server == $server)[$what]) | median;
  figure("holdfast"; "p99") as $p99 |
  {bench: "half_load", share_percent: $share, peak_claims_per_s: $peak,
   claims_per_s: figure("holdfast"; "rate"), claim_p50_us: figure("holdfast"; "p50"),
   claim_p99_us: $p99, claim_p99s_us: map(select(.server == "holdfast").p99),
   constant_answers_per_s: figure("nginx"; "rate"), constant_p50_us: figure("nginx"; "p50"),
   constant_p99_us: figure("nginx"; "p99"), constant_p99s_us: map(select(.server == "nginx").p99),
   fdatasync_p50_us: $disk.p50, fdatasync_p99_us: $disk.p99,
   ratio_of_p99: ($p99 / $disk.p99 * 100 | round / 100), steal_percent: $stolen} + $stalls' \
  "$scratch/paced"

#!/usr/bin/env bash
# How long a durable claim takes at half of the peak load, beside what one fdatasync of this disk
# takes, in one run: the disk alone, then the peak, then half of it.
#
#   bench/half_load.sh
#
# Needs a release build, wrk, jq. One JSON line; DATA_IN as in http_claims.sh (the disk to measure).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../build/release
below=${DATA_IN:-${TMPDIR:-/tmp}}
connections=256

disk=$("$build/bench/bench_journal" --json --data "$below" | jq -c .fdatasync_us)
peak=$(ROUNDS=3 SECONDS_PER_ROUND=4 "$here/http_claims.sh" | tail -n 1 | jq .median)
# A connection waits for its answer, about 1 ms, and rests for the remainder.
delay=$((connections * 1000 * 2 / peak - 1))
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT
DELAY_MS=$delay CONNECTIONS=$connections ROUNDS=5 SECONDS_PER_ROUND=4 "$here/http_claims.sh" |
  grep '"p99_us"' >"$scratch"
jq -sc --argjson disk "$disk" --argjson peak "$peak" '
  (map(.claims_per_s) | sort | .[length / 2 | floor]) as $rate |
  (map(.p99_us) | sort | .[length / 2 | floor]) as $p99 |
  {bench: "half_load", peak_claims_per_s: $peak, claims_per_s: $rate,
   claim_p50_us: (map(.p50_us) | sort | .[length / 2 | floor]), claim_p99_us: $p99,
   fdatasync_p50_us: $disk.p50, fdatasync_p99_us: $disk.p99,
   ratio_of_p99: ($p99 / $disk.p99 * 100 | round / 100)}' "$scratch"

# shellcheck shell=bash disable=SC2034,SC2154  # run.sh and its parts share their variables
# The loads of bench/peers/run.sh, and the tables. A figure is a line "server what value" in
# $scratch/figures; a run with an answer that was not expected fails instead.

figure() { echo "$1 $2 $3" >>"$scratch/figures"; }

# COMMAND...: on the load's core; its output goes to $scratch/load. In the background, so that a
# signal to this script is not kept waiting.
run_load() {
  setpriv --pdeathsig TERM taskset -c "$load_core" "$@" >"$scratch/load" 2>"$scratch/load.err" &
  load=$!
  if ! wait "$load"; then
    cat "$scratch/load" "$scratch/load.err" >&2
    fail "the load failed: $*"
  fi
  load=
}

# What wrk told of the run: FIELD
told() { sed -n "s/^{.*\"$1\":\([0-9.]*\).*/\1/p" "$scratch/load"; }

# EVENT SECONDS EXPECTED [VARIABLE=VALUE...]: claims, each of one place. EXPECTED: claims or refused.
# The rate of that is left in $rate.
claim_over_http() {
  local event=$1 time=$2 expected=$3 other
  shift 3
  run_load env EVENT="$event" "$@" wrk -t1 -c"${http_connections:-$connections}" -d"$time"s --timeout 10s \
    -s "$here/../claims.lua" "http://127.0.0.1:$port"
  [ "$expected" = claims ] && other=refused || other=claims
  [ -n "$(told claims)" ] || fail "wrk told nothing"
  if [ "$(told "$other")" != 0 ] || [ "$(told socket_errors)" != 0 ]; then
    fail "answers that were not expected: $(cat "$scratch/load")"
  fi
  rate=$(awk -v n="$(told "$expected")" -v s="$(told seconds)" 'BEGIN { printf "%d", n / s }')
  [ "$rate" -gt 0 ] || fail "no answer in $time s"
}

new_event() { if declare -F "new_event_$1" >/dev/null; then "new_event_$1" "$2" "$3"; fi; }

measure_http() {
  new_event "$1" single "$places"
  [ -n "$quick" ] || claim_over_http single 1 claims
  claim_over_http single "$seconds" claims
  figure "$1" single "$rate"
  figure "$1" p99_us "$(told p99_us)"
  new_event "$1" together "$places"
  claim_over_http together "$seconds" claims PIPELINE="$pipeline"
  figure "$1" together "$rate"
  [ "$1" != nginx ] || return 0  # the answer makes no difference there
  new_event "$1" gone 1
  claim_last_place
  claim_over_http gone "$seconds" refused PIPELINE="$pipeline"
  figure "$1" refused "$rate"
}
claim_last_place() {
  curl -sS --fail -o "$scratch/answer" "http://127.0.0.1:$port/v1/events/gone/holds" \
    -H 'Content-Type: application/json' -d '{"section":"GA","quantity":1}'
}

# nginx answers what holdfast answers.
note_constant_answer() {
  start_holdfast
  new_event_holdfast gone 1
  claim_last_place
  constant_answer=$(tr -d "'\$\\\\\n" <"$scratch/answer")
  stop_server
}

# As many claims as take about $seconds, after a few that tell how many those are. Each is of a seat
# of its own: too many equal draws of 10^9 would show in the number of keys.
measure_redis() {
  local script together what
  script=$(redis-cli -p "$port" script load "$(cat "$here/seat_claim.lua")")
  for what in single together; do
    [ $what = single ] && together=1 || together=$pipeline
    claim_in_redis 20000
    claim_in_redis $((rate * seconds))
    figure "$1" $what "$rate"
    [ $what = together ] || figure "$1" p99_us "$(benchmark_told 7 1000)"
  done
}
claim_in_redis() {  # COUNT
  local keys
  redis-cli -p "$port" flushall >/dev/null
  run_load redis-benchmark -p "$port" -c "$connections" -P "$together" -n "$1" -r 1000000000 --csv \
    evalsha "$script" 1 seat:__rand_int__ hold 300
  rate=$(benchmark_told 2 1)
  keys=$(redis-cli -p "$port" dbsize)
  [ "$keys" -gt $(($1 * 99 / 100)) ] || fail "$1 claims in Redis took only $keys seats"
}
# Of "test","claims a second","average ms","least","p50","p95","p99","most": COLUMN FACTOR
benchmark_told() {
  tail -n 1 "$scratch/load" | awk -F'","' -v c="$1" -v f="$2" '{ printf "%d", $c * f }'
}

measure_postgres() {
  run_load pgbench -h 127.0.0.1 -p "$port" -U holdfast -n -M prepared -c "$connections" -j 1 \
    -T "$seconds" -f "$here/claim.sql" postgres
  if ! grep -q '^number of failed transactions: 0 ' "$scratch/load"; then
    cat "$scratch/load" >&2
    fail "claims failed in PostgreSQL"
  fi
  figure "$1" single "$(sed -n 's/^tps = \([0-9]*\).*/\1/p' "$scratch/load")"
}

# Each of many connections rests between two claims, so long that together they make GOAL claims a
# second: wrk knows no fixed rate. Twice tried before it is measured. NAME GOAL
claim_at_rate() {
  local rest=0 goal=$2 attempt time=1
  local http_connections=$paced_connections
  rate=0
  for attempt in 1 2 3; do
    [ $attempt -lt 3 ] || time=$seconds
    # A connection needs so many ms for a claim at the goal, less what it needed beside its rest.
    rest=$(awk -v c="$paced_connections" -v g="$goal" -v r="$rate" -v rest="$rest" \
      'BEGIN { rest = c * 1000 / g - (r ? c * 1000 / r - rest : 1); print (rest > 0 ? rest : 0) }')
    new_event "$1" "below-$attempt" "$places"
    claim_over_http "below-$attempt" "$time" claims DELAY_MS="$rest"
  done
}

# At 80 % of the median peak.
measure_below_peak() {
  claim_at_rate "$1" $(($(median "$1" single) * 8 / 10))
  figure "$1" below_rate "$rate"
  figure "$1" below_p50_us "$(told p50_us)"
  figure "$1" below_p99_us "$(told p99_us)"
}

# Each of the two ends of an idle connection needs an open file in its process.
raise_file_limit() {
  local wanted=$((idle + 2000)) limit
  ulimit -n "$wanted" 2>/dev/null || ulimit -Sn "$(ulimit -Hn)"
  limit=$(ulimit -n)
  if [ "$limit" != unlimited ] && [ "$limit" -lt "$wanted" ]; then
    echo "peers: $((limit - 2000)) idle connections and not $idle: ulimit -n is $limit at most" >&2
    idle=$((limit - 2000))
  fi
}

# KiB of a process and its children.
resident() {
  local pid sum=0
  for pid in "$1" $(cat "/proc/$1/task/"*/children); do
    sum=$((sum + $(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status")))
  done
  echo $sum
}

measure_idle() {
  command -v node >/dev/null || return 0
  figure "$1" idle_before_kib "$(resident "$server")"
  setpriv --pdeathsig TERM taskset -c "$load_core" node "$here/idle_connections.mjs" "$port" "$idle" \
    >"$scratch/load" 2>"$scratch/load.err" &
  load=$!
  until grep -q '^open ' "$scratch/load"; do
    kill -0 "$load" 2>/dev/null || { cat "$scratch/load.err" >&2; fail "the idle connections of $1"; }
    sleep 0.1
  done
  figure "$1" idle_kib "$(resident "$server")"
  kill "$load"
  wait "$load" || true
  load=
}


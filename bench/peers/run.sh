#!/usr/bin/env bash
# Claims a second of holdfast beside what else could sell places, each on the same cores under the
# same load, in turn. Prints tables in Markdown; README.md says what is measured and how.
#
#   bench/peers/run.sh [--quick] [--only NAME,NAME...] [path of holdfast]
#
# NAME: nginx, holdfast, redis_always, redis_everysec, express, postgres.
# ROUNDS (3), SECONDS_PER_ROUND (3), CONNECTIONS (64), IDLE_CONNECTIONS (100000), SERVER_CORES (0),
# LOAD_CORE (1), DATA_IN (the folder for the scratch data; a disk, not a tmpfs, if durable is to mean
# anything). --quick: one round of 1 s and 1,000 idle connections, to see that all of it works.
# Exit: 0 done, 1 failed, 2 wrong usage, 4 what is needed to measure at all is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
quick=
only=
holdfast=$here/../../build/release/holdfast
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=yes ;;
    --only) only=${2-}; shift ;;
    -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) holdfast=$1 ;;
  esac
  shift
done
rounds=${ROUNDS:-$([ -n "$quick" ] && echo 1 || echo 3)}
seconds=${SECONDS_PER_ROUND:-$([ -n "$quick" ] && echo 1 || echo 3)}
idle=${IDLE_CONNECTIONS:-$([ -n "$quick" ] && echo 1000 || echo 100000)}
connections=${CONNECTIONS:-64}
server_cores=${SERVER_CORES:-0}
load_core=${LOAD_CORE:-1}
pipeline=16
places=4000000            # of an event; a run ends because its time is up, not because it is sold out
paced_connections=256
PATH=$PATH:/usr/sbin:/sbin  # nginx, for whoever is not root

for tool in wrk curl taskset setpriv git; do
  command -v "$tool" >/dev/null ||
    { echo "peers: $tool is missing (scripts/install_packages.sh --peers)" >&2; exit 4; }
done
[ -x "$holdfast" ] || { echo "peers: no executable $holdfast" >&2; exit 4; }
if ! taskset -c "$server_cores" true || ! taskset -c "$load_core" true; then
  echo "peers: needs two cores, or SERVER_CORES and LOAD_CORE" >&2
  exit 4
fi

scratch=$(mktemp -d "${DATA_IN:-${TMPDIR:-/tmp}}/holdfast-peers-XXXXXX")
load=
finish() {
  local code=$?
  if [ $code -eq 1 ] && [ -s "$scratch/figures" ]; then
    echo "peers: failed; what was measured until then:" >&2
    print_tables
  fi
  if [ -n "$load" ]; then kill "$load" 2>/dev/null || true; fi
  stop_server
  rm -rf "$scratch"
}
fail() { echo "peers: $*" >&2; exit 1; }
# shellcheck source=bench/peers/servers.sh
. "$here/servers.sh"
# shellcheck source=bench/peers/loads.sh
. "$here/loads.sh"
# shellcheck source=bench/peers/tables.sh
. "$here/tables.sh"
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
token=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')

raise_file_limit
look_for_servers
for name in ${only//,/ }; do
  [[ " ${present[*]} " == *" $name "* ]] || fail "no $name here"
done

note_constant_answer
for round in $(seq "$rounds"); do
  for name in "${present[@]}"; do
    echo "peers: round $round of $rounds, $name" >&2
    "start_$name"
    case $name in
      nginx | holdfast | express) measure_http "$name" ;;
      redis_*) measure_redis "$name" ;;
      postgres) measure_postgres "$name" ;;
    esac
    stop_server
  done
done
for name in "${present[@]}"; do
  case $name in nginx | holdfast | express) ;; *) continue ;; esac
  echo "peers: below the peak and idle, $name" >&2
  "start_$name"
  measure_idle "$name"
  stop_server
  "start_$name"
  measure_below_peak "$name"
  stop_server
done
print_tables

#!/usr/bin/env bash
# bench/peers/run.sh --quick: peers_test.sh EXECUTABLE
# A row of figures for each server that is there, and nothing left behind: neither then, nor when it is
# ended midway, nor a process when it is killed. Exit 4 (skipped) where nothing can be measured.
set -euo pipefail
executable=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
run=
finish() {
  if [[ -n $run ]]; then kill "$run" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap finish EXIT
fail() {
  echo "FAILED: $*" >&2
  cat "$folder/table" "$folder/log" >&2 || true
  exit 1
}

mkdir "$folder/data"
chmod 711 "$folder" "$folder/data"  # PostgreSQL runs as another user than root
start() {  # in a session of its own, which its processes can be found by
  DATA_IN=$folder/data setsid "$root/bench/peers/run.sh" --quick "$@" "$executable" \
    >"$folder/table" 2>"$folder/log" &
  run=$!
}
left() {
  local process
  local -a stat
  for process in /proc/[0-9]*; do
    # From the state on, since the name before may hold blanks: state, parent, group, session.
    read -r -a stat < <(sed 's/^.*) //' "$process/stat" 2>/dev/null) || continue
    [[ ${stat[0]} != Z ]] || continue
    if [[ ${stat[3]} == "$run" || $(tr '\0' ' ' <"$process/cmdline" 2>/dev/null) == *"$folder/data"* ]]; then
      echo "${process#/proc/}"
    fi
  done
}
gone_soon() {
  for _ in $(seq 100); do
    [[ -n $(left) ]] || return 0
    sleep 0.1
  done
  fail "still running $1: $(left)"
}
wait_for_load() {
  for _ in $(seq 600); do
    if grep -q '^peers: round 1 of 1, holdfast' "$folder/log"; then return; fi
    kill -0 "$run" 2>/dev/null || fail "it ended before it measured"
    sleep 0.1
  done
  fail "it does not begin to measure"
}

start
code=0
wait "$run" || code=$?
if [[ $code -eq 4 ]]; then
  echo "skipped: $(cat "$folder/log")"
  exit 4
fi
[[ $code -eq 0 ]] || fail "exit code $code"
gone_soon "after its end"
[[ -z $(ls "$folder/data") ]] || fail "files left: $(ls "$folder/data")"
cat "$folder/table"
measured=$(sed -n 's/^peers: round 1 of 1, //p' "$folder/log")
[[ $measured == *holdfast* ]] || fail "holdfast was not measured"
rows=$(grep -cE '^\| [^|]+\| [^|]+\| [0-9,]+ \([0-9,]+ to [0-9,]+\) \|' "$folder/table") || true
[[ $rows -eq $(wc -l <<<"$measured") ]] || fail "$rows rows for the servers $measured"
grep -qE '^\| holdfast .*/s \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \|' "$folder/table" ||
  fail "no figures below the peak"

start --only holdfast
wait_for_load
kill -TERM "$run"
code=0
wait "$run" || code=$?
[[ $code -eq 143 ]] || fail "exit code $code after SIGTERM"
gone_soon "after SIGTERM"
[[ -z $(ls "$folder/data") ]] || fail "files left after SIGTERM: $(ls "$folder/data")"

start --only holdfast
wait_for_load
kill -KILL "$run"
{ wait "$run" || true; } 2>/dev/null  # without the shell's notice of it
gone_soon "after SIGKILL"

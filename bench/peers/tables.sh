# shellcheck shell=bash disable=SC2154  # run.sh and its parts share their variables
# The tables of bench/peers/run.sh: medians of the rounds, and ratios of medians.

values() { awk -v s="$1" -v w="$2" '$1 == s && $2 == w { print $3 }' "$scratch/figures" | sort -n; }
median() { values "$1" "$2" | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] }'; }

grouped() { sed ':again; s/\([0-9]\)\([0-9]\{3\}\)\($\|[^0-9]\)/\1,\2\3/; t again' <<<"$1"; }

# SERVER WHAT: median (least to most), or that there is none
rate_cell() {
  local all
  all=$(values "$1" "$2")
  if [ -z "$all" ]; then echo "-"; return; fi
  grouped "$(median "$1" "$2") ($(head -n 1 <<<"$all") to $(tail -n 1 <<<"$all"))"
}
# SERVER WHAT OTHER_SERVER OTHER_WHAT: how many times the other's median
ratio() {
  local one other
  one=$(median "$1" "$2")
  other=$(median "$3" "$4")
  if [ -z "$one" ] || [ -z "$other" ]; then echo "-"; return; fi
  awk -v a="$one" -v b="$other" 'BEGIN { printf (a < b / 10 ? "%.3f\n" : "%.2f\n"), a / b }'
}
ms_cell() {
  local us
  us=$(median "$1" "$2")
  if [ -z "$us" ]; then echo "-"; else awk -v us="$us" 'BEGIN { printf "%.1f\n", us / 1000 }'; fi
}

print_tables() {
  local name
  echo "$(date -u +%F), $(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo)," \
    "$(nproc) cores, Linux $(uname -r | sed 's/-.*//'), data on $(df --output=fstype "$scratch" | tail -n 1):" \
    "servers on core $server_cores, load on core $load_core; $connections connections," \
    "$rounds rounds of $seconds s in turn, median (least to most)."
  echo
  echo "| server | an answered claim is | claims/s, one at a time | of nginx | p99, ms | claims/s, $pipeline pipelined | of nginx | sold-out refusals/s, $pipeline pipelined | of nginx |"
  echo "|---|---|---|---|---|---|---|---|---|"
  for name in "${present[@]}"; do
    echo "| ${label[$name]} | ${durable[$name]} | $(rate_cell "$name" single) | $(ratio "$name" single nginx single)" \
      "| $(ms_cell "$name" p99_us) | $(rate_cell "$name" together) | $(ratio "$name" together nginx together)" \
      "| $(rate_cell "$name" refused) | $(ratio "$name" refused nginx together) |"
  done
  echo
  for name in express redis_always redis_everysec postgres; do
    [ "$(ratio holdfast single $name single)" != - ] || continue
    echo "holdfast makes $(ratio holdfast single $name single) times the claims of $name, one at a time."
  done
  grep -q ' below_rate ' "$scratch/figures" || return 0
  echo
  echo "| server | load below the peak, $paced_connections connections | of its peak | p50, ms | p99, ms | idle connections | resident, MiB | before, MiB | bytes a connection |"
  echo "|---|---|---|---|---|---|---|---|---|"
  for name in "${present[@]}"; do
    [ -n "$(median "$name" below_rate)" ] || continue
    echo "| ${label[$name]} | $(grouped "$(median "$name" below_rate)")/s | $(ratio "$name" below_rate "$name" single)" \
      "| $(ms_cell "$name" below_p50_us) | $(ms_cell "$name" below_p99_us) | $(idle_cells "$name") |"
  done
}
idle_cells() {
  local before after
  before=$(median "$1" idle_before_kib)
  after=$(median "$1" idle_kib)
  if [ -z "$after" ]; then echo "- | - | - | -"; return; fi
  echo "$(grouped "$idle") | $(((after + 1023) / 1024)) | $(((before + 1023) / 1024)) | $(((after - before) * 1024 / idle))"
}

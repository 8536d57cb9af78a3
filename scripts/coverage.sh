#!/usr/bin/env bash
# How much of the code some tests run: builds them with clang's source-based coverage, runs them, and
# prints lines and sides of branches of each folder.
#   scripts/coverage.sh [-l] [--all] [--kept] [--check] [TESTS...]
#   TESTS    e.g. journal_tests; the default are those of what proves the promises (`checked` below)
#   -l       also each file, each line that nothing ran, and each side that nothing took
#   --all    all tests, the end-to-end ones and a small `bench sale` with the program that they run
#            included, and a line a module; as root on a machine with loop devices, or it is less
#   --kept   builds and runs nothing: the counts are those of the last run of each test
#   --check  fails if a side in what proves the promises is neither taken nor in
#            tests/coverage_untaken.txt, which says why; with --all also if less than 90 % of all
#            sides are taken
# A branch is what stands in the source: a condition, or a part of one between && and ||, with two
# sides. It counts as taken if any test of any program took it, in any instance of a template. Not
# counted are HOLDFAST_ASSERT, whose other side ends the program, comparisons that the compiler writes
# (`= default`), `while (true)`, and the case that a switch does not have (-Wswitch sees to it). What
# ends by a signal leaves no counts. Needs a build of its own: build/coverage, some gigabytes with --all.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/coverage
checked='^(src|include/holdfast)/(journal|inventory|timer)/|^src/engine/(base_state|catch_up|edit_facts|fact_|facts|mark_bytes|replay)'
enough=90
list=0
all=0
kept=0
check=0
while [[ ${1-} == -* ]]; do
  case $1 in
    -l) list=1 ;;
    --all) all=1 ;;
    --kept) kept=1 ;;
    --check) check=1 ;;
    *) sed -n '2,/^set/{/^#/p}' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
  shift
done
tests=("$@")
[[ ${#tests[@]} -gt 0 ]] ||
  tests=(journal_tests timer_tests inventory_tests memory_model_tests engine_tests
    sim_tests store_tests)
[[ $all == 0 ]] ||
  tests=(base_tests domain_tests inventory_tests timer_tests journal_tests store_tests http_tests
    engine_tests services_tests api_tests loadgen_tests app_tests memory_model_tests sim_tests e2e_tests)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 711 "$work"
export HOLDFAST_SIM_SEEDS=${HOLDFAST_SIM_SEEDS:-30}

build_tests() {
  "$root/scripts/install_packages.sh" --coverage
  mkdir -p "$build/counts"
  # Nothing is counted in the tests themselves, whether they are called by an absolute path or not.
  printf '[clang]\nsource:%s/tests/*=skip\nsource:../../tests/*=skip\n' "$root" >"$build/counted"
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Coverage -DCMAKE_UNITY_BUILD=ON \
    -DCMAKE_UNITY_BUILD_BATCH_SIZE=8 -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 \
    -DCMAKE_CXX_FLAGS="-O1 -w -fprofile-instr-generate -fcoverage-mapping -fprofile-update=atomic -fprofile-list=$build/counted" \
    >"$build/configure.log" 2>&1 || { cat "$build/configure.log" >&2; exit 1; }
  cmake --build "$build" --target "${tests[@]}"
}

# run PROGRAM OBJECT...: leaves the counts of the sources of these objects in build/coverage/counts.
run() {
  local each=$1
  shift
  echo "running $each"
  # By program and process, because some tests fork and some run the server; as other users, too.
  mkdir -m 1777 "$work/raw"
  (
    export LLVM_PROFILE_FILE="$work/raw/%m.%p.profraw"
    "$build/tests/$each" || exit 1
    [[ $each != e2e_tests ]] || "$build/holdfast" bench sale --clients 20 --json
  ) >"$build/$each.log" 2>&1 || { tail -20 "$build/$each.log"; failed+=("$each"); }
  find "$work/raw" -name '*.profraw' -size +0 >"$work/names"
  # One that was killed while it wrote them left no counts.
  llvm-profdata-19 merge -sparse -failure-mode=all -f "$work/names" -o "$work/profile" \
    2>>"$build/$each.log"
  rm -rf "$work/raw"
  # Test by test: two of them may have functions of one name in files of one name.
  llvm-cov-19 export "$@" -instr-profile="$work/profile" -format=text -skip-expansions \
    >"$work/export" 2>/dev/null
  # A branch: lines and columns, how often each side was taken, its file. A number less: a line, how
  # often it ran, its file.
  jq -r '.data[0].functions[] | .filenames as $files | .branches[] |
    [.[0], .[1], .[2], .[3], .[4], .[5], $files[.[6]]] | @tsv' "$work/export" >"$work/branches"
  llvm-cov-19 export "$@" -instr-profile="$work/profile" -format=lcov -skip-branches \
    -skip-functions 2>/dev/null |
    awk -F'[:,]' '/^SF:/ { file = $2 } /^DA:/ { print $2 "\t" $3 "\t" file }' >"$work/lines"
  cat "$work/lines" "$work/branches" >"$build/counts/$each"
}

failed=()
[[ $kept == 1 ]] || build_tests
for each in "${tests[@]}"; do
  objects=("$build/tests/$each")
  [[ $each != e2e_tests ]] || objects+=(-object "$build/holdfast")
  [[ $kept == 1 ]] || run "$each" "${objects[@]}"
done

status=0
awk -F'\t' -v root="$root/" -v list="$list" -v check="$check" -v checked="$checked" \
  -v all="$all" -v enough="$enough" \
  -v known="$root/tests/coverage_untaken.txt" '
  function source(file, at) {
    if (!(file in read_in)) {
      read_in[file] = 0
      while ((getline text < (root file)) > 0) text_of[file, ++read_in[file]] = text
      close(root file)
    }
    return text_of[file, at]
  }
  function row(name, a, b, c, d) {
    return sprintf("%-42s %6d %6.1f %% %6d %6.1f %%", name, b, b ? 100 * a / b : 100, d, d ? 100 * c / d : 100)
  }
  function side(file, line, text, name,   entry) {
    if (list) print file ":" line ": never " name ": " text | "sort -t: -k1,1 -k2,2n"
    if (file !~ checked) return
    entry = file " | " text " | " name
    if (entry in reason) excused++
    else if (check) missed[++misses] = file ":" line ": never " name ": " text
  }
  BEGIN {
    FS = " \\| "
    while ((getline < known) > 0)
      if ($0 !~ /^#/ && NF >= 4) reason[$1 " | " $2 " | " $3] = $4
    FS = "\t"
  }
  index($NF, root) != 1 { next }
  { file = substr($NF, length(root) + 1) }
  file !~ /^(src|include)\// { next }
  NF == 3 {
    if (!((file, $1) in ran)) { ran[file, $1] = 0; lines[file]++ }
    if ($2 > 0 && !ran[file, $1]) { ran[file, $1] = 1; lines_ran[file]++ }
    next
  }
  $1 == $3 && substr(source(file, $1), $2, $4 - $2) == "true" { next }
  source(file, $1) ~ /= default;/ || substr(source(file, $1), 1, $2 - 1) ~ /switch \($/ { next }
  {
    key = file SUBSEP $1 SUBSEP $2 SUBSEP $3 SUBSEP $4
    if (!(key in yes)) { order[++count] = key; yes[key] = no[key] = 0; sides[file] += 2 }
    if ($5 > 0 && !yes[key]) { yes[key] = 1; taken[file]++ }
    if ($6 > 0 && !no[key]) { no[key] = 1; taken[file]++ }
  }
  END {
    for (file in lines) {
      folder = file; sub(/\/[^\/]*$/, "", folder)
      if (all) sub(/^(src|include\/holdfast)\//, "", folder)
      fl[folder] += lines[file]; fr[folder] += lines_ran[file]
      fs[folder] += sides[file]; ft[folder] += taken[file]
      al += lines[file]; ar += lines_ran[file]; as += sides[file]; at_all += taken[file]
    }
    printf "%-42s %6s %8s %6s %8s\n", "", "lines", "ran", "sides", "taken"
    fflush()
    for (folder in fl) print row(folder "/", fr[folder], fl[folder], ft[folder], fs[folder]) | "sort"
    close("sort")
    if (all) print row("all", ar, al, at_all, as)
    if (list) {
      print ""; fflush()
      for (file in lines) print row(file, lines_ran[file], lines[file], taken[file], sides[file]) | "sort"
      close("sort")
      for (key in ran) if (!ran[key]) {
        split(key, part, SUBSEP)
        print part[1] ":" part[2] ": never ran" | "sort -t: -k1,1 -k2,2n"
      }
    }
    for (at = 1; at <= count; at++) {
      key = order[at]
      split(key, part, SUBSEP)
      text = source(part[1], part[2])
      text = part[2] == part[4] ? substr(text, part[3], part[5] - part[3]) : substr(text, part[3])
      if (!yes[key]) side(part[1], part[2], text, "true")
      if (!no[key]) side(part[1], part[2], text, "false")
    }
    close("sort -t: -k1,1 -k2,2n")
    if (!check) exit
    for (at = 1; at <= misses; at++) print missed[at]
    # An entry whose words are in its file no longer is of another branch. One that is taken now may
    # be by chance: two threads met.
    for (key in reason) {
      split(key, part, " \\| ")
      source(part[1], 1)
      found = 0
      for (at = 1; at <= read_in[part[1]]; at++) if (index(text_of[part[1], at], part[2])) found = 1
      if (!found) { print "in the list, not in the source: " key; misses++ }
    }
    printf "%d sides not taken for a reason that is listed, %d without\n", excused, misses
    share = as ? 100 * at_all / as : 0
    if (all && share < enough) {
      printf "%.1f %% of all sides are taken, less than %d %%\n", share, enough
      misses++
    }
    exit misses > 0
  }' "${tests[@]/#/$build/counts/}" || status=$?
if [[ ${#failed[@]} -gt 0 ]]; then
  echo "failed, see build/coverage/*.log: ${failed[*]}"
  status=1
fi
exit "$status"

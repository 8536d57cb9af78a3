#!/usr/bin/env bash
# How much of the code some tests run: builds them with GCC's --coverage, runs them, and prints lines
# and branches of each folder and file, by gcov alone.
#   scripts/coverage.sh [-l] [TESTS...]   e.g. journal_tests; the default: journal_tests timer_tests
#   inventory_tests. -l also lists the lines of src and include that nothing ran, as FILE:LINE.
# What counts is a line or branch that ran in any program, and of a template in any instance;
# branches that only an exception takes are left out. Needs a build of its own: build/coverage.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/coverage
list=0
if [[ ${1-} == -l ]]; then
  list=1
  shift
fi
tests=("$@")
[[ ${#tests[@]} -gt 0 ]] || tests=(journal_tests timer_tests inventory_tests)

"$root/scripts/install_packages.sh"
mkdir -p "$build"
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_FLAGS="--coverage -O0 -g0 -fprofile-update=atomic" >"$root/build/coverage.log" 2>&1 ||
  { cat "$root/build/coverage.log" >&2; exit 1; }
cmake --build "$build" --target "${tests[@]}"
find "$build" -name '*.gcda' -delete
for each in "${tests[@]}"; do "$build/tests/$each" >"$build/$each.log" || { tail -20 "$build/$each.log"; exit 1; }; done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0
while read -r data; do
  number=$((number + 1))
  mkdir "$work/$number"
  # There, because the names of sources may be relative to where they were compiled.
  (cd "$build" && gcov -b -c -r -s "$root" "$data" >/dev/null 2>&1 && mv -- *.gcov "$work/$number/") ||
    true  # nothing of the project is in it
done < <(find "$build" -name '*.gcda')

# shellcheck disable=SC2016 # the program is awk's
find "$work" -name '*.gcov' -exec cat {} + | awk -v list="$list" '
  /^ *-: *0:Source:/ { file = $0; sub(/.*Source:/, "", file); sub(/^(\.\.\/)+/, "", file); line = 0; next }
  file !~ /^(src|include)\// { next }
  /^branch/ {
    if (/\(throw\)/) next
    key = file ":" line ":" $2
    if (!(key in branch)) { branch[key] = 0; branches[file]++ }
    if ($3 == "taken" && $4 + 0 > 0 && !branch[key]) { branch[key] = 1; taken[file]++ }
    next
  }
  /^ *[0-9#=*-]+\*?: *[0-9]+:/ {
    split($0, part, ":")
    count = part[1]; line = part[2] + 0
    gsub(/[ *]/, "", count)
    if (count == "-" || line == 0) next
    key = file ":" line
    if (!(key in seen)) { seen[key] = 0; lines[file]++ }
    if (count + 0 > 0 && !seen[key]) { seen[key] = 1; ran[file]++ }
  }
  function row(name, a, b, c, d) {
    return sprintf("%-52s %6d %6.1f %% %6d %6.1f %%", name, b, b ? 100 * a / b : 100, d, d ? 100 * c / d : 100)
  }
  END {
    for (file in lines) {
      folder = file; sub(/\/[^\/]*$/, "", folder)
      fl[folder] += lines[file]; fr[folder] += ran[file]
      fb[folder] += branches[file]; ft[folder] += taken[file]
    }
    printf "%-52s %6s %8s %6s %8s\n", "", "lines", "ran", "branch", "taken"
    fflush()
    sorting = "sort"
    for (folder in fl) print row(folder "/", fr[folder], fl[folder], ft[folder], fb[folder]) | sorting
    close(sorting)
    print ""
    fflush()
    for (file in lines) print row(file, ran[file], lines[file], taken[file], branches[file]) | sorting
    close(sorting)
    if (list) {
      for (key in seen) if (!seen[key]) print key | "sort -t: -k1,1 -k2,2n"
    }
  }'

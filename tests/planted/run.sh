#!/usr/bin/env bash
# Plants each bug of this folder in a copy of the headers and demands that a model test catches it.
#   tests/planted/run.sh [NAME...]   e.g. no_horizon; without names: all, each after the clean code
# The same for each memory order of tests/memory_model/planted_orders.hpp (relaxed_...), which one
# program weakens while it runs; relacy must find a fault with each.
# Last the bugs of tests/planted/durability.sh and front_door.sh, which take their names themselves.
# CXX: the compiler (g++). HOLDFAST_JOBS: how many at once (the processors). Ends with 1 if a bug
# survives, if a patch no longer applies, or if the tests find fault with the clean code.
# A patch: one line that says what is wrong, one that names the model tests which must catch it (wheel:
# those of tests/inventory/wheel_model_test.cpp), an empty line, the diff.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export here root work

# The same flags for all; no debug information. ccache if there is one: from inside the copy and
# with relative paths, so that a second run finds the first one's objects.
compiler=("${CXX:-g++}" -std=c++20 -O1 -march=x86-64-v2 -D_GLIBCXX_ASSERTIONS -DHOLDFAST_PLANTED
  -Wno-unused-parameter)
command -v ccache >/dev/null && compiler=(env CCACHE_BASEDIR="$work" CCACHE_NOHASHDIR=1 ccache
  "${compiler[@]}")
export compiler_words="${compiler[*]}"

copy_to() {
  mkdir -p "$1/tests"
  cp -r "$root/include" "$1/include"
  cp -r "$root/tests/inventory" "$root/tests/support" "$root/tests/planted" \
    "$root/tests/memory_model" "$1/tests/"
}

# What the tests need of the product's own sources, once; no planted bug touches these.
build_base() {
  copy_to "$work/clean"
  mkdir "$work/base"
  local file
  for file in domain/layout domain/layout_builder inventory/geometry base/assert; do
    (cd "$root" && $compiler_words -Iinclude -Isrc -c "src/$file.cpp" \
      -o "$work/base/$(basename "$file").o")
  done
}

build_and_run() {  # FOLDER TESTS
  echo "#include \"tests/inventory/$2_model_test.cpp\"" >"$1/tests.cpp"
  echo 'int main() { return holdfast::test::planted_main(); }' >>"$1/tests.cpp"
  (cd "$1" && $compiler_words -Iinclude -I. -c tests.cpp -o tests.o 2>build.log &&
    ${CXX:-g++} tests.o "$work"/base/*.o -o tests.bin 2>>build.log) || return 99
  (cd "$1" && timeout 120 ./tests.bin >run.log 2>&1)
}

run_one() {  # NAME; says the outcome in one line
  local name=$1 folder="$work/$1" tests status=0 case_name why
  tests=$(sed -n 's/^Tests: //p' "$here/$name.patch")
  copy_to "$folder"
  if ! (cd "$folder" && patch -s -p1 --fuzz=2 <"$here/$name.patch" >patch.log 2>&1); then
    echo "FAILED   $name: the patch does not apply: $(tail -1 "$folder/patch.log")"
    return 1
  fi
  build_and_run "$folder" "$tests" || status=$?
  case_name=$(sed -n 's/^running: //p' "$folder/run.log" 2>/dev/null | tail -1)
  case $status in
    0) echo "SURVIVED $name"; return 1 ;;
    99) echo "FAILED   $name: does not compile: $(grep -m1 error "$folder/build.log")"; return 1 ;;
    1) why=$(sed -n 's/^caught //p' "$folder/run.log" | tail -1 | sed 's/: .*//')
       why="$why ($(grep -oE 'schedules; .*' "$folder/run.log" | tail -1 | sed 's/schedules; //'))" ;;
    124) echo "FAILED   $name: undecided after 120 s, in: $case_name"; return 1 ;;
    *) why="by an assertion ($(grep -m1 -iE 'assert' "$folder/run.log" | tail -c 120))" ;;
  esac
  echo "caught   $name: $case_name: $why"
  rm -rf "$folder"
}

clean_one() {  # TESTS: they must pass before a bug is planted
  local folder="$work/clean_$1"
  copy_to "$folder"
  if ! build_and_run "$folder" "$1"; then
    echo "FAILED   clean $1: $(tail -2 "$folder/build.log" "$folder/run.log" 2>/dev/null)"
    return 1
  fi
  echo "clean    $1: nothing found"
}

weak_orders() {  # [NAME...]
  local folder="$work/memory_model" part
  copy_to "$folder"
  for part in "$folder"/tests/memory_model/*.cpp; do
    (cd "$folder" && $compiler_words -DHOLDFAST_SOURCE_DIR='"."' -Iinclude -I. \
      -c "$part" -o "$(basename "$part").o" 2>>build.log) ||
      { echo "FAILED   weak orders: do not compile: $(grep -m1 error "$folder/build.log")"; return 1; }
  done
  (cd "$folder" && ${CXX:-g++} ./*.o "$work"/base/layout*.o "$work"/base/geometry.o -o tests.bin &&
    timeout 300 ./tests.bin --planted "$@")
}
export -f copy_to build_and_run run_one clean_one weak_orders

names=("$@")
jobs=()
if [[ ${#names[@]} -eq 0 ]]; then
  for patch in "$here"/*.patch; do names+=("$(basename "$patch" .patch)"); done
  mapfile -t jobs < <(sed -n 's/^Tests: /clean_one /p' "$here"/*.patch | sort -u)
  jobs+=(weak_orders)
fi
weak=()  # in one job: they share one program
for name in "${names[@]}"; do
  if [[ $name == relaxed_* ]]; then
    weak+=("$name")
  else
    [[ -f $here/$name.patch ]] || { echo "$0: no such planted bug: $name" >&2; exit 2; }
    jobs+=("run_one $name")
  fi
done
[[ ${#weak[@]} -eq 0 ]] || jobs+=("weak_orders ${weak[*]}")

build_base
start=$SECONDS
failed=0
printf '%s\n' "${jobs[@]}" |
  xargs -P "${HOLDFAST_JOBS:-$(nproc)}" -I{} bash -c '{}' || failed=1
echo "${#names[@]} planted bugs in $((SECONDS - start)) s"
# What the journal, the store and the front door promise is proved by other programs, see there.
if [[ $# -eq 0 ]]; then
  "$here/durability.sh" || failed=1
  "$here/front_door.sh" || failed=1
fi
[[ $failed -eq 0 ]] || { echo "not every planted bug was caught, see above" >&2; exit 1; }

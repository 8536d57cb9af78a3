#!/usr/bin/env bash
# Plants each bug of a folder of tests/planted and demands that the tests it names catch it.
#   tests/planted/linked.sh FOLDER [NAME...]   e.g. durability ack_before_sync; without names: all
# A patch: one line that says what is wrong, lines `Tests: PROGRAM FILTER` that name the tests of
# Catch that must catch it (the first that does is named in the outcome), an empty line, the diff.
# Only .cpp files of src are patched, so each costs one compile and one link: the rest comes from
# the release build. Ends with 1 if a bug survives or a patch no longer applies.
set -euo pipefail
set=${1:?which folder of tests/planted}
shift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/$set" && pwd)
root=$(cd "$here/../../.." && pwd)
build=$root/build/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export here root build work
# The random tests are the same each time; what a bug costs is compared with what its repair costs.
export HOLDFAST_SEED=1 HOLDFAST_SIM_SEEDS=${HOLDFAST_SIM_SEEDS:-12}
unset HOLDFAST_CI

# The command that makes FILE in the build folder, up to the first thing that is not compiling.
command_of() { ninja -C "$build" -t commands -s "$1" | sed -n '$ s/ && cd .*//p; $ { / && cd /!p }'; }

# The object of a source that is compiled alone; nothing if it is part of a batch (a unity build).
own_object() { (cd "$build" && ninja -t targets all) | sed -n "s|^\([^ ]*/$1\.o\): .*|\1|p" | head -1; }
batch_of() { (cd "$build" && grep -lF "\"$root/$1\"" CMakeFiles/holdfast_*/Unity/*.cxx) | head -1; }

compile_as() {  # OBJECT_OF_THE_BUILD SOURCE OUTPUT LOG
  local command
  command=$(command_of "$1" | sed -E "s| -MF [^ ]*| -MF $3.d|; s| -o [^ ]*| -o $3|; s| -c [^ ]*\$| -c $2|")
  (cd "$build" && bash -c "$command") >>"$4" 2>&1
}

# Objects with the patched sources of a folder in them; prints their paths. What stood in a batch
# with them stays out of it: of a library with all of its sources, the journal, each is compiled
# alone, once; of the others a copy of the batch is compiled.
patched_objects() {  # FOLDER SOURCES...
  local folder=$1 file object batch
  shift
  for file in "$@"; do
    object=$(own_object "$file")
    if [[ -n $object ]]; then
      compile_as "$object" "$folder/$file" "$folder/$file.o" "$folder/build.log" || return 1
    elif [[ $file == src/journal/* ]]; then
      compile_as "$(batch_of "$file").o" "$folder/$file" "$folder/$file.o" "$folder/build.log" || return 1
    else
      batch=$(batch_of "$file")
      sed "s|\"$root/$file\"|\"$folder/$file\"|" "$build/$batch" >"$folder/batch.cpp"
      compile_as "$batch.o" "$folder/batch.cpp" "$folder/$file.o" "$folder/build.log" || return 1
    fi
    echo "$folder/$file.o"
  done
  for object in "$work"/alone/*.o; do  # none if nothing is in batches
    [[ -e $object && ! -e $folder/src/journal/$(basename "$object" .o) ]] || continue
    [[ $1 != src/journal/* ]] || echo "$object"
  done
}

journal_alone() {  # once, if the build has it in batches
  local file
  [[ -z $(own_object src/journal/meta.cpp) ]] || return 0
  mkdir "$work/alone"
  for file in "$root"/src/journal/*.cpp; do
    echo "compile_as '$(batch_of "${file#"$root/"}").o' '$file' '$work/alone/$(basename "$file").o' '$work/build.log'"
  done | xargs -d '\n' -P "${HOLDFAST_JOBS:-$(nproc)}" -I{} bash -c '{}'
}

link_program() {  # FOLDER PROGRAM OBJECTS...: the objects stand before the libraries they replace
  local folder=$1 program=$2 command
  shift 2
  command=$(command_of "tests/$program")
  command=${command//"-o tests/$program"/"$* -o $folder/$program"}
  # All of the journal is among the objects then.
  [[ $* != *"$work/alone/"* ]] || command=${command//libholdfast_journal.a/}
  (cd "$build" && bash -c "$command") >>"$folder/build.log" 2>&1
}

# The name of the first test that failed; all of it if a signal ended the program.
caught_by() {  # FOLDER PROGRAM FILTER
  local status=0
  # The shell's own word of a program that was ended by a signal goes nowhere.
  (cd "$1" && timeout 120 "./$2" "$3" --abort >run.log 2>&1) 2>/dev/null || status=$?
  [[ $status -ne 0 ]] || return 1
  if [[ $status -eq 124 ]]; then echo "$2: not finished after 120 s"; return 0; fi
  grep -m1 -A2 -E '^-{60,}$' "$1/run.log" | sed '1d; /^---/d' | tr '\n' ' ' | sed "s/  */ /g; s/^/$2: /"
}

plant_one() {  # NAME; says the outcome in one line
  local name=$1 folder="$work/$1" file files objects program filter why
  mkdir "$folder"
  while read -r file; do
    mkdir -p "$folder/$(dirname "$file")"
    cp "$root/$file" "$folder/$file"
  done < <(sed -n 's|^+++ b/||p' "$here/$name.patch")
  if ! (cd "$folder" && patch -s -p1 --fuzz=2 <"$here/$name.patch" >patch.log 2>&1); then
    echo "FAILED   $name: the patch does not apply: $(tail -1 "$folder/patch.log")"
    return 1
  fi
  mapfile -t files < <(sed -n 's|^+++ b/||p' "$here/$name.patch")
  patched_objects "$folder" "${files[@]}" >"$folder/objects" ||
    { echo "FAILED   $name: does not compile: $(grep -m1 error "$folder/build.log")"; return 1; }
  mapfile -t objects <"$folder/objects"
  while read -r program filter; do
    link_program "$folder" "$program" "${objects[@]}" ||
      { echo "FAILED   $name: does not link: $(tail -1 "$folder/build.log")"; return 1; }
    if why=$(caught_by "$folder" "$program" "$filter"); then
      echo "caught   $name: $why"
      rm -rf "$folder"
      return 0
    fi
  done < <(sed -n 's/^Tests: //p' "$here/$name.patch")
  echo "SURVIVED $name"
  return 1
}

clean_one() {  # PROGRAM FILTER: the tests must pass before a bug is planted
  local folder="$work/clean_${1}_${2//[^a-z]/}" why
  mkdir "$folder"
  cp "$build/tests/$1" "$folder/"
  if why=$(caught_by "$folder" "$1" "$2"); then echo "FAILED   clean $why"; return 1; fi
  echo "clean    $1 $2: nothing found"
}
export -f command_of own_object batch_of compile_as patched_objects link_program caught_by plant_one
export -f clean_one

names=("$@")
jobs=()
if [[ ${#names[@]} -eq 0 ]]; then
  for patch in "$here"/*.patch; do names+=("$(basename "$patch" .patch)"); done
  mapfile -t jobs < <(sed -n 's/^Tests: /clean_one /p' "$here"/*.patch | sort -u)
fi
programs=()
cd "$here"
for name in "${names[@]}"; do
  [[ -f $here/$name.patch ]] || { echo "$0: no such planted bug: $name" >&2; exit 2; }
  mapfile -t -O "${#programs[@]}" programs < <(sed -n 's/^Tests: \([^ ]*\).*/\1/p' "$here/$name.patch")
  jobs+=("plant_one $name")
done
mapfile -t programs < <(printf '%s\n' "${programs[@]}" | sort -u)
"$root/scripts/build_release.sh" "${programs[@]}" >"$work/build.log" 2>&1 ||
  { cat "$work/build.log" >&2; exit 1; }

start=$SECONDS
! grep -q '^+++ b/src/journal/' "${names[@]/%/.patch}" || journal_alone
failed=0
printf '%s\n' "${jobs[@]}" |
  xargs -P "${HOLDFAST_JOBS:-$(nproc)}" -I{} bash -c '{}' || failed=1
echo "${#names[@]} planted bugs of $set in $((SECONDS - start)) s"
[[ $failed -eq 0 ]] || { echo "not every planted bug was caught, see above" >&2; exit 1; }

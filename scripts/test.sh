#!/usr/bin/env bash
# Builds everything and runs the whole test suite, at the sizes that a change must pass to land.
#   scripts/test.sh [--quick] [-- options of ctest]   e.g. -- -R journal; --quick: small sizes,
#   one to five minutes after the build
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export HOLDFAST_CI=1
if [[ ${1-} == --quick ]]; then
  unset HOLDFAST_CI
  shift
fi
# ctest passes over what it does not know, and would run all of it.
if [[ $# -gt 0 && $1 != -- ]]; then
  sed -n '2,4s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
"$root/scripts/build_release.sh"
exec ctest --test-dir "$root/build/release" --output-on-failure --parallel "$(nproc)" "${@:2}"

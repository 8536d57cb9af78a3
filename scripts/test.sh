#!/usr/bin/env bash
# Builds everything and runs the whole test suite.
#   scripts/test.sh [options of ctest]   e.g. -R journal
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/scripts/build_release.sh"
exec ctest --test-dir "$root/build/release" --output-on-failure --parallel "$(nproc)" "$@"

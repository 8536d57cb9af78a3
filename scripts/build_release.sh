#!/usr/bin/env bash
# Configures and builds the release preset: scripts/build_release.sh [TARGET...]; all targets by default.
# Used by run.sh and test.sh; works from any folder and installs missing packages first.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/scripts/install_packages.sh"
if [[ -e $root/build && ! -w $root/build ]]; then
  echo "$0: $root/build belongs to another user (built as root before?); remove it or use that user" >&2
  exit 1
fi
configured=$(cmake -S "$root" --preset release 2>&1) || {
  printf '%s\n' "$configured" >&2
  exit 1
}
targets=()
[[ $# -eq 0 ]] || targets=(--target "$@")
echo "Building $root/build/release"
cmake --build "$root/build/release" "${targets[@]}"

#!/usr/bin/env bash
# Installs the Debian 12 packages that are missing, and nothing else.
#   scripts/install_packages.sh            what the build and its tests need
#   scripts/install_packages.sh --checks   also the tools of .ci/run, with nginx and haproxy, which Debian
#                                          starts at once
#   scripts/install_packages.sh --coverage also what scripts/coverage.sh needs
#   scripts/install_packages.sh --peers    also the servers and the load of bench/peers/run.sh; Debian
#                                          starts the servers at once, so not for a machine that sells
# Says what it installs. Needs root or sudo only if something is missing; never removes a package.
set -euo pipefail

packages=(
  g++ cmake ninja-build mold                                             # tools
  libboost1.81-dev libboost-json1.81-dev libboost-url1.81-dev            # Asio, Beast, JSON, URL
  libfmt-dev libspdlog-dev libcli11-dev libtomlplusplus-dev              # headers only
  libsqlite3-dev libssl-dev libhowardhinnant-date-dev tzdata             # linked; zones at run time
  catch2 relacy-dev curl                                                 # tests and first request
)
case "${1-}" in
  "") ;;
  --checks)
    packages+=(clang-format-19 shellcheck clang libclang-rt-14-dev e2fsprogs nginx haproxy) ;;
  --coverage) packages+=(clang-19 libclang-rt-19-dev llvm-19 jq) ;;
  --peers)
    packages+=(wrk git nginx redis-server redis-tools postgresql)
    # Any Node.js will do, and others than Debian's bring npm in the same package.
    command -v node >/dev/null || packages+=(nodejs)
    command -v npm >/dev/null || packages+=(npm)
    ;;
  *) echo "usage: $0 [--checks | --coverage | --peers]" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "$0: this is no Debian system; install the equivalents of: ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query --show --showformat='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  [[ $state == ?i* ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "$0: these packages are missing: ${missing[*]}" >&2
    echo "$0: installing them needs root, and there is no sudo; as root run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing missing packages: ${missing[*]}"
apt() {
  # env, because sudo drops the caller's environment.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}
apt update
# --no-remove: an installed Boost 1.74 conflicts with 1.81; that choice belongs to the machine's owner.
if ! apt install --yes --no-remove --no-install-recommends "${missing[@]}" >/dev/null; then
  echo "$0: apt-get could not install: ${missing[*]} (it may not remove packages; see its message above)" >&2
  exit 1
fi

#!/usr/bin/env bash
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: scripts/setup.sh [--run] [--fuzz] [--lint] [--check]

Installs what building wattune needs and is missing, with apt on Debian 12 and Ubuntu 24.04 or newer.
Does nothing, and needs neither network nor root, when all is there.

  --run    only what building and running the command needs, not what the tests need
  --fuzz   also what the fuzz targets need (Clang 14)
  --lint   also clang-format and clang-tidy
  --check  install nothing: list what is missing and exit with 1, or exit with 0

Elsewhere, or without root and sudo, it prints what is missing and how to get it from conda-forge.
HELP
}

# What is needed: scope, Debian and Ubuntu package, conda-forge packages (comma-separated), and how to see that it is
# there where the package manager cannot be asked: a tool, a header, a Python module, or an OpenCL driver.
requirements='
run  g++                cxx-compiler            tool:c++
run  cmake              cmake                   tool:cmake
run  ninja-build        ninja                   tool:ninja
run  pkg-config         pkg-config              tool:pkg-config
run  libfmt-dev         fmt                     header:fmt/core.h
run  nlohmann-json3-dev nlohmann_json           header:nlohmann/json.hpp
run  libexpected-dev    cpp-expected            header:tl/expected.hpp
run  libsimdjson-dev    simdjson                header:simdjson.h
run  libxxhash-dev      xxhash                  header:xxhash.h
run  zlib1g-dev         zlib                    header:zlib.h
run  libeigen3-dev      eigen                   header:eigen3/Eigen/Core
run  libcli11-dev       cli11                   header:CLI/CLI.hpp
run  ocl-icd-opencl-dev ocl-icd,opencl-headers  header:CL/cl.h
run  pocl-opencl-icd    pocl                    driver:opencl
test libgtest-dev       gtest                   header:gtest/gtest.h
test libgmock-dev       gtest                   header:gmock/gmock.h
test librapidcheck-dev   rapidcheck              header:rapidcheck.h
test libbenchmark-dev   benchmark               header:benchmark/benchmark.h
test python3            python                  tool:python3
test python3-jsonschema jsonschema              module:jsonschema
fuzz clang-14           clangxx=14              tool:clang++-14
fuzz libclang-rt-14-dev compiler-rt=14          tool:clang++-14
lint clang-format       clang-format            tool:clang-format
lint clang-tidy         clang-tools             tool:clang-tidy
'

scopes=' run test '
check=false
for argument in "$@"; do
  case $argument in
    --run) scopes=${scopes/ test / } ;;
    --fuzz) scopes+='fuzz ' ;;
    --lint) scopes+='lint ' ;;
    --check) check=true ;;
    -h | --help) usage; exit 0 ;;
    *) echo "setup.sh: unknown option '$argument'; scripts/setup.sh --help lists them" >&2; exit 2 ;;
  esac
done

supported_distribution() {
  command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || return 1
  local id version
  id=$(. /etc/os-release && echo "${ID:-}")
  version=$(. /etc/os-release && echo "${VERSION_ID:-99}")  # Debian testing has no number
  case $id in
    debian) [ "${version%%.*}" -ge 12 ] ;;
    ubuntu) [ "${version%%.*}" -ge 24 ] ;;
    *) return 1 ;;
  esac
}

# How to run a command as root, one word a line; fails where this user cannot.
root_prefix() {
  if [ "$(id -u)" -eq 0 ]; then return 0; fi
  command -v sudo >/dev/null || return 1
  # A terminal can be asked for the password, a batch job cannot.
  if [ -t 0 ]; then echo sudo; else sudo -n true 2>/dev/null && printf 'sudo\n-n\n'; fi
}

installed_by_package_manager() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# CXXFLAGS is left unquoted: an activated conda environment holds several flags in it.
# shellcheck disable=SC2086
found_by_probe() {
  local what=${1#*:}
  case $1 in
    tool:c++) command -v "${CXX:-c++}" >/dev/null ;;
    tool:*) command -v "$what" >/dev/null ;;
    header:*)
      echo "#include <$what>" | "${CXX:-c++}" ${CPPFLAGS:-} ${CXXFLAGS:-} -std=c++20 -E -x c++ - >/dev/null 2>&1
      ;;
    module:*) python3 -c "import $what" 2>/dev/null ;;
    driver:*) compgen -G "${OCL_ICD_VENDORS:-${CONDA_PREFIX:-}/etc/OpenCL/vendors}/*.icd" >/dev/null ||
      compgen -G '/etc/OpenCL/vendors/*.icd' >/dev/null ;;
  esac
}

# Fills missing_apt with what is not there according to dpkg or to the probes, and all_conda with everything: the
# compiler of a conda environment does not see the system's libraries, so they have to come from one place.
find_missing() {
  local ask=$1 scope apt conda probe
  missing_apt=() all_conda=()
  while read -r scope apt conda probe; do
    [[ -n $scope && $scopes == *" $scope "* ]] || continue
    IFS=, read -ra names <<<"$conda"
    all_conda+=("${names[@]}")
    if [ "$ask" = dpkg ] && installed_by_package_manager "$apt"; then continue; fi
    if [ "$ask" = probe ] && found_by_probe "$probe"; then continue; fi
    missing_apt+=("$apt")
  done <<<"$requirements"
}

apt_install() {
  local attempt apt=("${prefix[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq)
  for attempt in 1 2; do
    # A mirror in the middle of an update, or a short loss of the network, is over a moment later.
    if "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null; then return 0; fi
    if [ "$attempt" = 1 ]; then echo 'setup: apt-get failed; trying once more' >&2 && sleep 5; fi
  done
  return 1
}

if supported_distribution; then
  find_missing dpkg
  if [ ${#missing_apt[@]} -eq 0 ]; then exit 0; fi
  if ! $check && root=$(root_prefix); then
    mapfile -t prefix < <(printf '%s' "${root:+$root$'\n'}")
    echo "setup: installing ${missing_apt[*]}"
    if apt_install "${missing_apt[@]}"; then exit 0; fi
    echo "setup: apt-get could not install these packages; its messages are above" >&2
    exit 1
  fi
fi

# What the package manager has not installed may be there by other ways: modules of a cluster, conda, /usr/local.
find_missing probe
if [ ${#missing_apt[@]} -eq 0 ]; then exit 0; fi
{
  echo "setup: missing: ${missing_apt[*]} (names of the Debian packages)"
  if ! $check; then
    if supported_distribution; then
      echo 'setup: they cannot be installed without root or sudo. An administrator can run'
      echo "  apt-get install ${missing_apt[*]}"
    else
      echo 'setup: they are installed by this script on Debian 12 and Ubuntu 24.04 or newer only.'
    fi
    mapfile -t all_conda < <(printf '%s\n' "${all_conda[@]}" | sort -u)
    echo 'setup: without root, get everything from conda-forge (micromamba and mamba take the same arguments):'
    echo "  conda create -y -n wattune -c conda-forge ${all_conda[*]}"
    echo '  conda activate wattune'
    echo 'then run the same command again.'
  fi
} >&2
exit 1

#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/common.sh

usage() {
  cat <<'HELP'
Usage: scripts/test.sh [--sanitize | --thread] [-- CTEST_ARGUMENT...]

Installs what is missing, builds everything with warnings as errors and runs all tests.

  --sanitize  build with the address and undefined-behaviour sanitizers instead
  --thread    build with the thread sanitizer instead

Arguments after -- go to ctest: scripts/test.sh -- -R space. Tests that need something this machine lacks (a GPU,
recorded data) are listed as skipped.
HELP
}

preset=dev
ctest_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    --sanitize) preset=asan ;;
    --thread) preset=tsan ;;
    -h | --help) usage; exit 0 ;;
    --) shift; ctest_arguments=("$@"); break ;;
    *) echo "test.sh: unknown option '$1'; scripts/test.sh --help lists them" >&2; exit 2 ;;
  esac
  shift
done

scripts/setup.sh
log=build/test-$preset.log
mkdir -p build
: >"$log"
echo "== configuring and building (preset $preset; log: $log)"
started=$SECONDS
log_run "$log" configure "$preset"
log_run "$log" cmake --build --preset "$preset" -j "$(build_jobs)"
echo "== built in $((SECONDS - started)) s; running the tests"
exec ctest --preset "$preset" -j "$(nproc)" "${ctest_arguments[@]}"

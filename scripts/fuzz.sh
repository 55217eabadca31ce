#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/common.sh

usage() {
  cat <<'HELP'
Usage: scripts/fuzz.sh [SECONDS] [NAME...]

Builds the fuzz targets (Clang 14) and runs each, or those named, for so many seconds (60). Inputs that reach new code
are kept in build/fuzz/corpus and are where the next run starts; an input that fails is written to build/fuzz.
HELP
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
  '') seconds=60 ;;
  *[!0-9]*) echo "fuzz.sh: '$1' is no number of seconds; scripts/fuzz.sh --help tells more" >&2; exit 2 ;;
  *) seconds=$1; shift ;;
esac

scripts/setup.sh --fuzz
mkdir -p build
log=build/fuzz.log
: >"$log"
log_run "$log" configure fuzz
log_run "$log" cmake --build --preset fuzz -j "$(build_jobs)"

if [ $# -gt 0 ]; then
  programs=()
  for name in "$@"; do programs+=("build/fuzz/tests/fuzz/wattune_${name}_fuzz"); done
else
  programs=(build/fuzz/tests/fuzz/wattune_*_fuzz)
fi
for program in "${programs[@]}"; do
  name=$(basename "$program")
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  echo "== $name, for $seconds s"
  log_run "build/fuzz/$name.log" "$program" -max_total_time="$seconds" -rss_limit_mb=4096 \
    -artifact_prefix="build/fuzz/$name-" "$corpus"
  tail -n 1 "build/fuzz/$name.log"
done

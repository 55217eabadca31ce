#!/usr/bin/env bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/common.sh

usage() {
  cat <<'HELP'
Usage: scripts/lint.sh [--all | FILE...]

Checks the format (clang-format) and the code (clang-tidy, .clang-tidy) of the C++ files that differ from the main
branch, of the named files, or of all. clang-tidy takes some ten seconds a file.
HELP
}

files=()
case ${1:-} in
  -h | --help) usage; exit 0 ;;
  --all) mapfile -t files < <(git ls-files '*.cpp' '*.hpp') ;;
  -*) echo "lint.sh: unknown option '$1'; scripts/lint.sh --help lists them" >&2; exit 2 ;;
  '') mapfile -t files < <({ git diff --name-only --diff-filter=d "$(git merge-base HEAD main)"
                             git ls-files --others --exclude-standard; } | grep -E '\.[ch]pp$' | sort -u) ;;
  *) files=("$@") ;;
esac
if [ ${#files[@]} -eq 0 ]; then echo 'lint: no C++ file has changed'; exit 0; fi

scripts/setup.sh --lint
mkdir -p build
log=build/lint.log
: >"$log"
log_run "$log" configure dev

clang-format --dry-run --Werror "${files[@]}"
# Only what the build compiles can be checked; headers are checked with the files that include them, and the project of
# the install test has a build of its own.
mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep '\.cpp$' | grep -v '^tests/install/' || true)
if [ ${#sources[@]} -eq 0 ]; then exit 0; fi
printf '%s\n' "${sources[@]}" | xargs -P "$(build_jobs)" -n 1 clang-tidy -p build/dev --quiet --warnings-as-errors='*'

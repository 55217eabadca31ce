#!/usr/bin/env bash
# Takes the tests that need a GPU to a machine that has one but cannot build them.
#
#   run.sh bundle BUILD_DIR FOLDER   gathers the test program, the wattune command where it is built, the shared libraries
#                                    that a bare machine lacks, and the test problems in FOLDER, with this script
#   FOLDER/run.sh [ARGUMENT...]      there: runs the tests; arguments go to Google Test (--gtest_filter=...)
#   FOLDER/run.sh command ARGUMENT...   there: runs the wattune command
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

bundle() {
  local build=$1 folder=$2 program library
  mkdir -p "$folder/bin" "$folder/lib"
  rm -rf "$folder/problems"
  cp -r "$here/problems" "$folder/problems"
  cp "${BASH_SOURCE[0]}" "$folder/run.sh"
  cp "$here/long_run_with_faults.py" "$folder/"
  for program in "$build/tests/device/wattune_device_test" "$build/bin/wattune"; do
    [ -x "$program" ] || { echo "run.sh: no $program: left out" >&2; continue; }
    cp "$program" "$folder/bin/"
    strip "$folder/bin/$(basename "$program")"
    # Everything but the C library and the compiler's own, which are newer wherever this is to run.
    ldd "$program" | awk '$3 ~ /^\// {print $3}' |
      grep -Ev '/(libc|libm|libpthread|libdl|librt|libresolv|libstdc\+\+|libgcc_s)\.so' |
      while read -r library; do cp -L "$library" "$folder/lib/"; done
  done
  mkdir -p "$folder/lib/wattune"
  cp "$build/lib/wattune/libwattune_simgpu.so" "$folder/lib/wattune/"
  [ -x "$folder/bin/wattune_device_test" ] || { echo "run.sh: build the target wattune_device_test first" >&2; exit 1; }
  du -sh "$folder"
}

if [ "${1:-}" = bundle ]; then
  [ $# -eq 3 ] || { echo "usage: run.sh bundle BUILD_DIR FOLDER" >&2; exit 2; }
  bundle "$2" "$3"
  exit
fi

[ -x "$here/bin/wattune_device_test" ] || { echo "run.sh: nothing to run beside this script: see 'bundle' in it" >&2; exit 2; }
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
if [ "${1:-}" = command ]; then
  shift
  exec "$here/bin/wattune" "$@"
fi
export WATTUNE_DEVICE_DATA="$here"
exec "$here/bin/wattune_device_test" "$@"

#!/usr/bin/env bash
# Builds wattune and tunes the matrix multiplication of the kernel suite on the best device of this machine, and for
# energy on a simulated GPU.
# Run again, it builds what has changed and takes up the tuning where it was left.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/common.sh

if [ $# -gt 0 ]; then
  case $1 in
    -h | --help) echo 'Usage: scripts/quickstart.sh    (no options: builds wattune, then tunes kernels/gemm)'; exit 0 ;;
    *) echo "quickstart.sh: takes no arguments, got '$1'" >&2; exit 2 ;;
  esac
fi

output=build/quickstart
log=build/quickstart.log
wattune=build/release/bin/wattune

echo '== 1/4 installing what is missing'
scripts/setup.sh --run

echo "== 2/4 building (log: $log)"
mkdir -p build
: >"$log"
started=$SECONDS
log_run "$log" configure release
log_run "$log" cmake --build --preset release -j "$(build_jobs)"
echo "   built $wattune in $((SECONDS - started)) s"

# tune DESCRIPTION OUTPUT ARGUMENT...: shows the command and runs it.
tune() {
  local command=("$wattune" tune kernels/gemm/problem.json "${@:3}" --strategy random --seed 1 -o "$2")
  echo "== $1"
  echo "   ${command[*]}"
  "${command[@]}"
}

tune_on_cpu() {
  tune '3/4 tuning a small matrix multiplication on the CPU (OpenCL)' "$output" --problem-size 256,256,256 --budget 40 "$@"
}

status=0
if compgen -G '/proc/driver/nvidia/gpus/*' >/dev/null || nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
  tune '3/4 tuning the matrix multiplication for energy on the GPU' "$output" --minimize energy --budget 200 || status=$?
  if [ "$status" -eq 3 ]; then
    echo '   the GPU cannot be used (the message above says why); going on with the CPU'
    status=0
    tune_on_cpu --device opencl:0 || status=$?
  fi
else
  tune_on_cpu || status=$?
fi
if [ "$status" -ne 0 ]; then exit "$status"; fi
tune '4/4 tuning for energy on a simulated A100, which needs no GPU' "$output-simulated" \
  --device sim:a100-pcie-40gb --minimize energy --budget 100

cat <<END

The journal with every evaluation: $(ls -t "$output"/*.jsonl 2>/dev/null | head -1)
Run the same command again and it resumes. To try next:
  $wattune devices                                   what can be measured and set here
  $wattune devices --device sim:all                  the simulated GPUs
  $wattune space kernels/gemm/problem.json           the search space: parameters, kinds, size
  $wattune tune kernels/gemm/problem.json --help     objectives, budgets, clocks
  scripts/test.sh                                    build and run all tests
END

# shellcheck shell=bash
# Sourced by the other scripts; not a program of its own.

# The number of compilations to run at once: one a core, but no more than memory allows, since one may take 1.5 GB.
build_jobs() {
  local cores memory_kb limit
  cores=$(nproc)
  memory_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
  # A container or a batch job may be given less than the machine has.
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
  if [ "$limit" != max ] && [ $((limit / 1024)) -lt "$memory_kb" ]; then memory_kb=$((limit / 1024)); fi
  local by_memory=$((memory_kb / 1500000))
  [ "$by_memory" -ge 1 ] || by_memory=1
  [ "$by_memory" -lt "$cores" ] && echo "$by_memory" || echo "$cores"
}

# log_run LOG COMMAND...: runs the command with its output in LOG, of which the end is shown when it fails.
log_run() {
  local log=$1 status=0
  shift
  "$@" >>"$log" 2>&1 </dev/null || status=$?
  if [ "$status" -ne 0 ]; then
    tail -n 40 "$log" >&2
    echo "failed (exit code $status): $*" >&2
    echo "the whole log: $log" >&2
  fi
  return "$status"
}

# configure PRESET: configures with the preset; ccache is used where it is installed.
configure() {
  local launcher=()
  if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  cmake --preset "$@" "${launcher[@]}"
}

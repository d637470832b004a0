#!/usr/bin/env bash
# fuzz.sh [SECONDS] [TARGET...]: runs every fuzz target for so many seconds (60 by default), one after the other, and
# prints a table of them. It uses libFuzzer where clang++ has it, else the driver of tests/fuzz under GCC's sanitizers.
# Called by `make fuzz`. SEED=N is for other inputs, RUNS=N ends at so many executions, LENGTH=N is for inputs of at
# most so many bytes. The exit status is 1 when there was a fault; its input is kept in build/fuzz-faults.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
seconds="${1:-60}"
shift || true
preset=asan
if echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
  clang++ -x c++ - -fsanitize=fuzzer,address -o /dev/null 2>/dev/null; then
  preset=fuzz
fi
scripts/build.sh "$preset" fuzz_targets
targets="build/$preset/tests/fuzz/targets"
faults=build/fuzz-faults
mkdir -p "$faults"

failed=0
while read -r name inputs; do
  [[ $# -eq 0 || " $* " == *" $name "* ]] || continue
  found="build/fuzz-corpus/$name"  # libFuzzer keeps there what reached something new
  mkdir -p "$found"
  folders=""
  for input in $inputs; do  # libFuzzer takes single files for something to reproduce: they go into its corpus
    if [[ -f "$input" ]]; then
      cp "$input" "$found/"
    elif [[ -d "$input" || "$input" == -* ]]; then
      folders+=" $input"
    fi
  done
  log="$faults/$name.log"
  start=$SECONDS
  result="no fault"
  # shellcheck disable=SC2086 # the inputs are words
  if ! ASAN_OPTIONS=max_allocation_size_mb=512 UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1 \
    "build/$preset/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -seed="${SEED:-1}" -timeout=20 \
    ${RUNS:+-runs="$RUNS"} ${LENGTH:+-max_len="$LENGTH"} -rss_limit_mb=4096 -artifact_prefix="$faults/$name-" "$found" $folders >"$log" 2>&1; then
    result="FAULT: $log"
    [[ -f "crash-fuzz_$name" ]] && mv "crash-fuzz_$name" "$faults/"
    failed=1
  fi
  count="$(sed -nE 's/.*: ([0-9]+) executions.*/\1/p; s/^Done ([0-9]+) runs.*/\1/p' "$log" | tail -1)"
  printf '%-12s %12s executions %6s s   %s\n' "$name" "${count:--}" "$((SECONDS - start))" "$result"
done <"$targets"
exit "$failed"

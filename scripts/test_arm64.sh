#!/usr/bin/env bash
# make test-arm64: builds the program and its tests for AArch64 (preset arm64: Debian's cross compiler and arm64 packages)
# and runs them under qemu-user, on any Debian or Ubuntu machine (docs/platforms.md): the kernels' machine code is looked
# at, then come the tests of the engine and of what trains, a training, and a lesson whose claims are measured. What is
# too slow or cannot run there is named with its reason. Where the tools are missing, everything is skipped, by name and
# with exit code 0. A test that fails gives 1.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

skip() {
  echo "skipped make test-arm64: $1"
  exit 0
}
command -v apt-get >/dev/null || skip "needs Debian or Ubuntu, whose arm64 packages it is built with"
scripts/setup.sh g++-aarch64-linux-gnu qemu-user || skip "g++-aarch64-linux-gnu and qemu-user cannot be installed"
scripts/arm64_sysroot.sh || {
  if [[ $? -eq 3 ]]; then skip "no arm64 packages (see above)"; fi
  exit 1
}
scripts/build.sh arm64 normscope normscope_engine_tests normscope_training_tests normscope_example

failed=0
# part NAME COMMAND...: runs the command, says how it went and how long it took.
part() {
  local name="$1" begin=$SECONDS
  shift
  echo "== $name"
  if "$@"; then echo "ok       $name, $((SECONDS - begin)) s"; else echo "FAILED   $name"; failed=1; fi
}
emulated() { qemu-aarch64 -L build/arm64-sysroot "$@"; }

kernels=build/arm64/engine/CMakeFiles/normscope_engine.dir
part "tiles of products stay in registers" python3 tests/arm64/tiles.py "$kernels"/ops/{linear/linear,attention/attention}_cpu.cpp.o "$kernels"/__/addons/systems/engine/image_ops_cpu.cpp.o

part "the engine's tests, fixtures among them" ctest --test-dir build/arm64 -L '^engine$' -j "${TEST_JOBS:-$(nproc)}" \
  --output-on-failure
# Of what trains: the bits of twenty steps (test_numbers), and the files that take a tenth of a second on x86-64.
short="numbers|passage|schedule|idx|codec|plateau|table|losses|inside_programs|outputs|token_task|padding|digits|tape_fold"
short="$short|measure_stacks|families|attachment|bleu|folders|spec|fill|published_tokenizer"
part "short tests of what trains" ctest --test-dir build/arm64 -R "^training\.test_($short)\$" -j "${TEST_JOBS:-$(nproc)}" \
  --output-on-failure
echo "left out the other tests of what trains: a step takes some 300 times as long in the emulator as on x86-64"
echo "left out the app's tests: they start the program, and an emulated program cannot start another"

out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
part "normscope --version" emulated build/arm64/normscope --version
part "train --steps 2" emulated build/arm64/normscope train --preset pre --steps 2 --log "$out/run.jsonl"
for lesson in five-minutes norm-gradient growing-stream; do
  part "lesson check $lesson" emulated build/arm64/normscope lesson check "$lesson" --store none
done
exit "$failed"

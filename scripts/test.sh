#!/usr/bin/env bash
# test.sh [full]: runs every test, in one CTest run that ends in its summary: the release build's, the engine's and the
# readers' under the address and undefined-behaviour sanitizers, and in turn from commit to commit, as two cores have not
# the time for all: in a program without add-ons (turn 0), the trainer's under the thread sanitizer (turn 1), neither
# (turn 2); and a third of the lessons in each. NORMSCOPE_TURN=N chooses the turn. Called by `make test`, and with "full"
# by `make test-full`: whatever has its turn, the screens under a sanitizer and without add-ons too, a link that looks
# for types defined twice, and before that run one for the program without each add-on.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

# Says what is done, and how long after the start.
reached() { printf 'make test: %s after %d min %02d s\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

core=(normscope normscope_engine_tests normscope_training_tests)
left_out=(-E '^core\.app\.')
screens=PREBUILT
if [[ "${1:-}" == full ]]; then
  export NORMSCOPE_TEST_FULL=1
  screens=ON
  core+=(normscope_app_tests)
  left_out=()
fi
commits="$(git rev-list --count HEAD 2>/dev/null || echo 0)"
export NORMSCOPE_TURN="${NORMSCOPE_TURN:-$((commits % 3))}"
# has_turn N: whether what comes in turn N comes now.
has_turn() { [[ -n "${NORMSCOPE_TEST_FULL:-}" || "$NORMSCOPE_TURN" -eq "$1" ]]; }
trees=(release asan)
NORMSCOPE_CMAKE=-DNORMSCOPE_CUDA_WITHOUT_GPU=ON scripts/build.sh release
reached "the program and its tests built"
NORMSCOPE_CMAKE="-DNORMSCOPE_SCREENS_SANITIZED=$screens" scripts/build.sh asan
if has_turn 1; then
  scripts/build.sh tsan
  trees+=(tsan)
fi
reached "the sanitized tests built"
if [[ "${1:-}" == full ]]; then
  # Two types of one name in one program are undefined behaviour that no compiler sees, and the linker names with -flto.
  cmake --preset release -B build/odr -DCMAKE_BUILD_TYPE=Debug -DNORMSCOPE_CUDA=OFF \
    -DCMAKE_CXX_FLAGS="-flto -Werror=odr" >/dev/null
  cmake --build build/odr --parallel "${JOBS:-$(nproc)}" --target normscope
fi

# What the tests of the site, the window and the manual page need; without them these are skipped by name.
scripts/setup.sh libmd4c-html0 xvfb groff-base ||
  echo "make test: libmd4c-html0, xvfb or groff-base cannot be installed, so some tests are skipped" >&2

status=0
failed=()
# run_tests NAME FOLDER [OPTION]: runs the tests of a folder of builds. A failure does not end the others, and no result
# of an earlier run may stand in for one of this program.
run_tests() {
  rm -rf build/test-cache
  ctest --test-dir "$2" --output-on-failure -j "${TEST_JOBS:-$(($(nproc) + 1))}" "${@:3}" || {
    status=$?
    failed+=("$1")
  }
}

# All add-ons but one, one after another, and in the end none, in one tree: what the add-on does not change stays.
if [[ "${1:-}" == full ]]; then
  for folder in addons/*/; do
    echo "normscope: building and testing without $folder"
    others="$(basename -a addons/*/ | { grep -vx "$(basename "$folder")" || true; } | paste -sd ';')"
    NORMSCOPE_CMAKE="-DNORMSCOPE_ADDONS=$others" scripts/build.sh core "${core[@]}"
    run_tests "the program without $folder" build/core
  done
fi
if has_turn 0; then
  NORMSCOPE_CMAKE=-DNORMSCOPE_ADDONS= scripts/build.sh core "${core[@]}"
  trees+=(core)
  reached "the program without add-ons built"
fi

# One CTest run covers all build trees.
echo "make test: turn $NORMSCOPE_TURN of 0 to 2, with the trees ${trees[*]}"
echo "subdirs(${trees[*]})" >build/CTestTestfile.cmake
run_tests "the last run" build ${left_out[@]+"${left_out[@]}"}
reached "everything tested"
# Every case that could not run here is listed by name, those of files that ran otherwise among them.
{ grep -ah '^SKIPPED: ' build/Testing/Temporary/LastTest.log || true; } | sort | uniq -c
for name in ${failed[@]+"${failed[@]}"}; do echo "make test: tests failed in $name" >&2; done
exit "$status"

#!/usr/bin/env bash
# make test-windows: builds the program for Windows and runs it under Wine (tests/windows/run.py, docs/platforms.md): the
# engine's tests, the checksum beside Linux's, the command line, and the window under Xvfb. Wine and the rest are installed
# as root on Debian or Ubuntu. Without Wine, or without the compiler, everything is skipped, by name and with exit code 0;
# a test that fails gives 1.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

skip() {
  echo "skipped make test-windows: $1"
  exit 0
}

missing=()
command -v wine >/dev/null || missing+=(wine wine64)
command -v Xvfb >/dev/null || missing+=(xvfb)
command -v xdotool >/dev/null || missing+=(xdotool)
command -v import >/dev/null || missing+=(imagemagick)
for package in "${missing[@]}"; do scripts/setup.sh "$package" || true; done # one that is lacking keeps no other out
command -v wine >/dev/null || skip "Wine is not installed, and could not be"
built=0
platforms/windows/windows.sh || built=$?
if [[ $built -eq 3 ]]; then skip "there is no compiler for Windows (see above)"; fi
[[ $built -eq 0 ]] || exit 1
platforms/windows/windows.sh normscope_engine_tests
scripts/build.sh release normscope # what its numbers are compared with
exec python3 tests/windows/run.py "$@"

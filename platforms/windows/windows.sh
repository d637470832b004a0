#!/usr/bin/env bash
# windows.sh [TARGET...]: builds the program for Windows on x86-64 with mingw-w64, for `make windows` and `make
# test-windows`: a folder and a zip under build/windows/. With targets it builds those alone. Exit code 3: the compiler is
# not to be had. See docs/platforms.md.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
deps=build/windows-deps objects=build/windows-objects
missing() { ! command -v x86_64-w64-mingw32-g++-posix >/dev/null || ! command -v x86_64-w64-mingw32-windres >/dev/null; }
if missing; then scripts/setup.sh g++-mingw-w64-x86-64-posix >&2 || true; fi
if missing; then
  echo "make windows: needs mingw-w64 with POSIX threads (Debian: g++-mingw-w64-x86-64-posix)" >&2
  exit 3
fi
scripts/setup.sh >&2
platforms/windows/windows_deps.sh "$deps"
if [[ ! -f "$objects/build.ninja" ]]; then
  mkdir -p build
  echo "normscope: configuring $objects"
  cmake -S . -B "$objects" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/platforms/windows/windows-toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DNORMSCOPE_CUDA=OFF -DNORMSCOPE_UNITY=ON -DNORMSCOPE_PRECOMPILED=ON "-DNORMSCOPE_WINDOWS_DEPS=$root/$deps" \
    >"$objects.configure.log" 2>&1 || {
    cat "$objects.configure.log" >&2
    rm -rf "$objects/CMakeCache.txt" "$objects/CMakeFiles"
    exit 1
  }
fi
if [[ $# -gt 0 ]]; then exec cmake --build "$objects" --parallel "${JOBS:-$(nproc)}" --target "$@"; fi
cmake --build "$objects" --parallel "${JOBS:-$(nproc)}" --target normscope normscope_launcher
python3 platforms/windows/windows_folder.py "$objects" build/windows --deps "$deps"

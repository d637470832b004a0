#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: sets up, configures once and builds, quietly when there is nothing to do. NORMSCOPE_CMAKE
# is one more argument of CMake, with which it runs again. Ninja configures again when a CMake file or the set of source
# files has changed.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"
preset="${1:-release}"
shift || true
build="build/$preset"

# Built by another user (as root, say), or on a disk that cannot be written: ninja would end in its log.
for place in build "$build" "$build/.ninja_log"; do
  [[ -e "$place" ]] || place="$(dirname "$place")"
  if [[ -e "$place" && ! -w "$place" ]]; then
    echo "normscope: $root/$place cannot be written. If another user built here, take it back by:" \
      "sudo chown -R $(id -un) '$root/build'; else copy the sources into a folder of your own and build there" >&2
    exit 1
  fi
done
if [[ "$preset" == arm64 ]]; then
  scripts/setup.sh g++-aarch64-linux-gnu qemu-user
  scripts/arm64_sysroot.sh
else
  scripts/setup.sh
fi
if [[ ! -f "$build/build.ninja" ]]; then
  log="$build.configure.log"
  mkdir -p build
  echo "normscope: configuring $build"
  if ! cmake --preset "$preset" ${NORMSCOPE_CMAKE:+"$NORMSCOPE_CMAKE"} >"$log" 2>&1; then
    cat "$log" >&2
    rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
    exit 1
  fi
elif [[ -n "${NORMSCOPE_CMAKE:-}" ]]; then
  cmake "$NORMSCOPE_CMAKE" "$build" >/dev/null
fi
# A sanitized tree that links the release build's screens (NORMSCOPE_SCREENS_SANITIZED=PREBUILT) needs them as the sources
# are now. What it is configured with is its own.
if [[ "$preset" != release ]] && grep -q '^NORMSCOPE_SCREENS_SANITIZED:[A-Z]*=PREBUILT' "$build/CMakeCache.txt"; then
  env -u NORMSCOPE_CMAKE "$root/scripts/build.sh" release normscope_screens
fi
cmake --build "$build" --parallel "${JOBS:-$(nproc)}" ${1:+--target "$@"}

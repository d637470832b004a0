#!/usr/bin/env bash
# web.sh: builds the program for a browser in build/web, a folder of files for any web server. See docs/web.md.
# Emscripten is the system's where there is one (emcc 3.1.58 or newer on PATH), else that of a Debian 13 root under
# build/web-toolchain, which platforms/web/web_toolchain.sh sets up once. Exit code 3: neither is to be had.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
initial_mb=256 maximum_mb=2048

# compile runs inside the toolchain, in the source tree; DEPS holds headers and sources. Other toolchains' objects go, and
# those of any day when a release is made: clang decides by where things lie in memory (platforms/packages/release/release.py).
compile() {
  local deps="$1" fonts="build/web-objects/fonts" toolchain
  toolchain="$(command -v emcc) $(emcc -dumpversion) $deps $root${SOURCE_DATE_EPOCH:+ release}"
  # A release takes no object from another cache, and what wasm-opt makes depends on how its threads come along.
  if [[ -n "${SOURCE_DATE_EPOCH:-}" ]]; then export CCACHE_NAMESPACE=release BINARYEN_CORES=1; fi
  if [[ "$(cat build/web-objects/toolchain.txt 2>/dev/null)" != "$toolchain" ]]; then rm -rf build/web-objects; fi
  mkdir -p build/web-objects
  echo "$toolchain" >build/web-objects/toolchain.txt
  platforms/web/web_fonts.sh "$fonts" "${NORMSCOPE_HOST_FONTS:-}"
  if command -v ccache >/dev/null; then EM_COMPILER_WRAPPER="$(command -v ccache)" && export EM_COMPILER_WRAPPER; fi
  # CMake runs every time, which takes seconds, as what is set here reaches objects and link.
  emcmake cmake -S . -B build/web-objects -G Ninja -DCMAKE_BUILD_TYPE=Release -DNORMSCOPE_TESTS=OFF -DNORMSCOPE_CUDA=OFF \
    -DNORMSCOPE_UNITY=ON -DNORMSCOPE_PRECOMPILED=ON "-DNORMSCOPE_WEB_DEPS=$deps" "-DNORMSCOPE_WEB_FONTS=$root/$fonts" \
    "-DNORMSCOPE_WEB_INITIAL_MB=$initial_mb" "-DNORMSCOPE_WEB_MAXIMUM_MB=$maximum_mb" >build/web-objects/configure.log 2>&1 || {
    cat build/web-objects/configure.log >&2
    rm -f build/web-objects/CMakeCache.txt
    exit 1
  }
  cmake --build build/web-objects --parallel "${JOBS:-$(nproc)}" --target normscope
}

if [[ "${1:-}" == --inside ]]; then
  compile "$2"
  exit 0
fi

new_enough() {
  command -v emcc >/dev/null && command -v cmake >/dev/null && command -v ninja >/dev/null || return 1
  local version
  version="$(emcc -dumpversion 2>/dev/null)" || return 1
  [[ "$(printf '3.1.58\n%s\n' "$version" | sort -V | head -1)" == 3.1.58 ]]
}

scripts/fetch_imgui.sh
if new_enough; then
  deps="$root/build/web-deps" system=/
  [[ -d "$deps/include" ]] || platforms/web/web_toolchain.sh --headers "$deps" || exit 3
  compile "$deps"
else
  tools="$root/build/web-toolchain"
  deps="$tools/opt/normscope-web" system="$tools"
  unshare --mount true 2>/dev/null || {
    echo "make web: needs Emscripten 3.1.58 or newer (emcc on PATH) with cmake and ninja; its own Debian 13 root needs" \
      "unshare --mount, which this user or container may not call." >&2
    exit 3
  }
  platforms/web/web_toolchain.sh "$tools" || exit 3
  mkdir -p "$tools/mnt/normscope" "$tools/proc" "$tools/dev"
  # The mounts are of a namespace of their own, so they go with its last process, however that ends, and nobody else
  # sees them. The sources lie at one place there, so that what is compiled does not depend on theirs; Dear ImGui's may be
  # a link out of the tree.
  unshare --mount --propagation private bash -euc '
    mount --rbind "$2" "$1/mnt/normscope"
    imgui="$(readlink -f "$2/build/deps")"
    if [[ "$imgui" != "$2/build/deps" ]]; then mkdir -p "$1$imgui"; mount --bind "$imgui" "$1$imgui"; fi
    # The desktop program of this system shows its faces: the same versions give the same widths of words.
    mkdir -p "$1/mnt/fonts"
    if [[ -d /usr/share/fonts ]]; then mount --bind /usr/share/fonts "$1/mnt/fonts"; fi
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    cd "$1"
    exec chroot "$1" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin JOBS="${JOBS:-}" \
      NORMSCOPE_HOST_FONTS=/mnt/fonts ${SOURCE_DATE_EPOCH:+"SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH"} \
      bash /mnt/normscope/platforms/web/web.sh --inside /opt/normscope-web' web "$tools" "$root"
fi

rm -rf build/web
mkdir -p build/web
cp build/web-objects/normscope.{js,wasm,data} build/web/
if compgen -G "platforms/web/page/*" >/dev/null; then cp -r platforms/web/page/* build/web/; fi
if [[ -f platforms/web/web_finish.py ]]; then
  python3 platforms/web/web_finish.py build/web --initial-mb "$initial_mb" --maximum-mb "$maximum_mb" --system "$system" \
    --deps "$deps"
fi

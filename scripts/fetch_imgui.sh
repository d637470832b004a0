#!/usr/bin/env bash
# fetch_imgui.sh [DIR]: fetches the sources of Dear ImGui once, pinned by hash, into DIR (default build/deps):
#   DIR/imgui/{*.cpp,*.h,backends,misc/cpp,LICENSE.txt}
# Their imconfig.h is left out: cmake/imgui/imconfig.h takes its place. Called by scripts/setup.sh.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
dir="${1:-$root/build/deps}"
requirements="$root/scripts/slimgui-requirements.txt"
stamp="$dir/imgui.stamp"

if [[ -f "$stamp" ]] && cmp -s "$requirements" "$stamp"; then
  exit 0
fi

# A pip that works: the system's, or that of any python3 that has one.
pip=()
for candidate in "python3 -m pip" pip3 pip; do
  # shellcheck disable=SC2086
  if $candidate --version >/dev/null 2>&1; then
    read -r -a pip <<<"$candidate"
    break
  fi
done
if [[ ${#pip[@]} -eq 0 ]]; then
  echo "normscope: pip is needed once to fetch Dear ImGui (Debian: python3-pip)." >&2
  echo "           Or provide it as a CMake package: vcpkg (see vcpkg.json)." >&2
  exit 1
fi

mkdir -p "$dir"
work="$(mktemp -d "$dir/fetch.XXXXXX")"
trap 'rm -rf "$work"' EXIT

echo "normscope: fetching Dear ImGui (slimgui source distribution, 3 MB)"
"${pip[@]}" download --quiet --disable-pip-version-check --no-deps --no-binary slimgui --require-hashes \
  --dest "$work" --requirement "$requirements" || {
  echo "normscope: Dear ImGui cannot be fetched by ${pip[*]}. Is there a network, and does pip know its proxy and certificate" \
    "(pip config set global.cert FILE)? $dir of another machine serves as well." >&2
  exit 1
}

tar -xzf "$work"/slimgui-*.tar.gz -C "$work" --strip-components=3 --wildcards \
  --exclude='*/imconfig.h' \
  'slimgui-*/src/c/imgui/*.cpp' 'slimgui-*/src/c/imgui/*.h' 'slimgui-*/src/c/imgui/LICENSE.txt'

# The library does not build the other backends, the examples and FreeType.
find "$work/imgui/backends" -type f ! -name 'imgui_impl_glfw.*' ! -name 'imgui_impl_opengl3*' -delete
find "$work/imgui/misc" -type f ! -path '*/misc/cpp/*' -delete
rm -rf "$work/imgui/examples"
find "$work/imgui" -type d -empty -delete

rm -rf "$dir/imgui"
mv "$work/imgui" "$dir/imgui"
cp "$requirements" "$stamp"

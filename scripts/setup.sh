#!/usr/bin/env bash
# setup.sh [PACKAGE...]: installs what the build needs and is not there: Debian/Ubuntu packages by name, and the given
# ones, then the sources of Dear ImGui. It is quiet and quick when nothing is missing. Called by the Makefile before
# every build. With CMAKE_TOOLCHAIN_FILE set (vcpkg, Conan) it installs nothing: the toolchain brings the packages,
# vcpkg Dear ImGui too.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
tools=(cmake ninja-build g++ python3-pip) # each counts as there if a program in PATH is new enough, whoever brought it
packages=("${tools[@]}" libglfw3-dev libgl-dev libhwy-dev libfmt-dev libcli11-dev nlohmann-json3-dev
  libtomlplusplus-dev libmd4c-dev libstb-dev libsentencepiece-dev libutf8proc-dev catch2 fonts-inter fonts-jetbrains-mono
  fonts-dejavu-core "$@")

if [[ -n "${CMAKE_TOOLCHAIN_FILE:-}" ]]; then
  [[ "$CMAKE_TOOLCHAIN_FILE" == *vcpkg* ]] && exit 0
  exec "$root/scripts/fetch_imgui.sh"
fi

# least FILE PATTERN prints the version that a CMake file asks for, so that it stands in one place.
least_cmake='cmake_minimum_required\(VERSION'
least() { sed -nE "s/.*$2 ([0-9.]+).*/\1/p" "$root/$1" | head -n 1; }

# new_enough VERSION LEAST says whether a version is at least another.
new_enough() { [[ -n "$1" && "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" == "$2" ]]; }

# has_tool PACKAGE says whether what a package is needed for is in PATH. A compiler that CXX names is its user's choice,
# which CMake looks at.
has_tool() {
  local kind=GCC
  case "$1" in
    cmake) new_enough "$(cmake --version 2>/dev/null | sed -nE '1s/.* ([0-9.]+).*/\1/p')" \
      "$(least CMakeLists.txt "$least_cmake")" ;;
    ninja-build) ninja --version >/dev/null 2>&1 || ninja-build --version >/dev/null 2>&1 ;;
    g++)
      [[ -n "${CXX:-}" ]] && return
      [[ "$(c++ --version 2>/dev/null)" == *clang* ]] && kind=CLANG
      new_enough "$(c++ -dumpfullversion 2>/dev/null || c++ -dumpversion 2>/dev/null)" \
        "$(least cmake/NormscopeCompiler.cmake "NORMSCOPE_LEAST_$kind")" ;;
    python3-pip) python3 -m pip --version >/dev/null 2>&1 || pip3 --version >/dev/null 2>&1 ;;
  esac
}

# missing_packages prints the packages that are not there. Those that dpkg reports as installed are, virtual ones by their
# providers; of tools that it reports, the program may still be away from PATH, or an older one before it.
missing_packages() {
  local installed name
  installed="$(dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Provides}\n' 2>/dev/null | grep '^ii' |
    sed 's/([^)]*)//g; s/,/ /g')" || true
  for name in "${packages[@]}"; do
    [[ " ${tools[*]} " == *" $name "* ]] && has_tool "$name" && continue
    grep -qE "^ii .*(^| )${name//+/\\+}( |\$)" <<<"$installed" || echo "$name"
  done
}

# ask_for WHY PACKAGE... ends with one line: why nothing is installed, and what somebody who can has to type.
ask_for() {
  echo "normscope: $1; ask for: apt-get update && apt-get install -y --no-install-recommends ${*:2}" >&2
  exit 1
}

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  mapfile -t missing < <(missing_packages)
  if [[ ${#missing[@]} -gt 0 ]]; then
    as_root=()
    if [[ "$(id -u)" -ne 0 ]]; then
      command -v sudo >/dev/null || ask_for "packages are missing, and you are neither root nor have sudo" "${missing[@]}"
      as_root=(sudo)
    fi
    echo "normscope: installing ${missing[*]}"
    install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends)
    # The package lists may be old or absent: refresh them only if the first try fails. What apt says is told if the
    # second one fails as well: its last line, as without a network each package has three.
    "${install[@]}" "${missing[@]}" >/dev/null 2>&1 || {
      said="$("${as_root[@]}" apt-get update -qq 2>&1 && "${install[@]}" "${missing[@]}" 2>&1)" || {
        said="$(grep -E '^(E|W): ' <<<"$said" | tail -n 1 || true)"
        ask_for "the packages cannot be installed${said:+ ($said)}. Is there a network? If not" "${missing[@]}"
      }
    }
  fi
elif [[ ! -f "$root/build/release/build.ninja" ]]; then
  echo "normscope: this is not Debian or Ubuntu, so nothing is installed here. What the build needs comes three ways:" \
    "the system's packages (the names above in scripts/setup.sh, or like them), vcpkg (vcpkg.json), or Conan;" \
    "set CMAKE_TOOLCHAIN_FILE for the last two." >&2
fi
if ! has_tool cmake; then
  echo "normscope: PATH has no CMake of at least $(least CMakeLists.txt "$least_cmake"): add its folder (Debian: /usr/bin), or" \
    "where the system's is older, get one by: python3 -m pip install cmake" >&2
  exit 1
fi

exec "$root/scripts/fetch_imgui.sh"

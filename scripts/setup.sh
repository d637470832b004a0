#!/usr/bin/env bash
# setup.sh [PACKAGE...]: installs what the build needs and is not there: Debian/Ubuntu packages by name, and the given
# ones, then the sources of Dear ImGui. It is quiet and quick when nothing is missing. Called by the Makefile before
# every build. With CMAKE_TOOLCHAIN_FILE set (vcpkg, Conan) it installs nothing: the toolchain brings the packages,
# vcpkg Dear ImGui too.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
packages=(cmake ninja-build g++ libglfw3-dev libgl-dev libhwy-dev libfmt-dev libcli11-dev nlohmann-json3-dev
  libtomlplusplus-dev libmd4c-dev libstb-dev libsentencepiece-dev libutf8proc-dev catch2 fonts-inter fonts-jetbrains-mono
  fonts-dejavu-core python3-pip "$@")

if [[ -n "${CMAKE_TOOLCHAIN_FILE:-}" ]]; then
  [[ "$CMAKE_TOOLCHAIN_FILE" == *vcpkg* ]] && exit 0
  exec "$root/scripts/fetch_imgui.sh"
fi

# missing_packages prints the packages that dpkg does not report as installed. Virtual ones count by their providers.
missing_packages() {
  local installed
  installed="$(dpkg-query -W -f '${db:Status-Abbrev} ${Package} ${Provides}\n' 2>/dev/null | grep '^ii' |
    sed 's/([^)]*)//g; s/,/ /g')"
  local name
  for name in "${packages[@]}"; do
    grep -qE "^ii .*(^| )${name//+/\\+}( |\$)" <<<"$installed" || echo "$name"
  done
}

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  mapfile -t missing < <(missing_packages)
  if [[ ${#missing[@]} -gt 0 ]]; then
    echo "normscope: installing ${missing[*]}"
    as_root=()
    if [[ "$(id -u)" -ne 0 ]]; then
      if ! command -v sudo >/dev/null; then
        echo "normscope: not root and no sudo; ask for: apt-get install ${missing[*]}" >&2
        exit 1
      fi
      as_root=(sudo)
    fi
    install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends)
    # The package lists may be old or absent: refresh them only if the first try fails.
    "${install[@]}" "${missing[@]}" >/dev/null 2>&1 || {
      "${as_root[@]}" apt-get update -qq
      "${install[@]}" "${missing[@]}" >/dev/null
    }
  fi
elif [[ ! -f "$root/build/release/build.ninja" ]]; then
  echo "normscope: this is not Debian or Ubuntu, so nothing is installed here. What the build needs comes three ways:" \
    "the system's packages (the names above in scripts/setup.sh, or like them), vcpkg (vcpkg.json), or Conan;" \
    "set CMAKE_TOOLCHAIN_FILE for the last two." >&2
fi

exec "$root/scripts/fetch_imgui.sh"

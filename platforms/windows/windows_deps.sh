#!/usr/bin/env bash
# windows_deps.sh DIR: DIR/include and DIR/src for the build for Windows (cmake/NormscopeWindows.cmake): headers of this
# system's packages, and sources as Debian 12 has them, pinned by hash. DIR appears once it is whole.
set -euo pipefail

whole="$1" dir="$1.part"
stamp="$(sha256sum "$0")"
if [[ "$(cat "$whole/stamp" 2>/dev/null)" == "$stamp" ]]; then exit 0; fi
rm -rf "$whole" "$dir"
mkdir -p "$dir/include" "$dir/src"

# The folders alone are linked, as /usr/include would bring the host's own library.
for name in fmt nlohmann CLI toml++ stb catch2; do
  for folder in /usr/include /usr/include/*-linux-gnu; do
    if [[ -d "$folder/$name" ]]; then ln -s "$folder/$name" "$dir/include/$name"; fi
  done
  if [[ ! -e "$dir/include/$name" ]]; then
    echo "make windows: no headers of $name under /usr/include (Debian: libfmt-dev nlohmann-json3-dev libcli11-dev" \
      "libtomlplusplus-dev libstb-dev catch2)" >&2
    exit 1
  fi
done

mirror="$("$(dirname "${BASH_SOURCE[0]}")/../../scripts/debian_mirror.sh")"
fetch() {  # fetch URL FILE
  if [[ -x /usr/lib/apt/apt-helper ]]; then
    /usr/lib/apt/apt-helper -o Acquire::Retries=2 download-file "$1" "$2" >/dev/null 2>&1
  else
    curl -fsSL --max-time 120 -o "$2" "$1"
  fi
}
while read -r name file sum; do
  if ! fetch "$mirror/pool/main/${file:0:1}/${file%%_*}/$file" "$dir/$file" ||
    ! echo "$sum  $dir/$file" | sha256sum --status -c; then
    echo "make windows: $file could not be fetched from $mirror, or is not the file that it was" >&2
    exit 1
  fi
  mkdir "$dir/src/$name"
  tar -xf "$dir/$file" -C "$dir/src/$name" --strip-components=1
  rm "$dir/$file"
done <<'SOURCES'
highway highway_1.0.3.orig.tar.gz 566fc77315878473d9a6bd815f7de78c73734acdcb745c3dde8579560ac5440e
md4c md4c_0.4.8.orig.tar.gz 4a457df853425b6bb6e3457aa1d1a13bccec587a04c38c622b1013a0da41439f
utf8proc utf8proc_2.8.0.orig.tar.gz a0a60a79fe6f6d54e7d411facbfcc867a6e198608f2cd992490e46f04b1bcecc
glfw glfw3_3.3.8.orig.tar.gz f30f42e05f11e5fc62483e513b0488d5bceeab7d9c5da0ffe2252ad81816c713
SOURCES
echo "$stamp" >"$dir/stamp"
mv "$dir" "$whole"

#!/usr/bin/env bash
# arm64_sysroot.sh: unpacks Debian's arm64 packages that the program is built and run with under build/arm64-sysroot,
# once (half a minute, 300 MB), for scripts/build.sh. apt gets folders, a list of sources and a package database of its own,
# so this machine's packages stay as they are, nothing is installed, and root is not needed.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
sysroot="$PWD/build/arm64-sysroot"
packages=(libc6-dev libglfw3-dev libgl-dev libhwy-dev libfmt-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev
  libmd4c-dev libstb-dev libsentencepiece-dev libutf8proc-dev catch2)
# The cross compiler's C++ library is of this system's release, and so must the others be.
system="$(. /etc/os-release && echo "$ID ${VERSION_CODENAME:-}")"
case "$system" in
  debian\ ?*) components=main ;;
  ubuntu\ ?*) components="main universe" ;; # NORMSCOPE_MIRROR names one of Ubuntu's ports
  *)
    echo "arm64_sysroot.sh: arm64 packages are known for releases of Debian and Ubuntu, and this is $system" >&2
    exit 3
    ;;
esac
mirror="$(scripts/debian_mirror.sh)"
sources="$mirror ${system#* } $components"
stamp="$sources $(sha256sum <scripts/arm64_sysroot.sh)"
if [[ "$(cat "$sysroot/normscope-stamp" 2>/dev/null)" == "$stamp" ]]; then exit 0; fi

echo "normscope: unpacking arm64 packages under $sysroot"
rm -rf "$sysroot" "$sysroot.part"
apt="$sysroot.part/apt"
mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"
echo "deb $sources" >"$apt/sources.list"
cat >"$apt/apt.conf" <<END
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "-";
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "$(id -un)";
END
export APT_CONFIG="$apt/apt.conf"
{
  apt-get update -qq && apt-get install -y -qq --no-install-recommends --download-only "${packages[@]}"
} >"$sysroot.log" 2>&1 || {
  tail -5 "$sysroot.log" >&2
  echo "arm64_sysroot.sh: the arm64 packages cannot be fetched, see $sysroot.log" >&2
  exit 3
}
# A database as dpkg's says whose a file is and of which version: dpkg-shlibdeps and dpkg-query are asked from outside of
# the sysroot, so its paths begin with that.
database="$sysroot.part/var/lib/dpkg"
mkdir -p "$database/info"
for package in "$apt"/cache/archives/*.deb; do
  dpkg-deb -x "$package" "$sysroot.part"
  dpkg-deb -e "$package" "$apt/control"
  name="$(sed -n 's/^Package: //p' "$apt/control/control")"
  { cat "$apt/control/control"; echo "Status: install ok installed"; echo; } >>"$database/status"
  for file in shlibs symbols; do
    if [[ -f "$apt/control/$file" ]]; then cp "$apt/control/$file" "$database/info/$name.$file"; fi
  done
  dpkg-deb --fsys-tarfile "$package" | tar -t | sed -n "s,^\\./\\(.*[^/]\\)\$,$sysroot/\\1,p" >"$database/info/$name.list"
  rm -rf "$apt/control"
done
rm -rf "$apt"
# Links from the root would lead out of the sysroot.
find "$sysroot.part" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
  ln -sfnr "$sysroot.part$(readlink "$link")" "$link"
done
echo "$stamp" >"$sysroot.part/normscope-stamp"
mv "$sysroot.part" "$sysroot"

#!/usr/bin/env bash
# package_check.sh: checks that the packages of build/package/ are what they should be. Called by `make package-check`.
#   lintian without errors, desktop-file-validate and appstreamcli without complaints;
#   the folder runs from another place;
#   normscope's package, installed by apt in a clean Debian 12 that debootstrap makes under build/ (as root, some minutes):
#   --help, --version, compare --steps 20, and a window under Xvfb.
# With NORMSCOPE_PRESET=arm64 (make package-check PRESET=arm64) those of build/package-arm64/, in a Debian for AArch64 that
# qemu-user-static runs, one step instead of twenty.
# What cannot run here is named as skipped. The exit status is 1 if something failed.
set -uo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root" || exit 1
source platforms/packages/clean_debian.sh

made=build/package
if [[ "$preset" == arm64 ]]; then made+=-arm64; fi
debs=("$made"/*.deb)
main="$(ls "$made"/normscope_*.deb 2>/dev/null)"
folder="$(ls -d "$made"/normscope-*/ 2>/dev/null)"
[[ -n "$main" && -n "$folder" ]] || { echo "package_check.sh: no packages in $made: make package" >&2; exit 1; }
scripts/setup.sh lintian appstream desktop-file-utils debootstrap >&2 || true

has lintian lintian && check "lintian" lintian --allow-root --fail-on error "${debs[@]}"
has desktop-file-validate "menu entry" && check "menu entry" desktop-file-validate "$folder"share/applications/normscope.desktop
has appstreamcli "description" && check "description" appstreamcli validate --no-net "$folder"share/metainfo/*.metainfo.xml

moved="$(mktemp -d)"
trap 'rm -rf "$moved"' EXIT
cp -r "$folder" "$moved/elsewhere"
here=()
if [[ "$preset" == arm64 ]]; then here=(qemu-aarch64 -L build/arm64-sysroot); fi
check "folder: --version" "${here[@]}" "$moved/elsewhere/bin/normscope" --version
check "folder: lessons beside it" env -u NORMSCOPE_LESSONS "${here[@]}" "$moved/elsewhere/bin/normscope" lesson list

installed() {
  check "Debian 12: apt-get install ./normscope.deb" within apt-get install -y "/tmp/$(basename "$main")" || return
  check "Debian 12: --help" within normscope --help
  check "Debian 12: --version" within normscope --version
  check "Debian 12: lesson list" within normscope lesson list
  check "Debian 12: compare --steps $steps" within normscope compare --steps "$steps" --out /tmp/out
  check_window normscope
  check "Debian 12: apt-get purge" within apt-get purge -y normscope
}
in_clean_debian installed "$main"
exit "$failed"

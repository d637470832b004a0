#!/usr/bin/env bash
# package_check.sh: checks that the packages of build/package/ are what they should be. Called by `make package-check`.
#   lintian without errors, desktop-file-validate and appstreamcli without complaints;
#   the folder runs from another place;
#   normscope's package, installed by apt in a clean Debian 12 that debootstrap makes under build/ (as root, some minutes):
#   --help, --version, compare --steps 20, and a window under Xvfb.
# What cannot run here is named as skipped. The exit status is 1 if something failed.
set -uo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root" || exit 1
failed=0
# check NAME COMMAND...: runs the command and says how it went; its output is printed only when it failed.
check() {
  local name="$1" log
  shift
  if log="$("$@" 2>&1)"; then
    echo "ok       $name"
  else
    echo "FAILED   $name"
    sed 's/^/    /' <<<"$log"
    failed=1
    return 1
  fi
}
skip() { echo "skipped  $1: $2"; }

debs=(build/package/*.deb)
main="$(ls build/package/normscope_*.deb 2>/dev/null)"
folder="$(ls -d build/package/normscope-*/ 2>/dev/null)"
[[ -n "$main" && -n "$folder" ]] || { echo "package_check.sh: no packages in build/package: make package" >&2; exit 1; }
scripts/setup.sh lintian appstream desktop-file-utils debootstrap >&2 || true

# has COMMAND NAME: is false, and says that NAME is skipped, where the command is not there.
has() { command -v "$1" >/dev/null || { skip "$2" "$1 is not installed"; return 1; }; }
has lintian lintian && check "lintian" lintian --allow-root --fail-on error "${debs[@]}"
has desktop-file-validate "menu entry" && check "menu entry" desktop-file-validate "$folder"share/applications/normscope.desktop
has appstreamcli "description" && check "description" appstreamcli validate --no-net "$folder"share/metainfo/*.metainfo.xml

moved="$(mktemp -d)"
trap 'rm -rf "$moved"' EXIT
cp -r "$folder" "$moved/elsewhere"
check "folder: --version" "$moved/elsewhere/bin/normscope" --version
check "folder: lessons beside it" env -u NORMSCOPE_LESSONS "$moved/elsewhere/bin/normscope" lesson list

# A clean Debian is made once and copied for every check.
clean=build/debian-12
used=build/debian-12-used
within() {
  chroot "$used" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
make_clean() {
  rm -rf "$clean" "$clean.part"
  debootstrap --variant=minbase bookworm "$clean.part" ${NORMSCOPE_MIRROR:+"$NORMSCOPE_MIRROR"} && mv "$clean.part" "$clean"
}
# The window opens with its icon, trains, and ends as documented when it is told to.
window='
  Xvfb :97 -screen 0 1280x800x24 >/tmp/xvfb.log 2>&1 & server=$!
  export DISPLAY=:97
  for second in $(seq 30); do xwininfo -root >/dev/null 2>&1 && break; sleep 1; done
  normscope --safe-mode --frame-log /tmp/frames.csv >/tmp/window.log 2>&1 & window=$!
  for second in $(seq 120); do [[ $(wc -l </tmp/frames.csv) -gt 20 ]] && break; sleep 1; done 2>/dev/null
  xwininfo -name normscope; shown=$?
  xprop -name normscope _NET_WM_ICON | grep "Icon (16 x 16)"; icon=$?
  kill -TERM $window; wait $window; code=$?
  kill $server; wait $server
  cat /tmp/xvfb.log /tmp/window.log; tail -2 /tmp/frames.csv
  echo "shown $shown, icon $icon, ended with $code (expected 0, 0, 130)"
  [[ $shown -eq 0 && $icon -eq 0 && $code -eq 130 ]]'
in_clean_debian() {
  rm -rf "$used"
  cp -a "$clean" "$used"
  cp "$main" "$used/tmp/normscope.deb"
  cp -L /etc/resolv.conf "$used/etc/resolv.conf"
  check "Debian 12: apt-get update" within apt-get update || return
  check "Debian 12: apt-get install ./normscope.deb" within apt-get install -y /tmp/normscope.deb || return
  check "Debian 12: --help" within normscope --help
  check "Debian 12: --version" within normscope --version
  check "Debian 12: lesson list" within normscope lesson list
  check "Debian 12: compare --steps 20" within normscope compare --steps 20 --out /tmp/out
  check "Debian 12: Xvfb" within apt-get install -y --no-install-recommends xvfb xauth x11-utils &&
    check "Debian 12: a window under Xvfb" within bash -c "$window"
  check "Debian 12: apt-get purge" within apt-get purge -y normscope
}
if [[ "$(id -u)" -ne 0 ]]; then
  skip "Debian 12" "not root"
elif has debootstrap "Debian 12"; then
  if [[ -d "$clean" ]] || check "debootstrap" make_clean; then
    in_clean_debian
    rm -rf "$used"
  fi
fi
exit "$failed"

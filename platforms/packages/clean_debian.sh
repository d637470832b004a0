# clean_debian.sh is read by package_check.sh and wheel_check.sh: how a check is told, and a clean Debian 12 to check in,
# which debootstrap makes once under build/ (as root, some minutes) and which is copied for every check. With
# NORMSCOPE_PRESET=arm64 it is a Debian for AArch64, whose programs this machine's Linux hands to qemu-user-static.
failed=0
preset="${NORMSCOPE_PRESET:-release}"
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
# has COMMAND NAME: is false, and says that NAME is skipped, where the command is not there.
has() { command -v "$1" >/dev/null || { skip "$2" "$1 is not installed"; return 1; }; }

clean=build/debian-12
arch=() patience=1 steps=20
if [[ "$preset" == arm64 ]]; then
  clean+=-arm64 arch=(--arch arm64)
  patience=20 steps=1  # an emulated step takes some 300 times as long
fi
used="$clean-used"
# emulated: whether programs of the other processor run here as this one's do, which Linux is told of where it has to be.
emulated() {
  [[ "$preset" == arm64 ]] || return 0
  local formats=/proc/sys/fs/binfmt_misc
  if [[ ! -e $formats/qemu-aarch64 ]]; then
    scripts/setup.sh qemu-user-static >&2
    [[ -e $formats/register ]] || mount -t binfmt_misc binfmt_misc $formats
    [[ -e $formats/qemu-aarch64 ]] || cat /usr/lib/binfmt.d/qemu-aarch64.conf >$formats/register
  fi 2>/dev/null
  [[ -e $formats/qemu-aarch64 ]] || { skip "Debian 12" "Linux cannot be told to run arm64 programs by qemu-user-static"; return 1; }
}
# within COMMAND...: runs the command in that Debian. Where the machine allows it there is a /proc, by which a program
# finds its own place; it is gone with the command.
mounted=()
unshare --mount true 2>/dev/null && mounted=(unshare --mount sh -c 'mount -t proc proc "$1/proc"; exec chroot "$@"' sh)
within() {
  "${mounted[@]:-chroot}" "$used" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"
}
make_clean() {
  rm -rf "$clean" "$clean.part"
  debootstrap "${arch[@]}" --variant=minbase bookworm "$clean.part" ${NORMSCOPE_MIRROR:+"$NORMSCOPE_MIRROR"} && mv "$clean.part" "$clean"
}
# in_clean_debian COMMAND FILE...: runs the command on a fresh copy that has the files in /tmp.
in_clean_debian() {
  local command="$1"
  shift
  if [[ "$(id -u)" -ne 0 ]]; then
    skip "Debian 12" "not root"
  elif has debootstrap "Debian 12" && emulated && { [[ -d "$clean" ]] || check "debootstrap" make_clean; }; then
    rm -rf "$used"
    cp -a "$clean" "$used"
    cp "$@" "$used/tmp/"
    cp -L /etc/resolv.conf "$used/etc/resolv.conf"
    check "Debian 12: apt-get update" within apt-get update && "$command"
    rm -rf "$used"
  fi
}
# The beginning of a script there that needs a display. It takes one that is free, because that Debian shares this
# machine's displays. $server is its process.
display='
  : >/tmp/display
  Xvfb -displayfd 1 -screen 0 1280x800x24 >/tmp/display 2>/tmp/xvfb.log & server=$!
  for tenth in $(seq 300); do [[ -s /tmp/display ]] && break; sleep 0.1; done
  export DISPLAY=":$(</tmp/display)"'
# A window opens with its icon, trains, and ends as documented when it is told to. $1 is the program, $2 how many times
# two minutes it may take; /tmp/first-frame has the seconds from its start to its first frame.
window="$display"'
  begin=$(date +%s%N)
  "$1" --safe-mode --frame-log /tmp/frames.csv >/tmp/window.log 2>&1 & window=$!
  until [[ $(wc -l </tmp/frames.csv) -gt 1 || $(date +%s%N) -gt $((begin + $2 * 120000000000)) ]]; do sleep 0.02; done 2>/dev/null
  awk "BEGIN { printf \"%.1f\", ($(date +%s%N) - $begin) / 1e9 }" >/tmp/first-frame
  for second in $(seq $((120 * $2))); do [[ $(wc -l </tmp/frames.csv) -gt 20 ]] && break; sleep 1; done 2>/dev/null
  xwininfo -name normscope; shown=$?
  xprop -name normscope _NET_WM_ICON | grep "Icon (16 x 16)"; icon=$?
  kill -TERM $window; wait $window; code=$?
  kill $server; wait $server
  cat /tmp/xvfb.log /tmp/window.log; tail -2 /tmp/frames.csv
  echo "shown $shown, icon $icon, ended with $code (expected 0, 0, 130)"
  [[ $shown -eq 0 && $icon -eq 0 && $code -eq 130 ]]'
# check_window PROGRAM
check_window() {
  check "Debian 12: Xvfb" within apt-get install -y --no-install-recommends xvfb xauth x11-utils &&
    check "Debian 12: a window under Xvfb" within bash -c "$window" window "$1" "$patience" &&
    echo "         its first frame came after $(<"$used/tmp/first-frame") s"
}

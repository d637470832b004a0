#!/usr/bin/env bash
# make test-web: builds the web program and runs its tests in Chromium and Firefox (tests/web/run.py,
# tests/web/README.md). Browsers, node and brotli are installed as root on Debian or Ubuntu. A browser that cannot be
# installed is left out, in one line. Where there is none, or where the web program's toolchain cannot be set up,
# everything is skipped, by name and with exit code 0; a test that fails gives 1.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

skip() {
  echo "skipped make test-web: $1"
  exit 0
}

# has_one NAME...: the first name is what the environment asks for, the others are those that tests/web tries.
has_one() {
  local name
  if [[ -n "$1" ]]; then command -v "$1" >/dev/null; return; fi
  for name in "${@:2}"; do
    if command -v "$name" >/dev/null; then return 0; fi
  done
  return 1
}
has_chromium() { has_one "${CHROMIUM:-}" chromium chromium-browser google-chrome; }
has_firefox() { has_one "${FIREFOX:-}" firefox-esr firefox; }
asked="$*"
wants() { [[ "$asked" != *--browser* || "$asked" == *--browser?"$1"* ]]; }

missing=()
if wants chromium && ! has_chromium; then missing+=(chromium); fi
if wants firefox; then
  has_firefox || missing+=(firefox-esr)
  command -v Xvfb >/dev/null || missing+=(xvfb) # Firefox has WebGL only beside a display
  ldconfig -p 2>/dev/null | grep libEGL.so.1 >/dev/null || missing+=(libegl1)
fi
command -v node >/dev/null || missing+=(nodejs)
command -v brotli >/dev/null || missing+=(brotli)
if [[ ${#missing[@]} -gt 0 && "$(id -u)" -eq 0 ]] && command -v apt-get >/dev/null; then
  echo "normscope: installing ${missing[*]}"
  install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends)
  for package in "${missing[@]}"; do # a package that this system lacks does not keep the others out
    "${install[@]}" "$package" >/dev/null 2>&1 || { apt-get update -qq && "${install[@]}" "$package" >/dev/null; } || true
  done
fi
has_chromium || has_firefox || skip "no browser, and none could be installed"

scripts/build.sh release normscope # what the web program is compared with
platforms/web/web.sh || {
  if [[ $? -eq 3 ]]; then skip "the web program's toolchain could not be set up (see above)"; fi
  exit 1
}
exec python3 tests/web/run.py "$@"

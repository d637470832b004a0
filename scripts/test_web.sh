#!/usr/bin/env bash
# make test-web: builds the web program and runs its tests in a headless Chromium (tests/web/run.py, docs/web-tests.md).
# Chromium, node and brotli are installed as root on Debian or Ubuntu. Where that cannot be, or where the web program's
# toolchain cannot be set up, everything is skipped, by name and with exit code 0; a test that fails gives 1.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

skip() {
  echo "skipped make test-web: $1"
  exit 0
}

has_chromium() { # the names that tests/web/cdp.py tries
  if [[ -n "${CHROMIUM:-}" ]]; then
    command -v "$CHROMIUM" >/dev/null
  else
    command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null
  fi
}

missing=()
has_chromium || missing+=(chromium)
command -v node >/dev/null || missing+=(nodejs)
command -v brotli >/dev/null || missing+=(brotli)
if [[ ${#missing[@]} -gt 0 && "$(id -u)" -eq 0 ]] && command -v apt-get >/dev/null; then
  echo "normscope: installing ${missing[*]}"
  install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends)
  for package in "${missing[@]}"; do # a package that this system lacks does not keep the others out
    "${install[@]}" "$package" >/dev/null 2>&1 || { apt-get update -qq && "${install[@]}" "$package" >/dev/null; } || true
  done
fi
has_chromium || skip "no Chromium, and none could be installed"

scripts/build.sh release normscope # what the web program is compared with
scripts/web.sh || {
  if [[ $? -eq 3 ]]; then skip "the web program's toolchain could not be set up (see above)"; fi
  exit 1
}
exec python3 tests/web/run.py "$@"

#!/usr/bin/env bash
# debian_mirror.sh: prints the mirror of Debian that this system's apt takes its packages from, or NORMSCOPE_MIRROR. Exit
# code 3, with a line that says why: this is no Debian and that is not set. Called by arm64_sysroot.sh and windows_deps.sh.
set -euo pipefail

mirror="${NORMSCOPE_MIRROR:-}"
if [[ -z "$mirror" ]] && command -v apt-get >/dev/null; then
  release="$(. /etc/os-release && echo "${ID:-}:${VERSION_CODENAME:-}")"
  if [[ "$release" == debian:* ]]; then
    mirror="$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
      sed -n "s|^${release#*:} ||p" | head -1)"
  fi
fi
if [[ -z "$mirror" ]]; then
  echo "no mirror of packages is known here: set NORMSCOPE_MIRROR to one (on Debian, that of apt is taken)" >&2
  exit 3
fi
echo "${mirror%/}"

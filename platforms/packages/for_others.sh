#!/usr/bin/env bash
# for_others.sh [-DNAME=VALUE...] COMMAND...: builds the program for other machines and runs the command while it is so,
# for `make package` and `make wheel`, in build/release or in the tree of the preset that NORMSCOPE_PRESET names.
# CMake configures once more: --version names the commit, and says whether the files are as they are there.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tree="${NORMSCOPE_PRESET:-release}"
settings=()
while [[ "${1:-}" == -D* ]]; do settings+=("$1"); shift; done
scripts/build.sh "$tree" normscope_training
# Kernels for every GPU that a package may come to, or for those that NORMSCOPE_CUDA_ARCHITECTURES names; without the
# cache's entry, a build is for this one again.
trap 'cmake -UCMAKE_CUDA_ARCHITECTURES "build/$tree" >/dev/null 2>&1' EXIT
log=build/for-others.log
{
  cmake "${settings[@]}" -DNORMSCOPE_CUDA_WITHOUT_GPU=ON "-DCMAKE_CUDA_ARCHITECTURES=${NORMSCOPE_CUDA_ARCHITECTURES:-75-real;80-real;90}" "build/$tree" &&
    cmake --build "build/$tree" --target normscope normscope_training
} >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
"$@"

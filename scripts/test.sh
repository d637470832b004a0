#!/usr/bin/env bash
# Every test, in one CTest run that ends in its summary: the release build's, the engine's again under the address and
# undefined-behaviour sanitizers, and the trainer's under the thread sanitizer. Called by `make test`.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root"

scripts/build.sh release
scripts/build.sh asan
scripts/build.sh tsan

# What the site's test reads Markdown with; 0.2 MB.
scripts/setup.sh libmd4c-html0 || echo "make test: no libmd4c-html0, so site.links is skipped" >&2

# No result of an earlier run may stand in for one of this program.
rm -rf build/test-cache

# One CTest run over the three build trees.
cat >build/CTestTestfile.cmake <<'END'
subdirs("release" "asan" "tsan")
END
exec ctest --test-dir build --output-on-failure -j "${TEST_JOBS:-2}"

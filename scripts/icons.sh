#!/usr/bin/env bash
# icons.sh: makes the PNG files of assets/icon/ from normscope.svg. They are kept in the repository, so that neither a
# build nor an installation needs librsvg; run this when the drawing has changed.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$root/assets/icon"
command -v rsvg-convert >/dev/null || { echo "icons.sh: rsvg-convert is not installed (Debian: librsvg2-bin)" >&2; exit 1; }
for size in 16 24 32 48 64 128 256 512; do
  rsvg-convert --width "$size" --height "$size" normscope.svg --output "normscope-$size.png"
done

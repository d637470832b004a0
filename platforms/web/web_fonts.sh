#!/usr/bin/env bash
# web_fonts.sh DIR [MORE]: cuts the desktop's faces, from MORE where it has them, down to the characters that the
# program, the course and plain Latin text use. What a person types beyond them is shown as a box.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
dir="$1"
stamp="$dir.txt"
mkdir -p "$dir"
# The characters are Latin-1, Latin Extended-A, and every other one in what the program is made of: each folder but those
# named here, so that a new one is not forgotten.
python3 - "$root" >"$stamp.new" <<'PY'
import pathlib, sys
root = pathlib.Path(sys.argv[1])
used = set(map(chr, [*range(0x20, 0x7F), *range(0xA0, 0x180)]))
others = {".ci", ".git", "build", "cmake", "dist", "docs", "platforms", "python", "scripts", "tests"}
for top in (folder for folder in root.iterdir() if folder.is_dir() and folder.name not in others):
    for path in top.rglob("*"):
        if path.is_file() and path.suffix in {".cpp", ".h", ".def", ".md", ".toml", ".json"}:
            used.update(path.read_text(errors="ignore"))
print("".join(sorted(c for c in used if c >= " ")))
PY
faces=(Inter-Regular.otf Inter-SemiBold.otf JetBrainsMono-Regular.ttf JetBrainsMono-Medium.ttf DejaVuSans.ttf DejaVuSansMono.ttf)
places=(/usr/share/fonts) files=()
if [[ -d "${2:-}" ]]; then places=("$2" "${places[@]}"); fi
for face in "${faces[@]}"; do
  file="$(find "${places[@]}" -name "$face" -print -quit)"
  if [[ -z "$file" ]]; then
    echo "make web: no $face under /usr/share/fonts (Debian: fonts-inter fonts-jetbrains-mono fonts-dejavu-core)" >&2
    exit 1
  fi
  files+=("$file")
done
sha256sum "${files[@]}" "$0" >>"$stamp.new"
if cmp -s "$stamp.new" "$stamp"; then
  rm "$stamp.new"
  exit 0
fi
# cut FACE TEXT: what places or joins glyphs goes too, as Dear ImGui reads none of it.
cut() {
  python3 -m fontTools.subset "$1" --text-file="$2" --output-file="$dir/$(basename "$1")" --no-hinting --desubroutinize \
    --layout-features= --drop-tables+=GPOS,GSUB,GDEF,MATH,FFTM,gasp,name,OS/2
}
# lacking FACE FACE: the characters that one of the two has not, a raised minus among numbers.
lacking() {
  python3 - "$stamp.new" "$@" <<'PY'
import sys
from fontTools.ttLib import TTFont
both = set.intersection(*(set(TTFont(face).getBestCmap()) for face in sys.argv[2:]))
print("".join(sorted(c for c in set(open(sys.argv[1]).read()) if c > " " and ord(c) not in both)))
PY
}
for file in "${files[@]:0:4}"; do cut "$file" "$stamp.new"; done
# The last two faces stand in for the others, and hold no more than these lack.
for i in 0 2; do
  lacking "${files[@]:i:2}" >"$stamp.rest"
  cut "${files[4 + i / 2]}" "$stamp.rest"
done
mv "$stamp.new" "$stamp"

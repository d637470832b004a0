#!/usr/bin/env bash
# web_fonts.sh DIR [MORE]: cuts the desktop's faces, from MORE where it has them, down to the characters that the
# program, the course and plain Latin text use. What a person types beyond them is shown as a box.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
dir="$1"
stamp="$dir.txt"
mkdir -p "$dir"
# The characters are Latin-1, Latin Extended-A, and every other one in what the program is made of: each folder but those
# named here, so that a new one is not forgotten.
python3 - "$root" >"$stamp.new" <<'PY'
import pathlib, sys
root = pathlib.Path(sys.argv[1])
used = set(map(chr, [*range(0x20, 0x7F), *range(0xA0, 0x180)]))
others = {".ci", ".git", "build", "cmake", "dist", "docs", "python", "scripts", "site", "studies", "tests", "web"}
for top in (folder for folder in root.iterdir() if folder.is_dir() and folder.name not in others):
    for path in top.rglob("*"):
        if path.is_file() and path.suffix in {".cpp", ".h", ".def", ".md", ".toml", ".json"}:
            used.update(path.read_text(errors="ignore"))
print("".join(sorted(c for c in used if c >= " ")))
PY
# The last two have what the others lack, a raised minus among numbers.
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
sha256sum "${files[@]}" >>"$stamp.new"
if cmp -s "$stamp.new" "$stamp"; then
  rm "$stamp.new"
  exit 0
fi
for file in "${files[@]}"; do
  python3 -m fontTools.subset "$file" --text-file="$stamp.new" --output-file="$dir/$(basename "$file")" \
    --layout-features='kern' --no-hinting --desubroutinize
done
mv "$stamp.new" "$stamp"

#!/usr/bin/env bash
# screenshots.sh: draws every state of the Lab and of the course in both themes, without a display. The README's two go
# under assets/screenshots/, all others under out/screenshots/. Called by `make screenshots`; it takes a few minutes,
# most of them for the runs that are trained, one session for each script.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
program="${PROGRAM:-build/release/normscope}"
readme="${README_OUT:-assets/screenshots}" out="${OUT:-out/screenshots}"
mkdir -p "$readme" "$out"

# pictures OUT [OPTION...]: draws one screen, or those of a script.
pictures() { "$program" screenshot --steps 200 --theme both --out "$@"; }

pictures "$readme/lab.png"

# first_minute: what a hand does in the first minute: it watches, drags a norm into the branch, and watches run D.
first_minute() {
  local n=0
  picture() { printf 'frames 3\nshoot %03d\n' $((++n)); }
  echo "offer welcome"
  for step in $(seq 0 8 120); do echo "wait $step"; picture; done
  echo "hover diagram/layer2/attn/stream"; picture; picture
  echo "grab diagram/layer2/attn/stream diagram/layer2/attn/before"; picture; picture; picture
  echo "drop"; picture; picture
  for step in $(seq 124 8 420); do echo "wait $step"; picture; done
  for _ in 1 2 3 4 5 6 7 8; do picture; done
}

# The moving picture of the README needs ffmpeg with libwebp.
if command -v ffmpeg > /dev/null; then
  frames="$(mktemp -d)"
  first_minute > "$frames/script.txt"
  "$program" screenshot --screen lab --steps 1 --size 1280x800 --script "$frames/script.txt" --out "$frames/f.png" > /dev/null
  ffmpeg -loglevel error -y -framerate 8 -i "$frames/f-%03d.png" -c:v libwebp_anim -quality 60 -compression_level 6 -loop 0 \
    "$readme/first-minute.webp"
  rm -r "$frames"
else
  echo "screenshots: ffmpeg is not here (Debian: apt install ffmpeg), so first-minute.webp stays as it is" >&2
fi

# These scripts show what a hand can come across; each names its pictures, lab-NAME-light.png and lab-NAME-dark.png.
for script in sizes diagram plots shell time edits; do
  pictures "$out/lab.png" --script "scripts/screens/$script.txt"
done

# Other runs are an encoder alone, a second stream, both stacks, twelve layers that diverge at a rate too high.
for config in encoder residual translation deep; do
  pictures "$out/lab-$config.png" --config "scripts/screens/$config.toml" --script "scripts/screens/$config.txt"
done

# The Sweep screen trains its cells, which takes minutes.
pictures "$out/sweep.png" --screen sweep --script scripts/screens/sweep.txt

# The Tape screen shows one step, without its times.
pictures "$out/tape.png" --screen tape --script scripts/screens/tape.txt

# The course is shown at predict, run, compare and explain.
pictures "$out/compare.png" --screen compare --script scripts/screens/compare.txt
pictures "$out/lesson.png" --screen lesson:warm-up:predict --script scripts/screens/lessons.txt

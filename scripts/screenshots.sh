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

# instant: ten seconds of small runs that every change trains anew: a norm is held over two slots and dropped, then the
# learning rate is dragged up and down. The program waits for each answer, so a frame shows one.
instant() {
  local n=0 rate=settings/train.lr
  picture() { for _ in $(seq "$1"); do printf 'frames 3\nshoot %03d\n' $((++n)); done; }
  echo "key N"; echo "leave"; picture 8
  echo "hover diagram/layer2/attn/stream"; picture 3
  echo "grab diagram/layer2/attn/stream diagram/layer2/attn/after"; picture 8
  echo "drop"; picture 4; echo "leave"; picture 5
  echo "click lab/left/Settings"; picture 3
  echo "at $rate 0.62 0.5"; picture 3; echo "press"
  for place in $(seq 0.62 0.02 0.82) $(seq 0.80 -0.02 0.40); do echo "at $rate $place 0.5"; picture 1; done
  echo "drop"; picture 2; echo "leave"; picture 8
}

# The moving pictures of the README need ffmpeg with libwebp.
if command -v ffmpeg > /dev/null; then
  frames="$(mktemp -d)"
  instant > "$frames/script.txt"
  "$program" screenshot --screen lab --steps 1 --size 1280x800 --theme both --script "$frames/script.txt" --out "$frames/f.png" > /dev/null
  for theme in light dark; do
    ffmpeg -loglevel error -y -framerate 8 -i "$frames/f-%03d-$theme.png" -c:v libwebp_anim -quality 45 -compression_level 6 -loop 0 \
      "$readme/instant-$theme.webp"
  done
  rm -r "$frames"
else
  echo "screenshots: ffmpeg is not here (Debian: apt install ffmpeg), so instant-*.webp stay as they are" >&2
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

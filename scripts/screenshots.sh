#!/usr/bin/env bash
# Every state of the Lab and of the course as a picture in both themes, made without a display: the README's two under
# assets/screenshots/, all others under out/screenshots/. Called by `make screenshots`; a few minutes, most of it for the
# runs that are trained, one session for each script.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
program="${PROGRAM:-build/release/normscope}"
readme="${README_OUT:-assets/screenshots}" out="${OUT:-out/screenshots}"
mkdir -p "$readme" "$out"

# pictures OUT [OPTION...]
pictures() { "$program" screenshot --steps 200 --theme both --out "$@"; }

pictures "$readme/lab.png"

# What a hand can come across: each script names its pictures, lab-NAME-light.png and lab-NAME-dark.png.
for script in sizes diagram plots shell time edits; do
  pictures "$out/lab.png" --script "scripts/screens/$script.txt"
done

# Other runs: an encoder alone, a second stream, both stacks, twelve layers whose loss is no number at a rate too high.
for config in encoder residual translation deep; do
  pictures "$out/lab-$config.png" --config "scripts/screens/$config.toml" --script "scripts/screens/$config.txt"
done

# The Sweep screen; this one trains its cells, which takes minutes.
pictures "$out/sweep.png" --screen sweep --script scripts/screens/sweep.txt

# One step on the Tape, without its times.
pictures "$out/tape.png" --screen tape --script scripts/screens/tape.txt

# The course: predict, run, compare and explain.
pictures "$out/compare.png" --screen compare --script scripts/screens/compare.txt
pictures "$out/lesson.png" --screen lesson:warm-up:predict --script scripts/screens/lessons.txt

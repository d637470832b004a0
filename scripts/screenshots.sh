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

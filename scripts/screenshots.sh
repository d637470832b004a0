#!/usr/bin/env bash
# Every state of the Lab as a picture, made without a display: the README's two under assets/screenshots/, all others
# under out/screenshots/. Called by `make screenshots`; takes a few minutes, since each picture trains its own runs.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
program="${PROGRAM:-build/release/normscope}"
readme="${README_OUT:-assets/screenshots}" out="${OUT:-out/screenshots}"
mkdir -p "$readme" "$out"

# picture NAME SIZE [SCRIPT] [OPTION...], into the folder $out
picture() {
  local name="$1" size="$2" script="${3:-}"
  shift $(($# < 3 ? $# : 3))
  local arguments=(screenshot --screen lab --steps 200 --size "$size" --out "$out/lab-$name.png")
  if [[ -n "$script" ]]; then arguments+=(--script "scripts/screens/$script.txt"); fi
  "$program" "${arguments[@]}" "$@"
}

out="$readme" picture light 1600x1000
out="$readme" picture dark 1600x1000 "" --theme dark

# The three layouts, both themes, small and large scales, a large display.
picture 1440x900 1440x900
picture 1024x600 1024x600
picture 1600x1000-at-1.5 1600x1000 "" --scale 1.5 --theme dark
picture 1600x1000-at-0.75 1600x1000 "" --scale 0.75
picture 3840x2160-at-2.5 3840x2160 "" --scale 2.5

# What a hand can come across.
for state in held kind layer quantities list fork earlier batch luck data palette sheet opener; do
  picture "$state" 1600x1000 "$state"
done
picture 1440x900-settings 1440x900 settings
picture 1024x600-settings 1024x600 settings --theme dark
picture 1024x600-quantity 1024x600 compact-quantity
picture 1024x600-beta 1024x600 beta

# Other architectures: an encoder alone, a second stream, both stacks.
picture encoder 1600x1000 "" --config scripts/screens/encoder.toml --theme dark
picture residual 1600x1000 residual --config scripts/screens/residual.toml
picture translation 1600x1000 "" --config scripts/screens/translation.toml --theme dark
picture 1440x900-translation 1440x900 "" --config scripts/screens/translation.toml

# The first lesson, before anything was measured.
for size in 1600x1000 1024x600; do
  "$program" screenshot --screen lesson:warm-up:predict --size "$size" --out "$out/lesson-predict-$size.png"
done

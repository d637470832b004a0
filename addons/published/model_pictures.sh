#!/usr/bin/env bash
# model_pictures.sh FOLDER: draws the pictures of addons/published/README.md, of the models that
# addons/published/tests/fixtures/transformers/shapes.py made in FOLDER, without a display.
set -euo pipefail

models=$(realpath "${1:?expected the folder of addons/published/tests/fixtures/transformers/shapes.py}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
program=$(realpath "${PROGRAM:-build/release/normscope}")
out=$(realpath "${OUT:-assets/screenshots}")
script=$(mktemp)
trap 'rm -f "$script"' EXIT

cd "$models"
for name in bert gpt2 olmo2 gemma2; do
  printf 'file %s\nframes 30\ninside\nclick inside/leave_out\nshoot %s\n' "$name" "$name" > "$script"
  "$program" screenshot --steps 1 --size 1600x1000 --script "$script" --out "$out/inside.png"
done

# GPT-2 with its norms dragged from the branches onto the stream, both trained on the passage for 50 steps.
printf '%s\n' 'file gpt2' 'frames 30' inside 'key 1' 'frames 5' \
  'drag diagram/layer2/attn/before diagram/layer2/attn/stream' 'frames 30' 'wait 0' leave 'frames 5' 'shoot dragged' > "$script"
"$program" screenshot --steps 1 --size 1600x1000 --script "$script" --out "$out/inside.png"

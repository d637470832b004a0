#!/usr/bin/env bash
# keep_home.sh PROGRAM FOLDER: keeps in FOLDER what the window of a version leaves in its user's home: settings, progress
# in the lessons, a session that was never closed. tests/app/files/test_kept_before.cpp and test_window.cpp open such
# folders under tests/fixtures/homes/ with the program of today. A new version adds its own.
#
# Needs Xvfb and xdotool. A hand makes everything a little larger, answers lesson 0 and trains on; what it clicks on is
# where a window of 1600 x 1000 has it, so look at what was kept before you commit it.
set -euo pipefail

program="$(realpath "$1")"
folder="$(realpath -m "$2")"
[[ ! -e "$folder" ]] || { echo "keep_home.sh: $folder is there already" >&2; exit 1; }
for tool in Xvfb xdotool; do
  command -v "$tool" >/dev/null || { echo "keep_home.sh: $tool is not installed" >&2; exit 1; }
done

scratch="$(mktemp -d)"
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"' EXIT
mkdir -p "$folder"/{config,data,state}
cat >"$scratch/runs.toml" <<'END'
[model]
layers = 1
d_model = 8
heads = 1
feed_forward = 16
sequence = 8
[train]
batch = 2
steps = 40
END

Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp 3>"$scratch/display" >/dev/null 2>&1 &
until [[ -s "$scratch/display" ]]; do sleep 0.1; done
export DISPLAY=":$(<"$scratch/display")" LIBGL_ALWAYS_SOFTWARE=1 WAYLAND_DISPLAY=
export XDG_CONFIG_HOME="$folder/config" XDG_DATA_HOME="$folder/data" XDG_STATE_HOME="$folder/state"
export XDG_CACHE_HOME="$scratch/cache"
"$program" --window --config "$scratch/runs.toml" &
window=$!

# hand COMMAND...: moves and types as a person does, one at a time.
hand() { xdotool "$@"; sleep 1; }
sleep 12 # until it has trained
hand mousemove 800 400
hand key ctrl+plus
hand key 2
hand mousemove 1170 841 # the slider of lesson 0
hand mousedown 1
hand mousemove 1340 841
hand mouseup 1
hand mousemove 1487 958 # commit
hand click 1
hand key 1
hand key space # train on
sleep 4
kill -TERM "$window"
wait "$window" || true

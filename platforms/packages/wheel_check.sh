#!/usr/bin/env bash
# wheel_check.sh: checks that the wheels of dist/ are what they should be. Called by `make wheel-check`.
#   the platform in the name is the one that auditwheel finds, and the same build gives the same bytes;
#   in a clean Debian 12 (platforms/packages/clean_debian.sh) with python3-venv, without compiler, X11 and index: pip installs the
#   wheel, the program trains, records and opens its window under Xvfb, and pip removes it without a trace.
# With NORMSCOPE_PRESET=arm64 (make wheel-check PRESET=arm64) those of dist/arm64/, in a Debian for AArch64 that
# qemu-user-static runs, without JAX, whose compiler takes too long there.
# What cannot run here is named as skipped. The exit status is 1 if something failed.
set -uo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
cd "$root" || exit 1
source platforms/packages/clean_debian.sh

tools=build/wheel-tools/bin
dist=dist
if [[ "$preset" == arm64 ]]; then dist+=/arm64; fi
main="$(ls "$dist"/normscope-*.whl 2>/dev/null)"
cuda="$(ls "$dist"/normscope_cuda-*.whl 2>/dev/null)"
[[ -n "$main" && -x "$tools/auditwheel" ]] || { echo "wheel_check.sh: no wheel in $dist/: make wheel" >&2; exit 1; }
scripts/setup.sh debootstrap >&2 || true

# platform WHEEL WORDS: what auditwheel says, which it wraps, has the words and then the platform of the wheel's name.
platform() {
  local name="${1##*-none-}"
  "$tools/auditwheel" show "$1" | tr '\n' ' ' | tee /dev/stderr | grep -F "$2 \"${name%.whl}\"" >/dev/null
}
again="$(mktemp -d)"
trap 'rm -rf "$again"' EXIT
same_bytes() {
  local wheel
  "$tools/python" platforms/packages/wheel.py --out "$again" || return
  for wheel in "$main" ${cuda:+"$cuda"}; do cmp "$wheel" "$again/$(basename "$wheel")" || return; done
}
check "platform of $(basename "$main")" platform "$main" "consistent with the following platform tag:"
# cuBLAS comes from a wheel of NVIDIA's, which auditwheel knows nothing of.
[[ -z "$cuda" ]] || check "platform of $(basename "$cuda")" platform "$cuda" "constrains the platform tag to"
if [[ build/$preset/normscope -nt "$main" ]]; then
  skip "the same bytes" "the program was built after the wheel"
else
  check "the same bytes once more" same_bytes
fi

env=/opt/env
program="$env/bin/normscope"
listed() { within find /opt | sort; }  # what the program keeps for a person, under their home, stays theirs
no_compiler_no_x11() {
  within bash -c '! command -v cc gcc c++ g++ clang && ! ldconfig -p | grep -E "lib(X11|GL|OpenGL)\.so"'
}
# The recorder is tried with JAX, which this machine's pip fetches: the clean Debian has no index.
fetch_jax() {
  "$tools/pip" download --quiet --python-version 3.11 --only-binary=:all: --dest "$again/jax" jax &&
    cp -r "$again/jax" "$used/tmp/"
}
record='
import normscope.jax
import jax.numpy as jnp
weights = {"layers": [{"ffn": {"w1": jnp.ones((2, 2))}}]}
recording = normscope.jax.watch("/tmp/recorded.jsonl", name="clean")
for step in range(1, 4):
    recording.step(step, 1.0 / step, 1e-3, grads=weights, params=weights)
recording.close()
'
opened='
import normscope
window = normscope.open("/tmp/run.jsonl")
assert window.poll() is None
window.terminate()
assert window.wait(1200) == 130, window.returncode
'
no_display='
import normscope
import normscope._program
normscope._program.SECONDS = 1200  # for a busy machine, and an emulated one
try:
    normscope.open("/tmp/run.jsonl")
except RuntimeError as why:
    assert str(why).count("\n") == 0 and "display" in str(why), why
else:
    raise SystemExit("no error")
'
open_under_xvfb="$display"'
  "$0" -c "$1"; code=$?
  kill $server; exit $code'
backend_is_found() {
  local said
  said="$(within "$program" compare --steps 1 --backend cuda 2>&1)"
  [[ $? -eq 8 && "$said" == "normscope: --backend cuda: no NVIDIA driver"* ]] || { echo "$said"; return 1; }
}
installed() {
  within test -e /proc/self/exe || { skip "Debian 12" "no /proc can be mounted in it, by which the program finds its files"; return; }
  check "Debian 12: python3-venv" within apt-get install -y --no-install-recommends python3-venv || return
  check "Debian 12: neither compiler nor X11" no_compiler_no_x11
  check "Debian 12: python3 -m venv" within python3 -m venv "$env" || return
  listed >"$again/before"
  local begin=$(date +%s%N)
  check "Debian 12: pip install --no-index" within "$env/bin/pip" install --no-index "/tmp/$(basename "$main")" || return
  echo "         in $((($(date +%s%N) - begin) / 1000000)) ms"
  check "Debian 12: normscope --version" within "$program" --version
  check "Debian 12: python -m normscope --version" within "$env/bin/python" -m normscope --version
  check "Debian 12: lesson list" within "$program" lesson list
  check "Debian 12: train --steps $steps" within "$program" train --preset pre --steps "$steps" --log /tmp/run.jsonl
  check "Debian 12: one line without a display" within "$env/bin/python" -c "$no_display"
  if [[ -n "$cuda" ]]; then
    check "Debian 12: pip install normscope_cuda" within "$env/bin/pip" install --no-index --no-deps "/tmp/$(basename "$cuda")" &&
      check "Debian 12: its backend is found" backend_is_found
  fi
  check_window "$program" &&
    check "Debian 12: normscope.open under Xvfb" within bash -c "$open_under_xvfb" "$env/bin/python" "$opened"
  check "Debian 12: pip uninstall" within "$env/bin/pip" uninstall -y normscope normscope-cuda
  listed >"$again/after"
  check "Debian 12: nothing is left" diff "$again/before" "$again/after"
  if [[ "$preset" == arm64 ]]; then
    skip "a training in JAX" "its compiler takes too long in the emulator"
  elif fetch_jax >/dev/null 2>&1; then
    check "Debian 12: JAX" within "$env/bin/pip" install --no-index --find-links /tmp/jax jax "/tmp/$(basename "$main")" &&
      check "Debian 12: a training in JAX is recorded" within "$env/bin/python" -c "$record" &&
      check "Debian 12: and read" within "$program" compare /tmp/recorded.jsonl /tmp/run.jsonl
  else
    skip "a training in JAX" "pip cannot fetch JAX"
  fi
}
in_clean_debian installed "$main" ${cuda:+"$cuda"}
exit "$failed"

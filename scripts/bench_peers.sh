#!/bin/sh
# make bench-peers: the twins of the benchmark's models in PyTorch and JAX, in a virtual environment under build/peers.
# One JSON line a row, with the keys of normscope bench --json; scripts/performance_table.py makes the tables of docs/performance.md and the README.
# Installs them where a package index is reachable, and says so where it is not. Arguments go to both programs.
set -eu
cd "$(dirname "$0")/.."
peers=tests/bench/peers
environment=${NORMSCOPE_PEERS:-build/peers}
export PYTHONDONTWRITEBYTECODE=1

if [ ! -x "$environment/bin/python" ]; then
  python3 -m venv "$environment" || { echo "bench-peers: python3 has no venv module (Debian: python3-venv)" >&2; exit 1; }
fi

# install NAME PACKAGE [pip's options]: true when the package is there afterwards.
install() {
  name=$1
  package=$2
  shift 2
  "$environment/bin/python" -c "import $package" 2>/dev/null && return 0
  echo "bench-peers: installing $name" >&2
  "$environment/bin/pip" install --quiet "$@" "$package"
}

ran=0
if install PyTorch torch; then
  "$environment/bin/python" $peers/torch_cpu.py "$@"
  ran=1
else
  echo "bench-peers: PyTorch is not installed and no package index is reachable: left out" >&2
fi
if install JAX jax; then
  "$environment/bin/python" $peers/jax_cpu.py "$@"
  ran=1
else
  echo "bench-peers: JAX is not installed and no package index is reachable: left out" >&2
fi
[ $ran = 1 ]

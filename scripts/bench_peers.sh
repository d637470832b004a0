#!/bin/sh
# make bench-peers: the twins of the benchmark's models in PyTorch, TensorFlow and JAX, in a virtual environment under build/peers.
# One JSON line a row, with the keys of normscope bench --json; scripts/performance_table.py makes the tables of docs/performance.md and the README.
# Installs them where a package index is reachable, and says so where it is not. Arguments go to all of them.
# PyTorch also multiplies the matrices of normscope bench --gemm, which tells their shapes, and does the ops of torch_ops.py.
# The systems that are no plain transformers (memory, convnet, parser) have twins in PyTorch alone.
# The peer in plain loops is part of the program: normscope bench --micro prints its steps at the end, on standard error; the tables take them
# from normscope bench --json.
set -eu
cd "$(dirname "$0")/.."
peers=tests/bench/peers
environment=${NORMSCOPE_PEERS:-build/peers}
export PYTHONDONTWRITEBYTECODE=1

if [ ! -x "$environment/bin/python" ]; then
  python3 -m venv "$environment" || { echo "bench-peers: python3 has no venv module (Debian: python3-venv)" >&2; exit 1; }
fi
build/release/normscope bench --gemm --budget 0.001 --json > "$environment/products.json"

# peer NAME MODULE PACKAGE SCRIPT [its options]: installs what is missing, then runs it.
ran=0
peer() {
  name=$1 module=$2 package=$3 script=$4
  shift 4
  if ! "$environment/bin/python" -c "import $module" 2>/dev/null; then
    echo "bench-peers: installing $name" >&2
    if ! "$environment/bin/pip" install --quiet "$package"; then
      echo "bench-peers: $name is not installed and no package index is reachable: left out" >&2
      return 0
    fi
  fi
  "$environment/bin/python" "$peers/$script" "$@"
  ran=1
}

peer PyTorch torch torch torch_cpu.py --products "$environment/products.json" --ops "$@"
peer TensorFlow tensorflow tensorflow-cpu tensorflow_cpu.py "$@"
peer JAX jax jax jax_cpu.py "$@"
build/release/normscope bench --micro >&2
[ $ran = 1 ]

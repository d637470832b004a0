#!/bin/sh
# make bench-peers: the twins of the benchmark's models in PyTorch, TensorFlow and JAX, in a virtual environment under
# build/peers. It prints one JSON line a row, with the keys of normscope bench --json, from which
# addons/bench/performance_table.py makes the tables of docs/performance. It installs the peers where a package index is
# reachable, and says so where none is. Arguments go to turns.py, which measures whole steps of all of them and of
# normscope in turn. PyTorch also multiplies the matrices of normscope bench --gemm, which prints their shapes, and does
# the ops of torch_ops.py. The systems that are no plain transformers (memory, convnet, parser) have twins in PyTorch
# alone.
set -eu
cd "$(dirname "$0")/../.."
peers=addons/bench/peers
environment=${NORMSCOPE_PEERS:-build/peers}
export PYTHONDONTWRITEBYTECODE=1

if [ ! -x "$environment/bin/python" ]; then
  python3 -m venv "$environment" || { echo "bench-peers: python3 has no venv module (Debian: python3-venv)" >&2; exit 1; }
fi
build/release/normscope bench --gemm --budget 0.001 --json > "$environment/products.json"

# add NAME MODULE PACKAGE PEER: installs what is missing, and names the peer as one to be measured.
found=
add() {
  if ! "$environment/bin/python" -c "import $2" 2>/dev/null; then
    echo "bench-peers: installing $1" >&2
    if ! "$environment/bin/pip" install --quiet "$3"; then
      echo "bench-peers: $1 is not installed and no package index is reachable: left out" >&2
      return 0
    fi
  fi
  found="$found${found:+,}$4"
}

add PyTorch torch torch torch
add TensorFlow tensorflow tensorflow-cpu tensorflow
add JAX jax jax jax
[ -n "$found" ] || exit 1
"$environment/bin/python" "$peers/turns.py" --peers "$found" "$@"
case $found in
  torch*) "$environment/bin/python" "$peers/torch_cpu.py" --modes "" --products "$environment/products.json" --ops ;;
esac

#!/usr/bin/env python3
"""The models of `normscope bench` in JAX on the CPU, jitted: a decoder, Pre-LN, ReLU, learned positions, untied output, Adam.

Every step reads back the loss and the gradient norm of each parameter, as the Lab does. Each row is one JSON line with
the keys of `normscope bench --json`:

    jax_cpu.py [lesson] [deep] [wide] [base] [encdec] [--threads 2] [--seconds 2] [--turns]
"""

import argparse
import math
import os

from twin import SIZES, Peer, add_arguments, flop

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
add_arguments(parser, [*SIZES, "encdec"], "jitted")
args = parser.parse_args()
if hasattr(os, "sched_setaffinity"):  # XLA makes a thread for every core that the process may use
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:args.threads])

import jax  # noqa: E402  (after the threads are set)
import jax.numpy as jnp  # noqa: E402
import jax_encdec  # noqa: E402
from jax_encdec import apply_linear, apply_norm  # noqa: E402


def linear(key, fan_in, fan_out):
    return {"w": jax.random.normal(key, (fan_in, fan_out)) * math.sqrt(2 / (fan_in + fan_out)), "b": jnp.zeros(fan_out)}


def layer(key, d, f):
    qkv, o, w1, w2 = jax.random.split(key, 4)
    return {"qkv": linear(qkv, d, 3 * d), "o": linear(o, d, d), "w1": linear(w1, d, f), "w2": linear(w2, f, d),
            "n1": norm(d), "n2": norm(d)}


def norm(d):
    return {"g": jnp.ones(d), "b": jnp.zeros(d)}


def parameters(key, layers, d, f, t, v):
    keys = jax.random.split(key, layers + 3)
    return {"tokens": jax.random.normal(keys[0], (v, d)) / math.sqrt(d), "positions": jax.random.normal(keys[1], (t, d)),
            "out": jax.random.normal(keys[2], (d, v)) * math.sqrt(2 / (d + v)), "final": norm(d),
            "layers": [layer(k, d, f) for k in keys[3:]]}


def decoder_loss(p, x, y, heads):
    d = p["tokens"].shape[1]
    b, t = x.shape
    h = math.sqrt(d) * p["tokens"][x] + p["positions"]
    mask = jnp.tril(jnp.ones((t, t), bool))
    for q in p["layers"]:
        query, key, value = jnp.split(apply_linear(q["qkv"], apply_norm(q["n1"], h)), 3, -1)
        query, key, value = (z.reshape(b, t, heads, d // heads) for z in (query, key, value))
        scores = jnp.einsum("bqhe,bkhe->bhqk", query, key) / math.sqrt(d // heads)
        weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf))
        mixed = jnp.einsum("bhqk,bkhe->bqhe", weights, value).reshape(b, t, d)
        h = h + apply_linear(q["o"], mixed)
        h = h + apply_linear(q["w2"], jax.nn.relu(apply_linear(q["w1"], apply_norm(q["n2"], h))))
    logits = jax.nn.log_softmax(apply_norm(p["final"], h) @ p["out"])
    return -jnp.take_along_axis(logits, y[..., None], -1).mean()


def step_of(loss_of):
    def train_step(p, m, v, step, batch):
        loss, g = jax.value_and_grad(loss_of)(p, *batch)
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = jax.tree.map(lambda a, b: 0.98 * a + 0.02 * b * b, v, g)

        def update(w, a, b):
            return w - 1e-4 * (a / (1 - 0.9**step)) / (jnp.sqrt(b / (1 - 0.98**step)) + 1e-9)

        readings = jnp.stack([loss] + [jnp.linalg.norm(z.ravel()) for z in jax.tree.leaves(g)])
        return jax.tree.map(update, p, m, v), m, v, readings

    return jax.jit(train_step, donate_argnums=(0, 1, 2))


def model_of(name):
    """Returns the loss, the parameters, a batch, its target tokens, and the FLOP of a step."""
    if name == "encdec":
        tokens = jax_encdec.B * jax_encdec.T
        return (jax_encdec.loss_of, jax_encdec.parameters(jax.random.key(1)), jax_encdec.batch(jax.random.key(2)),
                tokens, jax_encdec.flop())
    layers, d, heads, f, t, b, v = SIZES[name]
    batch = [jax.random.randint(k, (b, t), 0, v) for k in jax.random.split(jax.random.key(2))]
    return (lambda p, x, y: decoder_loss(p, x, y, heads), parameters(jax.random.key(1), layers, d, f, t, v), batch,
            b * t, flop(layers, d, heads, f, t, b, v))


def prepare(name, _):
    loss_of, p, batch, tokens, work = model_of(name)
    state = [p, jax.tree.map(jnp.zeros_like, p), jax.tree.map(jnp.zeros_like, p)]
    train_step = step_of(loss_of)
    number = 0

    def step():
        nonlocal state, number
        number += 1
        *state, readings = train_step(*state, float(number), batch)
        return readings.tolist()

    return step, tokens, work


if __name__ == "__main__":
    Peer(f"JAX {jax.__version__}", prepare, args).run()

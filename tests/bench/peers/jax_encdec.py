#!/usr/bin/env python3
"""The encoder-decoder of `normscope_bench encdec` in JAX, jitted: 6-6, d=512, 4 heads, f=1024, Pre-LN, ReLU, tied output.

A step is forward, backward, Adam, and the loss and the gradient norm of every parameter read back, as normscope does.

    jax_encdec.py [--steps 5]
"""

import argparse
import json
import math
import statistics
import time

import jax
import jax.numpy as jnp

L, D, H, FF, T, B, V = 6, 512, 4, 1024, 64, 64, 10000


def linear(key, fan_in, fan_out):
    w = jax.random.normal(key, (fan_in, fan_out)) * math.sqrt(2 / (fan_in + fan_out))
    return {"w": w, "b": jnp.zeros(fan_out)}


def norm():
    return {"g": jnp.ones(D), "b": jnp.zeros(D)}


def attention(key):
    return {n: linear(k, D, D) for n, k in zip("qkvo", jax.random.split(key, 4))}


def layer(key, decoder):
    a, c, f1, f2 = jax.random.split(key, 4)
    p = {"attn": attention(a), "w1": linear(f1, D, FF), "w2": linear(f2, FF, D), "n0": norm(), "n2": norm()}
    if decoder:
        p |= {"cross": attention(c), "n1": norm()}
    return p


def parameters(key):
    keys = jax.random.split(key, 2 * L + 2)
    return {"tokens": jax.random.normal(keys[0], (V, D)) / math.sqrt(D), "positions": jax.random.normal(keys[1], (T, D)),
            "encoder": [layer(k, False) for k in keys[2:2 + L]], "decoder": [layer(k, True) for k in keys[2 + L:]],
            "finals": [norm(), norm()]}


def apply_linear(p, x):
    return x @ p["w"] + p["b"]


def apply_norm(p, x):
    centred = x - x.mean(-1, keepdims=True)
    return p["g"] * centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) + p["b"]


def attend(p, x, memory, causal):
    q, k, v = (apply_linear(p[n], m).reshape(B, T, H, D // H) for n, m in (("q", x), ("k", memory), ("v", memory)))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(D // H)
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones((T, T), bool)), scores, -jnp.inf)
    heads = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    return apply_linear(p["o"], heads.reshape(B, T, D))


def apply_layer(p, x, memory):
    h = apply_norm(p["n0"], x)
    x = x + attend(p["attn"], h, h, memory is not None)
    if memory is not None:
        x = x + attend(p["cross"], apply_norm(p["n1"], x), memory, False)
    return x + apply_linear(p["w2"], jax.nn.relu(apply_linear(p["w1"], apply_norm(p["n2"], x))))


def loss_of(p, source, tokens, targets):
    def embed(x):
        return math.sqrt(D) * p["tokens"][x] + p["positions"]

    memory, x = embed(source), embed(tokens)
    for q in p["encoder"]:
        memory = apply_layer(q, memory, None)
    memory = apply_norm(p["finals"][0], memory)
    for q in p["decoder"]:
        x = apply_layer(q, x, memory)
    logits = jax.nn.log_softmax(apply_norm(p["finals"][1], x) @ p["tokens"].T)
    return -jnp.take_along_axis(logits, targets[..., None], -1).mean()


@jax.jit
def train_step(p, m, v, step, batch):
    loss, g = jax.value_and_grad(loss_of)(p, *batch)
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v = jax.tree.map(lambda a, b: 0.98 * a + 0.02 * b * b, v, g)

    def update(w, a, b):
        return w - 1e-4 * (a / (1 - 0.9**step)) / (jnp.sqrt(b / (1 - 0.98**step)) + 1e-9)

    readings = jnp.stack([loss] + [jnp.linalg.norm(x.ravel()) for x in jax.tree.leaves(g)])
    return jax.tree.map(update, p, m, v), m, v, readings


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()
    p = parameters(jax.random.key(1))
    m, v = jax.tree.map(jnp.zeros_like, p), jax.tree.map(jnp.zeros_like, p)
    batch = [jax.random.randint(k, (B, T), 0, V) for k in jax.random.split(jax.random.key(2), 3)]
    times = []
    for step in range(1, args.steps + 3):
        start = time.perf_counter()
        p, m, v, readings = train_step(p, m, v, float(step), batch)
        values = readings.tolist()
        if step > 2:  # the first ones compile
            times.append(time.perf_counter() - start)
        assert all(math.isfinite(r) for r in values)
    median = statistics.median(times)
    print(json.dumps({"model": "encdec", "jax": jax.__version__, "device": jax.devices()[0].platform, "ms": 1e3 * median,
                      "tokens_per_s": B * T / median}))


main()

"""Builds the model `encdec` of `normscope bench` in JAX: 6-6, d=512, 4 heads, f=1024, Pre-LN, ReLU, tied output.

jax_cpu.py encdec measures it.
"""

import math

import jax
import jax.numpy as jnp
from twin import ENCDEC, encdec_flop as flop

L, D, H, FF, T, B, V = ENCDEC


def linear(key, fan_in, fan_out):
    w = jax.random.normal(key, (fan_in, fan_out)) * math.sqrt(2 / (fan_in + fan_out))
    return {"w": w, "b": jnp.zeros(fan_out)}


def norm():
    return {"g": jnp.ones(D), "b": jnp.zeros(D)}


def attention(key, cross=False):
    q, kv, o = jax.random.split(key, 3)
    own = {"q": linear(q, D, D), "kv": linear(kv, D, 2 * D)} if cross else {"qkv": linear(q, D, 3 * D)}
    return own | {"o": linear(o, D, D)}


def layer(key, decoder):
    a, c, f1, f2 = jax.random.split(key, 4)
    p = {"attn": attention(a), "w1": linear(f1, D, FF), "w2": linear(f2, FF, D), "n0": norm(), "n2": norm()}
    if decoder:
        p |= {"cross": attention(c, True), "n1": norm()}
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
    if "qkv" in p:
        parts = jnp.split(apply_linear(p["qkv"], x), 3, -1)
    else:
        parts = [apply_linear(p["q"], x), *jnp.split(apply_linear(p["kv"], memory), 2, -1)]
    q, k, v = (part.reshape(B, T, H, D // H) for part in parts)
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


def batch(key):
    return [jax.random.randint(k, (B, T), 0, V) for k in jax.random.split(key, 3)]

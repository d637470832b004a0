#!/usr/bin/env python3
"""The models of `normscope bench` in TensorFlow on the CPU, as a graph and compiled by XLA: a decoder, Pre-LN, ReLU, learned
positions, untied output, Adam.

Every step reads back the loss and the gradient norm of each parameter, as the Lab does. Each row is one JSON line with
the keys of `normscope bench --json`:

    tensorflow_cpu.py [lesson] [deep] [wide] [base] [--threads 2] [--modes graph,XLA] [--seconds 2] [--turns]
"""

import argparse
import math
import os

from twin import SIZES, Peer, add_arguments, flop

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
add_arguments(parser, list(SIZES), "graph,XLA")
args = parser.parse_args()
if hasattr(os, "sched_setaffinity"):  # XLA makes a thread for every core that it is given
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:args.threads])
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf  # noqa: E402  (after the threads are set)

tf.config.threading.set_intra_op_parallelism_threads(args.threads)
tf.config.threading.set_inter_op_parallelism_threads(1)


def variable(*shape, std):
    return tf.Variable(tf.random.normal(shape, stddev=std))


class Decoder:
    def __init__(self, layers, d, heads, f, t, v):
        self.d, self.heads = d, heads
        self.tokens, self.positions = variable(v, d, std=d**-0.5), variable(t, d, std=1.0)
        self.layers = [{"n1": self.norm(d), "qkv": self.linear(d, 3 * d), "o": self.linear(d, d), "n2": self.norm(d),
                        "w1": self.linear(d, f), "w2": self.linear(f, d)} for _ in range(layers)]
        self.final, self.out = self.norm(d), variable(d, v, std=math.sqrt(2 / (d + v)))
        self.parameters = [self.tokens, self.positions, *self.final, self.out,
                           *(p for layer in self.layers for pair in layer.values() for p in pair)]

    @staticmethod
    def norm(d):
        return tf.Variable(tf.ones(d)), tf.Variable(tf.zeros(d))

    @staticmethod
    def linear(n, m):
        return variable(n, m, std=math.sqrt(2 / (n + m))), tf.Variable(tf.zeros(m))

    @staticmethod
    def apply_linear(p, x):  # one product over all rows is TensorFlow's fastest way
        return tf.nn.bias_add(tf.matmul(x, p[0]), p[1])

    @staticmethod
    def apply_norm(p, x):
        centred = x - tf.reduce_mean(x, -1, keepdims=True)
        return p[0] * centred * tf.math.rsqrt(tf.reduce_mean(centred**2, -1, keepdims=True) + 1e-5) + p[1]

    def attend(self, p, x, b, t, mask):
        e = self.d // self.heads
        parts = tf.unstack(tf.transpose(tf.reshape(self.apply_linear(p["qkv"], x), (b, t, 3, self.heads, e)), (2, 0, 3, 1, 4)))
        scores = tf.matmul(parts[0], parts[1], transpose_b=True) / math.sqrt(e) + mask
        mixed = tf.matmul(tf.nn.softmax(scores), parts[2])
        return self.apply_linear(p["o"], tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (b * t, self.d)))

    def loss(self, x, y):
        b, t = x.shape
        mask = tf.where(tf.linalg.band_part(tf.ones((t, t)), -1, 0) > 0, 0.0, -math.inf)
        h = tf.reshape(math.sqrt(self.d) * tf.gather(self.tokens, x) + self.positions, (b * t, self.d))
        for p in self.layers:
            h += self.attend(p, self.apply_norm(p["n1"], h), b, t, mask)
            h += self.apply_linear(p["w2"], tf.nn.relu(self.apply_linear(p["w1"], self.apply_norm(p["n2"], h))))
        logits = tf.matmul(self.apply_norm(self.final, h), self.out)
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.reshape(y, [-1]), logits))


def prepare(name, mode):
    tf.random.set_seed(1)
    layers, d, heads, f, t, b, v = SIZES[name]
    model = Decoder(layers, d, heads, f, t, v)
    moments = [(tf.Variable(tf.zeros_like(p)), tf.Variable(tf.zeros_like(p))) for p in model.parameters]
    x, y = (tf.random.uniform((b, t), 0, v, tf.int32) for _ in range(2))

    @tf.function(jit_compile=mode == "XLA")
    def train_step(number):
        with tf.GradientTape() as tape:
            loss = model.loss(x, y)
        gradients = [tf.convert_to_tensor(g) for g in tape.gradient(loss, model.parameters)]
        for p, g, (m, s) in zip(model.parameters, gradients, moments):
            m.assign(0.9 * m + 0.1 * g)
            s.assign(0.98 * s + 0.02 * g * g)
            p.assign_sub(1e-4 * (m / (1 - 0.9**number)) / (tf.sqrt(s / (1 - 0.98**number)) + 1e-9))
        return tf.stack([loss, *(tf.norm(g) for g in gradients)])

    number = tf.Variable(0.0)

    def step():
        number.assign_add(1.0)
        return train_step(number).numpy().tolist()

    return step, b * t, flop(layers, d, heads, f, t, b, v)


if __name__ == "__main__":
    Peer(f"TensorFlow {tf.__version__}", prepare, args).run()

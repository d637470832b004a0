#!/usr/bin/env python3
"""The models of normscope_cuda_bench in PyTorch on a GPU: a decoder, Pre-LN, ReLU, learned positions, Adam.

Every step reads back the loss and the gradient norm of each parameter, as the Lab does. One JSON line a row, with the
keys of normscope_cuda_bench:

    torch_cuda.py [lesson] [deep] [wide] [base] [--modes eager,reduce-overhead,max-autotune] [--seconds 2]

max-autotune runs at lesson alone unless --all-autotune is given: its search takes minutes.
"""

import argparse
import json
import math
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

SIZES = {  # layers, width, heads, feed-forward, T, B, V
    "lesson": (6, 64, 4, 256, 64, 16, 96),
    "deep": (18, 64, 4, 256, 64, 16, 96),
    "wide": (6, 256, 4, 1024, 128, 16, 256),
    "base": (6, 512, 8, 2048, 128, 32, 10000),
}


class Layer(nn.Module):
    def __init__(self, d, heads, f):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)  # one product for q, k and v: PyTorch's best
        self.w1, self.w2 = nn.Linear(d, f), nn.Linear(f, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(a.transpose(1, 2).reshape(b, t, d))
        return x + self.w2(F.relu(self.w1(self.n2(x))))


class Decoder(nn.Module):
    def __init__(self, layers, d, heads, f, t, v):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(v, d), nn.Parameter(torch.randn(t, d))
        self.layers = nn.ModuleList(Layer(d, heads, f) for _ in range(layers))
        self.final, self.out = nn.LayerNorm(d), nn.Linear(d, v, bias=False)
        self.root = math.sqrt(d)

    def forward(self, x, y):
        h = self.root * self.tokens(x) + self.positions
        for layer in self.layers:
            h = layer(h)
        return F.cross_entropy(self.out(self.final(h)).flatten(0, 1), y.flatten())


def flop(layers, d, heads, f, t, b, v):
    return 6 * (layers * (4 * d * d + 2 * d * f) + d * v) * b * t + 12 * layers * b * t * t * d


def measure(name, mode, tf32, seconds):
    layers, d, heads, f, t, b, v = SIZES[name]
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch._dynamo.reset()
    torch.manual_seed(1)
    model = Decoder(layers, d, heads, f, t, v).cuda()
    parameters = list(model.parameters())
    adam = torch.optim.Adam(parameters, lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    loss_of = model if mode == "eager" else torch.compile(model, mode=mode)
    host = torch.randint(0, v, (2, b, t)).pin_memory()
    x, y = (torch.empty(b, t, dtype=torch.long, device="cuda") for _ in range(2))

    def step():
        x.copy_(host[0], non_blocking=True)
        y.copy_(host[1], non_blocking=True)
        if mode != "eager":
            torch.compiler.cudagraph_mark_step_begin()
        loss = loss_of(x, y)
        loss.backward()
        numbers = torch.stack([loss.detach()] + torch._foreach_norm([p.grad for p in parameters]))
        adam.step()
        adam.zero_grad(set_to_none=True)
        return numbers.tolist()  # waits for the step

    before = time.perf_counter()
    for _ in range(12):
        step()
    warm = time.perf_counter() - before
    times = []
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(times) < 20:
        at = time.perf_counter()
        numbers = step()
        times.append(time.perf_counter() - at)
    median = statistics.median(times)
    return {
        "framework": "PyTorch " + torch.__version__,
        "mode": mode,
        "precision": "tf32" if tf32 else "fp32",
        "model": name,
        "ms": 1e3 * median,
        "best_ms": 1e3 * min(times),
        "tokens_per_s": b * t / median,
        "gflops": 1e-9 * flop(layers, d, heads, f, t, b, v) / median,
        "warm_up_s": warm,
        "loss": numbers[0],
        "steps": len(times),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=list(SIZES))
    parser.add_argument("--modes", default="eager,reduce-overhead,max-autotune")
    parser.add_argument("--precisions", default="fp32,tf32")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--all-autotune", action="store_true")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("there is no GPU that PyTorch can use")
    for mode in options.modes.split(","):
        for precision in options.precisions.split(","):
            for name in options.models:
                if mode == "max-autotune" and name != "lesson" and not options.all_autotune:
                    continue
                try:
                    row = measure(name, mode, precision == "tf32", options.seconds)
                except Exception as error:  # a mode that fails at one size must not hide the others
                    row = {"framework": "PyTorch", "mode": mode, "precision": precision, "model": name,
                           "error": str(error).splitlines()[0]}
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()

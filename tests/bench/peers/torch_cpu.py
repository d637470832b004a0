#!/usr/bin/env python3
"""The models of `normscope bench` in PyTorch on the CPU: a decoder, Pre-LN, ReLU, learned positions, untied output, Adam.

Every step reads back the loss and the gradient norm of each parameter, as the Lab does. One JSON line a row, with the
keys of `normscope bench --json`:

    torch_cpu.py [lesson] [deep] [wide] [base] [encdec] [--threads 2] [--modes eager,compiled] [--seconds 2]
"""

import argparse
import json
import math
import statistics
import time

import torch
import torch_encdec
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
        nn.init.normal_(self.tokens.weight, std=d**-0.5)
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


def model_of(name):
    """The model, a batch, its target tokens, and the FLOP of a step."""
    if name == "encdec":
        tokens = torch_encdec.B * torch_encdec.T
        return torch_encdec.EncoderDecoder(), torch_encdec.batch(), tokens, torch_encdec.flop()
    layers, d, heads, f, t, b, v = SIZES[name]
    batch = list(torch.randint(0, v, (2, b, t)))
    return Decoder(layers, d, heads, f, t, v), batch, b * t, flop(layers, d, heads, f, t, b, v)


def measure(name, mode, threads, seconds):
    torch.manual_seed(1)
    model, batch, tokens, work = model_of(name)
    parameters = list(model.parameters())
    adam = torch.optim.Adam(parameters, lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    loss_of = model if mode == "eager" else torch.compile(model)

    def step():
        adam.zero_grad(set_to_none=True)
        loss = loss_of(*batch)
        loss.backward()
        numbers = torch.stack([loss.detach(), *torch._foreach_norm([p.grad for p in parameters])])
        adam.step()
        return numbers.tolist()

    for _ in range(3):
        step()
    times = []
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(times) < 5:
        at = time.perf_counter()
        numbers = step()
        times.append(time.perf_counter() - at)
    assert all(math.isfinite(n) for n in numbers)
    median = statistics.median(times)
    gflop = 1e-9 * work
    return {"framework": f"PyTorch {torch.__version__}", "mode": mode, "threads": threads, "name": name,
            "tokens_per_s": tokens / median, "ms": 1e3 * median, "best_ms": 1e3 * min(times), "gflops": gflop / median,
            "best_gflops": gflop / min(times), "loss": numbers[0], "steps": len(times)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=[*SIZES, "encdec"])
    parser.add_argument("--modes", default="eager,compiled")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    for mode in args.modes.split(","):
        for name in args.models:
            try:
                row = measure(name, mode, args.threads, args.seconds)
            except Exception as error:  # a mode that fails at one size must not hide the others
                row = {"framework": f"PyTorch {torch.__version__}", "mode": mode, "name": name,
                       "error": str(error).splitlines()[0]}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The encoder-decoder of `normscope_bench encdec` in PyTorch: 6-6, d=512, 4 heads, f=1024, Pre-LN, ReLU, tied output.

A step is forward, backward, Adam, and the loss and the gradient norm of every parameter read back, as normscope does.

    torch_encdec.py [--device cpu] [--threads 2] [--steps 5] [--compile]
"""

import argparse
import json
import math
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

L, D, H, FF, T, B, V = 6, 512, 4, 1024, 64, 64, 10000


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))

    def forward(self, x, memory, causal):
        def split(y):
            return y.view(B, T, H, D // H).transpose(1, 2)

        a = F.scaled_dot_product_attention(split(self.q(x)), split(self.k(memory)), split(self.v(memory)), is_causal=causal)
        return self.o(a.transpose(1, 2).reshape(B, T, D))


class Layer(nn.Module):
    def __init__(self, decoder):
        super().__init__()
        self.attn, self.cross = Attention(), Attention() if decoder else None
        self.w1, self.w2 = nn.Linear(D, FF), nn.Linear(FF, D)
        self.norms = nn.ModuleList(nn.LayerNorm(D) for _ in range(3 if decoder else 2))

    def forward(self, x, memory=None):
        h = self.norms[0](x)
        x = x + self.attn(h, h, self.cross is not None)
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), memory, False)
        return x + self.w2(F.relu(self.w1(self.norms[-1](x))))


class EncoderDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Parameter(torch.randn(V, D) / math.sqrt(D))
        self.positions = nn.Parameter(torch.randn(T, D))
        self.encoder = nn.ModuleList(Layer(False) for _ in range(L))
        self.decoder = nn.ModuleList(Layer(True) for _ in range(L))
        self.finals = nn.ModuleList(nn.LayerNorm(D) for _ in range(2))

    def embed(self, x):
        return math.sqrt(D) * F.embedding(x, self.tokens) + self.positions

    def forward(self, source, tokens, targets):
        memory = self.embed(source)
        for layer in self.encoder:
            memory = layer(memory)
        memory = self.finals[0](memory)
        x = self.embed(tokens)
        for layer in self.decoder:
            x = layer(x, memory)
        return F.cross_entropy((self.finals[1](x) @ self.tokens.T).flatten(0, 1), targets.flatten())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    model = EncoderDecoder().to(args.device)
    loss_of = torch.compile(model) if args.compile else model
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    batch = [torch.randint(V, (B, T), device=args.device) for _ in range(3)]
    times = []
    for step in range(args.steps + 2):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(*batch)
        loss.backward()
        norms = torch.stack([p.grad.norm() for p in model.parameters()])
        optimizer.step()
        readings = torch.cat([loss.detach().view(1), norms]).tolist()
        if step >= 2:  # the first ones warm up, or compile
            times.append(time.perf_counter() - start)
        assert all(math.isfinite(r) for r in readings)
    median = statistics.median(times)
    print(json.dumps({"model": "encdec", "torch": torch.__version__, "device": args.device, "threads": args.threads,
                      "compile": args.compile, "ms": 1e3 * median, "tokens_per_s": B * T / median}))


main()

"""Builds the decoder of `normscope bench` and of normscope_cuda_bench in PyTorch for torch_cpu.py and torch_cuda.py:
Pre-LN, ReLU, learned positions, untied output."""

import math

import torch
from torch import nn
from torch.nn import functional as F


CHUNKED = hasattr(nn, "LinearCrossEntropyOptions")  # from PyTorch 2.14 on


def loss_of(states, weight, targets, chunked):
    """The head and its loss; `chunked`: in pieces, without all logits at once."""
    states, targets = states.flatten(0, 1), targets.flatten()
    if chunked:
        return F.linear_cross_entropy(states, weight, targets, options=nn.LinearCrossEntropyOptions())
    return F.cross_entropy(F.linear(states, weight), targets)


class Layer(nn.Module):
    def __init__(self, d, heads, f):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)  # one product for q, k and v is PyTorch's fastest way
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
        self.root, self.chunked = math.sqrt(d), False

    def forward(self, x, y):
        h = self.root * self.tokens(x) + self.positions
        for layer in self.layers:
            h = layer(h)
        return loss_of(self.final(h), self.out.weight, y, self.chunked)

"""The model `memory` of `normscope bench` in PyTorch: the decoder `lesson` with relative positions over a full memory of 64
(Transformer-XL, Dai et al. 2019, section 3.3 and the relative shift of appendix B). Measured by torch_cpu.py memory; its
attention alone by torch_ops.py."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from twin import SIZES

L, D, H, FF, T, B, V = SIZES["lesson"]
M = 64


def shifted(by_distance):
    """Turns (B,H,T,M+T) by distance, the largest first, into keys: row t moves to the left by T - 1 - t."""
    b, h, t, keys = by_distance.shape
    return F.pad(by_distance, (1, 0)).view(b, h, keys + 1, t)[:, :, 1:].view(b, h, t, keys)


def relative_attention(content, position, keys, values, distances, ahead):
    """Takes (B,T,D) or (B,M+T,D), but for distances (M+T,D), the largest first, and the mask; returns (B,T,D)."""
    b, t, d = content.shape
    content, position, keys, values = (x.view(b, x.shape[1], H, d // H).transpose(1, 2) for x in (content, position, keys, values))
    r = distances.view(-1, H, d // H).permute(1, 2, 0)
    scores = (content @ keys.transpose(-1, -2) + shifted(position @ r)) / math.sqrt(d // H)
    p = scores.masked_fill(ahead, -math.inf).softmax(-1)
    return (p @ values).transpose(1, 2).reshape(b, t, d)


def ahead():
    """Masks the keys that a query must not see."""
    return torch.ones(T, M + T, dtype=torch.bool).triu(M + 1)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.q, self.kv, self.o, self.r = nn.Linear(D, D), nn.Linear(D, 2 * D), nn.Linear(D, D), nn.Linear(D, D, bias=False)
        self.content, self.position = nn.Parameter(torch.zeros(D)), nn.Parameter(torch.zeros(D))
        self.w1, self.w2 = nn.Linear(D, FF), nn.Linear(FF, D)

    def forward(self, x, past, sinusoids, mask):
        known = self.n1(torch.cat([past, x], 1))
        q, (k, v) = self.q(known[:, -T:]), self.kv(known).split(D, -1)
        x = x + self.o(relative_attention(q + self.content, q + self.position, k, v, self.r(sinusoids), mask))
        return x + self.w2(F.relu(self.w1(self.n2(x))))


class Remembering(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(V, D)
        nn.init.normal_(self.tokens.weight, std=D**-0.5)
        self.layers = nn.ModuleList(Layer() for _ in range(L))
        self.final, self.out = nn.LayerNorm(D), nn.Linear(D, V, bias=False)
        angles = torch.arange(M + T - 1, -1, -1.0)[:, None] * 10000 ** (-torch.arange(0, D, 2.0) / D)
        self.register_buffer("sinusoids", torch.stack([angles.sin(), angles.cos()], -1).flatten(1))
        self.register_buffer("mask", ahead())

    def forward(self, x, y, *pasts):
        h = math.sqrt(D) * self.tokens(x)
        for layer, past in zip(self.layers, pasts):
            h = layer(h, past, self.sinusoids, self.mask)
        return F.cross_entropy(self.out(self.final(h)).flatten(0, 1), y.flatten())


def batch():
    return [*torch.randint(0, V, (2, B, T)), *torch.randn(L, B, M, D)]


def flop():
    """Counts scores as sums of two products; keys and values of the memory only have gradients of their weights."""
    attention = 18 * B * T * (T + M) * D + 8 * B * M * D * D
    return L * (6 * (4 * D * D + 2 * D * FF) * B * T + attention) + 6 * D * V * B * T

"""Builds the model `encdec` of `normscope bench` in PyTorch: 6-6, d=512, 4 heads, f=1024, Pre-LN, ReLU, tied output.

torch_cpu.py encdec measures it.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F
from torch_decoder import loss_of
from twin import ENCDEC, encdec_flop as flop

L, D, H, FF, T, B, V = ENCDEC


def heads(y, parts):
    """Splits (B,T,parts*D) into `parts` tensors (B,H,T,D/H)."""
    return y.view(B, T, parts, H, D // H).permute(2, 0, 3, 1, 4)


class Attention(nn.Module):
    def __init__(self, cross=False):
        super().__init__()
        self.cross = cross
        # As few products as possible are PyTorch's fastest way.
        self.q, self.kv, self.qkv = (nn.Linear(D, D), nn.Linear(D, 2 * D), None) if cross else (None, None, nn.Linear(D, 3 * D))
        self.o = nn.Linear(D, D)

    def forward(self, x, memory, causal):
        if self.cross:
            (q,), (k, v) = heads(self.q(x), 1), heads(self.kv(memory), 2)
        else:
            q, k, v = heads(self.qkv(x), 3)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.o(a.transpose(1, 2).reshape(B, T, D))


class Layer(nn.Module):
    def __init__(self, decoder):
        super().__init__()
        self.attn, self.cross = Attention(), Attention(cross=True) if decoder else None
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
        self.chunked = False

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
        return loss_of(self.finals[1](x), self.tokens, targets, self.chunked)


def batch():
    return [torch.randint(V, (B, T)) for _ in range(3)]

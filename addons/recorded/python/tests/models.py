"""Small models of one's own for the tests, whose names tell nothing."""
from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from normscope._probe import Probe
from normscope._stream import Analysis, Found

D, HEADS, FF, LAYERS, SYMBOLS, T = 16, 2, 32, 2, 31, 12


class Mixer(nn.Module):
    def __init__(self, d: int, heads: int) -> None:
        super().__init__()
        self.heads, self.qkv, self.back = heads, nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, d // self.heads).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        return self.back(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d))


class Cell(nn.Module):
    def __init__(self, d: int, heads: int, ff: int, place: str) -> None:
        super().__init__()
        self.place, self.p, self.r = place, nn.LayerNorm(d), nn.LayerNorm(d)
        self.alpha, self.up, self.down = Mixer(d, heads), nn.Linear(d, ff), nn.Linear(ff, d)

    def feed(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(F.gelu(self.up(x), approximate="tanh"))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.place == "res-post":
            x = x + self.p(self.alpha(x))
            return x + self.r(self.feed(x))
        if self.place == "post":
            x = self.p(x + self.alpha(x))
            return self.r(x + self.feed(x))
        x = x + self.alpha(self.p(x))
        return x + self.feed(self.r(x))


class Own(nn.Module):
    """A GPT; `place` of its norms: "pre", "post" or "res-post"."""

    def __init__(self, d: int = D, heads: int = HEADS, ff: int = FF, layers: int = LAYERS, symbols: int = SYMBOLS,
                 length: int = T, place: str = "pre") -> None:
        super().__init__()
        self.what, self.where = nn.Embedding(symbols, d), nn.Embedding(length, d)
        self.stack = nn.ModuleList(Cell(d, heads, ff, place) for _ in range(layers))
        self.last = nn.LayerNorm(d)
        self.read = nn.Linear(d, symbols, bias=False)
        self.read.weight = self.what.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.what(x) + self.where(torch.arange(x.shape[1], device=x.device))
        for cell in self.stack:
            h = cell(h)
        return self.read(self.last(h))


def loss_of(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    logits = model(x)
    return F.cross_entropy(logits[:, :-1].flatten(0, 1).float(), x[:, 1:].flatten())


def batch(step: int, rows: int = 4, symbols: int = SYMBOLS, length: int = T) -> torch.Tensor:
    return torch.randint(0, symbols, (rows, length), generator=torch.Generator().manual_seed(step))


def find(model: nn.Module, *inputs: Any, **named: Any) -> Found:
    """What is found in one forward pass."""
    probe = Probe(model, {id(p): n for n, p in model.named_parameters()}, [inputs, named])
    probe.begin()
    out = model(*inputs, **named)
    probe.end()
    if probe.failure:
        raise probe.failure
    return Analysis(probe.graph_to(out), {n: tuple(p.shape) for n, p in model.named_parameters()}).found()


def names_of(found: Found) -> list[str]:
    return [s.name if s.kind else "not recognised" for s in found.sublayers]

"""Builds the model `parser` of `normscope bench` in PyTorch for torch_cpu.py parser: an MLP over 48 features, with a
norm before each activation."""

import math

import torch
from torch import nn
from torch.nn import functional as F

L, D, FF, FEATURES, B, V, TRANSITIONS = 2, 50, 512, 48, 1024, 10000, 2 * 37 + 1


class Parser(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(V, D)
        nn.init.normal_(self.table.weight, std=D**-0.5)
        self.hidden = nn.ModuleList(nn.Linear(FEATURES * D if k == 0 else FF, FF) for k in range(L))
        self.norms = nn.ModuleList(nn.LayerNorm(FF) for _ in range(L))
        self.out = nn.Linear(FF, TRANSITIONS)

    def forward(self, features, transitions):
        x = math.sqrt(D) * self.table(features).flatten(1)
        for hidden, norm in zip(self.hidden, self.norms):
            x = F.relu(norm(hidden(x)))
        return F.cross_entropy(self.out(x), transitions)


def batch():
    return [torch.randint(V, (B, FEATURES)), torch.randint(TRANSITIONS, (B,))]


def flop():
    return 6 * B * (FEATURES * D * FF + (L - 1) * FF * FF + FF * TRANSITIONS)

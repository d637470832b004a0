"""The model `convnet` of `normscope bench` in PyTorch: two convolutions of 5 x 5 and a linear layer on images of 28 x 28,
LayerNorm over a whole image before each activation, the largest of 2 x 2 after it. Measured by torch_cpu.py convnet."""

import torch
from torch import nn
from torch.nn import functional as F

B, SIDE, CHANNELS, CLASSES = 32, 28, (1, 20, 50), 10
SIDES = ((28, 24), (12, 8))  # of what each convolution reads and writes


class Convnet(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolutions = nn.ModuleList(nn.Conv2d(CHANNELS[k], CHANNELS[k + 1], 5) for k in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm((CHANNELS[k + 1], SIDES[k][1], SIDES[k][1])) for k in range(2))
        self.pool, self.out = nn.MaxPool2d(2), nn.Linear(CHANNELS[2] * 4 * 4, CLASSES)

    def forward(self, pixels, classes):
        x = pixels[:, None].float() / 255
        for convolution, norm in zip(self.convolutions, self.norms):
            x = self.pool(F.relu(norm(convolution(x))))
        return F.cross_entropy(self.out(x.flatten(1)), classes)


def batch():
    return [torch.randint(256, (B, SIDE, SIDE)), torch.randint(CLASSES, (B,))]


def flop():
    """Counts no gradient of the image, because nobody asks for one."""
    products = [2 * (25 * CHANNELS[k]) * CHANNELS[k + 1] * SIDES[k][1] ** 2 for k in range(2)]
    return B * (2 * products[0] + 3 * products[1] + 6 * CHANNELS[2] * 4 * 4 * CLASSES)

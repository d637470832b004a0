#!/usr/bin/env python3
"""Ops of `normscope bench --ops` in PyTorch on the CPU, each alone: those of its rows "images" and "memory".

Images: convolutions of 5 x 5, 1 to 20 and 20 to 50 channels, and the largest of 2 x 2, at batch 32 and images of 28 x
28, both forward and both backward (the first convolution has no gradient of its image, like ours). Memory: relative
attention and concatenation of two layers of torch_memory.py. Each row is one JSON line with our keys:

    torch_ops.py [--threads 2] [--seconds 2]

`torch_cpu.py --ops` prints the same rows after its own.
"""

import argparse
import json
import statistics
import time

import torch
import torch_memory
from torch import nn
from torch_convnet import B as IMAGES, CHANNELS, SIDES


def median_ms(action, seconds):
    action()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def timed(make, inputs, seconds):
    """Returns the milliseconds of one op forward and backward."""
    parameters = [x for x in inputs if x.requires_grad]
    forward = median_ms(make, seconds)
    out = make()
    cotangent = torch.ones_like(out)
    return forward, median_ms(lambda: torch.autograd.grad(out, parameters, cotangent, retain_graph=True), seconds)


def image(channels, side, layout, gradient):
    x = torch.randn(IMAGES, channels, side, side)
    if layout == "nhwc":
        x = x.to(memory_format=torch.channels_last)
    return x.requires_grad_(gradient)


def convolutions(layout, seconds):
    for k, (side, _) in enumerate(SIDES):
        x, op = image(CHANNELS[k], side, layout, k > 0), nn.Conv2d(CHANNELS[k], CHANNELS[k + 1], 5)
        if layout == "nhwc":
            op = op.to(memory_format=torch.channels_last)
        yield timed(lambda: op(x), [x, *op.parameters()], seconds)


def pools(layout, seconds):
    for k, (_, side) in enumerate(SIDES):
        x, op = image(CHANNELS[k + 1], side, layout, True), nn.MaxPool2d(2)
        yield timed(lambda: op(x), [x], seconds)


def states(positions):
    return torch.randn(torch_memory.B, positions, torch_memory.D, requires_grad=True)


def relative_attentions(_, seconds):
    T, M, mask = torch_memory.T, torch_memory.M, torch_memory.ahead()
    for _ in range(2):  # the two layers
        x = [states(T), states(T), states(M + T), states(M + T), torch.randn(M + T, torch_memory.D, requires_grad=True)]
        yield timed(lambda: torch_memory.relative_attention(*x, mask), x, seconds)


def concatenations(_, seconds):
    for _ in range(4):  # the keys and values of two layers
        x = [states(torch_memory.M), states(torch_memory.T)]
        yield timed(lambda: torch.cat(x, 1), x, seconds)


def print_rows(threads, seconds):
    torch.set_num_threads(threads)
    for size, modes, op, measure in (("images", ("nchw", "nhwc"), "conv2d", convolutions), ("images", ("nchw", "nhwc"), "max_pool", pools),
                                     ("memory", ("eager",), "relative_attention", relative_attentions),
                                     ("memory", ("eager",), "concat", concatenations)):
        for mode in modes:
            for phase, times in zip(("forward", "backward"), zip(*measure(mode, seconds))):
                print(json.dumps({"framework": f"PyTorch {torch.__version__}", "mode": mode, "size": size, "op": op, "phase": phase,
                                  "threads": threads, "count": len(times), "ms": sum(times)}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2)
    args = parser.parse_args()
    print_rows(args.threads, args.seconds)


if __name__ == "__main__":
    main()

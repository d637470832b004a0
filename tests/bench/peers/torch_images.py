#!/usr/bin/env python3
"""The convolutions of `normscope bench --ops`, rows "images", in PyTorch on the CPU: batch 32, images of 28 x 28.

The largest of 2 x 2 and convolutions of 5 x 5, 1 to 20 and 20 to 50 channels, each alone: both of them forward, and both
backward (the first convolution has no gradient of its image, as ours). One JSON line a row, with the keys of ours:

    torch_images.py [--threads 2] [--seconds 2] [--layout nchw,nhwc]
"""

import argparse
import json
import statistics
import time

import torch
import torch.nn.functional as F

BATCH = 32
CONVOLUTIONS = [(1, 28, 20), (20, 12, 50)]  # channels and side of what is read, channels that are written
POOLS = [(20, 24), (50, 8)]


def median_ms(action, seconds):
    action()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def tensor(channels, side, layout, gradient):
    x = torch.randn(BATCH, channels, side, side)
    if layout == "nhwc":
        x = x.to(memory_format=torch.channels_last)
    return x.requires_grad_(gradient)


def timed(make, parameters, seconds):
    """Milliseconds of one op forward and backward."""
    forward = median_ms(make, seconds)
    out = make()
    cotangent = torch.ones_like(out)

    def backward():
        torch.autograd.grad(out, parameters, cotangent, retain_graph=True)

    return forward, median_ms(backward, seconds)


def convolutions(layout, seconds):
    sums = [0.0, 0.0]
    for channels, side, written in CONVOLUTIONS:
        x = tensor(channels, side, layout, channels > 1)
        w, b = (torch.randn(shape, requires_grad=True) for shape in ((written, channels, 5, 5), (written,)))
        parameters = [w, b] + ([x] if x.requires_grad else [])
        for phase, ms in enumerate(timed(lambda: F.conv2d(x, w, b), parameters, seconds)):
            sums[phase] += ms
    return sums


def pools(layout, seconds):
    sums = [0.0, 0.0]
    for channels, side in POOLS:
        x = tensor(channels, side, layout, True)
        for phase, ms in enumerate(timed(lambda: F.max_pool2d(x, 2), [x], seconds)):
            sums[phase] += ms
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--layout", default="nchw,nhwc")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    for layout in args.layout.split(","):
        for op, measure in (("conv2d", convolutions), ("max_pool", pools)):
            for phase, ms in zip(("forward", "backward"), measure(layout, args.seconds)):
                print(json.dumps({"framework": f"PyTorch {torch.__version__}", "mode": layout, "size": "images", "op": op,
                                  "phase": phase, "threads": args.threads, "ms": ms}), flush=True)


if __name__ == "__main__":
    main()

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
from torch_decoder import SIZES, Decoder, flop


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

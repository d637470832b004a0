#!/usr/bin/env python3
"""The models of normscope_cuda_bench in PyTorch on a GPU: a decoder, Pre-LN, ReLU, learned positions, Adam.

Every step reads back the loss and the gradient norm of each parameter, as the Lab does. Each row is one JSON line with
the keys of normscope_cuda_bench:

    torch_cuda.py [lesson] [deep] [wide] [base] [--modes eager,reduce-overhead,max-autotune] [--seconds 2]

max-autotune runs at lesson alone unless --all-autotune is given: its search takes minutes.
"""

import argparse
import json
import statistics
import sys
import time

import torch
from torch_decoder import Decoder
from twin import SIZES, flop


def measure(name, mode, tf32, seconds):
    layers, d, heads, f, t, b, v = SIZES[name]
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch._dynamo.reset()
    torch.manual_seed(1)
    model = Decoder(layers, d, heads, f, t, v).cuda()
    parameters = list(model.parameters())
    adam = torch.optim.Adam(parameters, lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    loss_of = model if mode == "eager" else torch.compile(model, mode=mode)
    host = torch.randint(0, v, (2, b, t)).pin_memory()
    x, y = (torch.empty(b, t, dtype=torch.long, device="cuda") for _ in range(2))

    def step():
        x.copy_(host[0], non_blocking=True)
        y.copy_(host[1], non_blocking=True)
        if mode != "eager":
            torch.compiler.cudagraph_mark_step_begin()
        loss = loss_of(x, y)
        loss.backward()
        numbers = torch.stack([loss.detach(), *torch._foreach_norm([p.grad for p in parameters])])
        adam.step()
        adam.zero_grad(set_to_none=True)
        return numbers.tolist()  # waits for the step

    before = time.perf_counter()
    for _ in range(12):
        step()
    warm = time.perf_counter() - before
    times = []
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(times) < 20:
        at = time.perf_counter()
        numbers = step()
        times.append(time.perf_counter() - at)
    median = statistics.median(times)
    return {
        "framework": "PyTorch " + torch.__version__,
        "mode": mode,
        "precision": "tf32" if tf32 else "fp32",
        "model": name,
        "ms": 1e3 * median,
        "best_ms": 1e3 * min(times),
        "tokens_per_s": b * t / median,
        "gflops": 1e-9 * flop(layers, d, heads, f, t, b, v) / median,
        "warm_up_s": warm,
        "loss": numbers[0],
        "steps": len(times),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=["lesson", "deep", "wide", "base"])
    parser.add_argument("--modes", default="eager,reduce-overhead,max-autotune")
    parser.add_argument("--precisions", default="fp32,tf32")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--all-autotune", action="store_true")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("there is no GPU that PyTorch can use")
    for mode in options.modes.split(","):
        for precision in options.precisions.split(","):
            for name in options.models:
                if mode == "max-autotune" and name != "lesson" and not options.all_autotune:
                    continue
                try:
                    row = measure(name, mode, precision == "tf32", options.seconds)
                except Exception as error:  # so that a mode which fails at one size does not hide the others
                    row = {"framework": "PyTorch", "mode": mode, "precision": precision, "model": name,
                           "error": str(error).splitlines()[0]}
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures a text of 64 tokens through a published folder, normscope and PyTorch in turn, on two threads each.

    torch_inspect.py FOLDER [--rounds 5] [--tests build/release/tests/normscope_training_tests]

A pass forward alone, and one forward and backward with the norm of every matrix's gradient. Each round starts both as
processes of their own, and each gives the median of seven passes after one that warms up. Printed are the medians over
the rounds, and the median of PyTorch's time over ours just before. It needs torch and transformers; the weights of the
folder may be random.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

TOKENS = 64


def medians(model, ids):
    import torch

    def timed(work):
        times = []
        for i in range(8):
            begin = time.perf_counter()
            work()
            if i:
                times.append(1e3 * (time.perf_counter() - begin))
        return statistics.median(times)

    def forward():
        with torch.no_grad():
            model(ids, labels=ids)

    def gradients():
        model.zero_grad(set_to_none=True)
        model(ids, labels=ids).loss.backward()
        matrices = [p.grad for p in model.parameters() if p.dim() == 2]
        torch.stack(torch._foreach_norm(matrices)).tolist()

    return {"forward_ms": timed(forward), "gradients_ms": timed(gradients)}


def torch_once(folder):
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    import transformers

    torch.set_num_threads(2)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    vocabulary = model.config.vocab_size
    ids = torch.tensor([[i * 97 % vocabulary for i in range(TOKENS)]])
    print(json.dumps(medians(model, ids)))


def last_json(command, **environment):
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tests", default="build/release/tests/normscope_training_tests")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.once:
        return torch_once(args.folder)
    ours, theirs = [], []
    for _ in range(args.rounds):
        ours.append(last_json([args.tests, "look: the time of a text*"], NORMSCOPE_FOLDER=args.folder))
        theirs.append(last_json([sys.executable, __file__, args.folder, "--once"]))
    for key in ("forward_ms", "gradients_ms"):
        ratio = statistics.median(b[key] / a[key] for a, b in zip(ours, theirs))
        print(f"{key:14} normscope {statistics.median(a[key] for a in ours):8.1f}   PyTorch "
              f"{statistics.median(b[key] for b in theirs):8.1f}   PyTorch over normscope {ratio:.2f}")


if __name__ == "__main__":
    main()

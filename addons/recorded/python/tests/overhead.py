"""What recording costs: processor time of steps of a GPT (8 rows) with and without it, in turns of a few.

    python overhead.py [ROUNDS] [STEPS A TURN] [STREAM_EVERY] [WIDTH] [LAYERS] [LENGTH]
"""
from __future__ import annotations

import os
import statistics
import sys
import time

import torch

import models
import normscope


def main(rounds: int = 6, turn: int = 2, stream_every: int = 1, width: int = 512, layers: int = 6,
         length: int = 128) -> None:
    torch.set_num_threads(1)
    sides = []
    for watched in (False, True):
        torch.manual_seed(1)
        model = models.Own(d=width, heads=8, ff=4 * width, layers=layers, symbols=1000, length=length)
        adam = torch.optim.AdamW(model.parameters(), lr=1e-4)
        sides.append((model, adam, watched))
    times: list[list[float]] = [[], []]
    recording = normscope.watch(sides[1][0], sides[1][1], os.devnull, stream_every=stream_every)
    for i in range(rounds + 1):
        for side, (model, adam, _) in enumerate(sides):
            for step in range(turn):
                rows = models.batch(step, rows=8, symbols=1000, length=length)
                start = time.process_time()
                adam.zero_grad()
                models.loss_of(model, rows).backward()
                adam.step()
                if i:  # the first turn has the probe
                    times[side].append(time.process_time() - start)
    recording.close()
    without, with_it = map(statistics.median, times)
    turns = [sum(times[1][i:i + turn]) / sum(times[0][i:i + turn]) for i in range(0, len(times[0]), turn)]
    print(f"without {without * 1e3:.1f} ms, with {with_it * 1e3:.1f} ms a step, ratio of medians {with_it / without:.4f}, "
          f"median of turns {statistics.median(turns):.4f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

#!/usr/bin/env python3
"""Measures how long a sweep takes, beside the same cells one after another.

    addons/bench/sweep_speed.py [PROGRAM] [--steps 150] [--repeats 3]

The cells are seven learning rates by six warm-ups of the default Post-LN run, as in the sweep `warmup`, without a
store. Three ways take turns, so that a change of the machine's speed shows, and the fastest of --repeats counts:

    side by side         normscope sweep: whole runs next to each other, a thread each
    one after another    normscope sweep --threads 1: the same on one thread
    threads inside       42 calls of normscope train, each on all cores; what starting the program takes is measured
                         with a run of one step and taken off

Prints a table, or with --json one object.
"""

import argparse
import json
import os
import subprocess
import time

RATES = ["0.0003", "0.00065", "0.0014", "0.003", "0.0065", "0.014", "0.03"]
WARMUPS = ["0", "10", "25", "50", "100", "200"]


def seconds(arguments):
    begin = time.monotonic()
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def sweep(program, steps, *more):
    axes = ["--axis", "train.lr=" + ",".join(RATES), "--axis", "train.warmup=" + ",".join(WARMUPS)]
    return seconds([program, "sweep", *axes, "--steps", str(steps), "--store", "none", *more])


def train(program, steps, rate, warmup):
    values = ["--set", "train.lr=" + rate, "--set", "train.warmup=" + warmup]
    no_validation = ["--validate-every", "10000000"]
    return seconds([program, "train", "--preset", "post", *values, "--steps", str(steps), *no_validation])


def inside(program, steps):
    start = min(train(program, 1, RATES[0], WARMUPS[0]) for _ in range(3))
    return sum(train(program, steps, rate, warmup) - start for warmup in WARMUPS for rate in RATES)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default="build/release/normscope")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    ways = {
        "side by side": lambda: sweep(options.program, options.steps),
        "one after another": lambda: sweep(options.program, options.steps, "--threads", "1"),
        "threads inside": lambda: inside(options.program, options.steps),
    }
    times = {name: [] for name in ways}
    for _ in range(options.repeats):
        for name, way in ways.items():
            times[name].append(way())
    best = {name: min(all_times) for name, all_times in times.items()}
    if options.json:
        print(json.dumps({"steps": options.steps, "cells": len(RATES) * len(WARMUPS), "processors": os.cpu_count(),
                          "seconds": times}))
        return
    print(f"{len(RATES) * len(WARMUPS)} cells of {options.steps} steps, {os.cpu_count()} processors")
    for name, fastest in best.items():
        print(f"  {name:<20}{fastest:8.1f} s   {fastest / best['side by side']:5.2f} of side by side"
              f"   (slowest {max(times[name]):.1f} s)")


if __name__ == "__main__":
    main()

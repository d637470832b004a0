#!/usr/bin/env python3
"""Measures normscope and its peers in turn, because on a machine of changing speed only neighbours in time compare.

    turns.py [lesson] [deep] ... [--peers torch,tensorflow,jax] [--rounds 3] [--seconds 1] [--threads 2] [--program build/release/normscope]

All programs stay open with their models compiled. A round goes through the models; at each, every mode of every peer is
measured right after normscope. The first round only compiles and warms up. At the end each row is one JSON line:
medians over the rounds, and for a peer `ours_ahead`, the median of its time over ours just before.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

TRANSFORMERS = ["lesson", "deep", "wide", "base"]
PEERS = {  # the script, and the models of each mode
    "torch": ("torch_cpu.py", dict.fromkeys(["eager", "compiled"], [*TRANSFORMERS, "encdec", "memory", "convnet", "parser"]) |
              {"chunked": ["base", "encdec"]}),
    "tensorflow": ("tensorflow_cpu.py", dict.fromkeys(["graph", "XLA"], TRANSFORMERS)),
    "jax": ("jax_cpu.py", {"jitted": [*TRANSFORMERS, "encdec"]}),
}
MODELS = PEERS["torch"][1]["eager"]


class Program:
    """Runs a program that answers each line with a line of JSON."""

    def __init__(self, *command):
        self.command = command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            sys.exit(f"turns.py: {' '.join(map(str, self.command))} ended at '{line}'")
        return json.loads(answer)


def merged(rows, **more):
    """Makes one row of several: medians, and for `best_` keys the best of all."""
    one = dict(rows[-1], rounds=len(rows), **more)
    for key, best in (("ms", statistics.median), ("tokens_per_s", statistics.median), ("gflops", statistics.median),
                      ("best_ms", min), ("best_gflops", max)):
        if key in one:
            one[key] = best([row[key] for row in rows])
    return one


def play(ours, peers, models, rounds):
    """Returns our rows by model, and (ours before, theirs) by model, peer and mode; it never repeats a failed mode."""
    own, pairs, failed = {}, {}, {}
    for turn in range(rounds + 1):
        print(f"turns.py: {f'round {turn} of {rounds}' if turn else 'compiling'}", file=sys.stderr, flush=True)
        own.setdefault("sgemm", []).append(ours.ask("sgemm"))
        for model in models:
            for peer, program in peers.items():
                for mode in (mode for mode, names in PEERS[peer][1].items() if model in names):
                    if (key := (model, peer, mode)) in failed:
                        continue
                    before, row = ours.ask(model), program.ask(f"{mode} {model}")
                    if "error" in row:
                        failed[key] = row
                    elif turn:
                        own.setdefault(model, []).append(before)
                        pairs.setdefault(key, []).append((before, row))
    return own, pairs, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1, help="a measurement")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--program", default="build/release/normscope")
    args = parser.parse_args()
    for name in args.models:
        if name not in MODELS:
            parser.error(f"{name}: expected one of {', '.join(MODELS)}")
    if args.rounds < 1:
        parser.error("--rounds: expected at least 1")
    here = pathlib.Path(__file__).parent
    clock = ["--threads", str(args.threads)]
    ours = Program(args.program, "bench", "--turns", "--budget", str(args.seconds / 4), *clock)
    peers = {peer: Program(sys.executable, here / PEERS[peer][0], "--turns", "--seconds", str(args.seconds), *clock)
             for peer in filter(None, args.peers.split(","))}
    own, pairs, failed = play(ours, peers, args.models, args.rounds)
    rows = [merged(rows) for rows in own.values()]
    for key in sorted(pairs, key=lambda key: (list(peers).index(key[1]), key[2] not in ("eager", "graph"))):
        ahead = statistics.median(row["ms"] / before["ms"] for before, row in pairs[key])
        rows.append(merged([row for _, row in pairs[key]], ours_ahead=ahead))
    for row in [*rows, *failed.values()]:
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()

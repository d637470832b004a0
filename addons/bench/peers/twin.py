"""Holds what the twins of `normscope bench`'s models share: sizes, the FLOP of a step, the clock, and how to ask."""

import json
import math
import statistics
import sys
import time

SIZES = {  # layers, width, heads, feed-forward, T, B, V
    "micro16": (1, 16, 4, 64, 16, 16, 27),
    "micro32": (1, 32, 4, 128, 16, 16, 27),
    "micro64": (1, 64, 4, 256, 16, 16, 27),
    "lesson": (6, 64, 4, 256, 64, 16, 96),
    "deep": (18, 64, 4, 256, 64, 16, 96),
    "wide": (6, 256, 4, 1024, 128, 16, 256),
    "base": (6, 512, 8, 2048, 128, 32, 10000),
}

ENCDEC = (6, 512, 4, 1024, 64, 64, 10000)  # the same, of an encoder and a decoder with as many layers each


def encdec_flop():
    layers, d, _, f, t, b, v = ENCDEC
    encoder = layers * (6 * (4 * d * d + 2 * d * f) * b * t + 12 * b * t * t * d)
    decoder = layers * (6 * (8 * d * d + 2 * d * f) * b * t + 24 * b * t * t * d)
    return encoder + decoder + 6 * d * v * b * t


def flop(layers, d, heads, f, t, b, v):
    return 6 * (layers * (4 * d * d + 2 * d * f) + d * v) * b * t + 12 * layers * b * t * t * d


def measure(step, seconds, warm=3, least=5):
    """Times step(), which returns the loss and the gradients' norms as numbers, after `warm` untimed steps."""
    for _ in range(warm):
        step()
    times = []
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(times) < least:
        at = time.perf_counter()
        numbers = step()
        times.append(time.perf_counter() - at)
    assert all(math.isfinite(n) for n in numbers)
    return times, numbers[0]


def add_arguments(parser, names, modes):
    parser.add_argument("models", nargs="*", default=names)
    parser.add_argument("--modes", default=modes)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--turns", action="store_true", help="measure each 'MODE MODEL' that standard input names, as turns.py does")


class Peer:
    """Measures the models of a framework; `prepare(name, mode)` returns a step, its target tokens and its FLOP."""

    def __init__(self, framework, prepare, args):
        self.framework, self.prepare, self.args, self.ready = framework, prepare, args, {}

    def row(self, name, mode):
        """Measures a model; one that was measured before is still compiled and warm."""
        key, result = (name, mode), {"framework": self.framework, "mode": mode, "threads": self.args.threads, "name": name}
        try:
            warm, least = 3, 5
            if self.args.turns:  # the first turn only compiles
                warm, least = (1, 3) if key in self.ready else (2, 1)
            step, tokens, work = prepared = self.ready.get(key) or self.prepare(name, mode)
            if self.args.turns:
                self.ready[key] = prepared
            times, loss = measure(step, self.args.seconds, warm, least)
        except Exception as error:  # so that a mode which fails at one size does not hide the others
            return {**result, "error": str(error).splitlines()[0]}
        median, gflop = statistics.median(times), 1e-9 * work
        return {**result, "tokens_per_s": tokens / median, "ms": 1e3 * median, "best_ms": 1e3 * min(times),
                "gflops": gflop / median, "best_gflops": gflop / min(times), "loss": loss, "steps": len(times)}

    def run(self):
        asked = (line.split() for line in sys.stdin) if self.args.turns else (
            (mode, name) for mode in filter(None, self.args.modes.split(",")) for name in self.args.models)
        for mode, name in asked:
            print(json.dumps(self.row(name, mode)), flush=True)

"""What the twins of `normscope bench`'s models share: their sizes, the FLOP of a step, the clock, and the row of a result."""

import math
import statistics
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


def flop(layers, d, heads, f, t, b, v):
    return 6 * (layers * (4 * d * d + 2 * d * f) + d * v) * b * t + 12 * layers * b * t * t * d


def measure(step, seconds, least=5):
    """Times of step(), which returns the loss and the gradients' norms as numbers, after three to compile and warm up."""
    for _ in range(3):
        step()
    times = []
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(times) < least:
        at = time.perf_counter()
        numbers = step()
        times.append(time.perf_counter() - at)
    assert all(math.isfinite(n) for n in numbers)
    return times, numbers[0]


def row(framework, mode, name, threads, tokens, work, times, loss):
    median, gflop = statistics.median(times), 1e-9 * work
    return {"framework": framework, "mode": mode, "threads": threads, "name": name, "tokens_per_s": tokens / median,
            "ms": 1e3 * median, "best_ms": 1e3 * min(times), "gflops": gflop / median, "best_gflops": gflop / min(times),
            "loss": loss, "steps": len(times)}

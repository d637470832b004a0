#!/usr/bin/env python3
"""What the open window costs: its start, its training beside headless training, its frames, its rest.

    make bench-window [ARGS="--seconds 60"]

Opens the window under Xvfb (software OpenGL, 1600x1000) with the hero comparison, untouched, in safe mode, and reads
its frame log. All figures of one run; headless training is measured before and after the window, so that a machine
that changes its mind shows. Prints a table, or with --json one object.
"""

import argparse
import csv
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

STEPS = 100_000  # a budget that the window does not reach


def headless_rate(program, seconds):
    """Steps a second of the same three runs without a window: the longer run minus the shorter one."""

    def wall(steps):
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            subprocess.run(
                [program, "compare", "--seeds", "1", "--steps", str(steps), "--out", folder],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            return time.monotonic() - begin

    short, trial = 100, 400
    per_step = (wall(trial) - wall(short)) / (trial - short)
    steps = max(trial, int(seconds / per_step))
    return (steps - short) / (wall(steps) - wall(short))


def process_cpu(pid):
    """Seconds of processor time of a process so far."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Window:
    """The program under Xvfb, with its frame log."""

    def __init__(self, program, display, folder, arguments):
        self.log = os.path.join(folder, "frames.csv")
        environment = dict(os.environ, DISPLAY=display, LIBGL_ALWAYS_SOFTWARE="1")
        self.begin = time.monotonic()
        self.process = subprocess.Popen(
            [program, "--window", "--safe-mode", "--frame-log", self.log, *arguments],
            env=environment,
            stdout=subprocess.DEVNULL,
        )

    def frames(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log) as file:
            return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def rate(frames):
    first, last = frames[0], frames[-1]
    return (last["step"] - first["step"]) / (last["clock_s"] - first["clock_s"])


def measure(program, display, seconds):
    result = {"headless_steps_per_s": [headless_rate(program, seconds / 4)]}
    with tempfile.TemporaryDirectory() as folder:
        window = Window(program, display, folder, ["--steps", str(STEPS)])
        time.sleep(seconds + 5)
        frames = window.frames()
        window.close()
    if len(frames) < 2:
        sys.exit("window.py: the window drew nothing")
    first = next(f for f in frames if f["step"] >= 1)
    steady = [f for f in frames if f["clock_s"] > first["clock_s"] + 5]
    build = sorted(f["build_ms"] for f in steady)
    result.update(
        start_to_first_frame_s=frames[0]["clock_s"] - window.begin,
        start_to_first_step_s=first["clock_s"] - window.begin,  # of the first frame that shows one: an upper bound
        window_steps_per_s=rate(steady),
        frames_per_s=(len(steady) - 1) / (steady[-1]["clock_s"] - steady[0]["clock_s"]),
        build_ms_median=statistics.median(build),
        build_ms_p99=build[int(0.99 * (len(build) - 1))],
        build_ms_worst=build[-1],
        draw_ms_median=statistics.median(f["draw_ms"] for f in steady),
        vertices=int(max(f["vertices"] for f in steady)),
    )
    result["headless_steps_per_s"].append(headless_rate(program, seconds / 4))
    result["window_over_headless"] = result["window_steps_per_s"] / statistics.mean(result["headless_steps_per_s"])

    with tempfile.TemporaryDirectory() as folder:  # at rest: the budget of the three runs is spent
        window = Window(program, display, folder, ["--steps", "20"])
        time.sleep(8)
        cpu, begin = process_cpu(window.process.pid), time.monotonic()
        time.sleep(20)
        result["rest_percent_of_a_core"] = 100 * (process_cpu(window.process.pid) - cpu) / (time.monotonic() - begin)
        window.close()
    return result


def show(result):
    before, after = result["headless_steps_per_s"]
    print(f"start to first frame     {result['start_to_first_frame_s']:8.2f} s")
    print(f"start to first step      {result['start_to_first_step_s']:8.2f} s   (seen in a frame)")
    print(f"training, headless       {before:8.1f} steps/s before, {after:.1f} after")
    print(f"training, window open    {result['window_steps_per_s']:8.1f} steps/s, {result['window_over_headless']:.2f} of headless")
    print(f"frames                   {result['frames_per_s']:8.1f} a second, {result['vertices']} vertices")
    print(
        f"building a frame         {result['build_ms_median']:8.2f} ms median, {result['build_ms_p99']:.2f} at 99 %, "
        f"{result['build_ms_worst']:.2f} worst (wall time, beside the training)"
    )
    print(f"drawing it in software   {result['draw_ms_median']:8.1f} ms median (wall time)")
    print(f"at rest                  {result['rest_percent_of_a_core']:8.2f} % of a core")


def free_display():
    number = 90
    while os.path.exists(f"/tmp/.X11-unix/X{number}") or os.path.exists(f"/tmp/.X{number}-lock"):
        number += 1
    return f":{number}"


def main():
    parser = argparse.ArgumentParser(description="What the open window costs.")
    parser.add_argument("--program", default="build/release/normscope")
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    display = free_display()
    try:
        server = subprocess.Popen(
            ["Xvfb", display, "-screen", "0", "1600x1000x24"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except FileNotFoundError:
        sys.exit("window.py: Xvfb is not installed (Debian: xvfb, libgl1-mesa-dri)")
    time.sleep(1)
    try:
        result = measure(arguments.program, display, arguments.seconds)
    finally:
        server.terminate()
        server.wait()
    print(json.dumps(result)) if arguments.json else show(result)


if __name__ == "__main__":
    main()

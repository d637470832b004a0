#!/usr/bin/env python3
"""Measures what the open window costs: its start, its training beside headless training, its frames, its rest.

    make bench-window [ARGS="--seconds 60 --screen compare"]

Opens the window under Xvfb (software OpenGL, 1600x1000) with the default comparison, untouched, in safe mode, on the
Lab or another screen, and reads its frame log. Then a hand hovers and drags (xdotool), and --minutes later the memory
is read. --instant measures small runs, which every change trains anew, instead: from a movement of the hand on a setting
to the first frame with its runs, with three seeds and five; frames while the hand drags; the processor at rest. All
figures are of one run; headless training is measured before and after the window, so that a change of the
machine's speed shows. --beside N keeps N processes of the same session busy, which shows what the window's training
gets beside others. Prints a table, or with --json one object.
"""

import argparse
import csv
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

STEPS = 100_000  # a budget that the window does not reach
SCREENS = ["lab", "lessons", "compare", "sweep", "tape"]
DRAGGED = (900, 640)  # within a plot
RATE_FIELD = (262, 452, 784)  # of the learning rate in the Lab's settings: left, right, height


def headless_rate(program, seconds):
    """Returns the steps a second of the same three runs without a window: the longer run minus the shorter one."""

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
    """Returns the seconds of processor time that a process has used so far."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid):
    """Returns the resident memory of a process, and the part of it that no file backs."""
    with open(f"/proc/{pid}/status") as file:
        kb = dict(line.split(":", 1) for line in file)
    return [int(kb[key].split()[0]) / 1000 for key in ("VmRSS", "RssAnon")]


class Hand:
    """Moves the mouse by itself. An event counts from before xdotool is started."""

    def __init__(self, display):
        self.environment = dict(os.environ, DISPLAY=display)
        self.random = random.Random(1)

    def do(self, *words):
        subprocess.run(["xdotool", *map(str, words)], env=self.environment, check=True)

    def move(self, count):
        """Moves to places all over the window, a tenth to a quarter of a second apart, and returns the time of each."""
        sent = []
        for _ in range(count):
            time.sleep(self.random.uniform(0.1, 0.25))
            sent.append(time.monotonic())
            self.do("mousemove", self.random.randint(20, 1580), self.random.randint(60, 980))
        time.sleep(1)
        return sent


def answers_ms(sent, frames):
    """Returns the times from each event to the end of the first frame that began after it."""
    begun = [(f["clock_s"] - (f["build_ms"] + f["draw_ms"]) / 1e3, f["clock_s"]) for f in frames]
    return [1e3 * (next(end for begin, end in begun if begin >= t) - t) for t in sent]


class Window:
    """Runs the program under Xvfb with its frame log."""

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


def measure_hand(window, display):
    hand, result = Hand(display), {}
    for name, held in (("hover", False), ("drag", True)):
        if held:  # holds the curve of a panel
            hand.do("mousemove", *DRAGGED, "mousedown", "1")
        sent = hand.move(100)
        if held:
            hand.do("mouseup", "1")
        answers = sorted(answers_ms(sent, window.frames()))
        result[f"{name}_ms_median"] = statistics.median(answers)
        result[f"{name}_ms_p90"] = answers[int(0.9 * (len(answers) - 1))]
    return result


def measure(program, display, seconds, minutes, screen):
    result = {"headless_steps_per_s": [headless_rate(program, seconds / 4)]}
    with tempfile.TemporaryDirectory() as folder:
        window = Window(program, display, folder, ["--steps", str(STEPS)])
        time.sleep(5)
        Hand(display).do("key", str(1 + SCREENS.index(screen)))
        time.sleep(seconds)
        frames = window.frames()
        hand = measure_hand(window, display)
        time.sleep(max(0.0, 60 * minutes - (time.monotonic() - window.begin)))
        memory = memory_mb(window.process.pid)
        minutes_open = (time.monotonic() - window.begin) / 60
        steps_then = window.frames()[-1]["step"]
        window.close()
    if len(frames) < 2:
        sys.exit("window.py: the window drew nothing")
    first = next(f for f in frames if f["step"] >= 1)
    steady = [f for f in frames if f["clock_s"] > first["clock_s"] + 5]
    build = sorted(f["build_ms"] for f in steady)
    result.update(
        start_to_first_frame_s=frames[0]["clock_s"] - window.begin,
        start_to_first_step_s=first["clock_s"] - window.begin,  # an upper bound, from the first frame that shows a step
        window_steps_per_s=rate(steady),
        frames_per_s=(len(steady) - 1) / (steady[-1]["clock_s"] - steady[0]["clock_s"]),
        build_ms_median=statistics.median(build),
        build_ms_p99=build[int(0.99 * (len(build) - 1))],
        build_ms_worst=build[-1],
        draw_ms_median=statistics.median(f["draw_ms"] for f in steady),
        vertices=int(max(f["vertices"] for f in steady)),
    )
    result.update(hand, memory_mb=memory[0], memory_anonymous_mb=memory[1], memory_after_min=minutes_open)
    result["memory_at_step"] = int(steps_then)
    result["headless_steps_per_s"].append(headless_rate(program, seconds / 4))
    result["window_over_headless"] = result["window_steps_per_s"] / statistics.mean(result["headless_steps_per_s"])

    with tempfile.TemporaryDirectory() as folder:  # the window rests, because the budget of the three runs is spent
        window = Window(program, display, folder, ["--steps", "20"])
        time.sleep(8)
        cpu, begin = process_cpu(window.process.pid), time.monotonic()
        time.sleep(20)
        result["rest_percent_of_a_core"] = 100 * (process_cpu(window.process.pid) - cpu) / (time.monotonic() - begin)
        window.close()
    return result


PAUSE = 4  # seconds after each movement


def appearance_ms(frames, sent, seeds):
    """Returns the time from an event to the end of the first frame that shows its runs with so many seeds.

    None: no frame showed that they were missing, because the program knew them.
    """
    later = [f for f in frames if sent <= f["clock_s"] - (f["build_ms"] + f["draw_ms"]) / 1e3 < sent + PAUSE]
    missing = next((i for i, f in enumerate(later) if f["seeds"] == 0), None)
    if missing is None:
        return None
    return next((1e3 * (f["clock_s"] - sent) for f in later[missing:] if f["seeds"] >= seeds), None)


def measure_instant(program, display, movements):
    """Lets a hand move the learning rate of small runs, one movement at a time and then without a pause."""
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        window = Window(program, display, folder, ["--instant"])
        time.sleep(8)
        cpu, begin = process_cpu(window.process.pid), time.monotonic()
        time.sleep(10)
        result["rest_percent_of_a_core"] = 100 * (process_cpu(window.process.pid) - cpu) / (time.monotonic() - begin)
        hand = Hand(display)
        left, right, y = RATE_FIELD
        x = (left + right) // 2
        hand.do("mousemove", x, y, "mousedown", "1")
        sent = []
        for _ in range(movements):
            time.sleep(PAUSE)
            x = left + (x - left + hand.random.randint(7, right - left - 7)) % (right - left)
            sent.append(time.monotonic())
            hand.do("mousemove", x, y)
        time.sleep(PAUSE)
        begin = time.monotonic()
        while time.monotonic() < begin + 5:
            x = min(right, max(left, x + hand.random.randint(-12, 12)))
            hand.do("mousemove", x, y)
            time.sleep(0.01)
        end = time.monotonic()
        hand.do("mouseup", "1")
        frames = window.frames()
        result["memory_mb"], result["memory_anonymous_mb"] = memory_mb(window.process.pid)
        window.close()
    for seeds in (1, 3, 5):
        times = sorted(t for t in (appearance_ms(frames, s, seeds) for s in sent) if t is not None)
        if not times:
            sys.exit("window.py: no movement of the hand trained runs anew")
        result[f"seeds_{seeds}_ms_median"] = statistics.median(times)
        result[f"seeds_{seeds}_ms_worst"] = times[-1]
    result["movements"] = len(times)
    dragged = [f for f in frames if begin <= f["clock_s"] < end]
    result["drag_frames_per_s"] = len(dragged) / (end - begin)
    result["drag_answers_per_s"] = sum(a["seeds"] == 0 < b["seeds"] for a, b in zip(dragged, dragged[1:])) / (end - begin)
    result["drag_build_ms_worst"] = max(f["build_ms"] for f in dragged)
    return result


def show_instant(result):
    for seeds, name in ((1, "first seed"), (3, "three seeds"), (5, "five seeds")):
        print(
            f"movement to {name:12} {result[f'seeds_{seeds}_ms_median']:8.0f} ms median, "
            f"{result[f'seeds_{seeds}_ms_worst']:.0f} worst, of {result['movements']} movements"
        )
    print(
        f"while the hand drags     {result['drag_frames_per_s']:8.1f} frames a second, {result['drag_answers_per_s']:.1f} "
        f"of them the first with new runs; {result['drag_build_ms_worst']:.0f} ms to build the slowest"
    )
    print(f"memory                   {result['memory_mb']:8.0f} MB, {result['memory_anonymous_mb']:.0f} of them in no file")
    print(f"at rest                  {result['rest_percent_of_a_core']:8.2f} % of a core")


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
    for name in ("hover", "drag"):
        print(f"answer to a {name:12} {result[f'{name}_ms_median']:8.1f} ms median, {result[f'{name}_ms_p90']:.1f} at 90 %")
    print(
        f"memory                   {result['memory_mb']:8.0f} MB, {result['memory_anonymous_mb']:.0f} of them in no file, "
        f"after {result['memory_after_min']:.1f} minutes ({result['memory_at_step']} steps)"
    )
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
    parser.add_argument("--minutes", type=float, default=0, help="memory is read when the window was open so long")
    parser.add_argument("--screen", choices=SCREENS, default="lab")
    parser.add_argument("--beside", type=int, default=0, metavar="N", help="busy processes beside all of it")
    parser.add_argument("--instant", action="store_true", help="measure small runs, which every change trains anew")
    parser.add_argument("--movements", type=int, default=20, help="of the hand, with --instant")
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
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(arguments.beside)]
    try:
        if arguments.instant:
            result = measure_instant(arguments.program, display, arguments.movements)
        else:
            result = measure(arguments.program, display, arguments.seconds, arguments.minutes, arguments.screen)
    finally:
        for process in busy:
            process.kill()
            process.wait()
        server.terminate()
        server.wait()
    print_table = show_instant if arguments.instant else show
    print(json.dumps(result)) if arguments.json else print_table(result)


if __name__ == "__main__":
    main()

"""lessons_in_turn.py PROGRAM checks a third of the lessons, in turn from commit to commit. The thirds cost the same. A
change to the engine that breaks a claim is found within three commits, in a third of the time. A lesson that changed
needs no turn of its own: its measured.json has to belong to it (app.test_lesson), and whoever writes that trains five
seeds, where this trains one. NORMSCOPE_TURN (0 to 2) chooses the third; with NORMSCOPE_TEST_FULL set (make test-full) it
checks all lessons."""
import os, pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# COST is the processor time of each lesson in seconds, measured once with nothing in the store; what counts is how they
# compare. A lesson that is not here counts like the mean of the others.
COST = {"five-minutes": 0, "why-a-norm": 205, "warm-up": 111, "first-steps": 48, "last-layer": 20, "growing-stream": 6,
        "dependency": 37, "admin": 21, "norm-gradient": 0, "two-stacks": 114, "not-only-adam": 154, "map-of-rates": 419,
        "price-of-pre-ln": 152, "inside-layernorm": 154, "after-the-papers": 157, "edge-of-stability": 115,
        "eighteen-layers": 411}


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def thirds(lessons):
    """thirds divides the lessons into three parts that cost about the same: the dearest first, each into the part that
    is the cheapest so far."""
    mean = sum(COST.values()) / len(COST)
    parts = [[], [], []]
    for name in sorted(lessons, key=lambda name: (-COST.get(name, mean), name)):
        min(parts, key=lambda part: sum(COST.get(other, mean) for other in part)).append(name)
    return parts


def chosen():
    lessons = sorted(path.name[3:] for path in (ROOT / "lessons").glob("[0-9][0-9]-*"))
    turn = os.environ.get("NORMSCOPE_TURN") or git("rev-list", "--count", "HEAD").strip()
    if os.environ.get("NORMSCOPE_TEST_FULL") or not turn:  # outside of a repository there are no turns
        return lessons
    return sorted(thirds(lessons)[int(turn) % 3])


def main():
    lessons = chosen()
    print(f"{len(lessons)} lessons: {', '.join(lessons)}", flush=True)
    return max(subprocess.run([sys.argv[1], "lesson", "check", name]).returncode for name in lessons)


if __name__ == "__main__":
    sys.exit(main())

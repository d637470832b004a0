"""lessons_in_turn.py PROGRAM checks a third of the lessons, in turn from commit to commit, and every lesson whose
folder changed lately. A change to the engine that breaks a claim is found within three commits, in a third of the time.
With NORMSCOPE_TEST_FULL set (make test-full) it checks all. `lesson check --full` takes all seeds, this takes one."""
import os, pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LATELY = 20  # commits


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def chosen():
    lessons = sorted(path.name[3:] for path in (ROOT / "lessons").glob("[0-9][0-9]-*"))
    commits = git("rev-list", "--count", "HEAD").strip()
    if os.environ.get("NORMSCOPE_TEST_FULL") or not commits:  # outside of a repository there are no turns
        return lessons
    changed = git("diff", "--name-only", f"HEAD~{min(LATELY, int(commits) - 1)}", "--", "lessons")
    touched = {line.split("/")[1][3:] for line in changed.splitlines() if line.count("/") > 1}
    return [name for i, name in enumerate(lessons) if i % 3 == int(commits) % 3 or name in touched]


def main():
    lessons = chosen()
    print(f"{len(lessons)} lessons: {', '.join(lessons)}", flush=True)
    return max(subprocess.run([sys.argv[1], "lesson", "check", name]).returncode for name in lessons)


if __name__ == "__main__":
    sys.exit(main())

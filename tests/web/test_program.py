"""The program in the page under a hand: it trains, forks, teaches, keeps its session, takes and gives files."""

import json
import tempfile
import time
from pathlib import Path

import browser
from browser import BrowserError, until
from case import WebTest, once

LETTERS = 2.89  # nats a letter of a stuck run, which knows letter frequencies only (docs/claims.md)
PHONE = 390, 844  # CSS px
LEARNED = 0.2  # nats below LETTERS that no stuck run reaches, because batches differ by 0.05


def rate(program, seconds):
    """Returns the tokens/s that the program measures, the median of several readings."""
    readings = []
    for _ in range(seconds * 2):
        time.sleep(0.5)
        readings.append(program.status()["tokens_per_second"])
    return sorted(readings)[len(readings) // 2]


class ProgramTest(WebTest):
    def test_trains(self):
        """The default comparison trains: A stays at the letter frequencies, C learns"""
        program = self.open().start()
        page = program.page
        program.step(1)
        page.wait("window.normscope.marks.firstStep", 10)
        marks = page.evaluate("window.normscope.marks")
        self.say(
            f"first frame after {marks['firstFrame']:.0f} ms, first trained step seen after {marks['firstStep']:.0f} ms"
        )
        self.say(f"{rate(program, 5):.0f} tokens/s while the Lab draws ({program.status()['threads']} threads)")
        now = program.step(120)
        losses = {run["letter"]: run["loss"] for run in now["runs"]}
        self.assertEqual(sorted(losses), ["A", "B", "C"])
        self.assertGreater(losses["A"], LETTERS - LEARNED)
        self.assertLess(losses["C"], LETTERS - LEARNED)
        self.say(
            f"main thread {now['frame_ms']:.1f} ms a frame, memory {now['heap'] / 1e6:.0f} MB at step {now['step']}"
        )
        self.picture(program, "lab-light")

    def test_hidden(self):
        """A hidden tab goes on training, or says that it rests"""
        program = self.open().start()
        program.step(10)
        page = program.page
        front = self.new_page()
        front.front()
        for _ in range(50):
            if page.evaluate("document.hidden"):
                break
            time.sleep(0.1)
        else:
            self.skipTest("this browser hides no tab behind another")
        page.wait("/training on|at rest/.test(document.title)", 10, "a title that says what the tab does")
        now = program.status()
        if page.evaluate('document.title.includes("at rest")'):
            self.assertFalse(now["training"])
            return
        self.say(f"{rate(program, 5):.0f} tokens/s while hidden, no frame drawn ({now['threads']} threads)")
        program.step(now["step"] + 5)

    @once("what the new run learns is the program's, and a finger forks one in every browser")
    def test_fork(self):
        """A norm dragged into the branch by the mouse: D forks off the stuck run and learns"""
        program = self.open().start()
        program.step(60)
        self.assertIsNone(program.run("D"))
        program.drag(program.at("diagram/layer2/attn/stream"), program.at("diagram/layer2/attn/before"))
        program.until(lambda now: any(run["letter"] == "D" for run in now["runs"]), 60, "run D")
        program.until(
            lambda now: any(run["letter"] == "D" and (run["loss"] or 9) < LETTERS - LEARNED for run in now["runs"]),
            600,
            "run D below the letter frequencies",
        )
        runs = {run["letter"]: run["loss"] for run in program.status()["runs"]}
        self.assertGreater(runs["A"], LETTERS - LEARNED)
        self.say(f"at step {program.status()['step']}: A {runs['A']:.2f}, D {runs['D']:.2f}")
        self.picture(program, "fork")

    @once("what it trains is the program's")
    def test_instant(self):
        """Instant: every movement on the learning rate trains the small runs anew, whole"""
        program = self.open().start()
        program.step(1)  # the runs are there
        program.key("n")
        now = program.until(lambda now: now["seeds"] >= 5, 300, "five seeds of the small runs")
        losses = {run["letter"]: run["loss"] for run in now["runs"]}
        self.assertEqual({run["step"] for run in now["runs"]}, {200})
        self.assertGreater(losses["A"], LETTERS - LEARNED)
        self.assertLess(losses["C"], LETTERS - LEARNED)
        times = {1: [], 3: []}
        point = program.at("settings/train.lr", (0.3, 0.5))
        program.move(point)
        program.page.mouse("Pressed", *point, "left")
        for share in (0.34, 0.39, 0.44, 0.49, 0.54):  # a decade; the end of the range is beyond
            point = program.at("settings/train.lr", (share, 0.5))
            begin = time.monotonic()
            program.page.mouse("Moved", *point, "left")
            while program.status()["seeds"] > 0:
                self.assertLess(time.monotonic(), begin + 30, "a movement that trains nothing anew")
            for seeds, list_of in times.items():
                while program.status()["seeds"] < seeds:
                    self.assertLess(time.monotonic(), begin + 120, f"{seeds} seeds after a movement")
                list_of.append(1e3 * (time.monotonic() - begin))
        program.page.mouse("Released", *point, "left")
        program.beat(2)
        first, three = (sorted(list_of)[len(list_of) // 2] for list_of in times.values())
        self.say(f"movement to first seed {first:.0f} ms, to three seeds {three:.0f} ms, medians of five movements")
        self.assertNotEqual(losses, {run["letter"]: run["loss"] for run in program.status()["runs"]})
        self.picture(program, "instant")

    @once("what it trains takes minutes and is the program's")
    def test_lesson(self):
        """Lesson 2 from the prediction to its end, by mouse, with its training in between"""
        program = self.open().start()
        program.click("app/tab/lessons")
        program.click("lesson/list/warm-up")
        program.click("lesson/slider", (0.15, 0.5))
        program.click("lesson/next")
        self.reach(program, "run")
        program.place("lesson/next", seconds=900)  # the button is disabled while the lesson measures
        program.click("lesson/next")
        self.reach(program, "compare")
        score = program.place("lesson/score")["value"]
        self.say(f"“{score}”")
        self.assertTrue(score)
        self.picture(program, "lesson")
        program.click("lesson/next")
        self.reach(program, "explain")
        program.click("lesson/next")
        self.reach(program, "case")  # it must be decided and trained before the lesson is done
        self.assertFalse(program.places("lesson/next")["lesson/next"]["enabled"])
        program.click("lesson/case/1")
        program.click("lesson/case/train")
        self.assertTrue(program.place("lesson/case", seconds=60)["value"])
        program.click("lesson/next")
        self.assertEqual(program.place("lesson/list/warm-up")["value"], "done")

    def reach(self, program, step):
        """Waits until that step of the lesson is shown."""
        name = f"lesson/step/{step}"
        end = until(20)
        while program.places(name).get(name, {}).get("value") != "here":
            if time.monotonic() > end:
                raise BrowserError(f"the lesson is not at '{step}': {program.places('lesson/step/')}")
            time.sleep(0.1)

    def test_keyboard(self):
        """Keys: 3 opens Compare and 1 the Lab, Space stops the training"""
        program = self.open().start()
        program.step(1)
        program.key("3")
        program.until(lambda now: now["screen"] == "compare", 20, "the Compare screen")
        program.key("1")
        program.until(lambda now: now["screen"] == "lab", 20, "the Lab")
        program.key("Space")
        program.until(lambda now: not now["training"], 30, "the training at rest")

    def test_touch(self):
        """Fingers on a phone: one drags a norm, which forks a run; two move the view"""
        program = self.phone()
        page = program.page
        program.step(1)
        program.drag_by_finger(program.at("diagram/layer2/attn/stream"), program.at("diagram/layer2/attn/before"))
        program.until(lambda now: any(run["letter"] == "D" for run in now["runs"]), 60, "run D")
        self.picture(program, "phone-dragged")
        page.touch("Start", (200, 400), (300, 400))
        for x in range(0, 120, 10):
            page.touch("Move", (200 - x, 400), (300 - x, 400))
        page.touch("End")
        self.assertGreater(page.evaluate('document.getElementById("stage").scrollLeft'), 50)

    def test_phone_lesson(self):
        """A lesson on a phone: its text fits, a finger drags the prediction, taps step the network and commit"""
        program = self.phone()
        page = program.page
        program.tap("app/tab/lessons")
        program.until(lambda now: now["screen"] == "lessons", 20, "the Lessons screen")
        text = program.place("lesson/text")
        self.assertGreaterEqual(text["x"], 0)
        self.assertLessEqual(text["x"] + text["w"], PHONE[0])
        program.settle(2)  # at most: the Lab's runs may train on
        self.picture(program, "phone-lesson")
        self.tap_element(page, "side")  # shows the right side: figure, slider, what comes next
        page.wait('document.getElementById("stage").scrollLeft > 300', 10, "the right side")
        self.assertGreaterEqual(program.place("lesson/slider")["x"], 0)
        self.assertFalse(program.places("lesson/next")["lesson/next"]["enabled"])  # nothing is predicted yet
        program.tap("lesson/tape/next")
        slider = program.place("lesson/slider")["value"]
        program.drag_by_finger(program.at("lesson/slider"), program.at("lesson/slider", (0.8, 0.5)))
        end = until(20)
        while program.place("lesson/slider")["value"] == slider:
            self.assertLess(time.monotonic(), end, "the slider stays where it was")
            time.sleep(0.1)
        program.settle(2)
        self.picture(program, "phone-stepped")
        over = program.place("lesson/next")
        self.assertLessEqual(over["x"] + over["w"], PHONE[0])
        self.assertLessEqual(over["y"] + over["h"], page.evaluate('document.getElementById("bar").offsetTop'))
        program.tap("lesson/next")
        self.reach(program, "run")

    def phone(self):
        """Opens the program on a phone."""
        return self.open(width=PHONE[0], height=PHONE[1], ratio=2, touch=True).start()

    def tap_element(self, page, id):
        """Taps an element of the page around the program."""
        box = f'document.getElementById("{id}").getBoundingClientRect()'
        page.tap(*page.evaluate(f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({box})"))

    def test_session(self):
        """A page that is loaded again finds its session: the step, the runs and what they have learned"""
        program = self.open(query="", browser=self.new_browser()).start()
        program.step(25)
        before = program.pause()
        time.sleep(12 * browser.patience)  # the autosave comes at most ten seconds after the last change
        program.page.open(program.url)
        program.start()
        if program.shows("app/offer/accept"):
            program.click("app/offer/accept")
        after = program.until(lambda now: now["step"] == before["step"], 60, f"step {before['step']} again")
        self.assertEqual(after["runs"], before["runs"])

    def test_files(self):
        """Files: a log by the file button opens in Compare, an export comes as a download"""
        program = self.open().start()
        page = program.page
        program.step(3)
        program.pause()
        with tempfile.TemporaryDirectory(prefix="normscope-web-") as folder:
            log = Path(folder) / "elsewhere.jsonl"
            log.write_text("".join(f'{{"run":"A","step":{step},"loss":{3 - step / 100}}}\n' for step in range(1, 50)))
            page.choose_files("file", [log])
            program.until(
                lambda now: now["screen"] == "compare" or "elsewhere.jsonl" in now["message"], 20, "the log in Compare"
            )
            self.assertEqual(program.note(), "")

            page.downloads(folder)
            program.key("1")
            program.move(program.at("plot/loss"))
            program.click("plot/loss/menu")
            program.click("plot/loss/menu/csv")
            self.arrives(folder, ".csv")

    def arrives(self, folder, suffix):
        """Waits until a file with that ending is in the folder and not empty."""
        end = until(10)
        while time.monotonic() < end:
            if any(path.stat().st_size > 0 for path in Path(folder).glob(f"*{suffix}")):
                return
            time.sleep(0.1)
        raise BrowserError(f"no download ending in {suffix}: {[path.name for path in Path(folder).iterdir()]}")

    def test_too_large(self):
        """A model that no page can hold is refused in words, and the runs go on"""
        program = self.open().start()
        program.step(1)
        self.drop(program, "huge.toml", "[model]\nlayers = 64\nd_model = 4096\n")
        now = program.until(lambda now: "GB" in now["message"], 60, "a line about memory")
        self.say(f"“{now['message']}”")
        self.assertEqual(len(now["runs"]), 3)
        program.step(now["step"] + 1)

    def test_out_of_memory(self):
        """Memory that ends while a model is made: the program or the page says so, and the page still answers"""
        program = self.open(query="fresh&memory=384").start()
        program.step(1)
        self.drop(program, "large.toml", '[model]\nlayers = 8\nd_model = 1024\n[run.A]\nmodel.placement = "pre"\n')
        said = program.page.wait(
            "(window.normscope.status()?.message || document.getElementById('trouble').innerText)"
            ".match(/[^\\n]*memory[^\\n]*/)?.[0]",
            120,
            "a line about memory",
        )
        self.say(f"“{said}”")
        self.picture(program, "out-of-memory")

    def drop(self, program, name, text):
        """Drops a configuration of that text on the page; it replaces the runs unasked, because that can be undone."""
        program.page.evaluate(f"""(() => {{
              const data = new DataTransfer();
              data.items.add(new File([{json.dumps(text)}], {json.dumps(name)}));
              dispatchEvent(new DragEvent("drop", {{ dataTransfer: data, cancelable: true }}));
            }})()""")

    @once("the memory is the program's")
    def test_memory_after_steps(self):
        """Memory after many steps (--steps N) stays within 600 MB"""
        steps = self.options.steps
        if steps == 0:
            self.skipTest("takes long; --steps 10000 asks for it")
        program = self.open().start()
        program.until(lambda now: now["step"] > 0, 60, "the first step")
        while program.status()["step"] < steps:
            if not program.status()["training"]:
                program.click("transport/play")  # adds another portion of steps
            time.sleep(1)
        heap = program.status()["heap"]
        self.say(f"{heap / 1e6:.0f} MB after {program.status()['step']} steps")
        self.assertLessEqual(heap, 600e6)

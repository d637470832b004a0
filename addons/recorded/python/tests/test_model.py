"""`normscope.Model`, against the program: skipped where there is none that holds runs."""
from __future__ import annotations

import array
import gc
import math
import multiprocessing
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import unittest
from typing import Any, Callable
from unittest import mock

import normscope
from normscope import _lab, _model
from of_program import TINY, OfProgram

LONG = {**TINY, "steps": 10_000_000}


def holds_runs() -> bool:
    try:
        return bool(_lab.run("hold", "--help"))
    except normscope.Error:
        return False


def flat(numbers: Any) -> "list[float]":
    """Returns numbers of whatever shape, from numpy or not, as the program has them: with 32 bits."""
    if hasattr(numbers, "tolist"):
        numbers = numbers.tolist()
    if isinstance(numbers, list):
        return [one for part in numbers for one in flat(part)]
    return list(array.array("f", [numbers]))


def pid_of(model: normscope.Model) -> int:
    assert model._process
    return model._process._process.pid


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def ends(pid: int) -> bool:
    end = time.monotonic() + 30
    while is_there(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return not is_there(pid)


def resident(pid: "int | str") -> int:
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


def said_in_a_fork(model: normscope.Model, queue: "multiprocessing.Queue[str]") -> None:
    try:
        model.step()
    except normscope.Error as error:
        queue.put(str(error))
    queue.put(str(normscope.Model("pre", **TINY).step(2).step_count))


@unittest.skipUnless(holds_runs(), "no program that holds runs")
class Models(OfProgram):
    def test_steps_and_what_they_leave(self) -> None:
        with normscope.Model("post", lr=1e-3, **TINY) as model:
            self.assertTrue(math.isnan(model.loss))
            model.step()
            self.assertIs(model.step(4), model)
            self.assertEqual((model.step_count, len(flat(model.losses)), model.verdict), (5, 5, "not decided"))
            self.assertEqual(flat(model.losses)[-1], model.loss)
            self.assertEqual(model.parameters["L01.attn.wq"], (16, 16))
            self.assertEqual(model.tape.rows[0], {"op": "embedding", "name": "emb", "shape": [16, 64, 16]})
            self.assertIn("<th>embedding</th><td>emb</td><td>16 × 64 × 16</td>", model.tape._repr_html_())
            for told in (model["L01.attn.wq"], model.grad("L01.attn.wq")):
                self.assertEqual((len(told), len(told[0])), (16, 16))
            out = model.value("L01.attn.out")
            self.assertEqual((len(out), len(out[0]), len(out[0][0])), (16, 64, 16))
            with mock.patch.dict(sys.modules, {"numpy": None}):
                self.assertIsInstance(model.value("L01.attn.out"), list)
                self.assertEqual(flat(model.value("L01.attn.out")), flat(out))
                self.assertIsInstance(model.losses, list)
            model.set(lr=1e-4, clip=0.5)
            model.step()
            self.assertEqual(flat(model.series("lr").values), flat([1e-3] * 5 + [1e-4]))
            self.assertEqual(model.at(2).series("L*.ffn.w2.grad_norm").shape, (0, 2))
            self.assertIn("step 6 of 8", repr(model))
        self.assertEqual(repr(model), "<Model, closed>")

    def test_the_run_of_a_comparison_is_the_same_to_the_bit(self) -> None:
        common = {"layers": 2, "d_model": 16, "momentum": 0.8}  # a setting that only B reads
        lab = normscope.compare(A="post", B=dict(placement="pre", optimizer="momentum"), seeds=2, steps=40, **common)
        for arm in (lab.A, lab.B):
            run = arm.run(2)
            self.assertEqual(flat(run.losses), flat(arm.series("loss", 2).values))
            same = run.at(15).fork().step(25)
            self.assertEqual(flat(same.losses), flat(run.losses))
            ours, theirs = run.series("L*.ffn.w2.grad_norm"), arm.series("L*.ffn.w2.grad_norm", 2)
            self.assertEqual((ours.columns, ours.steps, ours.shape), (theirs.columns, theirs.steps, theirs.shape))
            self.assertEqual(type(ours), type(theirs))
            self.assertEqual(flat(ours.values), flat(theirs.values))
        whole = lab.A.run(1)
        other = whole.at(20).fork(placement="pre").step(60)
        self.assertEqual(whole._held().ask("state", run=whole._run)["step"], 20)  # no further than was asked for
        self.assertEqual(whole.step_count, 40)
        self.assertEqual(other.step_count, 80)
        self.assertEqual(flat(other.losses)[:20], flat(lab.A.series("loss", 1).values)[:20])
        self.assertNotEqual(flat(other.losses)[20:40], flat(lab.A.series("loss", 1).values)[20:])
        with self.assertRaisesRegex(normscope.Error, "run A has no seed 3: expected 1, 2"):
            lab.A.run(3)
        small = normscope.instant(A="post", B="pre", layers=2)
        self.assertEqual(flat(small.B.run(5).losses), flat(small.B.series("loss", 5).values))

    def test_a_saved_model_goes_on(self) -> None:
        model = normscope.Model("pre", seed=3, **TINY).step(3)
        path = self.folder / "m.safetensors"
        model.save(path)
        loaded = normscope.load(path)
        self.assertEqual(loaded.step_count, 3)
        self.assertEqual(flat(loaded.step(3).losses), flat(model.step(3).losses))

    def test_what_cannot_be_done_is_one_line(self) -> None:
        model = normscope.Model("post", **TINY).step(3)
        closed = normscope.Model("post", **TINY)
        closed.close()
        closed.close()
        for asked, line in ((lambda: normscope.Model("psot"), "did you mean post"),
                            (lambda: normscope.Model({"placement": "pre"}), "preset \\{.*}: expected the name of a placement"),
                            (lambda: normscope.load(None), "path None: expected the path of a file"),
                            (lambda: model.save(3), "path 3: expected the path of a file"),
                            (lambda: normscope.Model("post", layers=0), r"\[model.layers\] 0: expected a whole number"),
                            (lambda: normscope.Model("post", wamrup=3), r"\[wamrup\]"),
                            (lambda: normscope.Model("post", size="huge"), "size is \"huge\""),
                            (lambda: normscope.Model("post", steps="many"), "steps"),
                            (lambda: normscope.load(self.folder / "none"), "none"),
                            (lambda: model.step(-1), "steps is -1"),
                            (lambda: model.step(2.5), "steps 2.5: expected a whole number"),
                            (lambda: model.step(math.nan), "steps nan: expected"),
                            (lambda: model.at(4), "step is 4: expected a whole number from 0 to 3"),
                            (lambda: model.fork(data="copy"), r"\[data\]"),
                            (lambda: model.fork(**{"run.seed": 2}), "expected the seed 1"),
                            (lambda: model.set(placement="pre"), "expected a fork"),
                            (lambda: model.value("L01.attn.hads"), "did you mean L01.attn.heads"),
                            (lambda: model.grad("tokens"), "whole numbers"),
                            (lambda: model.series("nothing"), "expected a name such as"),
                            (lambda: model.save(self.folder / "no" / "m"), "no/m"),
                            (closed.step, "the model is closed")):
            with self.subTest(line), self.assertRaisesRegex(normscope.Error, line) as caught:
                asked()
            self.assertNotIn("\n", str(caught.exception))
        self.assertEqual(model.step().step_count, 4)
        with mock.patch.dict(os.environ, {"NORMSCOPE": "/no/such/program"}), self.assertRaises(normscope.Error):
            normscope.Model("post")

    def interrupted(self, work: "Callable[[], object]") -> None:
        """Does it again and again, until Ctrl+C comes."""
        with self.assertRaises(KeyboardInterrupt):
            threading.Timer(random.uniform(0, 0.1), os.kill, (os.getpid(), signal.SIGINT)).start()
            while True:
                work()

    def test_ctrl_c_leaves_no_copy_behind(self) -> None:
        model = normscope.Model("post", **TINY).step(5)
        for work in (model.fork, lambda: model.at(3), lambda: model.value("L01.attn.out"), lambda: model.losses) * 5:
            self.interrupted(work)
        self.assertEqual(model.step().step_count, 6)
        self.assertEqual(model._ask("close")["open"], 0)

    def test_ctrl_c_keeps_the_steps_that_are_made(self) -> None:
        model = normscope.Model("post", **LONG)
        made = 0
        for _ in range(20):
            self.interrupted(lambda: model.step(1000))
            self.assertGreaterEqual(model.step_count, made)
            made = model.step_count
        self.assertGreater(made, 0)
        self.assertEqual(len(flat(model.step(2).losses)), made + 2)
        alone = normscope.Model("post", **LONG).step(made + 2)
        self.assertEqual(flat(alone.losses), flat(model.losses))

    def test_a_process_that_is_gone_says_so(self) -> None:
        model, other = normscope.Model("post", **TINY), normscope.Model("post", **TINY)
        os.kill(pid_of(model), signal.SIGKILL)
        for _ in range(2):
            with self.assertRaisesRegex(normscope.Error, "ended with -9: expected to open them again, or to load what was saved"):
                model.step()
        self.assertEqual(other.step().step_count, 1)

    def test_a_process_that_is_told_to_end_ends(self) -> None:
        idle, busy = normscope.Model("post", **TINY).step(), normscope.Model("post", **LONG).step()
        for model in (idle, busy):
            threading.Timer(0.2, os.kill, (pid_of(model), signal.SIGTERM)).start()
        with self.assertRaisesRegex(normscope.Error, "another process interrupted the run at step"):
            busy.step(1_000_000)
        for model in (idle, busy):
            assert model._process
            self.assertEqual(model._process._process.wait(timeout=60), 130)
            with self.assertRaisesRegex(normscope.Error, "ended with 130"):
                model.step()

    def test_a_forked_process_has_models_of_its_own(self) -> None:
        model = normscope.Model("post", **TINY).step()
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        process = context.Process(target=said_in_a_fork, args=(model, queue))
        process.start()
        self.assertIn("the process that this one was forked from", queue.get(timeout=60))
        self.assertEqual(queue.get(timeout=60), "2")
        process.join()
        self.assertEqual(model.step().step_count, 2)

    def test_threads_share_a_model_in_turn(self) -> None:
        model = normscope.Model("post", **LONG)
        threads = [threading.Thread(target=lambda: [model.step(3) for _ in range(20)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(model.step_count, 240)
        self.assertEqual(flat(model.losses), flat(normscope.Model("post", **LONG).step(240).losses))

    def test_the_program_ends_with_its_last_model_and_with_python(self) -> None:
        model = normscope.Model("post", **TINY).step()
        pid = pid_of(model)
        other = model.fork()
        model.close()
        self.assertTrue(is_there(pid))
        del other
        gc.collect()
        self.assertTrue(ends(pid))
        for end in ("", "; import os; os.kill(os.getpid(), 9)", "; raise KeyboardInterrupt"):
            code = f"import normscope; m = normscope.Model(layers=1); m.step(); print(m._process._process.pid, flush=True){end}"
            python = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60,
                                    env={**os.environ, "PYTHONPATH": str(pathlib.Path(normscope.__file__).parents[1])})
            self.assertTrue(ends(int(python.stdout)), end)

    @unittest.skipUnless(os.path.exists("/proc/self/statm"), "no /proc")
    def test_a_thousand_models_leave_nothing(self) -> None:
        one = {**TINY, "layers": 1}
        model = normscope.Model("post", **one).step()

        def copies(times: int) -> None:
            for i in range(times):
                other = model.fork()
                other.step()
                if i % 2:  # half of them are forgotten instead
                    other.close()

        def models(times: int) -> None:
            for i in range(times):
                other = normscope.Model("pre", **one).step()
                if i % 2:
                    other.close()

        copies(100)
        models(5)
        before, program, files = resident("self"), resident(pid_of(model)), len(os.listdir("/proc/self/fd"))
        copies(1000)
        models(20)
        end = time.monotonic() + 10  # the last process may just be ending
        while len(os.listdir("/proc/self/fd")) > files and time.monotonic() < end:
            time.sleep(0.01)
        self.assertLess(resident("self") - before, 4 << 20)
        self.assertLess(resident(pid_of(model)) - program, 16 << 20)
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), files)
        with model.fork() as other:
            self.assertEqual(other._run, 1102)
        last = model.fork()
        self.assertEqual(last._ask("close"), {"id": mock.ANY, "open": 1})


class Shapes(unittest.TestCase):
    def test_numbers_in_rows_of_rows(self) -> None:
        self.assertEqual(_model.nested(list(range(6)), [1, 3, 2]), [[[0, 1], [2, 3], [4, 5]]])
        self.assertEqual(_model.nested([1, 2], [2]), [1, 2])
        self.assertEqual(_model.nested([], [0, 2]), [])


if __name__ == "__main__":
    unittest.main()

"""What is recorded never ends or slows the training: whatever fails in ours, and whoever calls the model meanwhile."""
from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import pathlib
import sys
import threading
import unittest
import warnings
from types import CodeType, FrameType
from typing import Any, Callable, Optional
from unittest import mock

import torch
from torch import nn
from torch.nn.modules import module as hooks_of_all
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack as modes

import normscope
import normscope._watch  # which `watch` would import
from normscope import _writer

try:
    from . import models
    from .test_watch import Case
except ImportError:
    import models  # type: ignore[no-redef]
    from test_watch import Case  # type: ignore[no-redef]

PACKAGE = str(pathlib.Path(normscope.__file__).parent)
# What calls the rest: these have nothing in them that can fail, and `watch` refuses wrong arguments as any function does.
GUARDS = {"attempt", "watch", "__init__", "pass_begins", "pass_ended", "__torch_dispatch__", "backward_seen", "scale_seen", "__deepcopy__",
          "counted", "call", "<module>"}
BELOW = {f"{PACKAGE}/{name}.py" for name in ("_branches", "_layers", "_names")}  # what one call of Analysis calls


class Fault:
    """Raises where a function of the package is called; without one it notes all that are."""

    def __init__(self, at: Optional[CodeType] = None) -> None:
        self.at, self.raised = at, False
        self.seen: dict[CodeType, None] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE) or code.co_name in GUARDS or code.co_filename in BELOW:
            return
        self.seen[code] = None
        if code is self.at and not self.raised:
            self.raised = True
            raise RuntimeError("a fault of ours")

    def __enter__(self) -> "Fault":
        sys.settrace(self)
        return self

    def __exit__(self, *_: Any) -> None:
        sys.settrace(None)


class Called(models.Own):
    """A model beside whose forward pass `meanwhile` happens, in each pass with gradients."""

    meanwhile: Optional[Callable[[torch.Tensor], Any]] = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.meanwhile is not None and torch.is_grad_enabled():
            with torch.no_grad():
                self.meanwhile(x)
        return super().forward(x)


class Unfailing(Case):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(torch.set_num_threads, torch.get_num_threads())
        torch.set_num_threads(1)  # models so small are slower by several
        self.model, self.sgd = self.made()

    def made(self, layers: int = models.LAYERS) -> tuple[Called, torch.optim.Optimizer]:
        torch.manual_seed(1)
        model = Called(layers=layers)
        return model, torch.optim.SGD(model.parameters(), lr=1e-2)

    def step(self, at: int) -> None:
        self.sgd.zero_grad()
        models.loss_of(self.model, models.batch(at)).backward()
        self.sgd.step()

    def clean(self) -> None:
        self.assertEqual(len(modes()), 0)
        self.assertEqual((len(hooks_of_all._global_forward_pre_hooks), len(hooks_of_all._global_forward_hooks)), (0, 0))

    def one_of_all(self, watch: bool, compiled: bool) -> torch.Tensor:
        """A training in which every hook and every patched function of ours is called, but for a compiled model's."""
        pathlib.Path(self.path).unlink(missing_ok=True)
        model, sgd = self.made(layers=1)
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, enabled=not compiled)
        if compiled:
            model.compile(backend="eager")
        recording = normscope.watch(model, sgd, self.path, update_every=1, data="text", depth=2) if watch else None
        for at in range(2):
            sgd.zero_grad()
            if compiled:
                def closure() -> torch.Tensor:
                    loss = models.loss_of(model, models.batch(at))
                    loss.backward()
                    return loss

                sgd.step(closure)
                continue
            for rows in models.batch(at).chunk(2):
                loss = models.loss_of(model, rows) / 2
                scaler.scale(loss).backward()
            if recording is not None:
                recording.loss(loss)
            scaler.step(sgd)
            scaler.update()
            if recording is not None:
                recording.note(validation=2.5)
        models.loss_of(copy.deepcopy(model), models.batch(0))
        if recording is not None:
            recording.close()
        return torch.cat([p.detach().flatten() for p in model.parameters()])

    def test_whatever_fails_in_ours_the_training_goes_on(self) -> None:
        tried: dict[CodeType, None] = {}
        for compiled in (False, True):
            plain = self.one_of_all(False, compiled)
            with contextlib.redirect_stderr(io.StringIO()), Fault() as whole:
                self.one_of_all(True, compiled)
            self.assertGreater(len(whole.seen), 100)
            for at in [code for code in whole.seen if code not in tried]:
                with self.subTest(f"{pathlib.Path(at.co_filename).name}, {at.co_name}"):
                    said = io.StringIO()
                    with contextlib.redirect_stderr(said), Fault(at) as fault:
                        weights = self.one_of_all(True, compiled)
                    self.assertTrue(fault.raised)
                    self.assertTrue(torch.equal(weights, plain))
                    self.assertEqual(said.getvalue().count("recorded: RuntimeError"), 1)
                    self.clean()
            tried.update(whole.seen)
        self.assertLessEqual({"rest", "wake", "aside"}, {code.co_name for code in tried})

    def test_a_pass_in_another_thread_is_not_of_the_training(self) -> None:
        failed: list[BaseException] = []

        def pass_of(x: torch.Tensor, grad: bool) -> None:
            try:
                with torch.set_grad_enabled(grad):
                    self.model.meanwhile = None
                    self.model(x)
            except BaseException as why:
                failed.append(why)

        with normscope.watch(self.model, self.sgd, self.path):
            for at, grad in enumerate((False, True, True)):
                def meanwhile(x: torch.Tensor, grad: bool = grad) -> None:
                    other = threading.Thread(target=pass_of, args=(x, grad))
                    other.start()
                    other.join()

                self.model.meanwhile = meanwhile
                self.step(at)
                self.clean()
            # Beside the training, and not within a pass of it.
            other = threading.Thread(target=pass_of, args=(models.batch(0, rows=1), True))
            other.start()
            other.join()
            self.step(3)
        self.assertEqual(failed, [])
        lines, plain = self.read(), Case.train(self, steps=4)[0]
        self.assertEqual(lines[0]["stream"], plain[0]["stream"])
        self.near(lines, plain, 1e-6, ("grad_norm", "branch_variance", "mean_square"))

    def test_a_recording_closed_in_another_thread_leaves_nothing_behind(self) -> None:
        recording = normscope.watch(self.model, self.sgd, self.path)

        def meanwhile(_: torch.Tensor) -> None:
            other = threading.Thread(target=recording.close)
            other.start()
            other.join()

        self.step(0)
        self.model.meanwhile = meanwhile
        self.step(1)
        self.clean()
        self.assertEqual((len(self.model._forward_hooks), len(self.model._forward_pre_hooks)), (0, 0))

    def test_a_model_that_calls_itself(self) -> None:
        def itself(x: torch.Tensor) -> None:
            self.model.meanwhile = None
            self.model(x)

        with normscope.watch(self.model, self.sgd, self.path):
            for at in range(3):
                self.model.meanwhile = itself
                self.step(at)
                self.clean()
        lines, plain = self.read(), Case.train(self, steps=3)[0]
        self.assertEqual(lines[0]["placement"], "pre")
        self.assertEqual([s["name"] for s in lines[0]["stream"]], [s["name"] for s in plain[0]["stream"]])
        self.near(lines, plain, 1e-6, ("grad_norm", "branch_variance", "mean_square"))

    def test_a_pass_that_is_interrupted(self) -> None:
        def interrupted(*_: Any) -> None:
            raise KeyboardInterrupt

        for within in (False, True):  # a module in which nothing is measured
            with normscope.watch(self.model, self.sgd, self.path):
                for at in range(4):
                    hook = self.model.stack[1].alpha.register_forward_hook(interrupted) if within and at % 2 else None
                    self.model.meanwhile = interrupted if at % 2 and not within else None
                    with contextlib.suppress(KeyboardInterrupt):
                        self.step(at)
                    if hook is not None:
                        hook.remove()
                self.model.meanwhile = None
                with torch.no_grad():
                    self.model(models.batch(0))
                self.clean()
            self.assertEqual([len(x["share"]) for x in self.read()[1:]], [4, 4])

    def test_a_model_with_a_mode_of_its_own(self) -> None:
        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                return func(*args, **(kwargs or {}))

        forward = models.Cell.forward

        def within(cell: models.Cell, x: torch.Tensor) -> torch.Tensor:
            with Mode():
                return forward(cell, x)

        plain = Case.train(self, steps=3)[0]
        with mock.patch.object(models.Cell, "forward", within):
            lines = Case.train(self, steps=3)[0]
        self.near(lines, plain, 1e-6, ("branch_variance", "input_variance", "mean_square"))
        self.clean()

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_a_child_writes_nothing(self) -> None:
        recording = normscope.watch(self.model, self.sgd, self.path)
        self.step(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            try:
                recording.note(validation=1)
                recording.close()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        self.step(1)
        recording.close()
        self.assertEqual([x["step"] for x in self.read()[1:]], [1, 2])
        self.assertNotIn("validation", self.read()[1])

    def test_a_folder_is_made_and_may_be_left_and_removed(self) -> None:
        before, folder = os.getcwd(), pathlib.Path(self.path).parent
        self.addCleanup(os.chdir, before)
        other = self.made()[0]
        os.chdir(folder)
        with normscope.watch(self.model, self.sgd, "logs/a/run.jsonl"):
            self.step(0)
            os.mkdir("elsewhere")
            os.chdir("elsewhere")
            for path in ("run.jsonl", "logs/a/run.jsonl"):  # other files, by names that are the same from here
                pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
                pathlib.Path(path).write_text("{}\n")
                with contextlib.redirect_stderr(io.StringIO()):
                    normscope.watch(other, None, path).close()
            self.step(1)
        self.path = str(folder / "logs/a/run.jsonl")
        self.assertEqual([x["step"] for x in self.read()[1:]], [1, 2])

    def test_a_file_that_cannot_be_written_costs_the_recording_alone(self) -> None:
        pathlib.Path(self.path).write_text("no folder")
        for path, how in ((self.path + "/run.jsonl", {}), ("/proc/run.jsonl", {}), (self.path, {"every": 0})):
            with contextlib.redirect_stderr(io.StringIO()) as said:
                with normscope.watch(self.model, self.sgd, path, **how):
                    self.step(0)
            self.assertEqual(said.getvalue().count("nothing is recorded"), 1, said.getvalue())
            self.assertEqual(pathlib.Path(self.path).read_text(), "no folder")

    def test_norms_of_half_a_precision(self) -> None:
        for kind, factor in ((torch.bfloat16, 1.0), (torch.float16, 3e4)):  # there a norm beyond what float16 holds
            self.model = self.made()[0].to(kind)
            self.sgd = torch.optim.SGD(self.model.parameters(), lr=1e-6)
            with contextlib.redirect_stderr(io.StringIO()), \
                    normscope.watch(self.model, self.sgd, self.path, update_every=1):
                self.sgd.zero_grad()
                (models.loss_of(self.model, models.batch(0)) * factor).backward()
                true = {n: float(p.grad.double().norm()) for n, p in self.model.named_parameters()}
                self.sgd.step()
            line = self.read()[1]
            for name, value in line["grad_norm"].items():
                if "[" not in name:
                    self.assertAlmostEqual(value, true[name], delta=1e-5 * true[name], msg=name)
            if kind == torch.float16:
                self.assertGreater(max(true.values()), 65504)
            weight = float(self.model.stack[0].up.weight.detach().double().norm())
            self.assertAlmostEqual(line["weight_norm"]["stack.0.up.weight"], weight, delta=1e-5 * weight)

    def test_optimizers_that_step_within_backward(self) -> None:
        for none in (True, False):
            model, _ = self.made()
            true: list[dict[str, float]] = []
            names = {p: n for n, p in model.named_parameters()}
            each = {p: torch.optim.SGD([p], lr=1e-2) for p in model.parameters()}

            def hook(p: torch.Tensor) -> None:
                true[-1][names[p]] = float(p.grad.norm())
                each[p].step()
                each[p].zero_grad(set_to_none=none)

            for p in model.parameters():
                p.register_post_accumulate_grad_hook(hook)
            losses = []
            with normscope.watch(model, path=self.path):
                for at in range(3):
                    true.append({})
                    loss = models.loss_of(model, models.batch(at))
                    loss.backward()
                    losses.append(float(loss))
            lines = self.read()[1:]
            self.assertEqual([x["step"] for x in lines], [1, 2, 3])
            for line, loss, of in zip(lines, losses, true):
                self.assertAlmostEqual(line["loss"], loss, places=5)
                whole = {n: v for n, v in line["grad_norm"].items() if "[" not in n}
                self.assertEqual({n.split("[")[0] for n in line["grad_norm"]}, {*of})
                for name, value in whole.items():
                    self.assertAlmostEqual(value, of[name], delta=1e-5 * of[name] + 1e-9, msg=name)

    def test_all_groups_have_their_rates(self) -> None:
        own = {"params": [self.model.what.weight], "lr": torch.tensor(0.5)}
        self.sgd = torch.optim.SGD([{"params": self.model.stack.parameters()}, own], lr=0.25)
        more = torch.optim.SGD(self.model.last.parameters(), lr=0.125)
        for at, expected in enumerate(([0.25, 0.5, 0.125], 0.5)):
            with contextlib.redirect_stderr(io.StringIO()) as said, \
                    normscope.watch(self.model, [self.sgd, more], self.path):
                for _ in range(2):
                    self.step(at)
                    more.step()
                    self.sgd.param_groups[1]["lr"] *= 1 + at  # in place
            self.assertEqual(self.read()[1]["lr"], expected)
            self.assertEqual(said.getvalue().count("rates of their own"), 1)
            self.assertIn("rates of their own", json.dumps(self.read()))
            for group in self.sgd.param_groups + more.param_groups:
                group["lr"] = torch.tensor(0.5)
        self.assertEqual(dict(_writer.scalars({"step": 1, "lr": [0.25, 0.5], "notes": ["a"]})),
                         {"lr/group_0": 0.25, "lr/group_1": 0.5})

    def test_sums_that_are_not_recognised_are_named(self) -> None:
        class Beside(nn.Module):
            """A stack, and one sum that is in no layer."""

            def __init__(self) -> None:
                super().__init__()
                self.own, self.alone = models.Own(), nn.Linear(models.SYMBOLS, models.SYMBOLS)
                self.tail = nn.Linear(models.D, models.D)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                own = self.own
                h = own.what(x) + own.where(torch.arange(x.shape[1]))
                h = h + self.tail(h)
                for cell in own.stack:
                    h = cell(h)
                return own.read(own.last(h))

        self.model = Beside()  # type: ignore[assignment]
        self.sgd = torch.optim.SGD(self.model.parameters(), lr=1e-2)
        with contextlib.redirect_stderr(io.StringIO()) as said, normscope.watch(self.model, self.sgd, self.path):
            self.step(0)
        self.assertIn("1 of 5 residual sums are not recognised", said.getvalue())


if __name__ == "__main__":
    unittest.main()

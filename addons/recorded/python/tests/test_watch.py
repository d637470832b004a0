"""Small real trainings that are recorded by one line: ones of our own, under wrappers, and with trainers of others."""
from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import pathlib
import tempfile
import time
import unittest
from typing import Any, Callable, Optional

import torch
from torch import nn

import normscope

try:
    from . import models
except ImportError:
    import models  # type: ignore[no-redef]

Lines = list[dict[str, Any]]


def same(model: nn.Module) -> nn.Module:
    return model


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(pathlib.Path(folder.name) / "run.jsonl")

    def read(self) -> Lines:
        return [json.loads(line) for line in pathlib.Path(self.path).read_text().splitlines()]

    def train(self, wrap: Callable[[nn.Module], nn.Module] = same, *, watch: bool = True, given: bool = True,
              autocast: bool = False, scaler: Optional[torch.amp.GradScaler] = None, parts: int = 1, clip: float = 0,
              place: str = "pre", steps: int = 4, **how: Any) -> tuple[Lines, torch.Tensor]:
        torch.manual_seed(1)
        own = models.Own(place=place)
        model = wrap(own)
        sgd = torch.optim.SGD(own.parameters(), lr=1e-2)
        recording = normscope.watch(model, sgd if given else None, self.path, **how) if watch else None
        for step in range(steps):
            sgd.zero_grad()
            for rows in models.batch(step).chunk(parts):
                with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
                    loss = models.loss_of(model, rows) / parts
                (scaler.scale(loss) if scaler else loss).backward()
            if clip:
                nn.utils.clip_grad_norm_(own.parameters(), clip)
            if scaler:
                scaler.step(sgd)
                scaler.update()
            else:
                sgd.step()
        if recording:
            recording.close()
        weights = torch.cat([p.detach().flatten() for p in own.parameters()])
        return (self.read() if watch else []), weights

    def near(self, a: Lines, b: Lines, tolerance: float, fields: tuple[str, ...] = ("grad_norm",)) -> None:
        self.assertEqual([x.get("step") for x in a], [x.get("step") for x in b])
        for x, y in zip(a[1:], b[1:]):
            self.assertLess(abs(x["loss"] / y["loss"] - 1), tolerance)
            for field in fields:
                for name, value in y[field].items():
                    if value > 1e-6:  # that of b_K is a rounding: softmax does not see it
                        self.assertLess(abs(x[field][name] / value - 1), tolerance, (field, name))


STREAM = ("branch_variance", "input_variance", "mean_square")


class Own(Case):
    def test_one_line_records_all_and_changes_no_bit(self) -> None:
        lines, weights = self.train()
        _, without = self.train(watch=False)
        self.assertTrue(torch.equal(weights, without))
        head = lines[0]
        self.assertEqual(head["format"], "normscope log 3")
        self.assertEqual(head["placement"], "pre")
        self.assertEqual([s["name"] for s in head["stream"]], ["L01.attn", "L01.ffn", "L02.attn", "L02.ffn"])
        self.assertEqual(head["names"]["stack.{layer}.alpha.qkv.weight[v]"], "L{layer}.attn.wv")
        self.assertEqual(head["names"]["stack.{layer}.up.weight"], "L{layer}.ffn.w1")
        self.assertEqual([x["step"] for x in lines[1:]], [1, 2, 3, 4])
        for line in lines[1:]:
            self.assertEqual(len(line["share"]), 4)
            self.assertEqual({*line} & {*STREAM, "loss", "lr", "grad_norm"}, {*STREAM, "loss", "lr", "grad_norm"})
        self.assertIn("update_norm", lines[1])

    def test_the_numbers_are_those_of_the_tensors(self) -> None:
        torch.manual_seed(1)
        model = models.Own()
        x, h = models.batch(0), None
        h = model.what(x) + model.where.weight
        a = model.stack[0].alpha(model.stack[0].p(h))
        loss = models.loss_of(model, x)
        loss.backward()
        line = self.train(steps=1)[0][1]
        for field, name, value in (("input_variance", "L01.attn", h.var(correction=0)),
                                   ("branch_variance", "L01.attn", a.var(correction=0)),
                                   ("mean_square", "L01.attn.sum", (h + a).square().mean()),
                                   ("share", "beta2.1.1", a.var(correction=0) / (h + a).var(correction=0)),
                                   ("grad_norm", "stack.0.up.weight", model.stack[0].up.weight.grad.norm())):
            self.assertAlmostEqual(line[field][name] / float(value), 1, places=5)
        self.assertAlmostEqual(line["loss"], float(loss), places=5)

    def test_a_norm_on_the_branch_alone_is_res_post(self) -> None:
        lines, _ = self.train(place="res-post")
        self.assertEqual(lines[0]["placement"], "res-post")
        self.assertEqual(lines[0]["names"]["stack.{layer}.p.weight"], "L{layer}.attn.after.gain")

    def test_post_norm_has_shares_of_the_sums(self) -> None:
        lines, _ = self.train(place="post")
        self.assertEqual(lines[0]["placement"], "post")
        self.assertEqual(lines[0]["names"]["stack.{layer}.p.weight"], "L{layer}.attn.stream.gain")
        line = lines[1]
        for i, name in enumerate(["L01.attn", "L01.ffn", "L02.attn", "L02.ffn"], 1):
            whole = line["branch_variance"][name] / line["share"][f"beta2.{i}.{i}"]  # the sum's variance
            self.assertGreater(whole, 0.5 * line["input_variance"][name])

    def test_no_optimizer_named_and_clipping(self) -> None:
        plain, _ = self.train(steps=1)
        other, _ = self.train(steps=1, given=False, clip=0.01)  # norms are those before clipping
        self.near(other, plain, 1e-6)

    def test_tensorboard_gets_the_numbers_of_the_log(self) -> None:
        try:
            from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        except ImportError:
            self.skipTest("tensorboard is not installed")
        board = str(pathlib.Path(self.path).with_suffix(""))
        lines, _ = self.train(tensorboard=board)
        there = EventAccumulator(board)
        there.Reload()
        for name, values in (("loss", [x["loss"] for x in lines[1:]]),
                             ("grad_norm/stack.0.up.weight", [x["grad_norm"]["stack.0.up.weight"] for x in lines[1:]])):
            self.assertEqual([(e.step, e.value) for e in there.Scalars(name)],
                             [(i, float(torch.tensor(v))) for i, v in enumerate(values, 1)])

    def test_every_and_stream_every(self) -> None:
        lines, _ = self.train(steps=8, every=2, stream_every=2)
        self.assertEqual([x["step"] for x in lines[1:]], [2, 4, 6, 8])
        self.assertEqual(["share" in x for x in lines[1:]], [True, False, True, False])

    def test_accumulated_gradients_and_a_scaler(self) -> None:
        plain, _ = self.train()
        self.near(self.train(parts=2)[0], plain, 1e-4)
        self.near(self.train(scaler=torch.amp.GradScaler("cpu", init_scale=1024.0))[0], plain, 1e-5,
                  ("grad_norm", *STREAM))
        mixed, _ = self.train(autocast=True, scaler=torch.amp.GradScaler("cpu", init_scale=1024.0))
        self.assertEqual(mixed[0]["names"], plain[0]["names"])
        self.near(mixed, plain, 0.1, ("branch_variance", "input_variance"))  # bfloat16 has 8 bits

    def test_an_update_that_a_scaler_leaves_out_is_none(self) -> None:
        torch.manual_seed(1)
        model, scaler = models.Own(), torch.amp.GradScaler("cpu", init_scale=1024.0)
        sgd = torch.optim.SGD(model.parameters(), lr=1e-2)
        broken = model.stack[0].up.weight.register_hook(lambda g: g * float("inf"))
        with normscope.watch(model, sgd, self.path):
            for step in range(3):
                sgd.zero_grad()
                scaler.scale(models.loss_of(model, models.batch(step))).backward()
                scaler.step(sgd)
                scaler.update()
                broken.remove()
        lines = self.read()
        self.assertEqual([x["step"] for x in lines[1:]], [1, 2])
        self.assertLess(lines[1]["loss"], 20)  # of one batch
        self.assertIsNotNone(lines[1]["grad_norm"]["stack.0.up.weight"])

    def test_a_fused_optimizer_that_leaves_an_update_out(self) -> None:
        torch.manual_seed(1)
        model, scaler = models.Own(), torch.amp.GradScaler("cpu", init_scale=1024.0)
        adam = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
        with normscope.watch(model, adam, self.path):
            for step in range(3):
                adam.zero_grad()
                scaler.scale(models.loss_of(model, models.batch(step))).backward()
                model.read.weight.grad[0, 0] *= float("inf") if step == 1 else 1
                scaler.step(adam)
                scaler.update()
        self.assertEqual([x["step"] for x in self.read()[1:]], [1, 2])

    def test_compiled(self) -> None:
        plain, _ = self.train()
        with contextlib.redirect_stderr(io.StringIO()) as said:
            compiled, _ = self.train(lambda m: torch.compile(m, backend="aot_eager"))  # type: ignore[arg-type]
        self.near(compiled, plain, 1e-3, ("grad_norm", *STREAM))
        self.assertIn("compiled: the stream is of the same batch", said.getvalue())

    def test_compiled_in_place(self) -> None:
        def compiled_in_place(model: nn.Module) -> nn.Module:
            model.compile(backend="aot_eager", fullgraph=True)
            own.append(model)
            return model

        own: list[nn.Module] = []
        plain, _ = self.train()
        with contextlib.redirect_stderr(io.StringIO()):
            compiled, _ = self.train(compiled_in_place)
        self.near(compiled, plain, 1e-3, ("grad_norm", *STREAM))
        self.assertNotIn("Around", repr(own[0]._compiled_call_impl))

        model = models.Own()
        sgd = torch.optim.SGD(model.parameters(), lr=1e-2)
        with contextlib.redirect_stderr(io.StringIO()), normscope.watch(model, sgd, self.path):
            compiled_in_place(model)  # behind watch()
            for step in range(3):
                sgd.zero_grad()
                models.loss_of(model, models.batch(step)).backward()
                sgd.step()
        lines = self.read()
        self.assertEqual([x["step"] for x in lines[1:]], [1, 2, 3])
        self.assertEqual(len(lines[-1]["share"]), 4)

    def test_a_failure_ends_the_log_and_not_the_training(self) -> None:
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        self.path = "/dev/full"
        torch.manual_seed(1)
        model = models.Own()
        sgd = torch.optim.SGD(model.parameters(), lr=1e-2)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            normscope.watch(model, sgd, self.path)
            for step in range(3):
                models.loss_of(model, models.batch(step)).backward()
                sgd.step()
        self.assertEqual(said.getvalue().count("nothing more is recorded"), 1)

    def test_a_copied_and_a_saved_model(self) -> None:
        torch.manual_seed(1)
        model = models.Own()
        with normscope.watch(model, path=self.path):
            average = copy.deepcopy(model)
            buffer = io.BytesIO()
            torch.save(model, buffer)
            buffer.seek(0)
            loaded = torch.load(buffer, weights_only=False)
            for other in (average, loaded):
                models.loss_of(other, models.batch(0))
            sgd = torch.optim.SGD(model.parameters(), lr=1e-2)
            models.loss_of(model, models.batch(0)).backward()
            sgd.step()
        self.assertEqual(len(self.read()), 2)

    def test_a_failing_pass_leaves_nothing_behind(self) -> None:
        torch.manual_seed(1)
        model = models.Own()
        sgd = torch.optim.SGD(model.parameters(), lr=1e-2)
        with normscope.watch(model, sgd, self.path):
            for step, length in enumerate((models.T + 1, models.T, models.T + 1, models.T)):
                with contextlib.suppress(IndexError):
                    models.loss_of(model, models.batch(step, length=length)).backward()
                    sgd.step()
        self.assertEqual([len(x["share"]) for x in self.read()[1:]], [4, 4])

    def test_a_model_without_a_stream(self) -> None:
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        sgd = torch.optim.SGD(model.parameters(), lr=1e-2)
        with contextlib.redirect_stderr(io.StringIO()) as said, normscope.watch(model, sgd, self.path):
            for _ in range(2):
                model(torch.ones(2, 4)).sum().backward()
                sgd.step()
        self.assertIn("no residual stream was found", said.getvalue())
        self.assertEqual(len(self.read()), 3)

    def test_show_without_the_program(self) -> None:
        path, named = os.environ.get("PATH", ""), os.environ.pop("NORMSCOPE", None)
        os.environ["PATH"] = ""
        try:
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.train(steps=1, show=True)
        finally:
            os.environ["PATH"] = path
            if named is not None:
                os.environ["NORMSCOPE"] = named
        self.assertIn("normscope open " + self.path, said.getvalue())

    def test_show_opens_the_log(self) -> None:
        program = pathlib.Path(self.path).with_name("program")
        program.write_text(f'#!/bin/sh\necho "$@" > "{program}.part" && mv "{program}.part" "{program}.said"\n')
        program.chmod(0o755)
        os.environ["NORMSCOPE"] = str(program)
        self.addCleanup(os.environ.pop, "NORMSCOPE", None)
        self.train(steps=2, show=True)
        said = pathlib.Path(f"{program}.said")
        for _ in range(600):  # a minute, for a busy machine
            if said.exists():
                break
            time.sleep(0.1)
        self.assertEqual(said.read_text().split(), ["open", "--", self.path])


    def test_activation_checkpointing_passes_forward_twice_and_is_recorded_once(self) -> None:
        from torch.utils.checkpoint import checkpoint

        class Checkpointed(models.Own):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                h = self.what(x) + self.where(torch.arange(x.shape[1], device=x.device))
                for cell in self.stack:
                    h = checkpoint(cell, h, use_reentrant=reentrant)
                return self.read(self.last(h))

        plain, _ = self.train(steps=2)
        for reentrant in (False, True):
            torch.manual_seed(1)
            model = Checkpointed()
            sgd = torch.optim.SGD(model.parameters(), lr=1e-2)
            with normscope.watch(model, sgd, self.path):
                for step in range(2):
                    sgd.zero_grad()
                    models.loss_of(model, models.batch(step)).backward()
                    sgd.step()
            lines = self.read()
            self.near(lines, plain, 1e-5)
            self.assertEqual(lines[0]["stream"], plain[0]["stream"])


class Losses(Case):
    """A step's loss is the one that its optimizer's gradients came from."""

    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(1)
        self.model = models.Own()
        self.sgd = torch.optim.SGD(self.model.parameters(), lr=1e-2)
        self.true: list[float] = []

    def loss(self, step: int) -> torch.Tensor:
        return models.loss_of(self.model, models.batch(step))

    def step(self, step: int, in_place: bool = False) -> None:
        self.sgd.zero_grad(set_to_none=not in_place)
        loss = self.loss(step)
        loss.backward()
        self.sgd.step()
        self.true.append(float(loss))

    def check(self, lines: Optional[Lines] = None) -> None:
        lines = lines or self.read()
        self.assertEqual([x["step"] for x in lines[1:]], list(range(1, len(self.true) + 1)))
        for line, true in zip(lines[1:], self.true):
            self.assertAlmostEqual(line["loss"], true, places=5)

    def test_of_another_model_and_of_no_model_at_all(self) -> None:
        other, alone = models.Own(), nn.Parameter(torch.ones(()))
        adam, path, true = torch.optim.Adam(other.parameters()), self.path + ".other", []
        with normscope.watch(self.model, self.sgd, self.path), normscope.watch(other, adam, path):
            for step in range(3):
                self.step(step)
                adam.zero_grad()
                loss = models.loss_of(other, models.batch(step + 7))
                loss.backward()
                adam.step()
                (alone - 100).square().backward()
                true.append(float(loss))
        self.check()
        self.true = true
        self.check([json.loads(x) for x in pathlib.Path(path).read_text().splitlines()])

    def test_of_two_networks_that_play_against_each_other(self) -> None:
        maker, judge = nn.Linear(4, 4), nn.Linear(4, 1)
        for together in (False, True):
            by_maker, by_judge = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (maker, judge))
            self.true, both = [], nn.ModuleList([maker, judge])
            with normscope.watch(judge, by_judge, self.path), contextlib.redirect_stderr(io.StringIO()), \
                    normscope.watch(both, None, self.path + ".both"):
                for _ in range(3):
                    x = torch.randn(8, 4)
                    by_maker.zero_grad()
                    judge(maker(x)).mean().backward()  # its gradients reach the judge too
                    if not together:
                        by_maker.step()
                    by_judge.zero_grad()
                    loss = (judge(x + 1) - judge(maker(x).detach())).mean()
                    loss.backward()
                    if together:
                        by_maker.step()
                    by_judge.step()
                    self.true.append(float(loss))
            self.check()
            lines = [json.loads(x) for x in pathlib.Path(self.path + ".both").read_text().splitlines()]
            if together:  # one update of two losses
                self.assertFalse(any("loss" in x for x in lines[1:]))
                self.assertIn("gradients of different losses", lines[0]["notes"][0])
            else:
                self.check([lines[0], *({**x, "step": x["step"] // 2} for x in lines[2::2])])
                self.assertEqual(list(lines[2]["grad_norm"]), ["1.weight", "1.bias"])

    def test_of_an_update_that_was_left_out(self) -> None:
        for in_place in (False, True):
            with normscope.watch(self.model, self.sgd, self.path):
                self.true = []
                for step in range(3):
                    self.step(2 * step, in_place)
                    self.sgd.zero_grad(set_to_none=not in_place)
                    self.loss(2 * step + 1).backward()  # a guard finds the loss too large
            self.check()

    def test_what_is_accumulated_in_place_adds_up(self) -> None:
        with normscope.watch(self.model, self.sgd, self.path):
            for step in range(2):
                self.sgd.zero_grad(set_to_none=False)
                parts = [self.loss(2 * step + i) / 2 for i in range(2)]
                for part in parts:
                    part.backward()
                    nn.utils.clip_grad_norm_(self.model.parameters(), 100)
                self.sgd.step()
                self.true.append(float(sum(parts)))
        self.check()

    def test_of_closures_it_is_the_first(self) -> None:
        for in_place in (False, True):
            lbfgs, first = torch.optim.LBFGS(self.model.parameters(), lr=0.1, max_iter=4), []
            with normscope.watch(self.model, lbfgs, self.path):
                for step in range(2):
                    seen: list[float] = []

                    def closure() -> torch.Tensor:
                        lbfgs.zero_grad(set_to_none=not in_place)
                        loss = self.loss(step)
                        loss.backward()
                        seen.append(float(loss))
                        return loss

                    lbfgs.step(closure)
                    first.append(seen[0])
            self.true = first
            self.check()

    def test_a_model_in_eval_and_one_that_is_never_called(self) -> None:
        self.model.eval()
        with contextlib.redirect_stderr(io.StringIO()), normscope.watch(self.model, self.sgd, self.path):
            for step in range(3):
                self.step(step)
        self.check()
        self.assertIn("in eval()", self.read()[0]["notes"][0])
        self.assertEqual(len(self.read()[-1]["branch_variance"]), 4)

        class Outer(nn.Module):
            def __init__(self, net: nn.Module) -> None:
                super().__init__()
                self.net = net

        self.true = []
        with contextlib.redirect_stderr(io.StringIO()) as said, \
                normscope.watch(Outer(self.model), self.sgd, self.path):
            for step in range(3):
                self.step(step)
        self.check()
        self.assertIn("watch(model.net)", said.getvalue())
        slopes = [x["grad_norm"]["net.stack.0.up.weight"] for x in self.read()[1:]]
        self.assertAlmostEqual(slopes[-1], float(self.model.stack[0].up.weight.grad.norm()), places=5)

    def test_a_backward_by_any_name(self) -> None:
        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        with normscope.watch(self.model, self.sgd, self.path):
            for step in range(3):
                self.sgd.zero_grad()
                loss = self.loss(step)
                if step == 0:
                    torch.autograd.backward([loss / 2, loss / 2])
                elif step == 1:
                    loss.backward(torch.ones(()))
                else:
                    scaled = scaler.scale(loss)
                    models.loss_of(models.Own(), models.batch(9)).backward()
                    scaled.backward()
                    scaler.unscale_(self.sgd)
                self.sgd.step()
                self.true.append(float(loss))
        self.check()

    def test_what_cannot_be_told_is_left_out_and_said(self) -> None:
        def by_grad() -> None:
            found = torch.autograd.grad(self.loss(0), list(self.model.parameters()))
            for p, g in zip(self.model.parameters(), found):
                p.grad = g

        def of_several() -> None:
            logits = self.model(models.batch(0))
            logits.backward(torch.ones_like(logits))

        def of_a_scaled_one() -> None:
            (torch.amp.GradScaler("cpu").scale(self.loss(0)) / 2).backward()

        for backward, why in ((by_grad, "no backward() reached"), (of_several, "of no number"),
                              (of_a_scaled_one, "of no number")):
            with contextlib.redirect_stderr(io.StringIO()) as said, normscope.watch(self.model, self.sgd, self.path):
                self.true = []
                self.step(0)
                self.sgd.zero_grad()
                backward()
                self.sgd.step()
            lines = self.read()
            self.assertNotIn("loss", lines[2])
            self.assertIn(why, lines[2]["notes"][0])
            self.assertIn(why, said.getvalue())
            self.assertIn("stack.0.up.weight", lines[2]["grad_norm"])

    def test_layers_that_are_trained_later(self) -> None:
        frozen = list(self.model.stack[0].parameters())
        for p in frozen:
            p.requires_grad_(False)
        self.sgd = torch.optim.SGD([p for p in self.model.parameters() if p.requires_grad], lr=1e-2)
        with normscope.watch(self.model, self.sgd, self.path, update_every=1):
            self.step(0)
            for p in frozen:
                p.requires_grad_(True)
            self.sgd.add_param_group({"params": frozen})
            self.step(1)
            self.model.more = nn.Parameter(torch.ones(models.D))
            self.sgd.add_param_group({"params": [self.model.more]})
            self.model.last.register_forward_hook(lambda m, x, out: out + self.model.more)
            self.step(2)
            self.step(3)
        self.check()
        for field in ("grad_norm", "weight_norm", "update_norm"):
            self.assertEqual(["stack.0.up.weight" in x[field] for x in self.read()[1:]], [False, True, True, True])
            self.assertIn("more", self.read()[-1][field])

    def test_a_branch_is_measured_as_it_is_added(self) -> None:
        class Half(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.f = nn.Linear(8, 8)

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return torch.add(x, self.f(x), alpha=0.5)

        for kind, above in ((torch.float32, 0.0), (torch.float32, 30.0), (torch.bfloat16, 0.0), (torch.float32, 1e5)):
            model, x = nn.Sequential(Half(), Half(), nn.Linear(8, 1)).to(kind), (torch.randn(500, 8) + above).to(kind)
            sgd = torch.optim.SGD(model.parameters(), lr=0)
            with contextlib.redirect_stderr(io.StringIO()), normscope.watch(model, sgd, self.path):
                for _ in range(2):
                    model(x).sum().backward()
                    sgd.step()
            first, second = x, model[0](x)
            for line in self.read()[1:]:
                for field, name, tensor in (("input_variance", "L01.ffn", first), ("input_variance", "L02.ffn", second),
                                            ("branch_variance", "L02.ffn", model[1].f(second) / 2)):
                    if tensor is first and above > 1e4:  # rounding leaves too little of it
                        self.assertIsNone(line[field][name])
                    else:
                        true = float(tensor.double().var(correction=0))
                        self.assertAlmostEqual(line[field][name] / true, 1, places=3 if above else 5)


class Logs(Case):
    def run_of(self, model: nn.Module, steps: int, path: str = "", **how: Any) -> Any:
        sgd = torch.optim.SGD(model.parameters(), lr=1e-2)
        recording = normscope.watch(model, path=path or self.path, **how)
        for step in range(steps):
            sgd.zero_grad()
            models.loss_of(model, models.batch(step)).backward()
            sgd.step()
        return recording

    def steps(self, path: str = "") -> list[int]:
        return [json.loads(x)["step"] for x in pathlib.Path(path or self.path).read_text().splitlines()
                if '"step"' in x]

    def test_watch_again_ends_the_recording_before_and_keeps_it(self) -> None:
        model = models.Own()
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.run_of(model, 5)
            self.run_of(model, 3)
            self.run_of(models.Own(), 2).close()
        folder = pathlib.Path(self.path).parent
        self.assertEqual([self.steps(str(folder / f)) for f in ("run.1.jsonl", "run.2.jsonl", "run.jsonl")],
                         [[1, 2, 3, 4, 5], [1, 2, 3], [1, 2]])
        self.assertEqual(said.getvalue().count("this recording has ended"), 2)
        self.assertIn("run.2.jsonl", said.getvalue())

    def test_a_model_has_one_recording(self) -> None:
        model = models.Own()
        with contextlib.redirect_stderr(io.StringIO()):
            self.run_of(model, 2)
            self.run_of(model, 3, self.path + ".other").close()
        self.assertEqual((self.steps(), self.steps(self.path + ".other")), ([1, 2], [1, 2, 3]))

    def test_a_training_that_goes_on_goes_on_with_its_log(self) -> None:
        model = models.Own()
        self.run_of(model, 3).close()
        whole = pathlib.Path(self.path).read_text()
        pathlib.Path(self.path).write_text(whole[:-5])  # it was killed while it wrote
        self.run_of(model, 2, first=2).close()
        lines = [json.loads(x) for x in pathlib.Path(self.path).read_text().splitlines() if x.endswith("}")]
        self.assertEqual([x["step"] for x in lines if "step" in x], [1, 2, 3, 4])
        seconds = [x["seconds"] for x in lines if "step" in x]
        self.assertEqual(seconds, sorted(seconds))


def distributed(rank: int, folder: str, kind: str) -> None:
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/{kind}.store", rank=rank, world_size=2)
    torch.manual_seed(1)
    model: nn.Module = models.Own()
    if kind == "ddp":
        model = nn.parallel.DistributedDataParallel(model)
    elif kind == "fsdp1":
        from torch.distributed.fsdp import FullyShardedDataParallel
        model = FullyShardedDataParallel(model, device_id=torch.device("cpu"), use_orig_params=True)
    else:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
    sgd = torch.optim.SGD(model.parameters(), lr=1e-2)
    with normscope.watch(model, sgd, f"{folder}/{kind}.jsonl" if rank == 0 else f"{folder}/none.jsonl"):
        for step in range(3):
            sgd.zero_grad()
            models.loss_of(model, models.batch(step).chunk(2)[rank]).backward()
            sgd.step()
    dist.barrier()
    dist.destroy_process_group()


class Several(Case):
    def spawn(self, kind: str) -> Lines:
        folder = os.path.dirname(self.path)
        torch.multiprocessing.spawn(distributed, (folder, kind), nprocs=2)
        self.assertFalse(os.path.exists(f"{folder}/none.jsonl"))
        self.path = f"{folder}/{kind}.jsonl"
        return self.read()

    def test_ddp(self) -> None:
        lines = self.spawn("ddp")
        plain, _ = Case.train(self, steps=3)
        for x, y in zip(lines[1:], plain[1:]):  # gradients are of both halves; loss and stream of the first
            for name, value in y["grad_norm"].items():
                if value > 1e-6:
                    self.assertLess(abs(x["grad_norm"][name] / value - 1), 1e-4)
        self.assertEqual(lines[0]["names"], plain[0]["names"])

    def test_fsdp_says_what_it_cannot_see(self) -> None:
        for kind in ("fsdp", "fsdp1"):
            with self.subTest(kind):
                lines = self.spawn(kind)
                self.assertIn("cut by FSDP", lines[0]["notes"][0])
                self.assertNotIn("grad_norm", lines[1])
                self.assertTrue(all(8 < x["loss"] < 14 for x in lines[1:]))
                self.assertEqual([s["name"] for s in lines[0]["stream"]],
                                 ["L01.attn", "L01.ffn", "L02.attn", "L02.ffn"])
                self.assertEqual(len(lines[1]["branch_variance"]), 4)


class Trainers(Case):
    def test_trainer_of_transformers(self) -> None:
        try:
            import transformers as hf
            import accelerate  # noqa: F401
        except ImportError:
            self.skipTest("transformers and accelerate are not installed")
        torch.manual_seed(1)
        model = hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=31, n_embd=16, n_layer=2, n_head=2, n_positions=16,
                                                 bos_token_id=1, eos_token_id=2))
        rows = [{"input_ids": r, "labels": r} for r in models.batch(0, rows=32)]
        recording = normscope.watch(model, path=self.path)
        folder = os.path.dirname(self.path)
        hf.Trainer(model, hf.TrainingArguments(folder, max_steps=4, per_device_train_batch_size=4, report_to=[],
                                               gradient_accumulation_steps=2, use_cpu=True, save_strategy="no",
                                               disable_tqdm=True), train_dataset=rows).train()
        recording.close()
        lines = self.read()
        self.assertEqual([x["step"] for x in lines[1:]], [1, 2, 3, 4])
        self.assertTrue(all(3 < x["loss"] < 4 for x in lines[1:]), [x["loss"] for x in lines[1:]])  # ln 31 = 3.43
        self.assertEqual(lines[0]["placement"], "pre")

    def test_lightning(self) -> None:
        try:
            import lightning
        except ImportError:
            self.skipTest("lightning is not installed")

        class Module(lightning.LightningModule):
            def __init__(self) -> None:
                super().__init__()
                self.net = models.Own()

            def training_step(self, rows: torch.Tensor, _: int) -> torch.Tensor:
                return models.loss_of(self.net, rows)

            def configure_optimizers(self) -> Any:
                return torch.optim.SGD(self.parameters(), lr=1e-2)

        torch.manual_seed(1)
        module = Module()
        recording = normscope.watch(module.net, path=self.path)
        lightning.Trainer(max_steps=3, accelerator="cpu", logger=False, enable_checkpointing=False,
                          enable_progress_bar=False, enable_model_summary=False).fit(
            module, torch.utils.data.DataLoader(models.batch(0, rows=16), batch_size=4))
        recording.close()
        lines = self.read()
        self.assertEqual([x["step"] for x in lines[1:]], [1, 2, 3])
        self.assertIn("loss", lines[1])
        self.assertEqual(len(lines[1]["share"]), 4)

    def test_flax(self) -> None:
        try:
            import flax.linen as linen
            import jax
            import jax.numpy as jnp
        except ImportError:
            self.skipTest("flax is not installed")
        import normscope.jax

        class Net(linen.Module):
            @linen.compact
            def __call__(self, x: Any) -> Any:
                for i in range(2):
                    x = x + linen.Dense(8, name=f"layers_{i}")(linen.LayerNorm()(x))
                return x

        net, x = Net(), jnp.ones((2, 8))
        params = net.init(jax.random.PRNGKey(0), x)
        recording = normscope.jax.watch(self.path, name="flax")
        for step in range(3):
            loss, grads = jax.value_and_grad(lambda p: jnp.mean(net.apply(p, x) ** 2))(params)
            updates = jax.tree_util.tree_map(lambda g: -0.1 * g, grads)
            params = jax.tree_util.tree_map(jnp.add, params, updates)
            recording.step(step + 1, loss, 0.1, grads=grads, params=params, updates=updates)
        recording.close()
        line = self.read()[-1]
        self.assertIn("params/layers_1/kernel", line["grad_norm"])
        updated, slope = (line[f]["params/layers_1/kernel"] for f in ("update_norm", "grad_norm"))
        self.assertAlmostEqual(updated / slope, 0.1, places=5)

    def test_flax_nnx(self) -> None:
        try:
            import jax.numpy as jnp
            import optax
            from flax import nnx
        except ImportError:
            self.skipTest("flax or optax is not installed")
        import normscope.jax

        class Cell(nnx.Module):
            def __init__(self, rngs: nnx.Rngs) -> None:
                self.norm, self.up = nnx.LayerNorm(8, rngs=rngs), nnx.Linear(8, 8, rngs=rngs)

        class Net(nnx.Module):
            def __init__(self) -> None:
                rngs = nnx.Rngs(0)
                self.layers = nnx.List([Cell(rngs), Cell(rngs)])

            def __call__(self, x: Any) -> Any:
                for cell in self.layers:
                    x = x + cell.up(cell.norm(x))
                return x

        net, x = Net(), jnp.ones((2, 8))
        optimizer = nnx.Optimizer(net, optax.sgd(0.1), wrt=nnx.Param)
        recording = normscope.jax.watch(self.path, name="nnx")
        for step in range(2):
            before = jnp.array(net.layers[1].up.kernel[...])
            loss, grads = nnx.value_and_grad(lambda m: jnp.mean(m(x) ** 2))(net)
            optimizer.update(net, grads)
            recording.step(step + 1, loss, 0.1, grads=grads, params=nnx.state(net, nnx.Param))
        recording.close()
        line = self.read()[-1]
        name = "layers/1/up/kernel"
        self.assertIn(name, line["grad_norm"])
        kernel = before - 0.1 * grads["layers"][1]["up"]["kernel"][...]
        self.assertAlmostEqual(line["weight_norm"][name], float(jnp.linalg.norm(kernel)), places=5)


if __name__ == "__main__":
    unittest.main()

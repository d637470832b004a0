"""Records a training in PyTorch: the stream by the additions of a forward pass, the rest when the optimizer steps."""
from __future__ import annotations

import atexit
import dataclasses
import os
import time
import weakref
from typing import Any, Iterable, Optional

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from ._branches import SubLayer
from ._measure import Measure, shares, stream_numbers
from ._probe import Probe, clean
from ._stream import Analysis, Found
from ._writer import Log, guarded, say

FORMAT = "normscope log 3"
MOST_PROBES = 3  # a model whose passes differ is not probed for ever
Tensor = torch.Tensor


@dataclasses.dataclass(frozen=True)
class Part:
    """What is recorded of a parameter: all of it or a third."""

    name: str
    parameter: Tensor
    third: int = -1
    across: int = 0

    def of(self, t: Tensor) -> Tensor:
        t = t.coalesce().values() if t.is_sparse else t
        return t.chunk(3, self.across)[self.third] if self.third >= 0 else t


class Recording:
    """A training that is recorded. `loss` and `log` are for what cannot be seen from outside; `close` ends it."""

    def __init__(self, model: torch.nn.Module, optimizer: Any, path: str, *, every: int, stream_every: int,
                 update_every: int, name: str, placement: Optional[str], data: Any, show: bool,
                 settings: dict[str, Any]) -> None:
        self.log = Log(path, rank(), show)
        self.every, self.stream_every, self.update_every = every, stream_every, update_every
        self.about = {"maker": "PyTorch " + torch.__version__, "name": name, "placement": placement, "data": data,
                      "settings": {k: str(v) for k, v in settings.items()}}
        self.count, self.probes = 0, 0
        self.notes: list[str] = []
        self.found: Optional[Found] = None
        self.measure: Optional[Measure] = None
        self.mode: Any = None
        self.line: Optional[dict[str, Any]] = None
        self.numbers: dict[tuple[str, str], Tensor] = {}
        self.losses: list[Tensor] = []
        self.said: Any = None
        self.begun = self.headed = self.graded = self.due = False
        self.start = time.perf_counter()
        self.copies: dict[Tensor, Tensor] = {}
        self.stepped: set[int] = set()
        self.hooks: list[Any] = []
        self.set_up(model, optimizer)

    @guarded
    def set_up(self, model: torch.nn.Module, optimizer: Any) -> None:
        inner = getattr(model, "_orig_mod", model)
        self.compiled = any(getattr(m, "_orig_mod", None) is not None or getattr(m, "_compiled_call_impl", None)
                            for m in model.modules())
        self.plain, self.model = inner, weakref.ref(model)
        names = [(n, p) for n, p in inner.named_parameters() if p.requires_grad]
        cut = [n for n, p in names if hasattr(p, "to_local") or "_fsdp_wrapped_module" in n or "_flat_param" in n]
        if cut:
            self.notes.append(f"{len(cut)} parameters are cut by FSDP: their norms are not recorded, as the norm of a "
                              "piece is another number")
        self.parameters = {clean(n): p for n, p in names if n not in cut}
        self.parts = [Part(n, p) for n, p in self.parameters.items()]
        self.own = {id(p) for _, p in names}
        self.optimizers = {id(getattr(o, "optimizer", o)) for o in
                           (optimizer if isinstance(optimizer, (list, tuple)) else [optimizer]) if o is not None}
        self.hooks = [model.register_forward_pre_hook(self.before, with_kwargs=True),
                      model.register_forward_hook(self.after, with_kwargs=True, always_call=True),
                      register_optimizer_step_pre_hook(self.before_step),
                      register_optimizer_step_post_hook(self.after_step)]
        watch_backward(self)
        atexit.register(self.close)

    # The forward pass

    @guarded
    def before(self, module: Any, args: Any, kwargs: Any) -> None:
        if not torch.is_grad_enabled() or not module.training or self.mode is not None or module is not self.model():
            return  # a copy of the model has the hooks too
        self.finish()
        count = self.count + 1
        if count % self.every:
            return
        due = self.found is None or (count // self.every - 1) % self.stream_every == 0
        if not due or self.probes >= MOST_PROBES and not self.measure:
            return
        if self.compiled:
            self.aside(args, kwargs)
            return
        self.enter(args, kwargs)

    def enter(self, args: Any, kwargs: Any) -> None:
        if self.measure:
            self.measure.begin()
            self.measure.__enter__()
            self.mode = self.measure
        else:
            self.probes += 1
            probe = Probe(self.plain, {id(p): n for n, p in self.parameters.items()})
            probe.start([args, kwargs])
            self.mode = probe

    def after(self, module: Any, args: Any, kwargs: Any, out: Any) -> None:
        mode, self.mode = self.mode, None
        if mode is not None:
            mode.end()
            self.use(mode, out)

    @guarded
    def use(self, mode: Any, out: Any) -> None:
        if mode.failure is not None:
            raise mode.failure
        if out is None:  # the pass itself failed
            return
        if isinstance(mode, Probe):
            self.recognise(mode.graph_to(out))
        elif not mode.whole:  # another way through the model: found anew
            self.measure = None
            if self.probes == MOST_PROBES:
                say(f"{self.log.path}: the model's passes differ: its stream is no longer recorded")
        if self.measure and mode.seen.keys() >= self.measure.wanted:
            self.numbers.update(stream_numbers(self.now.sublayers, mode.seen))

    def aside(self, args: Any, kwargs: Any) -> None:
        """A compiled model hides its ops: the same batch goes through it once more, uncompiled and without dropout."""
        inner, training = self.plain, {m: m.training for m in self.plain.modules()}
        with torch.no_grad(), torch.compiler.set_stance("force_eager"):
            inner.eval()
            self.enter(args, kwargs)
            out = None
            try:
                out = inner.forward(*args, **kwargs)
            finally:
                for m, was in training.items():
                    m.training = was
                self.after(inner, args, kwargs, out)

    def recognise(self, graph: Any) -> None:
        shapes = {n: tuple(p.shape) for n, p in self.parameters.items()}
        found = Analysis(graph, shapes).found()
        if any(s.kind for s in found.sublayers):
            self.measure, self.now = Measure(found), found
        if self.found is None:
            self.found = found
            self.parts = [q for n, p in self.parameters.items() for q in thirds(n, p, found)]

    # Backward and the update

    @guarded
    def backward(self, loss: Tensor, scale: Optional[Tensor]) -> None:
        """After each backward of a number: gradients are before clipping, and a scaler's factor is taken out."""
        self.losses.append(loss)
        if (self.count + 1) % self.every == 0:
            self.norms("grad_norm", lambda p: p.grad, scale)
            self.graded = True

    def norms(self, field: str, of: Any, over: Optional[Tensor] = None) -> None:
        found = [(q.name, q.of(t)) for q in self.parts for t in [of(q.parameter)] if t is not None]
        if not found:
            return
        values = list(torch._foreach_norm([t for _, t in found]))
        if over is not None:
            values = [v / over.to(v.device) for v in values]
        self.numbers.update(zip([(field, name) for name, _ in found], values))

    def is_ours(self, optimizer: Any) -> bool:
        return id(optimizer) in self.optimizers or not self.optimizers and any(
            id(p) in self.own for group in optimizer.param_groups for p in group["params"])

    @guarded
    def before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self.is_ours(optimizer):
            return
        if id(optimizer) in self.stepped:
            self.finish()
        if self.stepped:
            return  # the second optimizer of the same update
        count = self.count + 1
        if count % self.every:
            return
        if not self.graded:
            self.norms("grad_norm", lambda p: p.grad)
        self.due = bool(self.parts) and (count // self.every - 1) % self.update_every == 0
        if self.due:
            self.copies = self.copies or {q.parameter: torch.empty_like(q.parameter) for q in self.parts}
            torch._foreach_copy_([*self.copies.values()], [p.detach() for p in self.copies])
        self.line = {"step": count, "lr": optimizer.param_groups[0]["lr"]}

    @guarded
    def after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self.is_ours(optimizer):
            return
        if not self.stepped:
            self.count += 1
        self.stepped.add(id(optimizer))
        if self.line is not None:
            self.line["seconds"] = time.perf_counter() - self.start

    def loss(self, loss: Any) -> None:
        """The loss of this update, where it is not the number whose backward() is called."""
        self.said = loss

    @guarded
    def note(self, **values: Any) -> None:
        """`note(validation=2.31)` adds to the line of the last update, until the next forward pass."""
        if self.line is not None:
            self.line.update(values)

    def finish(self) -> None:
        """Writes the line of the update that is done: at the next forward pass, so that nothing waits for a device."""
        if not self.stepped:  # gradients add up; or a scaler left the update out, and they begin anew
            if all(q.parameter.grad is None for q in self.parts):
                self.losses, self.numbers = [], {}
            return
        line, self.line = self.line, None
        if line is not None:
            losses = [self.said] if self.said is not None else self.losses
            if losses:
                self.numbers["", "loss"] = torch.stack([torch.as_tensor(x).detach().float().mean() for x in losses]).sum()
            if self.due:
                torch._foreach_sub_([*self.copies.values()], [p.detach() for p in self.copies])
                self.norms("update_norm", lambda p: self.copies[p])
                self.norms("weight_norm", torch.Tensor.detach)
            self.head()
            self.fill(line)
            self.log.write(line, shows=True)
        self.stepped, self.losses, self.said, self.numbers, self.graded = set(), [], None, {}, False

    def fill(self, line: dict[str, Any]) -> None:
        devices: dict[Any, dict[tuple[str, str], Tensor]] = {}  # a transfer from each
        for place, v in self.numbers.items():
            devices.setdefault(v.device, {})[place] = v.detach().float()
        for numbers in devices.values():
            for (field, name), v in zip(numbers, torch.stack([*numbers.values()]).tolist()):
                (line.setdefault(field, {}) if field else line)[name] = v
        states = line.pop("sum_variance", {})
        if self.found:
            share = shares(self.found.sublayers, line.get("branch_variance", {}), states)
            if share:
                line["share"] = share

    def head(self) -> None:
        if self.headed:
            return
        self.headed = True
        found = self.found
        about: dict[str, Any] = {"format": FORMAT, **{k: v for k, v in self.about.items() if v}}
        if not isinstance(self.about["data"], (dict, type(None))):
            about["data"] = {"name": str(self.about["data"])}
        if self.compiled:
            self.notes.append("compiled: the stream is of the same batch, passed once more uncompiled, without dropout")
        if found is None or not found.sublayers:
            self.notes.append("no residual stream was found")
        elif not any(s.kind for s in found.sublayers):
            self.notes.append("the residual sums are in no layers that are recognised")
        if found:
            about.setdefault("placement", found.placement)
            about["names"] = found.names
            about["stream"] = [entry(s) for s in found.sublayers]
        if self.notes:
            about["notes"] = self.notes
            for note in self.notes:
                say(f"{self.log.path}: {note}")
        self.log.write(about)

    def close(self) -> None:
        """Writes the last line and takes every hook away."""
        self.end()
        for hook in self.hooks:
            hook.remove()
        self.hooks = []
        WATCHING.discard(self)
        atexit.unregister(self.close)
        self.log.stop()

    @guarded
    def end(self) -> None:
        self.finish()

    def __deepcopy__(self, _: Any) -> "Recording":  # a model that is copied or saved whole has its hooks with it
        return self

    def __reduce__(self) -> Any:
        return Nothing, ()

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Nothing:
    """What a recording is in a model that was saved whole and loaded: it does nothing."""

    def before(self, *_: Any) -> None:
        pass

    after = before


def rank() -> int:
    ranks = torch.distributed.is_available() and torch.distributed.is_initialized()
    return torch.distributed.get_rank() if ranks else int(os.environ.get("RANK", "0") or 0)


def thirds(name: str, p: Tensor, found: Found) -> Iterable[Part]:
    cut = any(rule.replace("{layer}", n) == f"{name}[q]" for n in [*filter(str.isdigit, name.split(".")), ""]
              for rule in found.names if rule.endswith("[q]"))
    if not cut:
        return [Part(name, p)]
    across = max(range(p.dim()), key=lambda d: p.shape[d])
    return [Part(f"{name}[{c}]", p, i, across) for i, c in enumerate("qkv")]


def entry(s: SubLayer) -> dict[str, Any]:
    if not s.kind:
        return {"module": s.module, "not recognised": True}
    more = {"parts": [f"{s.stack}L{s.layer:02}.{kind}" for kind, _, _ in s.parts]} if s.parts else {}
    return {"name": s.name, "module": s.module, "norms": list(s.norms), **more}


# The loss is the number whose backward() is called.

WATCHING: "weakref.WeakSet[Recording]" = weakref.WeakSet()
PATCHED: list[Any] = []


def watch_backward(recording: Recording) -> None:
    WATCHING.add(recording)
    if PATCHED:
        return
    backward, scale = torch.Tensor.backward, torch.amp.GradScaler.scale
    scaled: Any = {}

    def scale_seen(self: Any, outputs: Any) -> Any:
        out = scale(self, outputs)
        if WATCHING and isinstance(out, Tensor) and self._enabled:
            scaled.clear()
            scaled[id(out)] = (out, outputs.detach(), self._scale)
        return out

    def backward_seen(self: Tensor, *values: Any, **more: Any) -> Any:
        result = backward(self, *values, **more)
        if WATCHING and self.numel() == 1:
            _, loss, factor = scaled.pop(id(self), (self, self.detach(), None))
            for r in list(WATCHING):
                r.backward(loss, factor.detach().clone() if factor is not None else None)
        return result

    PATCHED.extend([backward, scale])
    torch.Tensor.backward = backward_seen  # type: ignore[method-assign, assignment]
    torch.amp.GradScaler.scale = scale_seen  # type: ignore[method-assign]

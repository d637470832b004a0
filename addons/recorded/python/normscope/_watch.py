"""Records a training in PyTorch: the stream by the additions of a forward pass, the rest when the optimizer steps."""
from __future__ import annotations

import atexit
import dataclasses
import functools
import os
import re
import threading
import time
import weakref
from typing import Any, Iterable, Optional, Sequence

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from ._branches import SubLayer
from ._measure import Measure, stream_numbers, tensors_of
from ._origins import WATCHING, Origins, backward_is_on, loss_of, watch_backward
from ._probe import HALVES, Pass, Probe, clean, wide
from ._stream import Analysis, Found
from ._writer import Log, guarded, say, unfailing

FORMAT = "normscope log 3"
MOST_PROBES = 3  # a model whose passes differ is not probed for ever
MOST_NAMED = 4  # of the modules in a note
Tensor = torch.Tensor


@dataclasses.dataclass(frozen=True)
class Parts:
    """What is recorded of a parameter: all of it, or three thirds."""

    names: tuple[str, ...]
    across: int = 0

    def of(self, t: Tensor) -> Sequence[Tensor]:
        t = t.coalesce().values() if t.is_sparse else t
        return t.chunk(3, self.across) if len(self.names) == 3 else (t,)


@dataclasses.dataclass
class Update:
    """An update that is made; its line, if it has one, is not yet written."""

    line: Optional[dict[str, Any]]
    numbers: dict[tuple[str, str], Tensor]
    said: Any
    losses: list[list[Optional[Tensor]]] = dataclasses.field(default_factory=list)  # of each optimizer's gradients
    stepped: list[Any] = dataclasses.field(default_factory=list)  # these optimizers
    moved: set[Tensor] = dataclasses.field(default_factory=set)  # their parameters
    graded: bool = False  # all of its gradients are measured
    inside: bool = False  # of a backward that is still on, whose loss is told when that has ended


class Recording:
    """A training that is recorded. `loss` and `log` are for what cannot be seen from outside; `close` ends it."""

    def __init__(self, model: torch.nn.Module, optimizer: Any, path: str, *, every: int, stream_every: int,
                 update_every: int, first: int, name: str, placement: Optional[str], data: Any, show: bool,
                 tensorboard: Optional[str], settings: dict[str, Any]) -> None:
        self.plain, self.model = getattr(model, "_orig_mod", model), weakref.ref(model)
        self.log = Log(path, 0, show, first=first, tensorboard=tensorboard)
        self.every, self.stream_every, self.update_every, self.count = every, stream_every, update_every, first
        self.about = {"maker": "PyTorch " + torch.__version__, "name": name, "placement": placement, "data": data}
        self.found: Optional[Found] = None
        self.measure: Optional[Measure] = None
        self.mode: Optional[Pass] = None
        self.taken = threading.Lock()  # while a pass is measured
        self.thread = 0  # that calls backward(): passes of others are not the training's
        self.probes = 0
        self.notes: list[str] = []
        self.late: list[str] = []  # behind the header
        self.origins = Origins()
        self.parameters: dict[str, Tensor] = {}
        self.parts: dict[Tensor, Parts] = {}
        self.copies: dict[Tensor, Tensor] = {}
        self.steps: Any = weakref.WeakKeyDictionary()  # of an optimizer, how many parameters it has and which are ours
        self.numbers: dict[tuple[str, str], Tensor] = {}  # of the update that comes
        self.said: Any = None
        self.graded = self.due = False
        self.rates: list[Any] = []  # of all groups of parameters
        self.closures = 0  # how often the step that is on its way has called its closure
        self.update: Optional[Update] = None  # that was made last
        self.headed = self.called = self.trains = False
        self.hooks: list[Any] = []
        self.set_up(model, optimizer, settings)

    @unfailing
    def set_up(self, model: torch.nn.Module, optimizer: Any, settings: dict[str, Any]) -> None:
        if min(self.every, self.stream_every, self.update_every) < 1:
            raise ValueError("every, stream_every and update_every are at least 1")
        self.about["settings"] = {k: str(v) for k, v in settings.items()}
        for other in [*WATCHING]:
            if other.plain is self.plain or other.log.is_at(self.log.path):
                if other.log.open:
                    say(f"{other.log.path}: this recording has ended, as watch() was called again for its model or file")
                other.close()
        self.log.rank = rank()
        self.log.begin()
        self.start = time.perf_counter() - self.log.seconds
        self.compiled = any(getattr(m, "_orig_mod", None) is not None or getattr(m, "_compiled_call_impl", None)
                            for m in model.modules())
        self.learn()
        several = optimizer if isinstance(optimizer, (list, tuple)) else [optimizer]
        self.optimizers = [getattr(o, "optimizer", o) for o in several if o is not None]
        self.hooks = [model.register_forward_hook(self.pass_ended, with_kwargs=True, always_call=True),
                      model.register_forward_pre_hook(self.pass_begins, with_kwargs=True),
                      register_optimizer_step_pre_hook(self.before_step),
                      register_optimizer_step_post_hook(self.after_step)]
        self.go_around(model)
        watch_backward(self)
        atexit.register(self.close)

    def go_around(self, model: Any) -> None:
        """model.compile() may be called before watch() or after it."""
        if getattr(model, "_compiled_call_impl", None) and not any(isinstance(h, Around) for h in self.hooks):
            self.compiled = True
            self.hooks.append(Around(model, self.before, self.after))

    def fail(self, why: Exception) -> None:
        self.log.stop(why)
        if self.mode is not None and self.mode.here:
            self.leave()

    def learn(self) -> None:
        """Takes in the parameters that the model has by now; frozen ones too, which may be trained later."""
        new = [(n, p) for n, p in self.plain.named_parameters() if p not in self.origins.past]
        self.origins.learn(p for _, p in new)
        whole = {clean(n): p for n, p in new
                 if not (hasattr(p, "to_local") or "_fsdp_wrapped_module" in n or "_flat_param" in n)}
        cut = len(new) - len(whole)
        if cut:
            self.remark(f"{cut} parameters are cut by FSDP: their norms are not recorded, as the norm of a piece is "
                        "another number")
        self.parameters.update(whole)
        self.parts.update((p, parts_of(n, p, self.found)) for n, p in whole.items())

    def remark(self, note: str) -> None:
        """Says once what cannot be recorded, in the log and on standard error."""
        if note not in self.notes:
            self.notes.append(note)
            if self.headed:
                self.late.append(note)
                say(f"{self.log.path}: {note}")

    # The forward pass

    # A module's hooks are compiled with it, where ours would be an error; so they do nothing there.

    def pass_begins(self, *values: Any) -> None:
        if not torch.compiler.is_compiling():
            self.before(*values)

    def pass_ended(self, *values: Any) -> None:
        if not torch.compiler.is_compiling():
            self.after(*values)

    @guarded
    def before(self, module: Any, args: Any, kwargs: Any) -> None:
        if self.mode is not None:
            if not self.mode.here or self.mode.runs:
                return
            self.leave()  # that call was interrupted, by Ctrl+C
        training = module.training
        if not torch.is_grad_enabled() or module is not self.model() or self.closures > 1:
            return  # a copy of the model has the hooks too
        if self.thread not in (0, threading.get_ident()):
            return
        if self.trains and not training:
            return  # a validation with gradients
        self.called, self.trains = True, training
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
        if not self.taken.acquire(blocking=False):
            return
        if self.measure:
            mode: Pass = self.measure
        else:
            self.probes += 1
            mode = Probe(self.plain, {id(p): n for n, p in self.parameters.items()}, [args, kwargs])
        self.mode = mode
        mode.begin()

    def leave(self) -> None:
        if self.mode is not None:
            self.mode.end()
            self.mode = None
            self.taken.release()

    @unfailing
    def after(self, module: Any, args: Any, kwargs: Any, out: Any) -> None:
        mode = self.mode
        if mode is None or not mode.returns:
            return
        self.leave()
        if self in WATCHING:
            self.use(mode, out)
        else:
            self.unhook()

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
                self.remark("the model's passes differ: its stream is no longer recorded")
        if self.measure and mode.seen.keys() >= self.measure.wanted:
            self.numbers.update(tensors_of({add: mode.seen[add] for add in self.measure.wanted}))

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
                mode = self.mode
                self.leave()
            if mode is not None:
                self.use(mode, out)

    def recognise(self, graph: Any) -> None:
        shapes = {n: tuple(p.shape) for n, p in self.parameters.items()}
        found = Analysis(graph, shapes).found()
        if any(s.kind for s in found.sublayers):
            self.measure, self.now = Measure(found, graph), found
        if self.found is None:
            self.found = found
            self.parts = {p: parts_of(n, p, found) for n, p in self.parameters.items()}
            for note in found.notes:
                self.remark(note)

    # Backward and the update

    @guarded
    def backward_begins(self) -> None:
        if self.closures <= 1:
            self.origins.before()

    @guarded
    def backward_ended(self, loss: Optional[Tensor], scale: Optional[Tensor]) -> None:
        """Gradients are those before clipping, and a scaler's factor is taken out."""
        if self.closures > 1:
            return
        reached = self.origins.after(loss)
        update = self.update if self.update is not None and self.update.inside else None
        if update is None and not reached:
            return
        self.thread = threading.get_ident()
        if update is not None:  # optimizers stepped within this backward
            update.inside = False
            update.losses.append([loss])
            self.origins.take([*update.moved])
        else:
            self.finish()
        if (self.count + (update is None)) % self.every:
            return
        if update is None:
            self.numbers = {place: v for place, v in self.numbers.items() if place[0] != "grad_norm"}
        numbers, moved = (update.numbers, update.moved) if update else (self.numbers, ())
        self.norms(numbers, "grad_norm", ((p, p.grad) for p in self.parts if p not in moved), scale)
        if update is not None:
            update.graded = True
        else:
            self.graded = True

    def norms(self, numbers: Any, field: str, tensors: Iterable[tuple[Tensor, Optional[Tensor]]],
              over: Optional[Tensor] = None) -> None:
        """Adds to `numbers` the norms of `tensors`, each of which belongs to a parameter."""
        kinds: dict[bool, tuple[list[str], list[Tensor]]] = {False: ([], []), True: ([], [])}
        for p, t in tensors:
            parts = self.parts.get(p) if t is not None else None
            if parts:
                names, those = kinds[t.dtype in HALVES]
                names.extend(parts.names)
                those.extend(parts.of(t))
        for half, (names, those) in kinds.items():  # squares of half a precision are added up in a whole one
            if not those:
                continue
            values = [*torch._foreach_norm(those, 2, torch.float32 if half else None)]
            if over is not None:
                values = [v / over.to(v.device) for v in values]
            numbers.update(zip([(field, name) for name in names], values))

    def moved_by(self, optimizer: Any) -> list[Tensor]:
        """The model's parameters among an optimizer's; none: it is another training's."""
        if self.optimizers and optimizer not in self.optimizers:
            return []
        if bool(getattr(optimizer, "found_inf", False)):  # a fused optimizer, which a scaler has leave its update out
            return []
        size = sum(len(group["params"]) for group in optimizer.param_groups)
        if self.steps.get(optimizer, (-1,))[0] != size:  # add_param_group too
            self.learn()
            ours = [p for group in optimizer.param_groups for p in group["params"] if p in self.origins.past]
            self.steps[optimizer] = size, ours or [*self.origins.past] if self.optimizers else ours  # or copies of all
        return self.steps[optimizer][1]

    @guarded
    def before_step(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        ours = self.moved_by(optimizer)
        if not ours:
            return None
        self.go_around(self.model())
        if self.update and optimizer in self.update.stepped:
            self.finish()
        self.closures = 0
        closure = next(filter(callable, (kwargs.get("closure"), *args[1:2])), None)
        if (self.count + (self.update is None)) % self.every == 0:
            if self.update is None:  # else the second optimizer of one update
                self.begin_update()
            self.rates += [r.clone() if isinstance(r, Tensor) else r for group in optimizer.param_groups
                           for r in [group.get("lr")]]  # a scheduler changes a tensor in place
            numbers, graded = (self.update.numbers, self.update.graded) if self.update else (self.numbers, self.graded)
            if not graded and not closure:
                self.norms(numbers, "grad_norm", ((p, p.grad) for p in ours))
        if closure is None:
            return None

        def counted() -> Any:
            self.closures += 1  # the first is at the weights that the step begins with
            return closure()

        return ((args[0], counted, *args[2:]), kwargs) if len(args) > 1 else (args, {**kwargs, "closure": counted})

    def begin_update(self) -> None:
        self.rates = []
        self.due = ((self.count + 1) // self.every - 1) % self.update_every == 0
        if self.due:
            for p in (p for p in self.parts if p.requires_grad):
                whole = wide(p)
                self.copies[p] = self.copies[p].copy_(whole) if p in self.copies else whole.clone()

    @guarded
    def after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        ours = self.moved_by(optimizer)
        if not ours:
            return
        self.closures = 0
        if self.update is None:
            self.count += 1
            line = {"step": self.count, "lr": self.rates} if self.count % self.every == 0 else None
            self.update = Update(line, self.numbers, self.said, graded=self.graded)
            self.numbers, self.said, self.graded = {}, None, False
        if self.update.line is not None:
            self.update.line["seconds"] = time.perf_counter() - self.start
        self.update.stepped.append(optimizer)
        self.update.moved.update(ours)
        if backward_is_on():
            self.update.inside = True
        else:
            self.update.losses.append(self.origins.take(ours))

    @guarded
    def loss(self, loss: Any) -> None:
        """The loss of this update, where it is not the number whose backward() is called."""
        if self.update is not None and self.called:  # behind the step, before the next forward pass
            self.update.said = loss
        else:
            self.said = loss

    @guarded
    def note(self, **values: Any) -> None:
        """`note(validation=2.31)` adds to the line of the last update, until the next forward or backward pass."""
        if self.update is not None and self.update.line is not None:
            self.update.line.update(values)

    def finish(self) -> None:
        """Writes the line of the update that is made: at the next pass, so that nothing waits for a device."""
        update, self.update = self.update, None
        if update is None or update.line is None:
            return
        numbers = {**update.numbers}
        for p in self.parts.keys() - update.moved:  # it has a gradient of a loss that was another optimizer's
            for name in self.parts[p].names:
                numbers.pop(("grad_norm", name), None)
        loss, why = (update.said, "") if update.said is not None else loss_of(update.losses)
        if why:
            self.remark(f"{why}: the update has no loss (recording.loss says it)")
        else:
            numbers["", "loss"] = torch.as_tensor(loss).detach().float().mean()
        if self.due:
            self.due = False
            moved = {p: copy for p, copy in self.copies.items() if p in update.moved and p.requires_grad}
            if moved:
                torch._foreach_sub_([*moved.values()], [wide(p) for p in moved])
            self.norms(numbers, "update_norm", moved.items())
            self.norms(numbers, "weight_norm", ((p, p.detach()) for p in moved))
        rates = [float(r) for r in update.line.pop("lr") if r is not None]
        if len({*rates}) > 1:
            self.remark("groups of parameters have rates of their own: lr has them all, and the first is drawn")
        if rates:
            update.line["lr"] = rates if len({*rates}) > 1 else rates[0]
        self.head()
        if self.late:
            update.line["notes"], self.late = self.late, []
        self.fill(update.line, numbers)
        self.log.write(update.line, shows=True)

    def fill(self, line: dict[str, Any], numbers: dict[tuple[str, str], Tensor]) -> None:
        devices: dict[Any, dict[tuple[str, str], Tensor]] = {}  # a transfer from each
        for place, v in numbers.items():
            devices.setdefault(v.device, {})[place] = v if v.dtype == torch.float32 else v.float()
        for there in devices.values():
            for (field, name), v in zip(there, torch.stack([*there.values()]).tolist()):
                (line.setdefault(field, {}) if field else line)[name] = v
        if "moments" in line:
            line.update(stream_numbers(self.now, line.pop("moments")))

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
        if not self.called:
            self.notes.append(f"the model itself is never called, so its stream is not seen: {self.hint()}")
        elif not self.trains:
            self.notes.append("the model is in eval(): it is recorded as it is, without dropout")
        if self.called and (found is None or not found.sublayers):
            self.notes.append("no residual stream was found")
        unknown = [s for s in found.sublayers if not s.kind] if found else []
        if found and len(unknown) == len(found.sublayers) > 0:
            self.notes.append("the residual sums are in no layers that are recognised")
        elif found and unknown:
            where = [*dict.fromkeys(s.module or "the model" for s in unknown)]
            more = f" and {len(where) - MOST_NAMED} more" if len(where) > MOST_NAMED else ""
            self.notes.append(f"{len(unknown)} of {len(found.sublayers)} residual sums are not recognised: in "
                              f"{', '.join(where[:MOST_NAMED])}{more}")
        if found:
            about.setdefault("placement", found.placement)
            about["names"] = found.names
            about["stream"] = [entry(s) for s in found.sublayers]
        if self.notes:
            about["notes"] = self.notes
            for note in self.notes:
                say(f"{self.log.path}: {note}")
        self.log.write(about)

    def hint(self) -> str:
        """Which module to watch: the one that holds most of the parameters."""
        sizes = {n: sum(p.numel() for p in m.parameters()) for n, m in self.plain.named_children()
                 if type(m).forward is not torch.nn.Module.forward}  # a list of modules has none
        most = max(sizes, key=sizes.__getitem__, default="")
        whole = sum(p.numel() for p in self.plain.parameters())
        example = f", as watch(model.{most})" if most and 2 * sizes[most] > whole else ""
        return "watch the module that is called" + example

    @unfailing
    def close(self) -> None:
        """Writes the last line and takes every hook away."""
        self.end()
        WATCHING.discard(self)
        atexit.unregister(self.close)
        if self.mode is not None and self.mode.here:
            self.leave()
        self.unhook()
        self.log.stop()

    def unhook(self) -> None:
        """Where a pass is on in another thread, the hook that ends it there stays until then."""
        kept = self.hooks[:1] if self.mode is not None else []
        for hook in self.hooks[len(kept):]:
            hook.remove()
        self.hooks = kept

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

    def pass_begins(self, *_: Any) -> None:
        pass

    pass_ended = before = after = pass_begins  # the last two in models that an older version saved


class Around:
    """What our two hooks do, around a model that model.compile() has compiled."""

    def __init__(self, model: torch.nn.Module, before: Any, after: Any) -> None:
        self.model, self.compiled = model, model._compiled_call_impl
        self.seen = functools.partial(self.call, before, after)
        model._compiled_call_impl = self.seen

    def call(self, before: Any, after: Any, *args: Any, **kwargs: Any) -> Any:
        before(self.model, args, kwargs)
        out = None
        try:
            out = self.compiled(*args, **kwargs)
            return out
        finally:
            after(self.model, args, kwargs, out)

    def remove(self) -> None:
        if self.model._compiled_call_impl is self.seen:
            self.model._compiled_call_impl = self.compiled


def rank() -> int:
    """Of several processes, which this is; a RANK that is no number is another program's."""
    ranks = torch.distributed.is_available() and torch.distributed.is_initialized()
    named = os.environ.get("RANK", "")
    return torch.distributed.get_rank() if ranks else int(named) if named.isdecimal() else 0


def parts_of(name: str, p: Tensor, found: Optional[Found]) -> Parts:
    cut = found and any(rule.replace("{layer}", n) == f"{name}[q]" for n in [*re.findall(r"\d+", name), ""]
                        for rule in found.names if rule.endswith("[q]"))
    if not cut:
        return Parts((name,))
    return Parts(tuple(f"{name}[{c}]" for c in "qkv"), max(range(p.dim()), key=lambda d: p.shape[d]))


def entry(s: SubLayer) -> dict[str, Any]:
    if not s.kind:
        return {"module": s.module, "not recognised": True}
    more: dict[str, Any] = {"norms": list(s.norms)} if s.clear else {}
    if s.parts:
        more["parts"] = [f"{s.stack}L{s.layer:02}.{kind}" for kind, _, _ in s.parts]
    return {"name": s.name, "module": s.module, **more}

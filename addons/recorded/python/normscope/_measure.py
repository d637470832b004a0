"""Measures the stream at the additions that a probe found, in the passes that follow."""
from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode

from ._probe import ADDS, Graph, Moments, Pass, moments, norm, operands
from ._stream import Found
from ._writer import unfailing

LOST = 1e-4  # of the mean's square: of a variance below it, rounding leaves too little


class Measure(Pass):
    """Measures stream and branches as the pass adds them up. Every other op goes through, which costs time; so modules
    in which nothing is measured are passed without."""

    def __init__(self, found: Found, graph: Graph) -> None:
        super().__init__()
        subs = [s for s in found.sublayers if s.kind]
        self.wanted = {s.add for s in subs} | {add for s in subs for _, add, _ in s.parts}
        self.width, self.adds, self.quiet = found.width, 0, graph.without(self.wanted)
        self.order = [n.add for n in graph.nodes if n.add >= 0 and not any(graph.modules[c] in self.quiet for c in n.calls)]
        self.seen: dict[int, Moments] = {}
        self.last: Any = None  # the sum before, its version and its moments: mostly the next one's stream
        self.hooks: list[Any] = []
        self.within, self.rests = 0, False  # calls of quiet modules, and whether no op comes here until they return

    def begin(self) -> None:
        self.adds, self.seen, self.within, self.rests = 0, {}, 0, False
        for m in self.quiet:
            self.hooks += m.register_forward_pre_hook(self.rest), m.register_forward_hook(self.wake, always_call=True)
        super().begin()

    def end(self) -> None:
        self.last = None
        while self.hooks:
            self.hooks.pop().remove()
        if self.rests:  # interrupted in a quiet module
            self.frame = None
        super().end()

    @unfailing
    def rest(self, module: torch.nn.Module, _: Any) -> None:
        if self.here:
            self.within += 1
            if self.within == 1 and _get_current_dispatch_mode() is self:  # no mode of the model's own is on
                self.__exit__(None, None, None)
                self.rests = True

    @unfailing
    def wake(self, module: torch.nn.Module, _: Any, out: Any) -> None:
        if self.here:
            self.within -= 1
            if self.within == 0 and self.rests:
                self.rests = False
                self.__enter__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func not in ADDS or self.within:
            return func(*args, **(kwargs or {}))
        at, self.adds = self.adds, self.adds + 1
        add = self.order[at] if at < len(self.order) else -1
        before = self.read(args, kwargs) if add in self.wanted and self.failure is None else None
        out = func(*args, **(kwargs or {}))
        if before is not None:
            self.note(add, before, out)
        return out

    @unfailing
    def read(self, args: Any, kwargs: Any) -> Any:
        added = operands(args, kwargs) if self.width in args[0].shape else None
        if added is None:
            return None
        last, self.last = self.last, None
        return added[0].numel(), *(y for x in added for y in (
            last[2:] if last and x is last[0] and x._version == last[1] else moments(x)))

    @unfailing
    def note(self, add: int, before: Any, out: torch.Tensor) -> None:
        self.seen[add] = (*before, norm(out))
        if not out.is_inference():
            self.last = out, out._version, before[1] + before[3], self.seen[add][-1]

    @property
    def whole(self) -> bool:
        return self.seen.keys() >= self.wanted


def tensors_of(seen: dict[int, Moments]) -> dict[tuple[str, Any], torch.Tensor]:
    """What was measured, as a step's numbers have it until they are read from their device all at once."""
    return {("moments", (add, i, n)): x for add, (n, *told) in seen.items() for i, x in enumerate(told)}


def stream_numbers(found: Found, read: dict[tuple[int, int, int], float]) -> dict[str, dict[str, float]]:
    """The fields of a line, from `tensors_of` a pass."""
    number = {(add, i): x for (add, i, _), x in read.items()}
    size = {add: n for add, _, n in read}

    def square(add: int, which: int) -> float:
        norm = number[add, min(2 * which + 1, 4)]
        return norm * norm / size[add]

    def variance(add: int, which: int) -> float:
        """Of an operand, 0 or 1, or of the sum, 2."""
        mean = sum(number[add, 2 * i] for i in ((0, 1) if which == 2 else (which,))) / size[add]
        spread = square(add, which) - mean * mean
        return math.nan if spread < LOST * mean * mean else spread

    subs = found.sublayers
    fields: dict[str, dict[str, float]] = {f: {} for f in ("branch_variance", "input_variance", "mean_square", "share")}
    for s in (s for s in subs if s.kind):
        first = s.name
        for kind, add, which in s.parts:
            fields["branch_variance"][f"{s.stack}L{s.layer:02}.{kind}"] = variance(add, which)
            first = f"{s.stack}L{s.layer:02}.attn"  # both read the stream before either is added
        if not s.parts:
            fields["branch_variance"][s.name] = variance(s.add, 1 - s.stream)
        fields["input_variance"][first] = variance(s.add, s.stream)
        fields["mean_square"][s.name + ".sum"] = square(s.add, 2)
    order = [(s.stack, s.layer, s.kind) for s in subs if not s.parts]
    if not found.older and order == [("", i // 2 + 1, ("attn", "ffn")[i % 2]) for i in range(len(subs))]:
        # Each branch's share of the variance of its residual sum. The rest follows (docs/log-format.md).
        of_sums = [(i, variance(s.add, 1 - s.stream), variance(s.add, 2)) for i, s in enumerate(subs, 1)]
        fields["share"] = {f"beta2.{i}.{i}": branch / whole for i, branch, whole in of_sums if whole}
    return {field: values for field, values in fields.items() if values}

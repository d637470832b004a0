"""Measures the stream at the additions that a probe found, in the passes that follow."""
from __future__ import annotations

from typing import Any, Sequence

import torch

from ._branches import SubLayer
from ._probe import ADDS, Moments, Pass, norm, operands
from ._stream import Found
from ._writer import unfailing


class Measure(Pass):
    """Measures stream and branches as the pass adds them up; every other op goes through."""

    def __init__(self, found: Found) -> None:
        super().__init__()
        subs = [s for s in found.sublayers if s.kind]
        self.wanted = {s.add for s in subs} | {add for s in subs for _, add, _ in s.parts}
        self.width, self.adds = found.width, 0
        self.seen: dict[int, Moments] = {}

    def begin(self) -> None:
        self.adds, self.seen = 0, {}
        super().begin()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func not in ADDS:
            return func(*args, **(kwargs or {}))
        add, self.adds = self.adds, self.adds + 1
        before = self.read(args, kwargs) if add in self.wanted and self.failure is None else None
        out = func(*args, **(kwargs or {}))
        if before is not None:
            self.note(add, before, out)
        return out

    @unfailing
    def read(self, args: Any, kwargs: Any) -> Any:
        return operands(args, kwargs) if self.width in args[0].shape else None

    @unfailing
    def note(self, add: int, before: Any, out: torch.Tensor) -> None:
        self.seen[add] = (*before, norm(out))

    @property
    def whole(self) -> bool:
        return self.seen.keys() >= self.wanted


def tensors_of(seen: dict[int, Moments]) -> dict[tuple[str, Any], torch.Tensor]:
    """What was measured, as a step's numbers have it until they are read from their device all at once."""
    return {("moments", (add, i, moments[0])): x for add, moments in seen.items() for i, x in enumerate(moments[1:])}


def stream_numbers(subs: Sequence[SubLayer], read: dict[tuple[int, int, int], float]) -> dict[str, dict[str, float]]:
    """The fields of a line, from `tensors_of` a pass."""
    number = {(add, i): (x, n) for (add, i, n), x in read.items()}

    def square(add: int, which: int) -> float:
        norm, n = number[add, which + 2]
        return norm * norm / n

    def variance(add: int, which: int) -> float:
        """Of an operand, 0 or 1, or of the sum, 2."""
        total = sum(number[add, i][0] for i in ((0, 1) if which == 2 else (which,)))
        mean = total / number[add, which][1]
        spread = square(add, which) - mean * mean
        return 0.0 if spread < 0 else spread  # by rounding; NaN stays

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
    if order == [("", i // 2 + 1, ("attn", "ffn")[i % 2]) for i in range(len(subs))]:
        # Each branch's share of the variance of its residual sum. The rest follows (docs/log-format.md).
        of_sums = [(i, variance(s.add, 1 - s.stream), variance(s.add, 2)) for i, s in enumerate(subs, 1)]
        fields["share"] = {f"beta2.{i}.{i}": branch / whole for i, branch, whole in of_sums if whole}
    return {field: values for field, values in fields.items() if values}

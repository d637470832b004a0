"""Measures the stream at the additions that a probe found, in the passes that follow."""
from __future__ import annotations

from typing import Any, Optional, Sequence

import torch

from ._branches import SubLayer
from ._probe import ADDS, Moments, Pass, of_sum, operands
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
        self.seen[add] = (*before, *of_sum(out))

    @property
    def whole(self) -> bool:
        return self.seen.keys() >= self.wanted


def stream_numbers(subs: Sequence[SubLayer], seen: dict[int, Moments]) -> dict[tuple[str, str], torch.Tensor]:
    numbers: dict[tuple[str, str], torch.Tensor] = {}
    for s in (s for s in subs if s.kind):
        moments, first = seen[s.add], s.name
        for kind, add, which in s.parts:
            numbers["branch_variance", f"{s.stack}L{s.layer:02}.{kind}"] = seen[add][which]
            first = f"{s.stack}L{s.layer:02}.attn"  # both read the stream before either is added
        if not s.parts:
            numbers["branch_variance", s.name] = moments[1 - s.stream]
        numbers["input_variance", first] = moments[s.stream]
        numbers["sum_variance", s.name] = moments[2]
        numbers["mean_square", s.name + ".sum"] = moments[3]
    return numbers


def shares(subs: Sequence[SubLayer], branches: dict[str, float], states: dict[str, float]) -> dict[str, float]:
    """Each branch's share of the variance of its residual sum. The rest follows from the variances (docs/log-format.md)."""
    order = [(s.stack, s.layer, s.kind) for s in subs if not s.parts]
    if order != [("", i // 2 + 1, ("attn", "ffn")[i % 2]) for i in range(len(subs))]:
        return {}
    return {f"beta2.{i}.{i}": branches[s.name] / states[s.name] for i, s in enumerate(subs, 1) if states.get(s.name)}

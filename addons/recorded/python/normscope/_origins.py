"""Which losses a gradient is of. Every backward of the process is seen, and the gradients tell whose it is: a loss
belongs to the parameters that its backward reached, until their gradients are cleared or an optimizer steps by them."""
from __future__ import annotations

import functools
import weakref
from typing import Any, Iterable, Optional

import torch

from ._writer import unfailing

Tensor = torch.Tensor
MOST = 1000  # backward passes into one gradient; after more of them the loss is not told
HOPS = 4  # from a number that a scaler made to the one whose backward() is called
KEY = "normscope"  # of an autograd node's metadata


class Past:
    """The losses that a gradient is of, the last one first. None is what is not told: not of a number, or too many."""

    def __init__(self, loss: Optional[Tensor], before: Optional["Past"]) -> None:
        self.depth: int = before.depth + 1 if before else 1
        self.loss, self.before = (loss, before) if self.depth < MOST else (None, None)


def stamp(g: Optional[Tensor]) -> Optional[tuple[int, int]]:
    return None if g is None else (id(g), g._version)


def is_zero(g: Optional[Tensor]) -> bool:
    if g is None:
        return True
    g = g.to_local() if hasattr(g, "to_local") else g  # a whole one would be asked of all processes
    return not bool((g.coalesce().values() if g.is_sparse else g).any())


class Origins:
    """The losses that the gradients of a model's parameters are of."""

    def __init__(self) -> None:
        self.past: dict[Tensor, Optional[Past]] = {}
        self.left: dict[Tensor, Any] = {}  # the gradients' stamps behind the last backward
        self.held: list[tuple[Tensor, Any, Any]] = []  # alive through a backward, so that no new one has its id

    def learn(self, parameters: Iterable[Tensor]) -> None:
        for p in parameters:
            self.past.setdefault(p, None)

    def before(self) -> None:
        """Before a backward: a gradient that was cleared since the last one is of no loss."""
        self.held = [(p, p.grad, stamp(p.grad)) for p in self.past]
        for p, g, now in self.held:
            if self.past[p] and now != self.left[p] and is_zero(g):
                self.past[p] = None

    def after(self, loss: Optional[Tensor]) -> bool:
        """Behind it: whether it reached any of the parameters."""
        longer: dict[Optional[Past], Past] = {}  # those of one past go on sharing it
        for p, _, was in self.held:
            now = stamp(p.grad)
            if now != was:
                past = self.past[p]
                self.past[p] = longer.setdefault(past, longer.get(past) or Past(loss, past))
                self.left[p] = now
        self.held = []
        return bool(longer)

    def take(self, parameters: list[Tensor]) -> list[Optional[Tensor]]:
        """The losses that a step by these gradients comes from. What follows begins anew."""
        losses: dict[int, Optional[Tensor]] = {}
        for at in dict.fromkeys(self.past[p] for p in parameters):
            while at:
                losses[id(at.loss)], at = at.loss, at.before
        self.past.update(dict.fromkeys(parameters))
        return [*reversed(losses.values())]


def loss_of(steps: list[list[Optional[Tensor]]]) -> tuple[Optional[Tensor], str]:
    """The loss of an update, the sum of what was accumulated, from what `take` said of each of its optimizers; or why
    it cannot be told."""
    told = [losses for losses in steps if losses]
    if not told:
        return None, "no backward() reached the parameters before a step"
    if any(x is None for losses in told for x in losses):
        return None, "a backward() was of no number"
    if len({frozenset(map(id, losses)) for losses in told}) > 1:
        return None, "its optimizers stepped by gradients of different losses"
    numbers = [x.float().mean() for x in told[0] if x is not None]
    return torch.stack([x.to(numbers[0].device) for x in numbers]).sum(), ""


# Recordings have `backward_begins`, `backward_ended` and `fail`. The first two are called for the backward of anything.

WATCHING: "weakref.WeakSet[Any]" = weakref.WeakSet()
PATCHED: list[Any] = []


def backward_is_on() -> bool:
    return torch._C._current_graph_task_id() != -1


def scaled(loss: Tensor) -> tuple[Optional[Tensor], Optional[Tensor]]:
    """A loss as it was before a scaler, and the scaler's factor. What was made of a scaled loss is not told."""
    nodes: list[Any] = [loss.grad_fn]
    for hop in range(HOPS):
        nodes = [n for n in nodes if n is not None][:HOPS]
        for node in nodes:
            if KEY in node.metadata:
                own, factor = node.metadata[KEY]
                return (None if hop else own), factor
        nodes = [n for node in nodes for n, _ in node.next_functions]
    return loss.detach(), None


def number(tensors: Any, weights: Any) -> tuple[Optional[Tensor], Optional[Tensor]]:
    """The number that a backward is of, None where it is of none, and the scaler's factor in its gradients."""
    each, by = ([*x] if isinstance(x, (list, tuple)) else [x] for x in (tensors, weights))
    if not each or not all(isinstance(t, Tensor) for t in each):  # edges of a graph
        return None, None
    found = [scaled(t) for t in each]
    values = [v if w is None else v * w.detach() for (v, _), w in zip(found, by if weights is not None else by * len(each))
              if v is not None and v.numel() == 1]
    return sum(values[1:], values[0]) if len(values) == len(each) else None, found[0][1]


class Seen:
    """What the two patched functions do beside their work, for all recordings."""

    def fail(self, why: Exception) -> None:
        for recording in [*WATCHING]:
            recording.fail(why)

    @unfailing
    def scaled(self, scaler: Any, loss: Any, out: Any) -> None:
        if WATCHING and scaler._enabled and isinstance(out, Tensor) and out.grad_fn is not None:
            out.grad_fn.metadata[KEY] = loss.detach(), scaler._scale.detach().clone()  # type: ignore[index]

    @unfailing
    def begins(self, tensors: Any, weights: Any) -> Any:
        # Within a backward, as activation checkpointing has them, it is a part of the outer one.
        recordings = [*WATCHING] if WATCHING and not backward_is_on() else []
        if not recordings:
            return None
        told = number(tensors, weights)
        for r in recordings:
            r.backward_begins()
        return recordings, told

    @unfailing
    def ended(self, recordings: list[Any], told: Any) -> None:
        for r in recordings:
            r.backward_ended(*told)


def watch_backward(recording: Any) -> None:
    WATCHING.add(recording)
    if PATCHED:
        return
    backward, scale, seen = torch.autograd.backward, torch.amp.GradScaler.scale, Seen()

    @functools.wraps(scale)
    def scale_seen(self: Any, outputs: Any) -> Any:
        out = scale(self, outputs)
        seen.scaled(self, outputs, out)
        return out

    @functools.wraps(backward)
    def backward_seen(tensors: Any, grad_tensors: Any = None, *values: Any, **more: Any) -> Any:
        begun = seen.begins(tensors, grad_tensors)
        result = backward(tensors, grad_tensors, *values, **more)
        if begun:
            seen.ended(*begun)
        return result

    PATCHED.extend([backward, scale])
    torch.autograd.backward = backward_seen  # Tensor.backward calls it
    torch.amp.GradScaler.scale = scale_seen  # type: ignore[method-assign]

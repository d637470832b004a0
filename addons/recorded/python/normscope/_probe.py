"""Watches the ops of one forward pass: what was computed of what, by which parameters, within which modules."""
from __future__ import annotations

import collections
import dataclasses
import sys
import threading
from types import FrameType
from typing import Any, Optional

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

from ._writer import unfailing

aten = torch.ops.aten
ADDS = {aten.add.Tensor, aten.add_.Tensor}


@dataclasses.dataclass
class Node:
    """A tensor of the pass: a parameter, an input, or what an op made."""

    op: str
    inputs: tuple[int, ...]
    shape: tuple[int, ...]
    offset: int = 0  # into its storage
    parameter: str = ""  # of op "parameter"
    floating: bool = True
    add: int = -1  # which addition of the pass it is
    calls: tuple[int, ...] = ()  # of modules that were running, outermost first

    @property
    def size(self) -> int:
        size = 1
        for n in self.shape:
            size *= n
        return size


# Of an addition: how many numbers each tensor has, sum and norm of each operand, and the norm of what they make.
Moments = tuple[int, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
WORTH = 3  # tensors that ops of a module make: for fewer its two hooks cost more than they save
HALVES = (torch.float16, torch.bfloat16)


def clean(name: str) -> str:
    """A name without what wrappers put before and between."""
    drop = ("module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module")
    words = name.split(".")
    return ".".join([w for w in words[:-1] if w not in drop] + words[-1:])


class Graph:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.calls: list[str] = []  # the names of modules, by call
        self.modules: list[torch.nn.Module] = []  # and these
        self.outputs: list[int] = []

    def without(self, wanted: set[int]) -> dict[torch.nn.Module, None]:
        """The modules in whose calls none of these additions is, nor in those of what called them."""
        busy = {self.modules[c] for n in self.nodes if n.add in wanted for c in n.calls}
        ops = collections.Counter(next((m for c in n.calls for m in [self.modules[c]] if m not in busy), None)
                                  for n in self.nodes)
        return {m: None for m, n in ops.items() if m is not None and n > WORTH and not isinstance(m, torch.jit.ScriptModule)}


def tensors_in(value: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []

    def look(value: Any) -> None:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, dict) or hasattr(value, "items") and callable(value.items):
            for v in value.values():
                look(v)
        elif isinstance(value, (list, tuple)):
            for v in value:
                look(v)

    look(value)
    return found


def caller() -> Optional[FrameType]:
    """What called into this package."""
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__package__") == __package__:
        frame = frame.f_back
    return frame


class Pass(TorchDispatchMode):
    """Sees the ops of one call of a model, in the thread of that call. Meanwhile the model may be called in another
    thread or by itself, and the call may be interrupted, so a pass knows by its frame whether it still runs."""

    def __init__(self) -> None:
        super().__init__()
        self.failure: Optional[Exception] = None
        self.thread = threading.get_ident()
        self.frame: Optional[FrameType] = None

    def fail(self, why: Exception) -> None:
        self.failure = why

    def begin(self) -> None:
        self.thread, frame = threading.get_ident(), caller()
        self.__enter__()
        self.frame = frame

    def end(self) -> None:
        frame, self.frame = self.frame, None
        if frame is not None:
            self.__exit__(None, None, None)

    @property
    def here(self) -> bool:
        return self.thread == threading.get_ident()

    @property
    def runs(self) -> bool:
        """Whether the call is further up in this thread."""
        frame: Optional[FrameType] = sys._getframe()
        while frame is not None and frame is not self.frame:
            frame = frame.f_back
        return frame is not None

    @property
    def returns(self) -> bool:
        """Whether the call that returns now, or that has failed, is the one that this is of."""
        return self.here and (caller() is self.frame or not self.runs)


class Probe(Pass):
    """Records the graph. Each tensor is known by its object, so none is kept alive."""

    def __init__(self, model: torch.nn.Module, names: dict[int, str], inputs: Any) -> None:
        super().__init__()
        self.graph, self.names, self.adds = Graph(), names, 0
        self.known: Any = WeakTensorKeyDictionary()
        self.modules = {id(m): clean(n) for n, m in model.named_modules()}
        self.seen: dict[int, Moments] = {}  # of each addition that may be a residual sum
        self.running: tuple[int, ...] = ()
        self.hooks: list[Any] = []
        for t in tensors_in(inputs):
            self.node_of(t, "input")

    def begin(self) -> None:
        hooks = torch.nn.modules.module
        self.hooks = [hooks.register_module_forward_pre_hook(self.enter),
                      hooks.register_module_forward_hook(self.leave, always_call=True)]
        super().begin()

    def end(self) -> None:
        for hook in self.hooks:
            hook.remove()
        super().end()

    def graph_to(self, outputs: Any) -> Graph:
        self.graph.outputs = [self.known[t] for t in tensors_in(outputs) if t in self.known]
        return self.graph

    @unfailing
    def enter(self, module: torch.nn.Module, _: Any) -> None:
        if self.here:
            self.running += (len(self.graph.calls),)
            self.graph.calls.append(self.modules.get(id(module), ""))
            self.graph.modules.append(module)

    @unfailing
    def leave(self, module: torch.nn.Module, _: Any, out: Any) -> None:
        if self.here:
            self.running = self.running[:-1]

    def node_of(self, t: torch.Tensor, op: str = "constant") -> int:
        at: Optional[int] = self.known.get(t)
        if at is None:
            name = self.names.get(id(t), "")
            at = self.add(Node("parameter" if name else op, (), tuple(t.shape), 0, name, t.is_floating_point()))
            self.known[t] = at
        return at

    def add(self, node: Node) -> int:
        self.graph.nodes.append(node)
        return len(self.graph.nodes) - 1

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        read = self.read(func, args, kwargs or {}) if self.failure is None else None
        out = func(*args, **(kwargs or {}))
        if read is not None:
            self.note(func, *read, out)
        return out

    @unfailing
    def read(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The nodes that an op reads, and what is measured of the operands of a sum."""
        inputs = tuple(self.node_of(t) for t in tensors_in([args, kwargs]))
        added = operands(args, kwargs) if func in ADDS else None
        return inputs, (added[0].numel(), *moments(added[0]), *moments(added[1])) if added else None

    @unfailing
    def note(self, func: Any, inputs: tuple[int, ...], before: Any, out: Any) -> None:
        add = -1
        if func in ADDS:
            add, self.adds = self.adds, self.adds + 1
            if before is not None:
                self.seen[add] = (*before, norm(out))
        for t in tensors_in(out):
            offset = int(t.storage_offset()) if t.layout == torch.strided else 0
            written = t._base if t in self.known else None  # in place, through a view
            self.known[t] = self.add(Node(func._schema.name.partition("::")[2], inputs, tuple(t.shape), offset, "",
                                          t.is_floating_point(), add, self.running))
            if written is not None and written in self.known:
                both = self.known[written], self.known[t]
                self.known[written] = self.add(Node("written", both, tuple(written.shape)))


def wide(x: torch.Tensor) -> torch.Tensor:
    x = x.detach()
    return x.float() if x.dtype in HALVES else x


def norm(x: torch.Tensor) -> torch.Tensor:
    """Row by row, as a CPU adds up the squares one by one: of 16 million together the third digit would be wrong."""
    return torch.linalg.vector_norm(torch.linalg.vector_norm(x, dim=-1, dtype=torch.float32 if x.dtype in HALVES else None))


def moments(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The sum of its numbers and its norm: on a CPU a variance takes five times as long."""
    return x.sum(dtype=torch.float32 if x.dtype in HALVES else None), norm(x)


def operands(args: Any, kwargs: Any) -> Optional[list[torch.Tensor]]:
    """Two tensors as they are added, if they may be the stream and a branch."""
    a, b = args[:2]
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)) or a.dim() < 2 or not a.is_floating_point() \
            or a.shape[-1:] != b.shape[-1:] or a.numel() != b.numel():
        return None
    by = (kwargs or {}).get("alpha", 1)
    return [a, b if by == 1 else b * by]

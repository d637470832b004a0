"""What is between the stream and a branch: attention or not, and which matrix is which, by what it makes."""
from __future__ import annotations

import dataclasses
from typing import Callable, Iterator, Optional

from ._probe import Graph

VIEWS = {"view", "_unsafe_view", "reshape", "alias", "detach", "t", "transpose", "permute", "expand", "slice", "split",
         "split_with_sizes", "unbind", "chunk", "select", "unsqueeze", "squeeze", "narrow", "unsafe_split", "as_strided"}
SAME = {"view", "_unsafe_view", "reshape", "alias", "detach", "clone", "_to_copy", "contiguous", "native_dropout",
        "copy_", "unsqueeze", "squeeze", "expand", "t", "transpose", "permute", "bernoulli_"}
PRODUCTS = {"mm", "addmm", "linear", "convolution", "_grouped_mm"}  # with a matrix, known or not (FSDP's is not)
BATCHED = {"bmm", "baddbmm", "matmul"}  # of a weight, or in attention
SCANS = {"cumsum", "cumprod", "logcumsumexp", "_fft_r2c", "_fft_c2c"}  # over positions, of floating numbers
CHOICES = {"index", "index_select", "gather"}  # of some experts' weights
NORMS = {"native_layer_norm", "_fused_rms_norm", "rms_norm", "native_group_norm", "native_batch_norm",
         "cudnn_batch_norm", "miopen_batch_norm", "batch_norm", "_native_batch_norm_legit",
         "_native_batch_norm_legit_functional", "_batch_norm_with_update", "batch_norm_with_update"}
ROOTS = {"rsqrt", "sqrt", "pow", "reciprocal", "linalg_vector_norm", "norm", "std", "std_mean"}
SCALES = {"mul", "div", "mul_", "div_"}
SHIFTS = {"add", "sub", "add_", "sub_", "rsub", "addcmul", "addcmul_"}
PLACES = {"cat", "stack", "roll", "flip", "constant_pad_nd", "index", "index_select", "gather", "repeat", "masked_fill",
          "masked_fill_", "where", "unfold", "im2col", "written"}  # other places for the same numbers
GATHERED = {"sum", "mean", "index_add", "index_add_", "index_put", "index_put_", "scatter_add", "scatter_add_"}
LIKE = {"empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "new_empty", "new_zeros",
        "new_ones", "new_full"}  # of a tensor they have nothing but the shape


@dataclasses.dataclass
class SubLayer:
    """A residual sum. `add` is which addition of the pass it is, `stream` which of its two operands is the stream."""

    add: int
    stream: int
    node: int
    from_node: int  # the stream's
    branch: int
    source: int  # that the branch was made of: the stream, or the one before a parallel branch was added to it
    kind: str = ""  # "attn", "cross", "ffn", "mixer": of positions, without attention; "": not recognised
    layer: int = 0
    stack: str = ""
    module: str = ""  # that computed the sum
    norms: tuple[str, ...] = ()
    clear: bool = True  # where norms stand there is nothing else
    parts: tuple[tuple[str, int, int], ...] = ()  # of a branch + branch: kind, the addition, which operand

    @property
    def name(self) -> str:
        return f"{self.stack}L{self.layer:02}.{self.kind}"


def bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Branches:
    """What a graph's tensors were made of, and what the matrices of a branch are."""

    def __init__(self, graph: Graph, parameters: dict[str, tuple[int, ...]]) -> None:
        self.nodes, self.graph, self.parameters = graph.nodes, graph, parameters
        self.above: list[int] = []  # of each node, all that it was made of and itself
        self.weight: list[str] = []  # of each node, the parameter that it is a view or a copy of
        for at, node in enumerate(self.nodes):
            mask = 1 << at
            for i in node.inputs if node.op not in LIKE else ():
                mask |= self.above[i]
            self.above.append(mask)
            of = [self.weight[i] for i in node.inputs]
            self.weight.append(node.parameter or (of[0] if of and node.op in VIEWS | SAME else ""))
        self.products = self.mask(lambda at: self.nodes[at].op in PRODUCTS or self.nodes[at].op in BATCHED
                                  and bool(self.weights_of(at)))
        self.norms = 0
        self.norm_of: dict[int, int] = {}  # of a norm, what it is a norm of
        for at in range(len(self.nodes)):
            x = self.normed(at)
            if x >= 0:
                self.norms |= 1 << at
                self.norm_of[at] = x
        self.roles: dict[str, str] = {}
        self.width = 0  # of the stream

    def mask(self, holds: Callable[[int], bool]) -> int:
        return sum(1 << at for at in range(len(self.nodes)) if holds(at))

    def weights_of(self, at: int) -> list[str]:
        return [self.weight[i] for i in self.nodes[at].inputs if self.weight[i]]

    def normed(self, at: int) -> int:
        """What a norm is of, -1 of any other op. A norm multiplies x, or x less its mean, by fewer numbers than x has,
        which a root made of x."""
        node = self.nodes[at]
        if node.op in NORMS:
            return node.inputs[0]
        if node.op not in SCALES or len(node.inputs) != 2 or len(node.shape) < 2:
            return -1
        for x, r in (node.inputs, node.inputs[::-1]):
            of = self.centred(x)
            made = self.above[r] & ~self.above[of]
            if self.nodes[x].size == node.size > self.nodes[self.root(r)].size and self.above[r] >> of & 1 \
                    and not made & self.products and any(self.nodes[n].op in ROOTS for n in bits(made)):
                return of
        return -1

    def centred(self, at: int) -> int:
        """The root of `at`, whose mean may have been taken off."""
        at = self.root(at, True)
        if self.nodes[at].op in ("sub", "sub_") and len(self.nodes[at].inputs) == 2:
            x, mean = self.nodes[at].inputs
            if self.nodes[self.root(mean)].size < self.nodes[x].size and self.above[mean] >> self.root(x, True) & 1:
                return self.root(x, True)
        return at

    def root(self, at: int, scaled: bool = False) -> int:
        """What `at` is a view or a copy of; `scaled`: or a multiple, by a number or a learned vector."""
        while self.nodes[at].inputs:
            node = self.nodes[at]
            if node.op in SAME:
                at = node.inputs[0]
            elif scaled and node.op in SCALES and not self.norms >> at & 1:
                whole = [i for i in node.inputs if self.nodes[i].size == node.size and not self.weight[i]]
                if len(whole) != 1 or any(i != whole[0] and not self.weight[i] and self.nodes[i].size > 1
                                          for i in node.inputs):
                    break
                at = whole[0]
            else:
                break
        return at

    def below(self, at: int, last: int) -> int:
        """What was made of `at`, up to `last` and with it."""
        return sum(1 << n for n in bits(self.above[last] >> at << at) if self.above[n] >> at & 1)

    def within(self, s: SubLayer, branch: int = -1) -> int:
        """What was made of a branch's source, up to its end."""
        return self.below(s.source, branch if branch >= 0 else s.branch) & ~(1 << s.source)

    def strange(self, path: int, start: int, gathers: bool = False) -> frozenset[str]:
        """The ops of a path from `start` that may be norms of another kind: all but norms, given factors and moves."""
        for n in bits(path & self.norms):
            path &= ~self.below(self.norm_of[n], n)
        for n in bits(path):
            if gathers and self.nodes[n].op in SCALES and len(self.nodes[n].inputs) == 2:
                few, many = sorted(self.nodes[n].inputs, key=lambda i: self.nodes[i].size)
                if self.nodes[few].size < self.nodes[many].size and not self.above[few] & self.above[many] & start:
                    path &= ~self.above[few] & ~(1 << n)  # a gate, by a matrix of its own
        joins = SAME | VIEWS | PLACES | (GATHERED | SHIFTS if gathers else set())

        def known(at: int) -> bool:
            node = self.nodes[at]
            fed = sum(bool(self.above[i] & start) for i in node.inputs)
            return node.op in joins or node.op in SCALES | SHIFTS and fed == 1

        return frozenset(self.nodes[n].op for n in bits(path) if not known(n))

    def attention_in(self, within: int, branch: int) -> Optional[tuple[int, int, int, int]]:
        """The attention of a branch and its q, k and v; none or several: None."""
        found: list[tuple[int, int, int, int]] = []
        for n in bits(within):
            node = self.nodes[n]
            if "scaled_dot_product" in node.op and len(node.inputs) >= 3:
                if not found or found[-1][1:] != node.inputs[:3]:
                    found.append((n, node.inputs[0], node.inputs[1], node.inputs[2]))
            elif node.op == "bmm" and not self.weights_of(n):
                p = self.through(node.inputs[0], SAME)
                if self.nodes[p].op in ("_softmax", "_safe_softmax", "softmax"):
                    scores = [m for m in bits(self.above[p]) if self.nodes[m].op in ("bmm", "baddbmm")
                              and not self.weights_of(m)]
                    if scores:
                        q, k = self.nodes[scores[-1]].inputs[-2:]
                        found.append((n, q, k, node.inputs[1]))
        return found[0] if len({f[1:] for f in found}) == 1 else None

    def through(self, at: int, ops: set[str]) -> int:
        while self.nodes[at].inputs and (self.nodes[at].op in ops or self.nodes[at].op == "mul"):
            at = self.nodes[at].inputs[0]
        return at

    def kind_of(self, source: int, branch: int) -> str:
        within = self.below(source, branch) & ~(1 << source)
        attention = self.attention_in(within, branch)
        if attention:
            return "attn" if self.above[attention[2]] >> source & 1 else "cross"
        unclear = any("scaled_dot" in self.nodes[n].op for n in bits(within)) or \
            any(not self.routes(n, within) for n in self.softmaxes(within))
        return "" if unclear or not within & self.products else "mixer" if self.mixes(within, source) else "ffn"

    def mixes(self, within: int, source: int) -> bool:
        """Whether a branch puts positions together: by a convolution, by products of activations, along the sequence."""
        def made(at: int) -> bool:
            """Of the source, and not a weight that it chose."""
            of = at
            while self.nodes[of].inputs and self.nodes[of].op in VIEWS | SAME | CHOICES:
                of = self.nodes[of].inputs[0]
            return bool(self.above[at] >> source & 1) and not self.weight[of]

        for n in bits(within):
            node = self.nodes[n]
            factors = node.inputs[1:] if node.op in ("addmm", "baddbmm") else node.inputs[:2]
            if node.op in SCANS and node.floating or node.op in BATCHED and all(map(made, factors)) or \
                    node.op == "convolution" and any(size > 1 for size in self.nodes[factors[1]].shape[2:]):
                return True
            if self.products >> n & 1 and not self.above[n] & within & self.products & ~(1 << n):
                read = self.nodes[factors[0]].shape[1 if node.op == "convolution" else -1]
                if read != self.width and read in self.nodes[source].shape[:-1]:
                    return True
        return False

    def softmaxes(self, within: int) -> list[int]:
        return [n for n in bits(within) if "softmax" in self.nodes[n].op]

    def routes(self, softmax: int, within: int) -> bool:
        """Whether a softmax chooses among experts: it is of one matrix, and no product of two activations reads it."""
        joint = self.mask(lambda at: self.nodes[at].op in BATCHED and not self.weights_of(at)) & within
        above = self.above[softmax] & within
        return len(self.made_by(softmax, within)) == 1 and not joint & above and \
            not any(self.above[n] >> softmax & 1 for n in bits(joint))

    def made_by(self, at: int, within: int) -> set[int]:
        """The nearest products with weights that `at` was made by."""
        nearest, todo, seen = set(), [at], set()
        while todo:
            n = todo.pop()
            if n in seen:
                continue
            seen.add(n)
            if self.products >> n & 1:
                nearest.add(n)
            elif within >> n & 1:
                todo.extend(self.nodes[n].inputs)
        return nearest

    def role(self, product: int, ours: str) -> None:
        for i in self.nodes[product].inputs:
            name = self.weight[i]
            if name:
                bias = len(self.parameters.get(name, ())) == 1
                self.take(name, ours.replace(".w", ".b") if bias else ours)

    def take(self, name: str, ours: str) -> None:
        if name in self.roles and self.roles[name] != ours:
            ours = ""  # of two roles, as with shared weights: not said
        self.roles[name] = ours

    def assign(self, s: SubLayer, kind: str, branch: int) -> None:
        """What the weights of a branch are, noted as "#NODE attn.wq" until the layers have their numbers."""
        within = self.within(s, branch)
        mark = f"#{s.node} {kind}."
        products = [n for n in bits(within & self.products)]
        if kind in ("attn", "cross"):
            attention = self.attention_in(within, branch)
            assert attention
            n, q, k, v = attention
            everything = (1 << len(self.nodes)) - 1
            by = [self.made_by(x, everything) for x in (q, k, v)]
            if all(len(b) == 1 for b in by):
                one = [next(iter(b)) for b in by]
                if len(set(one)) == 3:
                    for product, letter in zip(one, "qkv"):
                        self.role(product, f"{mark}w{letter}")
                elif len(set(one)) == 1:
                    thirds = self.thirds(one[0], (q, k, v))
                    self.role(one[0], f"{mark}wqkv" + ("/3" if thirds else ""))
            after = [p for p in products if self.above[p] >> n & 1]
            if len(after) == 1:
                self.role(after[0], f"{mark}wo")
        elif kind == "ffn" and not self.softmaxes(within):  # experts have no role of ours
            last = [p for p in products if not any(o != p and self.above[o] >> p & 1 for o in products)]
            first = [p for p in products if not any(o != p and self.above[p] >> o & 1 for o in products)]
            if len(last) == 1 and last != first and len(first) + 1 == len(products):
                self.role(last[0], f"{mark}w2")
                if len(first) == 1:
                    self.role(first[0], f"{mark}w1")
                elif len(first) == 2:
                    self.gated(first, within, mark)

    def gated(self, first: list[int], within: int, mark: str) -> None:
        plain = set()
        for n in bits(within):
            if self.nodes[n].op in ("mul", "mul_") and len(self.nodes[n].inputs) == 2:
                plain |= {r for i in self.nodes[n].inputs for r in [self.root(i)] if r in first} \
                    if {p for i in self.nodes[n].inputs for p in self.made_by(i, within)} == set(first) else set()
        if len(plain) == 1:
            for product in first:
                self.role(product, f"{mark}w{'1' if product in plain else 'g'}")

    def thirds(self, product: int, qkv: tuple[int, int, int]) -> bool:
        """Whether q, k and v are the first, second and last third of a product's columns."""
        width = self.nodes[product].shape[-1] // 3
        return [self.own_offset(at, product) for at in qkv] == [0, width, 2 * width]

    def own_offset(self, at: int, product: int) -> int:
        """Where the view of a product's output begins that `at` was made of, -1 if of none."""
        seen, todo = set(), [at]
        while todo:
            n = todo.pop()
            if n in seen:
                continue
            seen.add(n)
            up = n
            while self.nodes[up].op in VIEWS and up != product:
                up = self.nodes[up].inputs[0]
            if up == product:
                return self.nodes[n].offset
            todo.extend(self.nodes[n].inputs)
        return -1

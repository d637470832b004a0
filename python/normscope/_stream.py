"""Finds the residual stream in the graph of a forward pass, by what was computed of what, and by no name.

A residual sum adds to a tensor (the stream) what a weight matrix made of that very tensor (the branch), and lies on
the path to the output. So embedding sums, the sum of a rotation and a GELU's cubic are none; a sum of two branches is
one branch of two parts. What is not clear by this is left out or "not recognised".
"""
from __future__ import annotations

import collections
import dataclasses
from typing import Iterator, Optional

from ._layers import compact, layer_calls
from ._probe import Graph

VIEWS = {"view", "_unsafe_view", "reshape", "alias", "detach", "t", "transpose", "permute", "expand", "slice", "split",
         "split_with_sizes", "unbind", "chunk", "select", "unsqueeze", "squeeze", "narrow", "unsafe_split", "as_strided"}
SAME = {"view", "_unsafe_view", "reshape", "alias", "detach", "clone", "_to_copy", "contiguous", "native_dropout",
        "copy_", "unsqueeze", "squeeze", "expand", "t", "transpose", "permute", "bernoulli_"}
PRODUCTS = {"mm", "addmm", "linear", "convolution", "_grouped_mm"}  # with a matrix, known or not (FSDP's is not)
BATCHED = {"bmm", "baddbmm", "matmul"}  # of a weight, or in attention
NORMS = {"native_layer_norm", "_fused_rms_norm", "rms_norm", "native_group_norm"}
SCALES = {"mul", "div", "mul_", "div_"}


@dataclasses.dataclass
class SubLayer:
    """A residual sum. `add` is which addition of the pass it is, `stream` which of its two operands is the stream."""

    add: int
    stream: int
    node: int
    from_node: int  # the stream's
    branch: int
    kind: str = ""  # "attn", "cross", "ffn"; "": not recognised
    layer: int = 0
    stack: str = ""
    module: str = ""  # that computed the sum
    norms: tuple[str, ...] = ()
    parts: tuple[tuple[str, int, int], ...] = ()  # of a branch + branch: kind, the addition, which operand

    @property
    def name(self) -> str:
        return f"{self.stack}L{self.layer:02}.{self.kind}"


@dataclasses.dataclass
class Found:
    sublayers: list[SubLayer]
    names: dict[str, str]
    placement: str
    width: int


def bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Analysis:
    def __init__(self, graph: Graph, parameters: dict[str, tuple[int, ...]]) -> None:
        self.nodes, self.graph, self.parameters = graph.nodes, graph, parameters
        self.above: list[int] = []  # of each node, all that it was made of and itself
        self.weight: list[str] = []  # of each node, the parameter that it is a view or a copy of
        for at, node in enumerate(self.nodes):
            mask = 1 << at
            for i in node.inputs:
                mask |= self.above[i]
            self.above.append(mask)
            of = [self.weight[i] for i in node.inputs]
            self.weight.append(node.parameter or (of[0] if of and node.op in VIEWS | SAME else ""))
        self.products = self.mask(lambda at: self.nodes[at].op in PRODUCTS or self.nodes[at].op in BATCHED
                                  and bool(self.weights_of(at)))
        self.norms = self.mask(self.is_norm)
        self.roles: dict[str, str] = {}

    def mask(self, holds) -> int:  # type: ignore[no-untyped-def]
        return sum(1 << at for at in range(len(self.nodes)) if holds(at))

    def weights_of(self, at: int) -> list[str]:
        return [self.weight[i] for i in self.nodes[at].inputs if self.weight[i]]

    def is_norm(self, at: int) -> bool:
        node = self.nodes[at]
        if node.op in NORMS:
            return True
        if node.op not in SCALES or len(node.inputs) != 2:
            return False
        for x, r in (node.inputs, node.inputs[::-1]):  # x times a number a position that was computed of it
            a, b = self.nodes[x], self.nodes[r]
            if len(a.shape) > 1 and a.shape[-1] > 1 and b.shape[-1:] == (1,) and b.size * a.shape[-1] == a.size:
                if self.above[r] >> self.root(x) & 1 and not self.above[r] & ~self.above[self.root(x)] & self.products:
                    return any(self.nodes[n].op in ("rsqrt", "sqrt", "pow", "reciprocal", "linalg_vector_norm")
                               for n in bits(self.above[r] & ~self.above[self.root(x)]))
        return False

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

    # Sums

    def pairs(self) -> dict[int, tuple[int, int]]:
        """The additions of two floating tensors of one size: node -> operands."""
        return {at: (n.inputs[0], n.inputs[1]) for at, n in enumerate(self.nodes)
                if n.add >= 0 and len(n.inputs) == 2 and n.floating and len(n.shape) > 1
                and all(self.nodes[i].size == n.size and self.nodes[i].shape[-1:] == n.shape[-1:]
                        and not self.weight[i] for i in n.inputs)}

    def residual(self, at: int, operands: tuple[int, int]) -> Optional[SubLayer]:
        for which in (0, 1):
            a, b = operands[which], operands[1 - which]
            source = self.root(a, True)
            made = self.above[b] & ~self.above[source]
            if self.above[b] >> source & 1 and made & self.products & self.below(source, b):
                return SubLayer(self.nodes[at].add, which, at, source, b)
        return None

    def sublayers(self) -> list[SubLayer]:
        reached = 0
        for out in self.graph.outputs:
            reached |= self.above[out]
        pairs = self.pairs()
        all_found = [s for at, p in pairs.items() if reached >> at & 1 for s in [self.residual(at, p)] if s]
        widths = collections.Counter(self.nodes[s.node].shape[-1] for s in all_found)
        if not widths:
            return []
        width = widths.most_common(1)[0][0]
        found = [s for s in all_found if self.nodes[s.node].shape[-1] == width]
        for s in found:
            self.classify(s, pairs)
        self.place(found)
        self.name_layers(found)
        return found

    def classify(self, s: SubLayer, pairs: dict[int, tuple[int, int]]) -> None:
        joint = self.root(s.branch, True)
        if joint in pairs and joint != s.node and not self.residual(joint, pairs[joint]):
            parts = [(self.kind_of(s.from_node, p), self.nodes[joint].add, i) for i, p in enumerate(pairs[joint])
                     if self.above[p] & self.products & self.below(s.from_node, p)]
            if sorted(k for k, _, _ in parts) == ["attn", "ffn"]:
                s.kind, s.parts = "ffn", tuple(sorted(parts))
                for (kind, _, i) in parts:
                    self.assign(s, kind, pairs[joint][i])
                return
        s.kind = self.kind_of(s.from_node, s.branch)
        self.assign(s, s.kind, s.branch)

    # Branches

    def attention_in(self, within: int, branch: int) -> Optional[tuple[int, int, int, int]]:
        """The attention of a branch and its q, k and v; none or several: None."""
        found = []
        for n in bits(within):
            node = self.nodes[n]
            if "scaled_dot_product" in node.op and len(node.inputs) >= 3:
                if not found or found[-1][1:] != node.inputs[:3]:
                    found.append((n, *node.inputs[:3]))
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
        within = self.below(source, branch)
        attention = self.attention_in(within, branch)
        if attention:
            return "attn" if self.above[attention[2]] >> source & 1 else "cross"
        softmax = any("softmax" in self.nodes[n].op or "scaled_dot" in self.nodes[n].op for n in bits(within))
        return "" if softmax or not within & self.products else "ffn"

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
        within = self.below(s.from_node, branch)
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
        elif kind == "ffn":
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

    # Norms

    def place(self, found: list[SubLayer]) -> None:
        for s, following in zip(found, [*found[1:], None]):
            norms = []
            within = self.below(s.from_node, s.branch)
            products = within & self.products
            for n in bits(within & self.norms & ~(1 << s.from_node)):
                ahead, behind = self.above[n] & products, any(self.above[p] >> n & 1 for p in bits(products))
                if not ahead and behind:
                    norms.append("before")
                    self.gain(n, f"#{s.node} {self.part_of(s, n)}.before")
                elif ahead and not behind:
                    norms.append("after")
                    self.gain(n, f"#{s.node} {self.part_of(s, n)}.after")
                elif ahead:
                    norms.append("inner")
            if following and following.from_node != s.node and self.above[following.from_node] >> s.node & 1:
                path = self.below(s.node, following.from_node)
                if path & self.norms and not path & self.products:
                    norms.append("trunk")
                    for n in bits(path & self.norms):
                        self.gain(n, f"#{s.node} {s.kind}.trunk")
            s.norms = tuple(sorted(set(norms), key=["before", "inner", "after", "trunk"].index))
        if len(found) > 1:  # the norm behind the last sum may be the model's last
            last, before = found[-1], found[-2]
            if "trunk" in before.norms:
                for n in bits(self.norms >> last.node << last.node):
                    if self.above[n] >> last.node & 1 and not self.below(last.node, n) & self.products:
                        last.norms += ("trunk",)
                        self.gain(n, f"#{last.node} {last.kind}.trunk")
                        break

    def part_of(self, s: SubLayer, norm: int) -> str:
        """Which part of a branch of two a norm belongs to; the attention's where both read it."""
        within = [kind for kind, at, which in s.parts
                  for n in bits(self.mask(lambda i: self.nodes[i].add == at))
                  if self.above[self.nodes[n].inputs[which]] >> norm & 1]
        return min(within) if within else s.kind

    def gain(self, norm: int, ours: str) -> None:
        learned = [n for n in self.weights_of(norm)]
        for n in range(norm, min(norm + 12, len(self.nodes))):
            if self.nodes[n].op == "mul" and any(self.root(i) == norm for i in self.nodes[n].inputs):
                learned += [w for i in self.nodes[n].inputs for w in self.learned_in(i)]
                break
        for name, leaf in zip(learned, ("gain", "bias")):
            self.take(name, f"{ours}.{leaf}")

    def learned_in(self, at: int) -> list[str]:  # 1 + weight, as Gemma has it
        return [self.weight[at]] if self.weight[at] else \
            [self.weight[i] for i in self.nodes[at].inputs if self.weight[i]] if self.nodes[at].op == "add" else []

    # Names

    def name_layers(self, found: list[SubLayer]) -> None:
        calls = layer_calls([self.nodes[s.node].calls for s in found], self.graph.calls)
        starts = [i for i, s in enumerate(found) if not any(
            self.above[s.from_node] >> f.node & 1 for f in found[:i])]
        two = len(starts) == 2 and any(s.kind == "cross" for s in found[starts[1]:])
        numbers: dict[str, list[int]] = {}
        for i, (s, call) in enumerate(zip(found, calls)):
            s.module = self.graph.calls[call if call >= 0 else self.nodes[s.node].calls[-1]] \
                if self.nodes[s.node].calls else ""
            if call < 0 or len(starts) > 1 and not two:
                s.kind = ""
                continue
            s.stack = ("enc." if i < starts[1] else "dec.") if two else ""
            seen = numbers.setdefault(s.stack, [])
            if call not in seen:
                seen.append(call)
            s.layer = seen.index(call) + 1
        twice = collections.Counter(s.name for s in found)
        for s in found:
            if s.kind and twice[s.name] > 1:
                s.kind = ""

    def outside(self, found: list[SubLayer]) -> None:
        """The table of symbols, the last norm and the output matrix."""
        symbols = {self.nodes[o].shape[-1] for o in self.graph.outputs if self.nodes[o].shape}
        inputs = self.mask(lambda at: self.nodes[at].op == "input")
        width = self.nodes[found[0].node].shape[-1] if found else 0
        places = set()
        for node in self.nodes:
            name = self.weight[node.inputs[0]] if node.op == "embedding" else ""
            rows = self.parameters[name][0] if name else 0
            if name and self.above[node.inputs[1]] & inputs and rows in symbols:
                self.roles[name] = "emb.tokens"
            elif name and not self.above[node.inputs[1]] & inputs and node.shape[-1] == width \
                    and rows >= node.shape[-2]:
                places.add(name)  # read at places that no input says
        if len(places) == 1:
            self.roles[places.pop()] = "emb.positions"
        tail = self.below(found[-1].node, len(self.nodes) - 1) if found else 0
        for o in self.graph.outputs:
            tail |= self.below(found[-1].node, o) if found else 0
        last = list(bits(tail & self.products))
        if len(last) == 1:
            for name in self.weights_of(last[0]):
                if name not in self.roles:
                    self.roles[name] = "out.w" if len(self.parameters[name]) == 2 else "out.b"
            norms = [n for n in bits(tail & self.norms) if self.above[last[0]] >> n & 1]
            if len(norms) == 1 and "trunk" not in found[-1].norms:
                self.gain(norms[0], "final")

    def found(self) -> Found:
        subs = self.sublayers()
        self.outside(subs)
        by_node = {s.node: s for s in subs}
        names = []
        for name in self.parameters:
            ours, s = self.roles.get(name, ""), None
            if ours.startswith("#"):
                number, _, place = ours[1:].partition(" ")
                s = by_node[int(number)]
                ours = f"{s.stack}L{s.layer:02}.{place}" if s.kind and place[0] != "." else ""
            module = s.module if s else next((x.module for x in subs if x.kind and name.startswith(x.module + ".")), "")
            layer = next((x.layer for x in subs if x.module == module and x.kind), 0)
            names.append((name, module, ours, layer))
        return Found(subs, self.split_thirds(names), self.placement(subs),
                     self.nodes[subs[0].node].shape[-1] if subs else 0)

    def split_thirds(self, names: list[tuple[str, str, str, int]]) -> dict[str, str]:
        """Of a matrix that is cut in three, the parts have names: NAME[q]."""
        whole = []
        for name, module, ours, layer in names:
            if ours.endswith("qkv/3"):
                whole += [(f"{name}[{c}]", module, ours[:-5] + c, layer) for c in "qkv"]
            else:
                whole.append((name, module, ours, layer))
        return compact(whole)

    @staticmethod
    def placement(subs: list[SubLayer]) -> str:
        """What all sub-layers agree on, if it has a name of ours."""
        known = {("before",): "pre", ("trunk",): "post", ("before", "after"): "sandwich", (): "none",
                 ("before", "trunk"): "keel"}
        where = {tuple(n for n in s.norms if n != "inner") for s in subs}
        inner = [any(n == "inner" for n in s.norms) for s in subs]
        name = known.get(next(iter(where)), "") if len(where) == 1 else ""
        if not any(inner):
            return name
        of_attention = all(i == (s.kind != "ffn") for i, s in zip(inner, subs))
        return "qknorm" if name == "pre" and of_attention else ""

"""Finds the residual stream in the graph of a forward pass, by what was computed of what, and by no name.

A residual sum adds to a tensor (the stream) what a weight matrix made of that very tensor (the branch), and lies on
the path to the output. So embedding sums, the sum of a rotation and a GELU's cubic are none; a sum of two branches is
one branch of two parts. What is not clear by this is left out or "not recognised".
"""
from __future__ import annotations

import collections
import dataclasses
from typing import Optional

from ._branches import Branches, SubLayer, bits
from ._layers import compact, layer_calls
from ._names import known


@dataclasses.dataclass
class Found:
    sublayers: list[SubLayer]
    names: dict[str, str]
    placement: str
    width: int


class Analysis(Branches):
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
            names.append((name, module, ours if known(ours) else "", layer))
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
                 ("before", "trunk"): "keel", ("after",): "res-post"}
        where = {tuple(n for n in s.norms if n != "inner") for s in subs}
        inner = [any(n == "inner" for n in s.norms) for s in subs]
        name = known.get(next(iter(where)), "") if len(where) == 1 else ""
        if not any(inner):
            return name
        of_attention = all(i == (s.kind != "ffn") for i, s in zip(inner, subs))
        return "qknorm" if name == "pre" and of_attention else ""

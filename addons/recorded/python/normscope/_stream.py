"""Finds the residual stream in the graph of a forward pass, by what was computed of what, and by no name.

A residual sum adds to a tensor (the stream) what a weight matrix made of that very tensor (the branch), and lies on
the path to the output. So embedding sums, the sum of a rotation and a GELU's cubic are none; a sum of two branches is
one branch of two parts. What is not clear by this is left out or "not recognised".
"""
from __future__ import annotations

import collections
import dataclasses
from typing import Optional

from ._branches import BATCHED, Branches, SubLayer, bits
from ._layers import MOST_SUMS, compact, in_pairs, layer_calls, layer_names
from ._names import known


@dataclasses.dataclass
class Found:
    sublayers: list[SubLayer]
    names: dict[str, str]
    placement: str
    width: int
    notes: list[str]
    older: bool  # states are added between the sums


class Analysis(Branches):
    # Sums

    def pairs(self) -> dict[int, tuple[int, int]]:
        """The additions of two floating tensors of one size: node -> operands."""
        return {at: (n.inputs[0], n.inputs[1]) for at, n in enumerate(self.nodes)
                if n.add >= 0 and len(n.inputs) == 2 and n.floating and len(n.shape) > 1
                and all(self.nodes[i].size == n.size and self.nodes[i].shape[-1:] == n.shape[-1:]
                        and not self.weight[i] for i in n.inputs)}

    def residual(self, at: int, operands: tuple[int, int], sums: dict[int, SubLayer]) -> Optional[SubLayer]:
        """A sum of what `operands` are. The branch may be parallel to one of `sums`: made of what that was added to."""
        streams = [self.root(a, True) for a in operands]
        sources = list(streams)
        for _ in range(MOST_SUMS):
            for which, source in enumerate(sources):
                branch = operands[1 - which]
                made = self.above[branch] & ~self.above[source]
                if self.above[branch] >> source & 1 and made & self.products & self.below(source, branch) \
                        and not self.leads(source, branch):
                    return SubLayer(self.nodes[at].add, which, at, streams[which], branch, source)
            sources = [sums[s].from_node if s in sums else s for s in sources]
        return None

    def leads(self, source: int, at: int) -> bool:
        """Whether the stream itself leads from `source` to `at`, by sums and norms: of these an older state is added, as
        x0 at each layer, or the skips of a U-net."""
        todo, seen = [at], set()
        while todo:
            at = self.root(todo.pop(), True)
            if at == source:
                return True
            if at not in seen and self.above[at] >> source & 1:
                seen.add(at)
                todo += [self.norm_of[at]] if at in self.norm_of else self.pairs_found.get(at, ())
        return False

    def sublayers(self) -> list[SubLayer]:
        reached = 0
        for out in self.graph.outputs:
            reached |= self.above[out]
        self.pairs_found = self.pairs()
        sums: dict[int, SubLayer] = {}
        for at, operands in self.pairs_found.items():
            s = self.residual(at, operands, sums) if reached >> at & 1 else None
            if s:
                sums[at] = s
        found = self.of_one_width([*sums.values()])
        if len(found) < len(sums):
            self.notes.append(f"{len(sums) - len(found)} of {len(sums)} residual sums have another width than "
                              f"{self.width} and are left out")
        for s in found:
            self.classify(s, sums)
        self.place(found)
        self.name_layers(found)
        return found

    def of_one_width(self, sums: list[SubLayer]) -> list[SubLayer]:
        """Those of the width in which most go on from one to the next, with no matrix between; then of the most."""
        alike: dict[int, list[SubLayer]] = {}
        for s in sums:
            alike.setdefault(self.width_of(s), []).append(s)

        def rank(width: int) -> tuple[int, int]:
            goes_on = [s for s, t in zip(alike[width], alike[width][1:]) if self.above[t.from_node] >> s.node & 1
                       and not self.below(s.node, t.from_node) & ~(1 << s.node) & self.products]
            return len(goes_on), len(alike[width])

        self.width = max(alike, key=rank, default=0)
        return alike.get(self.width, [])

    def width_of(self, s: SubLayer) -> int:
        """A sum's number of features: as many as a matrix of the branch makes. Images have them ahead of positions."""
        shape, by = self.nodes[s.node].shape, [self.nodes[p] for p in self.made_by(s.branch, self.within(s))]
        made = {p.shape[1] if p.op == "convolution" else p.shape[-1] for p in by}
        images = len(shape) > 3 or any(p.op == "convolution" for p in by)
        return shape[1] if images and shape[1] in made and shape[-1] not in made else shape[-1]

    def classify(self, s: SubLayer, sums: dict[int, SubLayer]) -> None:
        joint, pairs = self.root(s.branch, True), self.pairs_found
        if joint in pairs and joint != s.node and joint not in sums:
            parts = [(self.kind_of(s.source, p), self.nodes[joint].add, i) for i, p in enumerate(pairs[joint])
                     if self.above[p] & self.products & self.below(s.source, p) & ~(1 << s.source)]
            if sorted(k for k, _, _ in parts) == ["attn", "ffn"]:
                s.kind, s.parts = "ffn", tuple(sorted(parts))
                for (kind, _, i) in parts:
                    self.assign(s, kind, pairs[joint][i])
                return
        s.kind = self.kind_of(s.source, s.branch)
        self.assign(s, s.kind, s.branch)

    # Norms

    def place(self, found: list[SubLayer]) -> None:
        broken, unknown = 0, []
        ahead = {t.node: next((s for s in reversed(found[:i]) if self.above[t.from_node] >> s.node & 1), None)
                 for i, t in enumerate(found)}
        for s in found:
            following = next((t for t in found if ahead[t.node] is s), None)
            path = self.below(s.node, following.from_node) & ~(1 << s.node) if following else 0
            older = path & self.mask(self.pairs_found.__contains__)
            self.older |= bool(older)
            strange, stream = self.around(s), path & self.norms
            if path & self.products:
                broken, stream, s.clear = broken + 1, 0, False
            else:
                strange |= self.strange(path & ~older, 1 << s.node)
            before = ahead[s.node]
            if not following and before:  # the norm behind it may be the model's last: as behind the others
                stream, s.clear = self.norm_behind(s) if "stream" in before.norms else 0, before.clear
            if strange:
                unknown.append(strange)
                s.clear = False
            norms = {n: self.place_in(s, n) for n in bits(self.within(s) & self.norms)}
            norms.update((n, "stream") for n in bits(stream))
            for n, place in norms.items():
                if place not in ("", "inner"):
                    self.gain(n, f"#{s.node} {s.kind if place == 'stream' else self.part_of(s, n)}.{place}")
            s.norms = tuple(p for p in ("before", "inner", "after", "stream") if p in norms.values())
        if self.older:
            self.notes.append("older states are added between the residual sums: no shares are told")
        if broken:
            self.notes.append(f"behind {broken} of {len(found)} residual sums the stream goes on through matrices that "
                              "are in no branch that is recognised: no placement is named")
        if unknown:
            ops = ", ".join(sorted(frozenset.union(*unknown)))
            self.notes.append(f"at {len(unknown)} of {len(found)} residual sums there are other ops where norms stand "
                              f"({ops}): no placement is named")

    def place_in(self, s: SubLayer, norm: int) -> str:
        products = self.within(s) & self.products
        ahead, behind = bool(self.above[norm] & products), any(self.above[p] >> norm & 1 for p in bits(products))
        return {(False, True): "before", (True, True): "inner", (True, False): "after"}.get((ahead, behind), "")

    def norm_behind(self, s: SubLayer) -> int:
        for n in bits(self.norms >> s.node << s.node):
            if self.above[n] >> s.node & 1 and not self.below(s.node, n) & ~(1 << s.node) & self.products:
                return 1 << n
        return 0

    def around(self, s: SubLayer) -> frozenset[str]:
        """What is unclear between stream and matrices, and between these and the sum."""
        within = self.within(s)
        made = within & (self.products | self.mask(lambda at: self.nodes[at].op in BATCHED
                                                   or "scaled_dot" in self.nodes[at].op))
        first = [p for p in bits(made) if not self.above[p] & made & ~(1 << p)]
        last = [p for p in bits(made) if not any(self.above[o] >> p & 1 for o in bits(made & ~(1 << p)))]
        ahead = behind = 0
        for p in first:
            ahead |= self.above[p] & within & ~(1 << p)
        for p in last:
            behind |= self.below(p, s.branch) & ~(1 << p)
        ends = sum(1 << p for p in last)
        return self.strange(ahead, 1 << s.source) | self.strange(behind, ends, True)

    def part_of(self, s: SubLayer, norm: int) -> str:
        """Which part of a branch of two a norm belongs to; the attention's where both read it."""
        within = [kind for kind, at, which in s.parts
                  for n in bits(self.mask(lambda i: self.nodes[i].add == at))
                  if self.above[self.nodes[n].inputs[which]] >> norm & 1]
        return min(within) if within else s.kind

    def gain(self, norm: int, ours: str) -> None:
        """What a norm has learned: its own op's parameters, or a factor ahead of it or behind it, and a summand."""
        own, at = self.weights_of(norm), norm
        learned = own or [w for n in bits(self.below(self.norm_of[norm], norm)) if self.nodes[n].op == "mul"
                          for w in self.weights_of(n)]
        for n in range(norm + 1, min(norm + 12, len(self.nodes)) if not own else 0):
            if any(self.root(i) == at for i in self.nodes[n].inputs):
                if self.nodes[n].op == "mul" and not learned:
                    learned, at = [w for i in self.nodes[n].inputs for w in self.learned_in(i)], n
                elif self.nodes[n].op in ("add", "add_") and len(learned) == 1:
                    learned += self.weights_of(n)
        for name, leaf in zip(learned, ("gain", "bias")):
            self.take(name, f"{ours}.{leaf}")

    def learned_in(self, at: int) -> list[str]:  # 1 + weight, as Gemma has it
        return [self.weight[at]] if self.weight[at] else \
            [self.weight[i] for i in self.nodes[at].inputs if self.weight[i]] if self.nodes[at].op == "add" else []

    # Names

    def name_layers(self, found: list[SubLayer]) -> None:
        calls = layer_calls([self.nodes[s.node].calls for s in found], self.graph.calls)
        modules = [self.graph.calls[call if call >= 0 else self.nodes[s.node].calls[-1]]
                   if self.nodes[s.node].calls else "" for s, call in zip(found, calls)]
        if all(call < 0 for call in calls):
            modules = layer_names([self.maker_of(s) for s in found])
            calls = [modules.index(name) if name else -1 for name in modules]
        calls = in_pairs(calls, [s.kind for s in found])
        starts = [i for i, s in enumerate(found) if not any(
            self.above[s.from_node] >> f.node & 1 for f in found[:i])]
        two = len(starts) == 2 and any(s.kind == "cross" for s in found[starts[1]:])
        numbers: dict[str, list[int]] = {}
        for i, (s, call) in enumerate(zip(found, calls)):
            s.module = modules[i]
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

    def maker_of(self, s: SubLayer) -> str:
        """The module that ran the last product of a branch."""
        calls = self.nodes[max(self.made_by(s.branch, self.within(s)), default=s.branch)].calls
        return self.graph.calls[calls[-1]] if calls else ""

    def outside(self, found: list[SubLayer]) -> None:
        """The table of symbols, the last norm and the output matrix."""
        symbols = {self.nodes[o].shape[-1] for o in self.graph.outputs if self.nodes[o].shape}
        inputs = self.mask(lambda at: self.nodes[at].op == "input")
        places = set()
        for node in self.nodes:
            name = self.weight[node.inputs[0]] if node.op == "embedding" else ""
            rows = self.parameters[name][0] if name else 0
            if name and self.above[node.inputs[1]] & inputs and rows in symbols:
                self.roles[name] = "emb.tokens"
            elif name and not self.above[node.inputs[1]] & inputs and node.shape[-1] == self.width \
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
            if len(norms) == 1 and "stream" not in found[-1].norms:
                self.gain(norms[0], "final")

    def found(self) -> Found:
        self.notes: list[str] = []
        self.older = False
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
        return Found(subs, self.split_thirds(names), self.placement(subs), self.width, self.notes, self.older)

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
        """What all sub-layers agree on, if it has a name of ours and all is clear."""
        if not all(s.clear for s in subs):
            return ""
        known = {("before",): "pre", ("stream",): "post", ("before", "after"): "sandwich", (): "none",
                 ("before", "stream"): "keel", ("after",): "res-post"}
        where = {tuple(n for n in s.norms if n != "inner") for s in subs}
        inner = [any(n == "inner" for n in s.norms) for s in subs]
        name = known.get(next(iter(where)), "") if len(where) == 1 else ""
        if not any(inner):
            return name
        of_attention = all(i == (s.kind in ("attn", "cross")) for i, s in zip(inner, subs))
        return "qknorm" if name == "pre" and of_attention else ""

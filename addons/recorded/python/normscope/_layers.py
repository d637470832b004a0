"""Finds layers in the module tree: the calls of elements of module lists, whatever the lists are called."""
from __future__ import annotations

import collections
from typing import Iterable, Sequence

MOST_SUMS = 3  # of one layer: attention, cross-attention, feed-forward network


def cut(module: str) -> tuple[str, str]:
    """What stands before a module's number, and the number: "h.", "3"; "enc.layer_", "0"; "block", "1"."""
    stem = module.rstrip("0123456789")
    return stem, module[len(stem):]


def layer_calls(sums: Sequence[tuple[int, ...]], calls: Sequence[str]) -> list[int]:
    """For each residual sum, the call of the module that is its layer, -1 where none can be told.

    `sums` has the calls around each sum, outermost first. A layer is the outermost element of a list whose call holds
    no more than MOST_SUMS of them; so a stage of layers is no layer, and a block of a layer is none either. Of a sum in
    no list, it is a module whose name ends in a number, beside another of that name: block1, block2.
    """
    held: dict[int, int] = {}
    for around in sums:
        for call in around:
            held[call] = held.get(call, 0) + 1
    alike = collections.Counter(cut(name)[0] for name in {calls[c] for c in held} if cut(name)[1])

    def fits(call: int, listed: bool) -> bool:
        stem, number = cut(calls[call])
        return held[call] <= MOST_SUMS and bool(number) and (stem[-1:] in ("", ".") if listed else alike[stem] > 1)

    return [next((c for listed in (True, False) for c in around if fits(c, listed)), -1) for around in sums]


def layer_names(makers: Sequence[str]) -> list[str]:
    """For each residual sum of a model that makes them all in its own forward, the element of a list that is its layer,
    "" where none can be told. `makers` has the modules of the branches: of layers.1.0.out and layers.1.1.out the layer is
    layers.1."""
    def elements(module: str) -> list[str]:
        words = module.split(".")
        return [".".join(words[:i]) for i, word in enumerate(words, 1) if word.isdecimal()]

    held = collections.Counter(element for module in makers for element in elements(module))
    return [next((e for e in elements(module) if held[e] <= MOST_SUMS), "") for module in makers]


def in_pairs(layers: Sequence[int], kinds: Sequence[str]) -> list[int]:
    """`layers` of sums; where each has one and they are attention (or another mixer) and feed-forward network in turn,
    two are a layer."""
    alone = len({*layers}) == len(layers) and -1 not in layers
    turns = len(kinds) % 2 == 0 and all(kind in (("attn", "mixer"), ("ffn",))[i % 2] for i, kind in enumerate(kinds))
    return [layers[i - i % 2] for i in range(len(layers))] if alone and turns else [*layers]


def compact(names: Iterable[tuple[str, str, str, int]]) -> dict[str, str]:
    """`names` of a header, of (theirs, the module of the layer, ours or "", number of the layer).

    Where all layers agree a line has {layer}. A mapping counts their layers from 0, so a list whose numbers are not
    ours less one is written out, and so is a name that is another thing, or nothing known, in some layer.
    """
    rules: dict[str, set[str]] = {}
    exact: dict[str, str] = {}
    pattern_of: dict[str, str] = {}
    for theirs, module, ours, layer in names:
        stem, number = cut(module)
        if ours:
            exact[theirs] = ours
        if number and theirs.startswith(module + ".") and "{" not in theirs and "}" not in theirs:
            pattern = stem + "{layer}" + theirs[len(module):]
            fits = ours and layer and number == str(layer - 1)
            rules.setdefault(pattern, set()).add(ours.replace(f"L{layer:02}.", "L{layer}.", 1) if fits else "")
            pattern_of[theirs] = pattern
    agreed = {pattern: next(iter(ours)) for pattern, ours in rules.items() if len(ours) == 1 and "" not in ours}
    alone = {theirs: ours for theirs, ours in exact.items() if pattern_of.get(theirs) not in agreed}
    return {**alone, **agreed}

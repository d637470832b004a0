"""Finds layers in the module tree: the calls of elements of module lists, whatever the lists are called."""
from __future__ import annotations

from typing import Iterable, Sequence

MOST_SUMS = 3  # of one layer: attention, cross-attention, feed-forward network


def layer_calls(sums: Sequence[tuple[int, ...]], calls: Sequence[str]) -> list[int]:
    """For each residual sum, the call of the module that is its layer, -1 where none can be told.

    `sums` has the calls around each sum, outermost first. A layer is the outermost element of a list whose call holds
    no more than MOST_SUMS of them; so a stage of layers is no layer, and a block of a layer is none either.
    """
    held: dict[int, int] = {}
    for around in sums:
        for call in around:
            held[call] = held.get(call, 0) + 1
    return [next((c for c in around if calls[c].rpartition(".")[2].isdigit() and held[c] <= MOST_SUMS), -1)
            for around in sums]


def compact(names: Iterable[tuple[str, str, str, int]]) -> dict[str, str]:
    """`names` of a header, of (theirs, the module of the layer, ours or "", number of the layer).

    Where all layers agree a line has {layer}. A mapping counts their layers from 0, so a list whose numbers are not
    ours less one is written out, and so is a name that is another thing, or nothing known, in some layer.
    """
    rules: dict[str, set[str]] = {}
    exact: dict[str, str] = {}
    pattern_of: dict[str, str] = {}
    for theirs, module, ours, layer in names:
        stem, _, number = module.rpartition(".")
        if ours:
            exact[theirs] = ours
        if module and theirs.startswith(module + ".") and "{" not in theirs and "}" not in theirs:
            pattern = (stem + "." if stem else "") + "{layer}" + theirs[len(module):]
            fits = ours and layer and int(number) == layer - 1
            rules.setdefault(pattern, set()).add(ours.replace(f"L{layer:02}.", "L{layer}.", 1) if fits else "")
            pattern_of[theirs] = pattern
    agreed = {pattern: next(iter(ours)) for pattern, ours in rules.items() if len(ours) == 1 and "" not in ours}
    alone = {theirs: ours for theirs, ours in exact.items() if pattern_of.get(theirs) not in agreed}
    return {**alone, **agreed}

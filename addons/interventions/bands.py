#!/usr/bin/env python3
"""Writes the table of what-keeps-post-ln-stuck.md with which fog_in_pytorch.py compares itself:
  bands.py fog.json [PRINTED]      what `normscope study fog --json` writes, and what fog_in_pytorch.py printed
A band of a share is the 95 % interval of Wilson (1927), which holds for few starts too; a band of a loss reaches from the
lowest to the highest of the starts."""
import json, math, pathlib, re, sys

# The page's words for a row of the study, in the order of its first table.
ROWS = {
    "Pre-LN, for comparison": "pre", "Post-LN as it is": "plain", "each token to itself": "mixing-0",
    "a quarter of the mixing": "mixing-0.25", "half of it": "mixing-0.5", "three quarters": "mixing-0.75",
    "$W_O$ begins at 0.3": "wo-0.3", "at 0.1": "wo-0.1", "at 0": "wo-0",
    "the top layer also reads the embedding": "top", "the layer below it does": "below-top",
    "the middle layer does": "middle", "the first layer does": "first", "`undivided-skip`": "undivided-skip",
    "`held-skip`": "held-skip", "`undivided`": "undivided", "`undivided-top`": "undivided-top", "`centred`": "centred",
    "`centred-forward`": "centred-forward", "`centred-backward`": "centred-backward", "β₁ = 0": "beta1-0",
    "β₂ = 0.9": "beta2-0.9", "β₂ = 0.999": "beta2-0.999", "`no-memory`": "no-memory",
    "$W_O$ at 0.3, feed-forward weights at half": "wo-0.3-ffn-0.5", "each to itself, `undivided-skip`": "mixing-0-skip",
}
IN_PYTORCH = list(ROWS)[:10] + ["the first layer does"]
RATES = "0.005", "0.00167"


def cells_of(study, part):
    """Returns the cells of a part of the study by row and rate."""
    (found,) = [one for one in study["parts"] if one["name"] == part]
    return {(cell["values"]["row"], cell["values"]["train.lr"]): cell for cell in found["sweep"]["cells"]}


def wilson(count, of):
    z, share = 1.96, count / of
    middle, half = share + z * z / 2 / of, z * math.sqrt(share * (1 - share) / of + (z / 2 / of) ** 2)
    return (middle - half) / (1 + z * z / of), (middle + half) / (1 + z * z / of)


def band(low, high):
    return f"[{max(low, 0):.2f}, {high:.2f}]"


def with_bands(cell):
    return (f"{cell['learns']} {band(*wilson(cell['learns'], cell['known']))}, "
            f"{cell['loss']:.2f} {band(cell['loss_low'], cell['loss_high'])}")


def table(study, printed=""):
    """Returns the lines; without what was printed the last columns are left out."""
    cells = cells_of(study, "six")
    heads = [*RATES, *([f"PyTorch, {rate}" for rate in RATES] if printed else [])]
    lines = [f"| | {' | '.join(heads)} |", "|" + "--|" * (len(heads) + 1)]
    for row in IN_PYTORCH:
        shown = [with_bands(cells[ROWS[row], rate]) for rate in RATES]
        if printed:
            found = dict(re.findall(rf"(?m)^{re.escape(row)}, ([\d.]+): (\d+ of \d+, [\d.]+) ", printed))
            shown += [found[rate].replace(" of ", "/") for rate in RATES]
        lines.append(f"| {' | '.join([row, *shown])} |")
    return lines


if __name__ == "__main__":
    texts = [pathlib.Path(name).read_text() for name in sys.argv[1:]]
    print("\n".join(table(json.loads(texts[0]), *texts[1:])))

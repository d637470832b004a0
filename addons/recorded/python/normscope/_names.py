"""The names of ours that a recording may give. The program reads each of them: test_log_reader.cpp reads this file."""
from __future__ import annotations

OUTSIDE = ("emb.tokens", "emb.positions", "final.gain", "final.bias", "out.w", "out.b")
SUBLAYERS = ("attn", "cross", "ffn", "mixer")  # of a layer, with any part: "L03.attn.wq"


def known(ours: str) -> bool:
    return ours in OUTSIDE or any(f".{kind}." in ours for kind in SUBLAYERS)

"""What needs no PyTorch: layers and names, and what the log takes."""
from __future__ import annotations

import unittest

from normscope._layers import compact, layer_calls
from normscope._writer import plain


class Layers(unittest.TestCase):
    def test_a_stage_and_a_block_of_a_layer_are_none(self) -> None:
        calls = ["", "stages.0", "stages.0.cells.0", "stages.0.cells.0.part.1", "stages.0.cells.1"]
        sums = [(0, 1, 2, 3), (0, 1, 2), (0, 1, 4), (0, 1, 4)]
        self.assertEqual(layer_calls(sums, calls), [2, 2, 4, 4])

    def test_a_sum_in_no_list_has_no_layer(self) -> None:
        self.assertEqual(layer_calls([(0, 1)], ["", "block"]), [-1])

    def test_names_of_all_layers_are_one_line(self) -> None:
        names = [(f"a.{i}.w", f"a.{i}", f"L{i + 1:02}.ffn.w1", i + 1) for i in range(3)]
        self.assertEqual(compact([*names, ("e", "", "emb.tokens", 0)]),
                         {"e": "emb.tokens", "a.{layer}.w": "L{layer}.ffn.w1"})

    def test_a_name_that_is_another_thing_elsewhere_is_written_out(self) -> None:
        self.assertEqual(compact([("a.0.w", "a.0", "L01.ffn.w1", 1), ("a.1.w", "a.1", "", 2)]),
                         {"a.0.w": "L01.ffn.w1"})
        self.assertEqual(compact([("b.4.w", "b.4", "L01.ffn.w1", 1)]), {"b.4.w": "L01.ffn.w1"})


class Writer(unittest.TestCase):
    def test_what_is_no_json_is_null(self) -> None:
        self.assertEqual(plain({"a": float("nan"), "b": [1, "x", object()], "c": True}),
                         {"a": None, "b": [1, "x", None], "c": True})


if __name__ == "__main__":
    unittest.main()

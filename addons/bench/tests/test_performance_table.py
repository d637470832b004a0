#!/usr/bin/env python3
"""Checks performance_table.py: that the table which opens docs/performance.md is the one that the pages of
processors give, and what it says of products. CTest runs it as addons.bench.test_performance_table; nothing is measured."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
import performance_table


def product(layout, ratio, gflops=100, threads=2):
    return {"m": 8, "n": 16, "k": 32, "layout": layout, "threads": threads, "group": "listed", "gflops": gflops,
            "onednn_gflops": gflops / ratio}


class Table(unittest.TestCase):
    def test_the_opening_table_is_that_of_the_pages(self):
        page = performance_table.OPENING.read_text()
        section = page.split("<!-- performance -->\n", 1)[1].split("\n<!-- /performance -->", 1)[0]
        self.assertEqual(section, performance_table.opening_table())

    def test_products_below_the_goal_are_named(self):
        engine = {"machine": {"threads": 2}, "gemm": [product("NN", 1.25), product("TN", 0.5, 80), product("NT", 0.75, threads=1)]}
        text = "\n".join(performance_table.gemm_lines(engine, []))
        self.assertIn("NN 1.25 to 1.25, median 1.25", text)
        self.assertIn("sums: TN 8 × 16 × 32 0.50, NT 8 × 16 × 32 0.75 on one core.", text)
        self.assertIn("TN over NN at the same shape, both ours: 0.80 to 0.80, median 0.80.", text)

    def test_the_median_of_two_lies_between_them(self):
        engine = {"machine": {"threads": 2}, "gemm": [product("NN", 1.25), product("NN", 0.75)]}
        self.assertIn("median 1.00", performance_table.gemm_lines(engine, [])[0])


if __name__ == "__main__":
    unittest.main()

"""Tests of tiles.py, on machine code as objdump writes it."""
import contextlib
import io
import unittest

import tiles

LOOP = """
{at:016x} <void normscope::cpu::N_NEON::(anonymous namespace)::tile<{rows}, {vectors}, true>(long, float const*)>:
   {at:x}:\tmov\tx1, #0x0
   {body:x}:\tldp\tq1, q2, [x3]
   {second:x}:\tfmla\tv26.4s, v1.4s, v30.s[0]
   {third:x}:\t{extra}
   {last:x}:\tb.ne\t{body:x} <void normscope::cpu::N_NEON::(anonymous namespace)::tile<{rows}, {vectors}, true>(long, float const*)+0x4>  // b.any
   {end:x}:\tstr\tq26, [sp, #16]
   {ret:x}:\tret
"""


def loop(rows, vectors, extra="add\tx3, x3, #0x20"):
    at = rows * 0x1000 + vectors * 0x100
    return LOOP.format(rows=rows, vectors=vectors, extra=extra, at=at, body=at + 4, second=at + 8, third=at + 12, last=at + 16,
                       end=at + 20, ret=at + 24)


def check(*loops):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = tiles.check(["\n\n".join(text.strip() for text in loops)])
    return code, said.getvalue()


class Tiles(unittest.TestCase):
    def test_registers_alone(self):
        code, said = check(loop(12, 2), loop(12, 1), loop(6, 2))
        self.assertEqual(code, 0, said)
        self.assertIn("tile 12 x 2, A by rows: 1 fmla in 4 instructions, 1 loads, 0 of the stack", said)

    def test_a_sum_on_the_stack(self):
        for extra in ("str\tq0, [sp, #192]", "ldr\tq0, [sp, #192]", "ldp\tq0, q1, [sp, #32]"):
            code, said = check(loop(12, 2), loop(12, 1), loop(6, 2), loop(11, 2, extra))
            self.assertEqual(code, 1, said)
            self.assertIn("tile 11 x 2", said)

    def test_an_address_on_the_stack_is_no_sum(self):
        code, said = check(loop(12, 2, "ldr\tx0, [sp, #32]"), loop(12, 1), loop(6, 2))
        self.assertEqual(code, 0, said)

    def test_a_loop_that_is_not_there(self):
        code, said = check(loop(12, 1), loop(6, 2))
        self.assertEqual(code, 1, said)
        self.assertIn("(12, 2)", said)


if __name__ == "__main__":
    unittest.main()

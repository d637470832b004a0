// Cases of heads that turn: see op_cases.h.
#include <fmt/format.h>

#include "addons/published/engine/rotary.h"
#include "engine/support/op_cases.h"

namespace normscope::test {
namespace {

/// Rows of a table that are not points of a circle, so that the transpose is not the inverse, and
/// `beyond` of them that no position is at.
OpCase rotary_case(Shape x, RotarySpec spec, int64_t pairs, int64_t beyond) {
  Random random(static_cast<uint64_t>(x[0] * 1019 + x[1] * 41 + x[2] * 3 + pairs));
  OpCase c;
  c.op = OpKind::Rotary;
  c.name = fmt::format("rotary {} B{} T{} H{} D{} of {} numbers",
                       spec.pairing == RotaryPairing::Halves ? "halves" : "neighbours", x[0], x[1],
                       spec.heads, x[2], 2 * pairs);
  c.attributes = spec;
  c.in = {random.normal(x), random.normal({x[1] + beyond, 2 * pairs}, 0.3)};
  c.in[1].differentiable = false;
  c.out = x;
  c.terms = c.in[0].terms = 2;
  return c;
}

}  // namespace

std::vector<OpCase> rotary_cases() {
  std::vector<OpCase> cases;
  for (const RotaryPairing pairing : {RotaryPairing::Halves, RotaryPairing::Neighbours}) {
    cases.push_back(rotary_case({1, 1, 2}, {1, pairing}, 1, 0));
    cases.push_back(rotary_case({2, 3, 12}, {2, pairing}, 3, 0));
    cases.push_back(rotary_case({2, 5, 27}, {3, pairing}, 2, 4));  // numbers that do not turn
    cases.push_back(rotary_case({3, 7, 66}, {1, pairing}, 33, 1));
    cases.push_back(rotary_case({2, 33, 134}, {2, pairing}, 31, 0));
    cases.push_back(rotary_case({3, 130, 64}, {4, pairing}, 8, 2));
    cases.push_back(rotary_case({1, 2, 4200}, {2, pairing}, 1050, 0));
  }
  return cases;
}

}  // namespace normscope::test

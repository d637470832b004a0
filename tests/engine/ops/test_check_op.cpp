// check_op on ops that are right, and on ops whose backward pass is by intent no derivative.
#include "engine/check_op.h"

#include "engine/engine.h"
#include "engine/support/helpers.h"

namespace normscope::test {
namespace {

ValueId squared_error(Tape& t, std::span<const ValueId> in) {
  return mean_squared_error(t, "e", in[0], in[1]);
}

}  // namespace

TEST_CASE("check_op: a squared error, with and without weights") {
  const OpCheck check = check_op(squared_error, {{5, 7}, {5, 7}});
  CHECK(check.worst > 0);
  CHECK(check.worst < 2e-3);
  check_op([](Tape& t, auto in) { return mean_squared_error(t, "e", in[0], in[1], t.input("w", {6})); },
           {{2, 3, 4}, {2, 3, 4}});
  check_op(
      [](Tape& t, auto in) {
        return mean_squared_error(t, "e", in[0], t.input("t", {40, 33}));
      },
      {{40, 33}});
  check_op([](Tape& t, auto in) { return mean_squared_error(t, "e", in[0], in[0]); }, {{3, 4}});  // zero
}

TEST_CASE("check_op: ops of one and of several inputs, with parameters of their own") {
  check_op([](Tape& t, auto in) { return silu(t, "s", in[0]); }, {{5, 7}});
  check_op([](Tape& t, auto in) { return multiply(t, "m", in[0], in[1]); }, {{5, 7}, {5, 7}});
  check_op([](Tape& t, auto in) { return linear(t, "l", layer_norm(t, "n", in[0]), 3); }, {{4, 6}});
  check_op([](Tape& t, auto in) { return linear(t, "l", in[0], in[1], in[2]); }, {{4, 6}, {6, 3}, {3}});
  check_op([](Tape& t, auto in) { return softmax_xent(t, "x", in[0], t.input("y", {4}, DType::I32)); },
           {{4, 6}});
}

TEST_CASE("check_op: it names op, input, index and both numbers where backward is no derivative") {
  const Message kept = error_of([] {
    check_op([](Tape& t, auto in) { return gradient_kept(t, "g", in[0], in[1]); }, {{2, 3}, {1}});
  });
  CHECK(kept.starts_with("[check_op affine] input 1 at 0: backward "));
  CHECK(contains(kept, ", by differences "));
  CHECK(kept.ends_with(": expected within 1 %"));
  CHECK(contains(error_of([] {
                   check_op(
                       [](Tape& t, auto in) {
                         return layer_norm(t, "n", NormKind::Detach, in[0], kNone, kNone, 1e-5f);
                       },
                       {{2, 5}});
                 }),
                 "[check_op layer_norm] input 1 at "));
}

TEST_CASE("check_op: what is no op, and what has no gradient, is refused") {
  CHECK(error_of([] {
          check_op([](Tape&, auto) { return kNone; }, {{2, 3}});
        }) == "[check_op] what was recorded is kNone: expected a value of this tape");
  CHECK(error_of([] {
          check_op([](Tape&, auto in) { return in[0]; }, {{2, 3}});
        }) == "[check_op] nothing was recorded: expected an op");
  CHECK(error_of([] {
          check_op({}, {{2, 3}});
        }) == "[check_op] there is no function: expected one that records an op");
  CHECK(error_of([] {
          check_op([](Tape& t, auto in) { return relu(t, "r", in[0]); }, {{2, 3}}, {.step = 0});
        }) == "[check_op] a step of 0 and a tolerance of 0.01: expected both above zero");
  CHECK(contains(error_of([] {
                   check_op([](Tape& t, auto in) { return relu(t, "r", in[0]); }, {{2, 3}, {2, 3}});
                 }),
                 "'input 2' has no gradient"));
}

}  // namespace normscope::test

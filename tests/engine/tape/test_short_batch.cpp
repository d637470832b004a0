// A batch of fewer rows than were sealed: the rows that are left over hold anything finite and change nothing.
#include "engine/engine.h"
#include "engine/support/helpers.h"

namespace normscope::test {
namespace {

constexpr int64_t kShortWidth = 6;

/// Records an op that is a mean over rows of x, with targets for it.
struct LossRow {
  OpKind op;
  ValueId (*record)(Tape&, ValueId x, ValueId weights);
};
const LossRow kLosses[] = {
    {OpKind::SoftmaxXent,
     [](Tape& t, ValueId x, ValueId weights) {
       return softmax_xent(t, "loss", x, t.input("classes", {t.shape(x).rows()}, DType::I32), weights);
     }},
    {OpKind::SquaredError,
     [](Tape& t, ValueId x, ValueId weights) {
       return mean_squared_error(t, "loss", x, t.input("target", t.shape(x)), weights);
     }},
};

struct PaddedNet {
  PaddedNet(const LossRow& of, int64_t rows, bool weights) {
    x = tape.input("x", {rows, kShortWidth}, DType::F32, {.gradient = true});
    const ValueId y = silu(tape, "silu", linear(tape, "fc", x, kShortWidth));
    const ValueId loss = of.record(tape, y, weights ? tape.input("weights", {rows}) : kNone);
    store.materialize(5);
    program = std::make_unique<Program>(seal(tape, {.loss = loss, .update = kNoOp}));
    fill(program->floats("x"), kShortWidth, 1.0f);
    for (const ValueInfo& value : tape.values())
      if (value.role == Role::Input && value.dtype == DType::I32)
        for (size_t i = 0; i < program->tokens(value.name).size(); ++i)
          program->tokens(value.name)[i] = static_cast<int32_t>(i % kShortWidth);
      else if (value.name == "target")
        fill(program->floats("target"), kShortWidth, -0.5f);
  }
  /// The first three rows are of moderate size, the others are not.
  static void fill(std::span<float> numbers, int64_t width, float size) {
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] =
          size * (static_cast<float>(i * 29 % 23) / 11 - 1) * (i < static_cast<size_t>(3 * width) ? 1 : 1e4f);
  }

  std::shared_ptr<Backend> backend = make_cpu_backend(2);
  Store store{*backend};
  Tape tape{store};
  ValueId x;
  std::unique_ptr<Program> program;
};

}  // namespace

TEST_CASE("short batch: every loss over rows is one of the first rows alone") {
  std::set<OpKind> losses;
  for (const LossRow& loss : kLosses) {
    INFO(to_string(loss.op));
    losses.insert(loss.op);
    PaddedNet small(loss, 3, false), padded(loss, 8, true);
    small.program->replay({});
    padded.program->fill_rows(3);
    padded.program->replay({});
    CHECK(padded.program->counted_rows() == 3);
    CHECK(padded.program->loss() == Approx(small.program->loss()).epsilon(1e-6));
    for (const char* name : {"x", "fc.w", "fc.b"}) {
      const auto one = small.program->read(name, true), other = padded.program->read(name, true);
      double most = 0;
      for (const float g : one) most = std::max(most, std::abs(static_cast<double>(g)));
      for (size_t i = 0; i < one.size(); ++i)
        CHECK(std::abs(static_cast<double>(one[i] - other[i])) < 1e-6 * most);
      for (size_t i = one.size(); i < other.size(); ++i) CHECK(other[i] == 0);
    }
    padded.program->fill_rows(8);  // and back: all rows
    padded.program->replay({});
    CHECK(padded.program->counted_rows() == 8);
    CHECK(padded.program->loss() > 10 * small.program->loss());
    padded.program->fill_rows(0);
    padded.program->replay({});
    CHECK(padded.program->counted_rows() == 0);
    CHECK(padded.program->loss() == 0);
    for (const float g : padded.program->read("fc.w", true)) CHECK(g == 0);
  }
  for (int i = 0; i < static_cast<int>(OpKind::Count); ++i)
    CHECK(losses.contains(static_cast<OpKind>(i)) == traits_of(static_cast<OpKind>(i)).counts_rows);
}

}  // namespace normscope::test

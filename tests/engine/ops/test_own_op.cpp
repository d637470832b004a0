// Ops of one's own: what a project outside of this one adds while it runs, on numbers, on rows and as a whole; right ones
// in a network, wrong ones before check_op, and what is refused.
#include "engine/own_op.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "engine/check_op.h"
#include "engine/engine.h"
#include "engine/ops/rules.h"
#include "engine/support/helpers.h"
#include "engine/support/wrapped_backend.h"

namespace normscope::test {
namespace {

// On numbers: factor * tanh(x), whose backward reads its result.

struct Bend {
  static constexpr OpKind kOp = op_kind("bend");
  float factor = 1;
  friend bool operator==(const Bend&, const Bend&) = default;
};

void bend_forward(const Call& c, const StepInputs&, Range r) noexcept {
  const float factor = c.attributes.as<Bend>().factor;
  for (int64_t i = r.first; i < r.end; ++i) c.out.p[i] = factor * std::tanh(c.in[0].p[i]);
}
void bend_backward(const Call& c, const StepInputs&, Range r) noexcept {
  const float factor = c.attributes.as<Bend>().factor;
  for (int64_t i = r.first; i < r.end; ++i)
    c.give(0, i, (factor - c.out.p[i] * c.out.p[i] / factor) * c.dout.p[i]);
}
ValueId bend(Tape& tape, const std::string& name, ValueId x, float factor) {
  static const OpKind op = add_op(elementwise_op<bend_forward, bend_backward>("bend", {.inputs = 1}));
  const Node node = tape.node(op, name, {x}, Bend{factor});
  return tape.add_node(node, tape.shape(x));
}

// On rows: a softmax, and a number more for each row that is saved.

void shares_forward(const Call& c, const StepInputs&, Range r) noexcept {
  const int64_t n = c.out.shape.cols();
  for (int64_t row = r.first; row < r.end; ++row) {
    float sum = 0;
    for (int64_t j = row * n; j < (row + 1) * n; ++j) sum += c.out.p[j] = std::exp(c.in[0].p[j]);
    for (int64_t j = row * n; j < (row + 1) * n; ++j) c.out.p[j] /= sum;
    c.saved[0].p[row] = sum;
  }
}
void shares_backward(const Call& c, const StepInputs&, Range r) noexcept {
  const int64_t n = c.out.shape.cols();
  for (int64_t row = r.first; row < r.end; ++row)
    for (int64_t i = row * n; i < (row + 1) * n; ++i)
      for (int64_t j = row * n; j < (row + 1) * n; ++j)  // gives to each number more than once
        c.give(0, j, c.dout.p[i] * c.out.p[i] * ((i == j ? 1.0f : 0.0f) - c.out.p[j]));
}
ValueId shares(Tape& tape, const std::string& name, ValueId x) {
  static const OpKind op = add_op(row_op<shares_forward, shares_backward>("shares", {.inputs = 1}));
  const Shape& shape = tape.shape(x);
  return tape.add_node(tape.node(op, name, {x}), shape, {{"sum", {shape.rows()}}});
}

// As a whole: gain * x for each row, where the gain's gradient is a sum over rows.

void gain_forward(const Call& c, const StepInputs&, Range r) noexcept {
  for (int64_t i = r.first; i < r.end; ++i) c.out.p[i] = c.in[0].p[i] * c.in[1].p[i % c.out.shape.cols()];
}
void gain_backward(const Call& c, const StepInputs&, Range r) noexcept {
  for (int64_t i = r.first; i < r.end; ++i) {
    const int64_t j = i % c.out.shape.cols();
    c.give(0, i, c.dout.p[i] * c.in[1].p[j]);
    c.give(1, j, c.dout.p[i] * c.in[0].p[i]);
  }
}
ValueId gained(Tape& tape, OpKind op, ValueId x, ValueId by) {
  return tape.add_node(tape.node(op, "g", {x, by}), tape.shape(x));
}
OpKind gain() { return add_op(whole_op<gain_forward, gain_backward>("gain", {.inputs = 2})); }

// Wrong ones.

void twice_forward(const Call& c, const StepInputs&, Range r) noexcept {
  for (int64_t i = r.first; i < r.end; ++i) c.out.p[i] = 2 * c.in[0].p[i];
}
void once_backward(const Call& c, const StepInputs&, Range r) noexcept {
  for (int64_t i = r.first; i < r.end; ++i) c.give(0, i, c.dout.p[i]);
}
void neighbours_forward(const Call& c, const StepInputs&, Range r) noexcept {
  const int64_t n = c.out.shape.size();
  for (int64_t i = r.first; i < r.end; ++i) c.out.p[i] = c.in[0].p[(i + 1) % n];
}
void neighbours_backward(const Call& c, const StepInputs&, Range r) noexcept {
  const int64_t n = c.out.shape.size();
  for (int64_t i = r.first; i < r.end; ++i) c.give(0, (i + 1) % n, c.dout.p[i]);
}

ValueId of_one(Tape& tape, OpKind op, ValueId x) {
  return tape.add_node(tape.node(op, "s", {x}), tape.shape(x));
}

/// A small classifier with all three.
struct Net {
  std::shared_ptr<Backend> backend;
  Store store{*backend};
  Tape t{store};
  std::optional<Program> program;

  explicit Net(int threads, int64_t rows = 64, SealOptions options = {})
      : backend(make_cpu_backend(threads)) {
    const ValueId x = t.input("x", {rows, 8}), y = t.input("y", {rows}, DType::I32);
    t.declare("by", {400}, {.kind = Init::Kind::Constant, .value = 1});
    const ValueId h = gained(t, gain(), bend(t, "b", linear(t, "h", x, 400), 1.5f), t.parameter("by"));
    options.loss = softmax_xent(t, "loss", linear(t, "o", shares(t, "p", h), 3), y);
    store.materialize(1);
    program.emplace(seal(t, options));
    std::span<float> numbers = program->floats("x");
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i * 7 % 29) / 14 - 1;
    for (size_t i = 0; i < static_cast<size_t>(rows); ++i)
      program->tokens("y")[i] = numbers[8 * i] > 0 ? 2 : 1;
  }
  double train(int steps) {
    for (int i = 0; i < steps; ++i) program->replay(Adam{.lr = 0.02f});
    return program->loss();
  }
};

}  // namespace

TEST_CASE("own op: on numbers, on rows and as a whole their backward is the derivative") {
  CHECK(check_op([](Tape& t, auto in) { return bend(t, "b", in[0], 3); }, {{5, 7}}).worst < 1e-2);
  CHECK(check_op([](Tape& t, auto in) { return shares(t, "s", in[0]); }, {{4, 6}}).worst < 1e-2);
  CHECK(check_op([](Tape& t, auto in) { return gained(t, gain(), in[0], in[1]); }, {{4, 6}, {6}}).worst <
        1e-2);
}

TEST_CASE("own op: a network with them learns, and to the same bits with 1, 2 and 3 threads") {
  Net one(1);
  const double first = one.train(1), last = one.train(60);
  CHECK(last < 0.5 * first);
  for (const int threads : {1, 2, 3}) {  // 320,000 numbers: 20 parts of numbers, and more of rows
    INFO(threads);
    Net alone(1, 800), other(threads, 800);
    CHECK(alone.train(3) == other.train(3));
    for (const char* name : {"b", "p", "p.sum"})
      CHECK(same_bits(alone.program->read(name), other.program->read(name)));
    for (const char* name : {"h.w", "by", "b"})
      CHECK(same_bits(alone.program->read(name, true), other.program->read(name, true)));
  }
}

TEST_CASE("own op: memory that is used again changes no bit") {
  Net kept(2), reused(2, 64, {.reuse_bytes = true});
  CHECK(kept.train(5) == reused.train(5));
  CHECK(same_bits(kept.program->read("h.w", true), reused.program->read("h.w", true)));
}

TEST_CASE("own op: check_op finds a wrong backward, and one that gives to a number of another part") {
  const OpKind wrong = add_op(elementwise_op<twice_forward, once_backward>("twice", {.inputs = 1}));
  const Message line = error_of([&] {
    check_op([&](Tape& t, auto in) { return of_one(t, wrong, in[0]); }, {{3, 4}});
  });
  CHECK(line.starts_with("[check_op twice] input 1 at 0: backward "));
  CHECK(line.ends_with(": expected within 1 %"));

  const auto check = [](OpKind op) {
    return error_of([&] { check_op([&](Tape& t, auto in) { return of_one(t, op, in[0]); }, {{3, 4}}); });
  };
  const Message across =
      check(add_op(elementwise_op<neighbours_forward, neighbours_backward>("rolled", {.inputs = 1})));
  CHECK(across.starts_with("[check_op rolled] the gradient of input 1 at "));
  CHECK(across.ends_with(" with 2 threads: expected the same bits"));
  CHECK(check(add_op(whole_op<neighbours_forward, neighbours_backward>("rolled_whole", {.inputs = 1}))) ==
        "no error");
}

TEST_CASE("own op: its name stands wherever that of an op does") {
  const OpKind op = gain();
  CHECK(op == op_kind("gain"));
  CHECK(std::string(to_string(op)) == "gain");
  CHECK(traits_of(op).inputs == 2);
  CHECK(op_kind("relu") != OpKind::Relu);
  CHECK(std::string(to_string(op_kind("nobody's"))) == "?");

  const auto line = [](auto record) {
    const auto backend = make_cpu_backend(1);
    Store store(*backend);
    Tape t(store);
    return error_of([&] { record(t); });
  };
  const auto x = [](Tape& t, Shape shape = {4, 8}) { return t.input("x", shape); };
  CHECK(line([&](Tape& t) { bend(t, "b", kNone, 1); }) ==
        "[bend b] input 1 is kNone: expected a value of this tape");
  CHECK(line([&](Tape& t) { t.node(op, "g", {x(t)}); }) ==
        "[gain] g has 1 inputs: expected 2, those that are left out as kNone");
  CHECK(line([&](Tape& t) { t.node(OpKind::Relu, "r", {x(t)}, Bend{}); }) ==
        "[relu] r has the constants of the op bend: expected its own");
  CHECK(line([&](Tape& t) { t.node(op_kind("nobody's"), "n", {x(t)}); }) ==
        "[tape] n is of an op that nobody added: expected add_op before it is recorded");
  CHECK(line([&](Tape& t) { t.after_update({.op = op, .name = "g"}); }) ==
        "[gain] g after the update: expected it on the way to the loss");
  CHECK(
      line([&](Tape& t) {
        t.add_node(t.node(op_kind("bend"), "b", {x(t)}, Bend{}), {4, 7});
      }) ==
      "[bend b] input 1, 'x' (4,8), has other numbers than the result (4,7): expected as many, or a whole_op");
  CHECK(
      line([&](Tape& t) {
        t.add_node(t.node(op_kind("shares"), "s", {x(t)}), {8, 4});
      }) ==
      "[shares s] input 1, 'x' (4,8), has other rows than the result (8,4): expected as many, or a whole_op");
  CHECK(line([&](Tape& t) {
          t.add_node(t.node(op_kind("bend"), "b", {x(t)}), {4, 8}, {{"p", {1}}, {"q", {1}}, {"r", {1}}});
        }) == "[bend] b saves 3 tensors: expected at most 2");
  CHECK(line([&](Tape& t) {
          const ValueId loss = bend(t, "b", t.input("one", {1}), 1);
          t.store().materialize(1);
          seal(t, {.loss = loss, .update = op_kind("bend")});
        }) == "[seal] bend does not update parameters: expected an op that does, or kNoOp");

  Net net(1);
  const auto node = std::ranges::find(net.program->data().instructions, "g", &Instruction::name);
  CHECK(std::string(rule_of(*node).title) == "Op of one's own");
  const auto back = std::ranges::find_if(net.program->data().instructions, [](const auto& i) {
    return i.name == "g" && i.phase == Phase::Backward;
  });
  CHECK(backward_reads(*back).inputs[0]);
  CHECK(backward_reads(*back).inputs[1]);
}

TEST_CASE("own op: a machine without it says so when it seals") {
  struct Foreign : WrappedBackend {
    std::string_view name() const override { return "CUDA"; }
    bool supports(OpKind op) const override { return !is_own(op); }
  };
  Foreign backend;
  Store store(backend);
  Tape t(store);
  bend(t, "b", t.input("x", {2, 3}), 1);
  store.materialize(1);
  CHECK(error_of([&] { seal(t, {}); }) == "[seal] the CUDA backend has no kernels for: bend");
}

TEST_CASE("own op: one of that name, with other traits, or that cannot be is refused") {
  const OpKind op = gain();
  CHECK(add_op(whole_op<gain_forward, gain_backward>("gain", {.inputs = 2})) == op);
  const auto refused = [](auto make) { return error_of([&] { add_op(make()); }); };
  const char* other = "[add_op] another op gain was added before: expected a name of its own";
  CHECK(refused([] { return whole_op<gain_forward, gain_backward>("gain", {.inputs = 3}); }) == other);
  CHECK(refused([] { return row_op<gain_forward, gain_backward>("gain", {.inputs = 2}); }) == other);
  CHECK(refused([] { return whole_op<gain_forward>("gain", {.inputs = 2}); }) == other);
  CHECK(refused([] { return row_op<twice_forward>("relu", {.inputs = 1}); }) ==
        "[add_op] the engine has an op relu: expected a name of its own");
  CHECK(refused([] { return row_op<twice_forward>("", {.inputs = 1}); }) ==
        "[add_op] the op has no name: expected one such as scale_by");
  CHECK(refused([] { return OwnOp{.traits = {.name = "empty"}}; }) ==
        "[add_op] empty has no kernels: expected what elementwise_op, row_op or whole_op makes");
  CHECK(refused([] { return row_op<twice_forward>("many", {.inputs = 7}); }) ==
        "[add_op] many has 7 inputs: expected at most 6");
  CHECK(refused([] { return row_op<twice_forward>("bits", {.inputs = 1, .integers = 2}); }) ==
        "[add_op] bits says more than 1 of its 1 inputs: expected a bit for each");
  static_assert(op_kind("op620098") == op_kind("op808216"));  // found by trying
  add_op(whole_op<twice_forward>("op620098", {.inputs = 1}));
  CHECK(refused([] { return whole_op<twice_forward>("op808216", {.inputs = 1}); }) ==
        "[add_op] op808216 and op620098 have the same number: expected another name");
}

TEST_CASE("own op: no gradient passes where it has no backward") {
  const OpKind op = add_op(elementwise_op<twice_forward>("twice_forward_only", {.inputs = 1}));
  const auto backend = make_cpu_backend(1);
  Store store(*backend);
  Tape t(store);
  const ValueId x = t.input("x", {1, 4}, DType::F32, {.gradient = true});
  const ValueId loss = linear(t, "loss", add(t, "sum", x, of_one(t, op, x)), t.input("w", {4, 1}), kNone);
  store.materialize(1);
  Program program = seal(t, {.loss = loss, .update = kNoOp});
  for (float& w : program.floats("w")) w = 1;
  program.floats("x")[2] = 5;
  program.replay({});
  CHECK(program.read("loss") == std::vector<float>{15});
  CHECK(program.read("x", true) == std::vector<float>{1, 1, 1, 1});
}

TEST_CASE("own op: threads add while others record and replay") {
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("threads." + std::to_string(i));
  std::vector<double> losses(4);
  std::vector<std::thread> threads;
  for (size_t k = 0; k < losses.size(); ++k)
    threads.emplace_back([&, k] {
      for (const std::string& name : names) {
        const OpKind op = add_op(elementwise_op<twice_forward, once_backward>(name.c_str(), {.inputs = 1}));
        if (op != op_kind(name) || to_string(op) != name) return;
      }
      losses[k] = Net(1).train(2);
    });
  for (std::thread& thread : threads) thread.join();
  for (const double loss : losses) CHECK(loss == losses[0]);
  CHECK(losses[0] > 0);
}

}  // namespace normscope::test

// These tests cover the ops without a backward: probe, grad_norm, clip, adam, sgd, against reference/update.h, at sizes
// around the blocks into which all parameters are cut, on every instruction set and order of chunks.
#include <algorithm>

#include "engine/support/op_harness.h"
#include "reference/update.h"

namespace normscope::test {
namespace {

constexpr int64_t kSizes[] = {1, 3, 31, 33, 4095, 4096, 4097, 20000};
const double kNan = std::numeric_limits<double>::quiet_NaN();

/// All parameters of one update, in guarded memory.
struct UpdatedParameters {
  explicit UpdatedParameters(uint64_t seed = 1) {
    Random random(seed);
    for (int64_t n : kSizes) {
      const std::vector<float> w = random.normal({n}, 0.3).values, g = random.normal({n}, 0.05, 0.3).values;
      const std::vector<float> m = random.normal({n}, 0.02, 0.2).values;
      std::vector<float> v = random.normal({n}, 0.0, 0.3).values;
      for (float& e : v) e = e * e;
      add(w, g, m, v);
    }
    for (auto* numbers : {&grad_norm, &update_norm, &weight_norm}) numbers->assign(calls.size() + 2, kNan);
  }

  void add(const std::vector<float>& w, const std::vector<float>& g, const std::vector<float>& m,
           const std::vector<float>& v) {
    calls.push_back(
        {memory.copy(w), memory.copy(g), memory.copy(m), memory.copy(v), static_cast<int64_t>(w.size())});
    const auto wide = [](const std::vector<float>& x) { return Values(x.begin(), x.end()); };
    before.push_back({wide(w), wide(g), wide(m), wide(v)});
  }

  Call call() {
    Call c{};
    c.phase = Phase::Update;
    c.parameters = calls.data();
    c.parameter_count = static_cast<int64_t>(calls.size());
    c.grad_norm = grad_norm.data() + 1;  // one number before and behind as canaries
    c.update_norm = update_norm.data() + 1;
    c.weight_norm = weight_norm.data() + 1;
    c.total_norm = &total_norm;
    c.clip_factor = &clip_factor;
    return c;
  }

  void run(OpKind op, const StepInputs& step, const Order& order) {
    const Call c = call();
    CHECK(run_stages(kernels_of(op).forward(c), c, step, order));
    CHECK(memory.intact());
    for (const auto* numbers : {&grad_norm, &update_norm, &weight_norm}) {
      CHECK(std::isnan(numbers->front()));
      CHECK(std::isnan(numbers->back()));
    }
  }

  /// Everything that an update leaves behind, as bits.
  std::vector<float> state() const {
    std::vector<float> all;
    for (const ParameterCall& p : calls)
      for (const float* from : {p.value, p.gradient, p.m, p.v}) all.insert(all.end(), from, from + p.size);
    for (const auto* numbers : {&grad_norm, &update_norm, &weight_norm})
      for (double d : *numbers) {
        float bits[2];
        std::memcpy(bits, &d, sizeof d);
        all.insert(all.end(), bits, bits + 2);
      }
    return all;
  }

  struct Before {
    Values value, gradient, m, v;
  };
  GuardedMemory memory{size_t{1} << 18};
  std::vector<ParameterCall> calls;
  std::vector<Before> before;
  std::vector<double> grad_norm, update_norm, weight_norm;
  double total_norm = kNan, clip_factor = 1.0;
};

StepInputs step_inputs() {
  return StepInputs{.step = 3,
                    .lr = 3e-2f,
                    .eps = 1e-6f,
                    .bias_correction1 = 0.271f,
                    .bias_correction2 = 0.058808f,
                    .momentum = 0.9f,
                    .weight_decay = 0.1f};
}

std::vector<float> copied(const float* p, int64_t n) { return {p, p + n}; }

double relative(double a, double b) { return std::abs(a - b) / std::abs(b); }

void check_update(OpKind op, double factor, const StepInputs& step = step_inputs()) {
  std::vector<float> first;
  for (const Order& order : orders()) {
    INFO(to_string(op) << ", clip factor " << factor << ", " << order.name);
    UpdatedParameters p;
    p.clip_factor = factor;
    p.run(op, step, order);
    for (size_t i = 0; i < p.calls.size(); ++i) {
      const ParameterCall& c = p.calls[i];
      INFO("size " << c.size);
      Values g = p.before[i].gradient;
      for (double& e : g) e *= factor;
      const auto expected = op == OpKind::Adam
                                ? reference::adam(p.before[i].value, g, p.before[i].m, p.before[i].v, step)
                                : reference::sgd(p.before[i].value, g, p.before[i].m, step);
      CHECK(norm_of(expected.change) > 1e-3 * norm_of(p.before[i].value));
      // The change itself within the rounding of the weights that carry it.
      Values change(expected.change.size());
      for (size_t e = 0; e < change.size(); ++e)
        change[e] = static_cast<double>(c.value[e]) - p.before[i].value[e];
      Values difference(change);
      for (size_t e = 0; e < change.size(); ++e) difference[e] -= expected.change[e];
      CHECK(norm_of(difference) <=
            bound(4) * norm_of(expected.change) + bound(1) / 4 * norm_of(expected.value));
      CHECK(relative_error(copied(c.value, c.size), expected.value) <= bound(1));
      CHECK(relative_error(copied(c.m, c.size), expected.m) <= bound(4));
      if (op == OpKind::Adam) CHECK(relative_error(copied(c.v, c.size), expected.v) <= bound(4));
      CHECK(relative(p.update_norm[i + 1], norm_of(expected.change)) <= bound(64));
      CHECK(relative(p.weight_norm[i + 1], norm_of(expected.value)) <= bound(64));
    }
    if (first.empty())
      first = p.state();
    else
      CHECK(same_bits(first, p.state()));
  }
}

}  // namespace

TEST_CASE("update: adam equals the reference, clipped and not", "[ops]") {
  on_each_instruction_set([] {
    for (double factor : {1.0, 0.37}) check_update(OpKind::Adam, factor);
  });
}

TEST_CASE("update: coupled decay, RAdam's factor and its un-adapted step equal the reference", "[ops]") {
  StepInputs rectified = step_inputs(), momentum = step_inputs(), idle = step_inputs();
  rectified.l2 = 0.2f;
  rectified.rectification = 0.3f;
  momentum.adapted = false;
  on_each_instruction_set([&] {
    for (double factor : {1.0, 0.37}) {
      check_update(OpKind::Adam, factor, rectified);
      check_update(OpKind::Adam, factor, momentum);
      check_update(OpKind::Sgd, factor, rectified);
    }
  });
  idle.rectification = 0.0f;
  idle.weight_decay = 0.0f;
  idle.adapted = false;
  UpdatedParameters p;
  p.run(OpKind::Adam, idle, orders()[0]);
  for (size_t i = 0; i < p.calls.size(); ++i) {  // the weights rest, the moments do not
    CHECK(relative_error(copied(p.calls[i].value, p.calls[i].size), p.before[i].value) == 0.0);
    CHECK(relative_error(copied(p.calls[i].m, p.calls[i].size), p.before[i].m) > 1e-3);
  }
}

TEST_CASE("update: sgd with momentum equals the reference, clipped and not", "[ops]") {
  on_each_instruction_set([] {
    for (double factor : {1.0, 0.37}) check_update(OpKind::Sgd, factor);
  });
}

TEST_CASE("update: the norms of the gradients, each and all together", "[ops]") {
  on_each_instruction_set([] {
    std::vector<float> first;
    double first_total = 0;
    for (const Order& order : orders()) {
      INFO(order.name);
      UpdatedParameters p;
      p.run(OpKind::GradNorm, step_inputs(), order);
      double total = 0;
      for (size_t i = 0; i < p.calls.size(); ++i) {
        const double expected = norm_of(p.before[i].gradient);
        CHECK(relative(p.grad_norm[i + 1], expected) <= bound(64));
        total += expected * expected;
      }
      CHECK(relative(p.total_norm, std::sqrt(total)) <= bound(64));
      if (first.empty()) {
        first = p.state();
        first_total = p.total_norm;
      }
      CHECK(same_bits(first, p.state()));
      CHECK(p.total_norm == first_total);
    }
  });
}

TEST_CASE("update: clip bounds the total norm and leaves a smaller one alone", "[ops]") {
  for (const auto& [norm, bound_, expected] : {std::array<double, 3>{2.0, 0.5, 0.25},
                                               {0.4, 0.5, 1.0},
                                               {0.5, 0.5, 1.0},
                                               {2.0, 0.0, 1.0},
                                               {0.0, 0.5, 1.0}}) {
    INFO("norm " << norm << ", bound " << bound_);
    UpdatedParameters p;
    p.total_norm = norm;
    p.clip_factor = kNan;
    StepInputs s = step_inputs();
    s.clip = static_cast<float>(bound_);
    p.run(OpKind::Clip, s, orders()[0]);
    CHECK(p.clip_factor == Approx(expected));
    CHECK(reference::clip_factor(norm, bound_) == Approx(expected));
  }
}

TEST_CASE("update: NaN and infinity in a gradient stay visible", "[ops]") {
  on_each_instruction_set([] {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
      for (const OpKind op : {OpKind::GradNorm, OpKind::Adam, OpKind::Sgd}) {
        INFO(to_string(op) << " " << bad);
        UpdatedParameters p;
        p.calls[6].gradient[4096] = bad;  // the last element of the block's remainder
        p.run(op, step_inputs(), orders()[1]);
        if (op == OpKind::GradNorm) {
          CHECK_FALSE(std::isfinite(p.grad_norm[7]));
          CHECK_FALSE(std::isfinite(p.total_norm));
          CHECK(std::isfinite(p.grad_norm[6]));
        } else {
          CHECK_FALSE(std::isfinite(p.calls[6].m[4096]));
          CHECK_FALSE(std::isfinite(p.calls[6].value[4096]));
          CHECK_FALSE(std::isfinite(p.weight_norm[7]));
          CHECK(std::isfinite(p.calls[6].value[4095]));
          CHECK(std::isfinite(p.weight_norm[6]));
        }
      }
    UpdatedParameters p;
    p.total_norm = kNan;
    StepInputs s = step_inputs();
    s.clip = 1.0f;
    p.run(OpKind::Clip, s, orders()[0]);
    CHECK(std::isnan(p.clip_factor));
  });
}

TEST_CASE("update: a zero gradient with zero moments moves nothing", "[ops]") {
  on_each_instruction_set([] {
    UpdatedParameters p;
    for (const ParameterCall& c : p.calls)
      for (float* block : {c.gradient, c.m, c.v}) std::fill_n(block, c.size, 0.0f);
    StepInputs s = step_inputs();
    s.weight_decay = 0;
    p.run(OpKind::Adam, s, orders()[0]);
    for (size_t i = 0; i < p.calls.size(); ++i) {
      CHECK(relative_error(copied(p.calls[i].value, p.calls[i].size), p.before[i].value) == 0.0);
      CHECK(p.update_norm[i + 1] == 0.0);
      CHECK(std::isfinite(p.weight_norm[i + 1]));
    }
  });
}

TEST_CASE("probe: mean square and variance of any size, and NaN", "[ops]") {
  on_each_instruction_set([] {
    for (const ProbeKind kind : {ProbeKind::MeanSquare, ProbeKind::Variance})
      for (const Shape& shape : {Shape{1, 2}, Shape{3, 1}, Shape{31, 33}, Shape{64, 64}, Shape{2, 129, 65}}) {
        INFO(static_cast<int>(kind) << " " << to_string(shape));
        Random random(static_cast<uint64_t>(shape.size()));
        const Operand x = random.normal(shape, 3.0, 1.0);
        const Values wide(x.values.begin(), x.values.end());
        const double expected =
            kind == ProbeKind::MeanSquare ? reference::mean_square(wide) : reference::variance(wide);
        double first = kNan;
        for (const bool with_nan : {false, true})
          for (const Order& order : orders()) {
            GuardedMemory memory(static_cast<size_t>(shape.size()) + 256);
            double stats[3] = {kNan, kNan, kNan};
            Call call{};
            call.attributes = ProbeSpec{kind};
            call.in[0] = {memory.copy(x.values), shape};
            call.stats = &stats[1];
            if (with_nan) call.in[0].p[shape.size() - 1] = std::nanf("");
            CHECK(run_stages(kernels_of(OpKind::Probe).forward(call), call, {}, order));
            CHECK(memory.intact());
            CHECK(std::isnan(stats[0]));
            CHECK(std::isnan(stats[2]));
            if (with_nan) {
              CHECK(std::isnan(stats[1]));
              continue;
            }
            CHECK(relative(stats[1], expected) <= bound(64));
            if (std::isnan(first)) first = stats[1];
            CHECK(stats[1] == first);
          }
      }
  });
}

TEST_CASE("probe: with lengths only the positions that are not padding count", "[ops]") {
  on_each_instruction_set([] {
    for (const ProbeKind kind : {ProbeKind::MeanSquare, ProbeKind::Variance})
      for (const Shape& shape : {Shape{4, 7, 5}, Shape{4, 131, 65}}) {  // the second spans several chunks
        INFO(static_cast<int>(kind) << " " << to_string(shape));
        const int32_t T = static_cast<int32_t>(shape[1]);
        const std::vector<int32_t> lengths = {T, 0, 3, T - 1};
        Random random(7);
        Operand x = random.normal(shape, 2.0, 1.0);
        Values counted;
        for (int64_t i = 0; i < shape.size(); ++i) {
          const int64_t row = i / shape[2];
          if (row % T < lengths[static_cast<size_t>(row / T)])
            counted.push_back(static_cast<double>(x.values[static_cast<size_t>(i)]));
          else
            x.values[static_cast<size_t>(i)] = std::nanf("");  // padding may hold anything
        }
        const double expected =
            kind == ProbeKind::MeanSquare ? reference::mean_square(counted) : reference::variance(counted);
        double first = kNan;
        for (const Order& order : orders()) {
          GuardedMemory memory(static_cast<size_t>(shape.size()) + 256);
          double number = kNan;
          Call call{};
          call.attributes = ProbeSpec{kind};
          call.in[0] = {memory.copy(x.values), shape};
          call.in[1] = {memory.copy(lengths), {4}};
          call.stats = &number;
          CHECK(run_stages(kernels_of(OpKind::Probe).forward(call), call, {}, order));
          CHECK(memory.intact());
          CHECK(relative(number, expected) <= bound(64));
          if (std::isnan(first)) first = number;
          CHECK(number == first);
        }
      }
  });
}

}  // namespace normscope::test

#include "verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/tape/seal.h"
#include "engine/tape/store.h"
#include "verify/fixture.h"

namespace normscope {
namespace {

constexpr double kLoss = 1e-6, kGradient = 1e-4, kAdamLoss = 1e-4;
// A gradient is measured against its own norm and this share of ‖all gradients‖: 1e-4 ‖g‖ + 1e-6 ‖all‖.
constexpr double kOfAll = 1e-2;
// Float32 through three layers: measured errors stay below 1e-6.
constexpr double kActivation = 1e-5;
// Adam divides by the gradient's own size, so an element whose gradient is mostly rounding moves at random. It is
// measured against the distance that the tensor moved (measured: below 4e-5).
constexpr double kAdamParameter = 1e-3;
// Elements whose first gradient is below this share of their tensor's largest are left out there. Whole rows of W_R are
// such: the slowest cosines hardly change with the distance, and a softmax does not see what all keys have in common.
// Such a gradient, 1e-5 of the others, is right to 1e-2 in float32; from 1e-3 on it is right to 1e-4.
constexpr double kSmallest = 1e-3;

double norm(const std::vector<double>& v) {
  double sum = 0;
  for (double e : v) sum += e * e;
  return std::sqrt(sum);
}

double distance(const std::vector<float>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (size_t i = 0; i < b.size(); ++i)
    sum += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
  return std::sqrt(sum);
}

/// Keeps the worst of several errors; NaN is the worst of all.
class Worst {
 public:
  Worst(std::string what, double tolerance) : check_{std::move(what), 0, tolerance, ""} {}
  void add(double error, const std::string& where) {
    if (std::isnan(check_.error) || (error <= check_.error && !check_.where.empty())) return;
    check_.error = error;
    check_.where = where;
  }
  const VerifyCheck& check() const { return check_; }

 private:
  VerifyCheck check_;
};

class Verifier {
 public:
  Verifier(SafetensorsFile file, Backend& backend)
      : file_(std::move(file)), fixture_(read_fixture(file_)), store_(backend), tape_(store_) {
    for (const auto* list : {&fixture_.inputs, &fixture_.before})
      for (const FixtureInput& input : *list) file_.require_shape(input.tensor, input.shape);
    model_ = record_model(tape_, fixture_.config,
                          {.batch = fixture_.batch,
                           .sequence = fixture_.length,
                           .source_sequence = fixture_.source_length,
                           .key_lengths = fixture_.key_lengths,
                           .memory = fixture_.config.memory,
                           .training = true,
                           .probes = false});
    check_parameters();
    store_.materialize(1);
    for (const auto& [name, p] : names_) store_.write(p, file_.floats("param/" + name));
  }

  VerifyReport run() {
    Program program = seal(tape_, {.loss = model_.loss, .update = OpKind::Adam});
    for (const FixtureInput& input : fixture_.inputs) fill(program, input);
    if (!fixture_.before.empty()) remember(program);
    report_.file = file_.path();
    report_.model = fixture_.description;
    const std::vector<double> losses = file_.doubles("adam/losses");
    if (static_cast<int32_t>(losses.size()) != fixture_.adam_steps)
      fail(file_.path(), "adam/losses has {} numbers: expected {}", losses.size(), fixture_.adam_steps);
    Worst adam("Adam losses", kAdamLoss);
    for (int32_t step = 1; step <= fixture_.adam_steps; ++step) {
      replay(program, step);
      if (step == 1) compare_first_step(program);
      const double expected = losses[static_cast<size_t>(step - 1)];
      adam.add(std::abs(program.loss() - expected) / std::abs(expected), fmt::format("step {}", step));
    }
    report_.checks.push_back(adam.check());
    compare_parameters();
    return report_;
  }

 private:
  /// The parameters are recorded, but not allocated yet.
  void check_parameters() {
    std::vector<bool> given(store_.parameters().size(), false);
    for (const std::string& name : file_.names()) {
      if (!name.starts_with("param/")) continue;
      const std::string ours = fixture_.parameter(name.substr(6));
      const int32_t p = store_.find(ours);
      if (p < 0)
        fail(file_.path(), "{} has no counterpart {} in the model that the metadata describe", name, ours);
      const Shape& shape = store_.parameters()[static_cast<size_t>(p)].shape;
      file_.require_shape(name, TensorShape(shape.dim, shape.dim + shape.rank));
      given[static_cast<size_t>(p)] = true;
      names_.push_back({name.substr(6), p});
    }
    for (size_t p = 0; p < given.size(); ++p)
      if (!given[p] && store_.parameters()[p].trainable)
        fail(file_.path(), "the file lacks the parameter {}", store_.parameters()[p].name);
  }

  void fill(Program& program, const FixtureInput& input) const {
    const std::vector<int32_t> values = file_.int32s(input.tensor);
    const std::span<int32_t> to = program.tokens(input.name);
    if (values.size() != to.size())
      fail(file_.path(), "{} holds {} numbers: expected {}", input.tensor, values.size(), to.size());
    for (int32_t v : values)
      if (v < input.low || v > input.high)
        fail(file_.path(), "{} holds {}: expected {} to {}", input.tensor, v, input.low, input.high);
    std::ranges::copy(values, to.begin());
  }

  /// Makes a memory of what the layers read of the segment before, with nothing before that: its newest positions.
  void remember(Program& program) {
    Program before = seal(tape_, {.loss = model_.loss, .backward = false, .update = kNoOp});
    for (const FixtureInput& input : fixture_.before) fill(before, input);
    std::ranges::fill(before.tokens("targets"), 0);
    std::ranges::fill(before.tokens("memory_lengths"), 0);
    for (const LayerMemory& layer : model_.memories) std::ranges::fill(before.floats(layer.name), 0.0f);
    before.replay(fixture_.step);
    error_before_ = relative("before/logits", before.read(tape_.value(model_.logits).name));
    const int32_t kept = std::min(fixture_.config.memory, fixture_.length);
    const auto row = [&](int32_t positions) {
      return static_cast<std::ptrdiff_t>(positions) * fixture_.config.d_model;
    };
    for (const LayerMemory& layer : model_.memories) {
      const std::vector<float> states = before.read(tape_.value(layer.states).name);
      auto from = states.begin();
      auto to = program.floats(layer.name).begin();
      for (int32_t b = 0; b < fixture_.batch; ++b) {
        std::fill(to, to + row(fixture_.config.memory - kept), 0.0f);
        from += row(fixture_.length);
        to += row(fixture_.config.memory);
        std::copy(from - row(kept), from, to - row(kept));
      }
    }
    std::ranges::fill(program.tokens("memory_lengths"), kept);
  }

  double relative(const std::string& tensor, const std::vector<float>& ours) const {
    const std::vector<double> expected = file_.doubles(tensor);
    const double apart = distance(ours, expected);
    return apart == 0 ? 0
                      : apart / norm(expected);  // a branch that has not come in yet is zero on both sides
  }

  void replay(Program& program, int32_t step) const {
    StepInputs inputs = fixture_.step;
    inputs.step = static_cast<uint32_t>(step);
    inputs.bias_correction1 = static_cast<float>(1 - std::pow(static_cast<double>(inputs.beta1), step));
    inputs.bias_correction2 = static_cast<float>(1 - std::pow(static_cast<double>(inputs.beta2), step));
    program.replay(inputs);
  }

  void compare_first_step(const Program& program) {
    report_.loss = program.loss();
    const std::vector<double> loss = file_.doubles("loss");
    if (loss.size() != 1) fail(file_.path(), "loss holds {} numbers: expected 1", loss.size());
    report_.expected_loss = loss[0];
    report_.checks.push_back({"loss", std::abs(program.loss() - loss[0]) / std::abs(loss[0]), kLoss, "loss"});
    compare_values(program);
    compare_gradients(program);
  }

  void compare_values(const Program& program) {
    Worst logits("logits", kActivation), branches("branches", kActivation), outputs("outputs", kActivation);
    logits.add(relative("logits", program.read(tape_.value(model_.logits).name)), "logits");
    if (!fixture_.before.empty()) logits.add(error_before_, "before/logits");
    for (size_t k = 0; k < model_.sublayers.size(); ++k) {
      const SublayerValues& s = model_.sublayers[k];
      std::vector<float> branch = program.read(tape_.value(s.branch).name);
      // The fixture's branch is what meets the sum, after a learned scale.
      if (const int32_t scale = store_.find(s.name + ".branch"); scale >= 0)
        weigh(branch, first_scale(scale), wiring_of(fixture_.config, s).branch.kind == Scale::Kind::Toward);
      branches.add(relative(fmt::format("sublayer/{:02}/branch", k), branch), s.name);
      outputs.add(relative(fmt::format("sublayer/{:02}/output", k), program.read(tape_.value(s.output).name)),
                  s.name);
    }
    report_.checks.push_back(logits.check());
    if (model_.sublayers.empty()) return;
    for (const Worst& w : {branches, outputs}) report_.checks.push_back(w.check());
  }

  /// The branch scale of the first step: the file's, for Adam has moved ours.
  std::vector<float> first_scale(int32_t parameter) const {
    for (const auto& [name, p] : names_)
      if (p == parameter) return file_.floats("param/" + name);
    return {1.0f};
  }
  /// Multiplies rows by one number or one a feature; a share by its absolute value.
  static void weigh(std::vector<float>& rows, const std::vector<float>& by, bool share) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const float scale = by[i % by.size()];
      rows[i] *= share ? std::abs(scale) : scale;
    }
  }

  void compare_gradients(const Program& program) {
    double all = 0;
    for (const auto& [name, p] : names_) all += std::pow(norm(file_.doubles("grad/" + name)), 2);
    all_gradients_ = std::sqrt(all);
    Worst worst("gradients", kGradient);
    for (const auto& [name, p] : names_) {
      const std::vector<double> expected = file_.doubles("grad/" + name);
      const std::string& ours = store_.parameters()[static_cast<size_t>(p)].name;
      worst.add(distance(program.read(ours, true), expected) / (norm(expected) + kOfAll * all_gradients_),
                ours);
    }
    report_.checks.push_back(worst.check());
  }

  /// For a parameter after the last step, over the distance that it moved; NaN where the file's has another size.
  double apart_after(const std::string& name, const std::vector<float>& ours) const {
    const std::vector<double> gradient = file_.doubles("grad/" + name),
                              before = file_.doubles("param/" + name),
                              after = file_.doubles("adam/param/" + name);
    const size_t n = ours.size();
    if (gradient.size() != n || before.size() != n || after.size() != n)
      return std::numeric_limits<double>::quiet_NaN();
    double least = 0, difference = 0, moved = 0;
    for (const double g : gradient) least = std::max(least, kSmallest * std::abs(g));
    for (size_t i = 0; i < n; ++i) {
      if (std::abs(gradient[i]) < least) continue;
      difference += std::pow(static_cast<double>(ours[i]) - after[i], 2);
      moved += std::pow(after[i] - before[i], 2);
    }
    return std::sqrt(difference / moved);
  }

  void compare_parameters() {
    Worst worst("Adam parameters", kAdamParameter);
    for (const auto& [name, p] : names_) {
      if (norm(file_.doubles("grad/" + name)) < 1e-6 * all_gradients_)
        continue;  // zero by symmetry: only rounding moved it
      worst.add(apart_after(name, store_.read(p)), store_.parameters()[static_cast<size_t>(p)].name);
    }
    report_.checks.push_back(worst.check());
  }

  SafetensorsFile file_;
  Fixture fixture_;
  Store store_;
  Tape tape_;
  ModelValues model_;
  std::vector<std::pair<std::string, int32_t>> names_;  // the fixture's name of each parameter
  double all_gradients_ = 0, error_before_ = 0;
  VerifyReport report_;
};

}  // namespace

bool VerifyReport::passed() const {
  bool all = !checks.empty();
  for (const VerifyCheck& c : checks) all = all && c.passed();
  return all;
}

VerifyReport verify_fixture(const std::string& path, Backend& backend) {
  return Verifier(SafetensorsFile::load(path), backend).run();
}

std::string to_string(const VerifyReport& r) {
  std::string text =
      fmt::format("{}: {}\n  loss {:.9f}, expected {:.9f}\n", r.file, r.model, r.loss, r.expected_loss);
  for (const VerifyCheck& c : r.checks)
    text += fmt::format("  {:16} worst {:9.2e}  allowed {:7.0e}  {:4}  {}\n", c.what, c.error, c.tolerance,
                        c.passed() ? "ok" : "MISS", c.where);
  return text;
}

}  // namespace normscope

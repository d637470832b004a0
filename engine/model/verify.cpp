#include "engine/model/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/error.h"
#include "engine/core/machine_memory.h"
#include "engine/io/safetensors.h"
#include "engine/model/fixture.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"

namespace normscope {
namespace {

constexpr double kLoss = 1e-6, kGradient = 1e-4, kAdamLoss = 1e-4;
// The share of ‖all gradients‖ that a gradient is measured against besides its own norm: 1e-4 ‖g‖ + 1e-6 ‖all‖.
constexpr double kOfAll = 1e-2;
// Float32 through three layers; measured, these stay below 1e-6.
constexpr double kActivation = 1e-5;
// Adam divides by the gradient's own size, so an element whose gradient is mostly rounding moves at will;
// measured against the distance that the tensor moved (measured: below 4e-5).
constexpr double kAdamParameter = 1e-3;

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
    // What the file holds bounds what is allocated; then the machine does.
    require_input("input/x", fixture_.length);
    require_input("input/y", fixture_.length);
    if (fixture_.source_length > 0) require_input("input/src", fixture_.source_length);
    require_memory("fixture " + file_.path(), estimated_bytes(fixture_.config, fixture_.batch));
    model_ = record_transformer(tape_, fixture_.config,
                                {.batch = fixture_.batch,
                                 .sequence = fixture_.length,
                                 .source_sequence = fixture_.source_length,
                                 .key_lengths = fixture_.key_lengths,
                                 .training = true,
                                 .probes = false});
    check_parameters();
    store_.materialize(1);
    for (const auto& [name, p] : names_) store_.write(p, file_.floats("param/" + name));
  }

  VerifyReport run() {
    Program program = seal(tape_, {.loss = model_.loss, .update = OpKind::Adam});
    const int32_t last = fixture_.config.vocabulary - 1;
    fill(program, "tokens", "input/x", 0, last);
    fill(program, "targets", "input/y", -1, last);
    if (fixture_.source_length > 0) fill(program, "source", "input/src", 0, last);
    if (fixture_.key_lengths) fill(program, "key_lengths", "input/key_len", 0, fixture_.config.sequence);
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
  void require_input(const char* tensor, int32_t length) const {
    file_.require_shape(tensor, {fixture_.batch, length});
  }

  /// Recorded, but not allocated yet.
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

  void fill(Program& program, const char* input, const char* tensor, int32_t low, int32_t high) const {
    const std::vector<int32_t> values = file_.int32s(tensor);
    const std::span<int32_t> to = program.tokens(input);
    if (values.size() != to.size())
      fail(file_.path(), "{} holds {} numbers: expected {}", tensor, values.size(), to.size());
    for (int32_t v : values)
      if (v < low || v > high) fail(file_.path(), "{} holds {}: expected {} to {}", tensor, v, low, high);
    std::copy(values.begin(), values.end(), to.begin());
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
    const auto relative = [&](const std::string& tensor, const std::vector<float>& ours) {
      const std::vector<double> expected = file_.doubles(tensor);
      return distance(ours, expected) / norm(expected);
    };
    logits.add(relative("logits", program.read(tape_.value(model_.logits).name)), "logits");
    for (size_t k = 0; k < model_.sublayers.size(); ++k) {
      const SublayerValues& s = model_.sublayers[k];
      std::vector<float> branch = program.read(tape_.value(s.branch).name);
      // The fixture's branch is what meets the sum, after a learned scale.
      if (const int32_t scale = store_.find(s.name + ".branch"); scale >= 0)
        for (float& b : branch) b *= first_scale(scale);
      branches.add(relative(fmt::format("sublayer/{:02}/branch", k), branch), s.name);
      outputs.add(relative(fmt::format("sublayer/{:02}/output", k), program.read(tape_.value(s.output).name)),
                  s.name);
    }
    for (const Worst& w : {logits, branches, outputs}) report_.checks.push_back(w.check());
  }

  /// The scalar branch scale with which the first step was computed: the file's, for Adam has moved ours.
  float first_scale(int32_t parameter) const {
    for (const auto& [name, p] : names_)
      if (p == parameter) return file_.floats("param/" + name)[0];
    return 1.0f;
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

  void compare_parameters() {
    Worst worst("Adam parameters", kAdamParameter);
    for (const auto& [name, p] : names_) {
      if (norm(file_.doubles("grad/" + name)) < 1e-6 * all_gradients_)
        continue;  // zero by symmetry: moved by rounding
      const std::vector<double> before = file_.doubles("param/" + name),
                                after = file_.doubles("adam/param/" + name);
      std::vector<double> moved(after);
      for (size_t i = 0; i < moved.size() && i < before.size(); ++i) moved[i] -= before[i];
      worst.add(distance(store_.read(p), after) / norm(moved),
                store_.parameters()[static_cast<size_t>(p)].name);
    }
    report_.checks.push_back(worst.check());
  }

  SafetensorsFile file_;
  Fixture fixture_;
  Store store_;
  Tape tape_;
  ModelValues model_;
  std::vector<std::pair<std::string, int32_t>> names_;  // the fixture's name of each parameter
  double all_gradients_ = 0;
  VerifyReport report_;
};

}  // namespace

bool VerifyReport::passed() const {
  bool all = !checks.empty();
  for (const VerifyCheck& c : checks) all = all && c.passed();
  return all;
}

VerifyReport verify_fixture(const std::string& path, Backend& backend) {
  return verify_fixture(SafetensorsFile::load(path), backend);
}

VerifyReport verify_fixture(SafetensorsFile file, Backend& backend) {
  return Verifier(std::move(file), backend).run();
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

#include "training/experiments/taking.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <span>
#include <utility>

#include "engine/core/error.h"
#include "engine/model/residual.h"
#include "engine/model/transformer.h"
#include "training/experiments/measurements.h"
#include "training/experiments/probes.h"
#include "training/measure/look.h"
#include "training/measure/plateau.h"
#include "training/run/run.h"
#include "training/session/ablation.h"

namespace normscope::experiments {
namespace {

constexpr int32_t kSharesSequences = 4;
constexpr double kShareResidual = 0.01;  ///< for float arithmetic; a wrong wiring misses by tenths at least

/// Measures shares only where the parts add up to the state again: the definition carries every branch
/// through the later norms, and a wiring outside it would give a meaningless number.
void measure_shares(Run& run, Record& record) {
  const ModelConfig& config = run.spec().model;
  if (!is_transformer(config.architecture)) {
    record.beta2_reason = "there is no residual stream";
    return;
  }
  if (stream_layout(config.stack()).beside != NormKind::None) {
    record.beta2_reason = "the output has two streams, and the definition knows one";
    return;
  }
  try {
    const Batch batch = validation_batch(run.task(), run.spec(), kSharesSequences);
    Look look(run.store(), config, batch);
    const std::vector<double> numbers = look.measure();
    double sum = 0;
    for (size_t i = 0; i < look.values().sublayers.size(); ++i) {
      const std::string own = fmt::format("beta2.{0}.{0}", i + 1);
      for (size_t k = 0; k < numbers.size(); ++k)
        if (look.layout()[k].name == own) sum += numbers[k];
    }
    if (!(look.residual() < kShareResidual))
      record.beta2_reason = fmt::format(
          "the branches, carried through the norms, miss the state by {:.2g} standard deviations: "
          "this wiring lies outside the definition",
          look.residual());
    else if (!std::isfinite(sum))
      record.beta2_reason = "not finite at initialisation";
    else
      record.beta2 = sum;
  } catch (const DeviceError&) {  // not a fault of the wiring, and a record of it would be kept
    throw;
  } catch (const Error& error) {
    record.beta2_reason = error.what();
  }
}

/// Takes the frame of step kGradientStep; false when the history does not have it (any more).
bool take_gradients(const Run& run, Record& record) {
  const History& history = *run.history();
  std::vector<float> frame;
  int32_t found = 0;
  if (!history.frame(Record::kGradientStep, frame, found) || found != Record::kGradientStep) return false;
  const auto number = [&](const std::string& name) {
    const int32_t at = history.find(name);
    return at < 0 ? kUnknown : static_cast<double>(frame[static_cast<size_t>(at)]);
  };
  const ModelConfig& model = run.spec().model;
  if (is_transformer(model.architecture)) {
    record.gradient_first = number("L01.ffn.w2.grad_norm");
    record.gradient_last = number(fmt::format("L{:02}.ffn.w2.grad_norm", model.layers));
  } else {
    record.gradient_first = number(fmt::format("L01.{}.w.grad_norm", row_of(model.architecture).part));
    record.gradient_last = number("class.w.grad_norm");
  }
  return true;
}

/// Has five digits: a store of thousands of runs stays small, and nobody looks closer.
double short_number(double value) {
  return std::isfinite(value) ? std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr) : kUnknown;
}

/// Takes the scores of the validation at the end. It changes no bit of the run.
void take_scores(Run& run, Taken& taken) {
  const ModelConfig& model = run.spec().model;
  const double loss = run.validation_loss(), accuracy = run.validation_accuracy();
  taken.validation = short_number(loss);
  taken.accuracy = short_number(accuracy);
  const std::vector<Score> scores = scores_of(run.store(), model, run.task());
  for (const Score& score : scores) taken.scores[score.key] = short_number(score.value);
  if (!scores.empty()) {
    taken.record.score = scores.front().value;
  } else if (model.classes > 0) {
    taken.record.score = 100 * accuracy;
  } else if (model.memory > 0 && run.task().of_characters()) {
    taken.record.score = loss / std::numbers::ln2;
  }
}

double to_four_digits(double loss) {
  constexpr double kParts = 10'000;
  return std::round(loss * kParts) / kParts;
}

void take_curve(const Run& run, Record& record) {
  const std::vector<float>& losses = run.losses();
  record.curve.clear();
  record.stride = std::max(1, (static_cast<int32_t>(losses.size()) + Record::kCurve - 1) / Record::kCurve);
  const auto stride = static_cast<size_t>(record.stride);
  for (size_t i = 0; i < losses.size(); i += stride) {
    const size_t end = std::min(i + stride, losses.size());
    double sum = 0;
    for (size_t k = i; k < end; ++k) sum += static_cast<double>(losses[k]);
    record.curve.push_back(to_four_digits(sum / static_cast<double>(end - i)));
  }
}

void conclude(const Run& run, Record& record) {
  take_curve(run, record);
  record.steps = run.steps_done();
  record.loss = run.mean_loss(Record::kWindow);
  record.level = run.plateau_level();
  record.since = run.learning_since();
  const std::optional<NonFiniteReport> broken = run.non_finite();
  if (broken) record.what = fmt::format("{} at step {}", broken->tensor, broken->step);
  const ModelConfig& model = run.spec().model;
  const double guessing = std::log(static_cast<double>(model.classes > 0 ? model.classes : model.vocabulary));
  // A run that has not left the plateau by then counts, even if its loss falls.
  const bool late = record.steps > std::max(Plateau::kPatience, run.spec().train.schedule.warmup);
  record.verdict = broken || !std::isfinite(record.loss) ? Verdict::NotFinite
                   : record.since > 0                    ? Verdict::Learns
                   : late && record.loss > guessing      ? Verdict::Diverges
                   : late                                ? Verdict::Stuck
                                                         : Verdict::Undecided;
}

/// Empty for a model outside the definitions (with two streams, for instance).
Numbers moment_of(Run& run) {
  Numbers numbers;
  if (!is_transformer(run.spec().model.architecture)) return numbers;
  if (stream_layout(run.spec().model.stack()).beside != NormKind::None) return numbers;
  try {
    const std::shared_ptr<const BatchMeasurement> batch = run.measure_batch();
    for (size_t i = 0; i < batch->layout.size(); ++i) {
      if (!kept_at_moments(batch->layout[i].name)) continue;
      numbers.names.push_back(batch->layout[i].name);
      numbers.values.push_back(short_number(static_cast<double>(batch->values[i])));
    }
  } catch (const DeviceError&) {
    throw;
  } catch (const Error&) {
    return {};
  }
  return numbers;
}

/// Adds the frame of a step to `frames`. False: the history has dropped it.
bool take_frame(const Run& run, int32_t step, Frames& frames) {
  const History& history = *run.history();
  std::vector<float> all;
  int32_t found = 0;
  if (!history.frame(step, all, found) || found != step) return false;
  if (!frames.steps.empty() && frames.steps.back() == found) return true;
  const std::vector<StatInfo>& layout = history.layout();
  if (frames.names.empty())
    for (const StatInfo& stat : layout)
      if (kept_at_steps(stat.name)) frames.names.push_back(stat.name);
  std::vector<double> row;
  for (size_t i = 0; i < layout.size(); ++i)
    if (kept_at_steps(layout[i].name)) row.push_back(short_number(static_cast<double>(all[i])));
  if (row.size() != frames.names.size())
    return true;  // an edit rebuilt the network, so later frames belong to another model
  frames.steps.push_back(found);
  frames.rows.push_back(std::move(row));
  return true;
}

/// Writes over what the newest step measured; what it did not measure stays. `places` are those of the numbers
/// in a layout, found once for each.
void take_last(const Run& run, std::vector<size_t>& places, Numbers& last) {
  const History& history = *run.history();
  std::vector<float> all;
  int32_t found = 0;
  if (!history.frame(run.steps_done(), all, found) || found != run.steps_done()) return;
  const std::vector<StatInfo>& layout = history.layout();
  if (places.empty() || places.back() >= layout.size() || layout[places.back()].name != last.names.back()) {
    std::vector<std::string> names;
    places.clear();
    for (size_t i = 0; i < layout.size(); ++i)
      if (kept_at_end(layout[i].name)) {
        places.push_back(i);
        names.push_back(layout[i].name);
      }
    if (names != last.names) last = {std::move(names), std::vector<double>(places.size(), kUnknown)};
  }
  for (size_t i = 0; i < places.size(); ++i)
    if (std::isfinite(all[places[i]])) last.values[i] = short_number(static_cast<double>(all[places[i]]));
}

/// Leaves out each layer alone, and the last k of its stack together.
void take_left_out(Run& run, Taken& taken) {
  if (!is_transformer(run.spec().model.architecture)) return;
  const double whole = loss_without(run, {});
  std::vector<std::vector<std::string>> stacks;  // the names of the layers
  for (const std::string& name : ablation_names(run.spec().model)) {
    if (name.find('.', name.find('L')) != name.npos) continue;  // a sub-layer
    const std::string stack = name.substr(0, name.find('L'));
    if (taken.left_out.empty() || taken.left_out.back().stack != stack) {
      taken.left_out.push_back({stack, {}, {}});
      stacks.emplace_back();
    }
    stacks.back().push_back(name);
    taken.left_out.back().layers.push_back(short_number(loss_without(run, {name}) - whole));
  }
  for (size_t stack = 0; stack < stacks.size(); ++stack)
    for (size_t k = 1; k <= stacks[stack].size(); ++k)
      taken.left_out[stack].top.push_back(short_number(
          loss_without(run, {stacks[stack].end() - static_cast<std::ptrdiff_t>(k), stacks[stack].end()}) -
          whole));
}

}  // namespace

void Taking::begin(Run& run) {
  measure_shares(run, taken_.record);
  if (asks(kLayers)) taken_.start = moment_of(run);
}

void Taking::after_step(const Run& run) {
  static const std::vector<int32_t> kept = ladder();
  const int32_t step = run.steps_done();
  if (step == Record::kGradientStep) take_gradients(run, taken_.record);
  if (asks(kLayers) && (step == run.spec().train.steps || std::binary_search(kept.begin(), kept.end(), step)))
    take_frame(run, step, taken_.frames);
  if (asks(kLast)) take_last(run, places_, taken_.last);
}

void Taking::afterwards(const Run& run) {
  const auto gone = [](int32_t step) {
    fail("result", "its history has no frame of step {} any more", step);
  };
  if (run.steps_done() >= Record::kGradientStep && !take_gradients(run, taken_.record))
    gone(Record::kGradientStep);
  if (asks(kLast)) fail("result", "it did not measure itself at every step");
  if (!asks(kLayers)) return;
  for (const int32_t step : ladder())
    if (step <= run.steps_done() && !take_frame(run, step, taken_.frames)) gone(step);
}

Taken Taking::end(Run& run) {
  if (asks(kLayers)) take_frame(run, run.steps_done(), taken_.frames);
  conclude(run, taken_.record);
  take_scores(run, taken_);
  if (run.non_finite()) {
    taken_.validation = taken_.accuracy = kUnknown;
    taken_.scores.clear();
  } else {
    if (asks(kLayers)) taken_.end = moment_of(run);
    for (const EndNumber* number : kEndNumbers) {
      if (!asks(std::string(number->name))) continue;
      if (const double value = number->measure(run); std::isfinite(value))
        taken_.scores[std::string(number->name)] = short_number(value);
    }
    if (asks(kLeftOut)) take_left_out(run, taken_);
  }
  taken_.seconds = std::chrono::duration<double>(Clock::now() - since_).count();
  return std::move(taken_);
}

}  // namespace normscope::experiments

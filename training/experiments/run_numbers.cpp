#include "training/experiments/run_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <optional>

#include "engine/core/error.h"
#include "engine/model/residual.h"
#include "engine/model/transformer.h"
#include "training/experiments/probes.h"
#include "training/io/codec.h"
#include "training/io/text.h"
#include "training/measure/history.h"
#include "training/measure/initial_analysis.h"
#include "training/measure/look.h"
#include "training/measure/numbers.h"
#include "training/session/analysis.h"

namespace normscope::experiments {
namespace {

constexpr size_t kLongestName = 200, kMaxNames = 100'000, kMaxFrames = 1000, kMaxStacks = 2;
constexpr double kMaxSeconds = 1e9;
constexpr codec::List kNames{0, kMaxNames, codec::Text{kLongestName}};

/// A number for each name.
codec::List<codec::AnyNumber> as_many(const std::vector<std::string>& names) {
  return {names.size(), names.size(), codec::AnyNumber{}};
}

struct NameSet {
  codec::Json write(const Names& names) const { return names; }
  void read(const InputValue& json, Names& names) const {
    for (const InputValue& name : json.list(0, kMaxNames)) names.insert(name.text(kLongestName));
  }
};

/// The meaning of a study's word for a number.
std::string spelled(std::string_view pattern) {
  return pattern == "largest_logit" ? "*logit*" : stat_of(std::string(pattern));
}

bool matches(std::string_view name, std::string_view pattern) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (; !name.empty(); name.remove_prefix(1))
    if (matches(name, pattern)) return true;
  return matches(name, pattern);
}

bool kept_at_steps(std::string_view name) { return kept_of(name) == Number::Kept::AtSteps; }

}  // namespace

double Moment::at(std::string_view name) const {
  const auto it = std::ranges::find(names, name);
  return it == names.end() ? kUnknown : values[static_cast<size_t>(it - names.begin())];
}

template <class Io>
void io(Io& io, codec::Of<Io, Moment>& numbers) {
  io("names", numbers.names, kNames);
  io("values", numbers.values, as_many(numbers.names));
}

template <class Io>
void io(Io& io, codec::Of<Io, Frames>& frames) {
  io("names", frames.names, kNames);
  io("steps", frames.steps, codec::List{0, kMaxFrames, codec::Whole{1, kMaxSteps}});
  io("rows", frames.rows, codec::List{frames.steps.size(), frames.steps.size(), as_many(frames.names)});
}

template <class Io>
void io(Io& io, codec::Of<Io, LeftOutRise>& rise) {
  constexpr codec::List kLayersOfStack{0, kMaxFrames, codec::AnyNumber{}};
  io("stack", rise.stack, codec::Text{kLongestName});
  io("layers", rise.layers, kLayersOfStack);
  io("top", rise.top, kLayersOfStack);
}

template <class Io>
void io(Io& io, codec::Of<Io, RunNumbers>& run) {
  constexpr codec::Text kText{4096};
  io("measured", run.measured, NameSet{});
  io("verdict", run.verdict.kind, codec::Words{kVerdictWords});
  io("since", run.verdict.since, codec::Whole{-1, kMaxSteps});
  io.optional("where", run.verdict.where, kText);
  io("steps", run.steps, codec::Whole{0, kMaxSteps});
  io("loss", run.loss);
  io("unigram", run.level);
  io("validation", run.validation);
  io("accuracy", run.accuracy);
  io("beta2", run.beta2);
  io.optional("beta2_reason", run.beta2_reason, kText);
  io("gradient_first", run.gradient_first);
  io("gradient_last", run.gradient_last);
  io.optional("score", run.score, {}, kUnknown);
  io("scores", run.scores, codec::Map{kMaxNames, codec::AnyNumber{}});
  io("stride", run.stride, codec::Whole{1, kMaxSteps});
  io("curve", run.curve, codec::List{0, RunNumbers::kCurve, codec::AnyNumber{}});
  io("seconds", run.seconds, codec::Number{0, kMaxSeconds});
  if (run.measured.contains(kLayers)) {
    io("frames", run.frames);
    io("start", run.start);
    io("end", run.end);
  }
  if (run.measured.contains(kLast)) io("last", run.last);
  if (run.measured.contains(kLeftOut))
    io("left_out", run.left_out, codec::List{0, kMaxStacks, codec::Object{}});
}

bool RunNumbers::has(const Names& asked) const {
  return std::includes(measured.begin(), measured.end(), asked.begin(), asked.end());
}

double RunNumbers::score_of(const std::string& key) const {
  const auto found = scores.find(key);
  return found == scores.end() ? kUnknown : found->second;
}

nlohmann::json to_json(const RunNumbers& numbers) { return codec::write(numbers); }

RunNumbers numbers_from(const InputValue& json) { return codec::read<RunNumbers>(json); }

bool looked_in_no_stack(const RunNumbers& numbers, const ModelConfig& model) {
  return !predicting_prefix(model).empty() && numbers.beta2 == 0 && numbers.beta2_reason.empty() &&
         !std::isfinite(numbers.gradient_first);
}

std::string RunNumbers::what() const {
  if (verdict != Verdict::NotFinite) return failed() ? verdict.where : "";
  return verdict.where.empty() ? "" : fmt::format("{} at step {}", verdict.where, verdict.since);
}

std::vector<int32_t> ladder() {
  return {1, 2, 3, 5, 10, 20, 50, 100, 150, 200, 300, 400, 500, 700, 1000, 1500, 2000};
}

double largest(const Moment& numbers, std::string_view pattern) {
  const std::string word = spelled(pattern);
  double most = kUnknown;
  for (size_t i = 0; i < numbers.names.size(); ++i)
    if (std::isfinite(numbers.values[i]) && !(numbers.values[i] <= most) && matches(numbers.names[i], word))
      most = numbers.values[i];
  return most;
}

bool is_number_of_the_end(std::string_view pattern) {
  if (pattern == "largest_logit") return true;
  std::string name(spelled(pattern));
  for (size_t star = name.find('*'); star != name.npos; star = name.find('*'))
    name.replace(star, 1, star > 0 && name[star - 1] == 'L' ? "01" : "1");
  const Number* number = known_number(name);
  return number && !number->over && kept_of(name) != Number::Kept::Nowhere;
}

namespace {

/// Of the stack that predicts, where there are two.
double sum_of_own(const Moment& start) {
  const bool two =
      std::ranges::any_of(start.names, [](const auto& name) { return name.starts_with("dec."); });
  double sum = 0;
  bool any = false;
  for (size_t i = 0; i < start.names.size(); ++i) {
    const std::string& name = start.names[i];
    const size_t beta = name.find("beta2.");
    if (beta == name.npos || (two && !name.starts_with("dec.")) || name.ends_with(".sum") ||
        name.ends_with(".0"))
      continue;
    sum += start.values[i];
    any = true;
  }
  return any ? sum : kUnknown;
}

/// The fall, in nats, of the straight line fitted to the last quarter of a run's losses.
double late_fall(const RunNumbers& run) {
  const size_t count = std::max<size_t>(run.curve.size() / 4, 2);
  if (run.curve.size() < count) return kUnknown;
  const double middle = (static_cast<double>(count) - 1) / 2;
  double product = 0, square = 0;
  for (size_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(i) - middle;
    product += x * run.curve[run.curve.size() - count + i];
    square += x * x;
  }
  return -product / square * static_cast<double>(count);
}

constexpr double kNever = std::numeric_limits<double>::infinity();

constexpr EndNumber kKept[] = {
    {"final_loss", "final loss", "The mean training loss of the last 25 steps.", nullptr,
     [](const RunNumbers& run) { return run.loss; }, -1, kNever},
    {"final_excess", "final excess", "The final loss above the entropy of letter frequencies.", nullptr,
     [](const RunNumbers& run) { return run.loss - run.level; }, -1, kNever},
    {"learns", "learns or not", "1 where the run has left the plateau, else 0.", nullptr,
     [](const RunNumbers& run) { return run.verdict == Verdict::Learns ? 1.0 : 0.0; }, 1},
    {"since", "first step off the plateau", "Infinite where the run does not learn.", nullptr,
     [](const RunNumbers& run) { return run.verdict == Verdict::Learns ? run.verdict.since : kNever; }, -1},
    {"finite", "finite or not", "0 where a number of the run was not finite, else 1.", nullptr,
     [](const RunNumbers& run) { return run.verdict == Verdict::NotFinite ? 0.0 : 1.0; }, 1},
    {"validation_loss", "final validation loss", "The loss of held-out batches after the last step.", nullptr,
     [](const RunNumbers& run) { return run.validation; }, -1, kNever},
    {"validation_bits", "final validation loss in bits", "The same in bits.", nullptr,
     [](const RunNumbers& run) { return run.validation / std::numbers::ln2; }, -1, kNever},
    {"validation_gap", "validation loss less training loss", "Both at the end.", nullptr,
     [](const RunNumbers& run) { return run.validation - run.loss; }},
    {"accuracy", "accuracy", "The share of held-out examples that a classifier gets right.", nullptr,
     [](const RunNumbers& run) { return run.accuracy; }, 1, 0},
    {"own_shares", "sum of the own shares β²", "Over all sub-layers, before training.", nullptr,
     [](const RunNumbers& run) { return sum_of_own(run.start); }, kUnknown, kUnknown, kLayers},
    {"late_fall", "late fall", "How far the line through the last quarter of the losses falls.", nullptr,
     late_fall, kUnknown, kNever},
};

}  // namespace

std::span<const EndNumber* const> end_numbers() {
  static const std::vector<const EndNumber*> all = [] {
    std::vector<const EndNumber*> rows{
#define MEASUREMENT(number) &number,
#include "chosen/measurements.def"
#undef MEASUREMENT
    };
    for (const EndNumber& row : kKept) rows.push_back(&row);
    return rows;
  }();
  return all;
}

const EndNumber* end_number(std::string_view name) {
  const auto found = std::ranges::find(end_numbers(), name, &EndNumber::name);
  return found == end_numbers().end() ? nullptr : *found;
}

Message expected_at_end(std::string_view word) {
  std::vector<std::string_view> names;
  for (const EndNumber* number : end_numbers()) names.emplace_back(number->name);
  return expected(word, names);
}

std::string measured_for(std::string_view number) {
  if (const EndNumber* row = end_number(number)) return row->measure ? row->name : row->needs;
  return is_number_of_the_end(number) ? kLast : "";
}

double number_at_end(const RunNumbers& run, std::string_view number) {
  const EndNumber* row = end_number(number);
  if (!row) return largest(run.last, number);
  if (run.verdict == Verdict::NotFinite && !std::isnan(row->not_finite)) return row->not_finite;
  return row->kept ? row->kept(run) : run.score_of(std::string(number));
}

bool is_number_of_a_step(const std::string& y, bool by_layer) {
  const auto known = [&](const std::string& name) {
    if (by_layer) {
      if (name.find("L*.") == name.npos) return false;
      return kept_of(name) >= Number::Kept::AtMoments;
    }
    return name.find('*') == name.npos &&
           kept_at_steps(name);  // numbers at start and end are not a curve over steps
  };
  const auto [top, below] = two_names(y);
  return known(top) && (below.empty() || known(below));
}

namespace {

constexpr int32_t kSharesSequences = 4;
constexpr double kShareResidual = 0.01;  ///< for float arithmetic; a wrong wiring misses by tenths at least

/// Measures shares only where the parts add up to the state again: the definition carries every branch
/// through the later norms, and a wiring outside it would give a meaningless number.
void measure_shares(Run& run, RunNumbers& numbers) {
  const ModelConfig& config = run.spec().model;
  if (!is_transformer(config.architecture)) {
    numbers.beta2_reason = "there is no residual stream";
    return;
  }
  if (stream_layout(config.stack()).beside != NormKind::None) {
    numbers.beta2_reason = "the output has two streams, and the definition knows one";
    return;
  }
  try {
    const Batch batch = validation_batch(run.task(), run.spec(), kSharesSequences);
    Look look(run.store(), config, batch);
    const std::vector<double> measured = look.measure();
    const std::vector<std::vector<double>> shares = shares_in(look.layout(), measured, config);
    const double sum = sum_of_own_shares(shares);
    if (!(look.residual() < kShareResidual))
      numbers.beta2_reason = fmt::format(
          "the branches, carried through the norms, miss the state by {:.2g} standard deviations: "
          "this wiring lies outside the definition",
          look.residual());
    else if (shares.empty())
      numbers.beta2_reason = "the stack that predicts has no shares";
    else if (!std::isfinite(sum))
      numbers.beta2_reason = "not finite at initialisation";
    else
      numbers.beta2 = sum;
  } catch (const DeviceError&) {  // not a fault of the wiring, and a record of it would be kept
    throw;
  } catch (const Error& error) {
    numbers.beta2_reason = error.what();
  }
}

/// Takes the frame of step kGradientStep; false when the history does not have it (any more).
bool take_gradients(const Run& run, RunNumbers& numbers) {
  const History& history = *run.history();
  std::vector<float> frame;
  int32_t found = 0;
  if (!history.frame(RunNumbers::kGradientStep, frame, found) || found != RunNumbers::kGradientStep)
    return false;
  const auto number = [&](const std::string& name) {
    const int32_t at = history.find(name);
    return at < 0 ? kUnknown : static_cast<double>(frame[static_cast<size_t>(at)]);
  };
  const ModelConfig& model = run.spec().model;
  if (is_transformer(model.architecture)) {
    const std::string stack = predicting_prefix(model);
    numbers.gradient_first = number(stack + "L01.ffn.w2.grad_norm");
    numbers.gradient_last = number(fmt::format("{}L{:02}.ffn.w2.grad_norm", stack, model.layers));
  } else {
    numbers.gradient_first = number(fmt::format("L01.{}.w.grad_norm", row_of(model.architecture).part));
    numbers.gradient_last = number("class.w.grad_norm");
  }
  return true;
}

/// Five digits: a store of thousands of runs stays small, and nobody looks closer.
double short_number(double value) {
  return std::isfinite(value) ? std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr) : kUnknown;
}

/// Takes the scores of the validation at the end. It changes no bit of the run.
void take_scores(Run& run, RunNumbers& numbers) {
  const ModelConfig& model = run.spec().model;
  const double loss = run.validation_loss(), accuracy = run.validation_accuracy();
  numbers.validation = short_number(loss);
  numbers.accuracy = short_number(accuracy);
  const std::vector<Score> scores = scores_of(run.store(), model, run.task());
  for (const Score& score : scores) numbers.scores[score.key] = short_number(score.value);
  if (!scores.empty()) {
    numbers.score = scores.front().value;
  } else if (model.classes > 0) {
    numbers.score = 100 * accuracy;
  } else if (model.memory > 0 && run.task().of_characters()) {
    numbers.score = loss / std::numbers::ln2;
  }
}

double to_four_digits(double loss) {
  constexpr double kParts = 10'000;
  return std::round(loss * kParts) / kParts;
}

void take_curve(const Run& run, RunNumbers& numbers) {
  const std::vector<float>& losses = run.losses();
  numbers.curve.clear();
  numbers.stride =
      std::max(1, (static_cast<int32_t>(losses.size()) + RunNumbers::kCurve - 1) / RunNumbers::kCurve);
  const auto stride = static_cast<size_t>(numbers.stride);
  for (size_t i = 0; i < losses.size(); i += stride) {
    const size_t end = std::min(i + stride, losses.size());
    double sum = 0;
    for (size_t k = i; k < end; ++k) sum += static_cast<double>(losses[k]);
    numbers.curve.push_back(to_four_digits(sum / static_cast<double>(end - i)));
  }
}

void conclude(const Run& run, RunNumbers& numbers) {
  take_curve(run, numbers);
  numbers.steps = run.steps_done();
  numbers.loss = run.mean_loss(RunNumbers::kWindow);
  numbers.level = run.plateau_level();
  numbers.verdict = run.verdict();
}

/// Empty for a model outside the definitions (with two streams, for instance).
Moment moment_of(Run& run) {
  Moment numbers;
  if (!is_transformer(run.spec().model.architecture)) return numbers;
  if (stream_layout(run.spec().model.stack()).beside != NormKind::None) return numbers;
  try {
    const std::shared_ptr<const BatchMeasurement> batch = run.measure_batch();
    for (size_t i = 0; i < batch->layout.size(); ++i) {
      if (kept_of(batch->layout[i].name) != Number::Kept::AtMoments) continue;
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

/// Writes over what the newest step measured; what it did not measure stays. `places` says where the numbers
/// lie in a layout, found once for each.
void take_last(const Run& run, std::vector<size_t>& places, Moment& last) {
  const History& history = *run.history();
  std::vector<float> all;
  int32_t found = 0;
  if (!history.frame(run.steps_done(), all, found) || found != run.steps_done()) return;
  const std::vector<StatInfo>& layout = history.layout();
  if (places.empty() || places.back() >= layout.size() || layout[places.back()].name != last.names.back()) {
    std::vector<std::string> names;
    places.clear();
    for (size_t i = 0; i < layout.size(); ++i)
      if (kept_of(layout[i].name) != Number::Kept::Nowhere) {
        places.push_back(i);
        names.push_back(layout[i].name);
      }
    if (names != last.names) last = {std::move(names), std::vector<double>(places.size(), kUnknown)};
  }
  for (size_t i = 0; i < places.size(); ++i)
    if (std::isfinite(all[places[i]])) last.values[i] = short_number(static_cast<double>(all[places[i]]));
}

/// Leaves out each layer alone, and the last k of its stack together.
void take_left_out(Run& run, RunNumbers& numbers) {
  if (!is_transformer(run.spec().model.architecture)) return;
  const double whole = loss_without(run, {});
  for (const StackLayers& stack : stack_layers(run.spec().model)) {
    LeftOutRise& rise = numbers.left_out.emplace_back(LeftOutRise{stack.prefix, {}, {}});
    for (const double loss : losses_without(run, stack.layers, false))
      rise.layers.push_back(short_number(loss - whole));
    for (const double loss : losses_without(run, stack.layers, true))
      rise.top.push_back(short_number(loss - whole));
  }
}

}  // namespace

void Meter::begin(Run& run) {
  measure_shares(run, numbers_);
  if (asks(kLayers)) numbers_.start = moment_of(run);
}

void Meter::after_step(const Run& run) {
  static const std::vector<int32_t> kept = ladder();
  const int32_t step = run.steps_done();
  if (step == RunNumbers::kGradientStep) take_gradients(run, numbers_);
  if (asks(kLayers) && (step == run.spec().train.steps || std::ranges::binary_search(kept, step)))
    take_frame(run, step, numbers_.frames);
  if (asks(kLast)) take_last(run, places_, numbers_.last);
  clock_.lap();
}

void Meter::afterwards(const Run& run) {
  const auto gone = [](int32_t step) {
    fail("result", "its history has no frame of step {} any more", step);
  };
  if (run.steps_done() >= RunNumbers::kGradientStep && !take_gradients(run, numbers_))
    gone(RunNumbers::kGradientStep);
  if (asks(kLast)) fail("result", "it did not measure itself at every step");
  if (!asks(kLayers)) return;
  for (const int32_t step : ladder())
    if (step <= run.steps_done() && !take_frame(run, step, numbers_.frames)) gone(step);
}

RunNumbers Meter::end(Run& run) {
  if (asks(kLayers)) take_frame(run, run.steps_done(), numbers_.frames);
  conclude(run, numbers_);
  take_scores(run, numbers_);
  if (run.non_finite()) {
    numbers_.validation = numbers_.accuracy = kUnknown;
    numbers_.scores.clear();
  } else {
    if (asks(kLayers)) numbers_.end = moment_of(run);
    for (const EndNumber* number : end_numbers()) {
      if (!number->measure || !asks(number->name)) continue;
      if (const double value = number->measure(run); std::isfinite(value))
        numbers_.scores[number->name] = short_number(value);
    }
    if (asks(kLeftOut)) take_left_out(run, numbers_);
  }
  clock_.lap();
  numbers_.seconds = clock_.seconds();
  return std::move(numbers_);
}

}  // namespace normscope::experiments

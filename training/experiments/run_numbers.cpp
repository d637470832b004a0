#include "training/experiments/run_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <optional>
#include <regex>

#include "engine/core/error.h"
#include "engine/model/residual.h"
#include "engine/model/transformer.h"
#include "training/experiments/probes.h"
#include "training/io/codec.h"
#include "training/measure/history.h"
#include "training/measure/initial_analysis.h"
#include "training/measure/look.h"
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

// Numbers of sub-layers ("L01.attn", "dec.L12.cross") that are kept at every step of the
// ladder. The others need tensors side by side and are measured before and after training.
constexpr const char* kNorms = R"(\.(attn\.w[qkvo]|cross\.w[qkvo]|ffn\.w[12])\.(grad|update|weight)_norm)";
constexpr const char* kSquares = R"(\.(attn|cross|ffn)\.(out|sum)\.mean_square)";
constexpr const char* kMoments =
    R"(\.(attn|cross|ffn)\.(token_cosine|layer_cosine|branch\.variance|input\.variance|attention_entropy|skip\.mean|branch\.mean|extreme|first_mass))";

struct NameSet {
  codec::Json write(const Names& names) const { return names; }
  void read(const InputValue& json, Names& names) const {
    for (const InputValue& name : json.list(0, kMaxNames)) names.insert(name.text(kLongestName));
  }
};

/// Whether a share of the residual dependency is kept: the branch's own, the input's, and the sum over all.
bool kept_share(const std::string& name) {
  const size_t beta = name.find("beta2.");
  if (beta == name.npos) return false;
  const std::string rest = name.substr(beta + 6);
  const size_t dot = rest.find('.');
  const std::string row = rest.substr(0, dot), column = rest.substr(dot + 1);
  return column == "sum" || column == "0" || column == row;
}

/// The meaning of a study's word for a number.
std::string_view spelled(std::string_view pattern) {
  if (pattern == "critical_rate") return kCriticalStat;
  return pattern == "largest_logit" ? "*logit*" : pattern;
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

bool kept_at_steps(const std::string& name) {
  static const std::regex pattern(
      fmt::format(R"(total\.grad_norm|(enc\.|dec\.)?L\d\d({}|{}))", kNorms, kSquares));
  return std::regex_match(name, pattern);
}

/// Whether a number of a run's history is kept at those steps, `kept_at_moments` at start and end.
bool kept_at_moments(const std::string& name) {
  static const std::regex pattern(fmt::format(R"((enc\.|dec\.)?L\d\d{})", kMoments));
  return kept_share(name) || std::regex_match(name, pattern);
}

/// Whether a number of a run's history is kept in `last`: the numbers of a step and of a moment, attention's
/// largest logits, numbers of the updates, and the critical rate.
bool kept_at_end(const std::string& name) {
  static const std::regex logits(R"((enc\.|dec\.)?L\d\d\.(attn|cross)\.[a-z0-9_.]*logit[a-z0-9_.]*)");
  static const std::regex updates(R"((enc\.|dec\.)?L\d\d\.(spike_ratio|update_cosine))");
  static const std::regex tokens(
      R"((enc\.|dec\.)?(L\d\d\.ffn\.(sight|identity|directions|hearing|w2\.telling)|readout\.(sight|identity)))");
  return name == kCriticalStat || std::regex_match(name, logits) || std::regex_match(name, updates) ||
         std::regex_match(name, tokens) || kept_at_steps(name) || kept_at_moments(name);
}

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
  double most = kUnknown;
  for (size_t i = 0; i < numbers.names.size(); ++i)
    if (std::isfinite(numbers.values[i]) && !(numbers.values[i] <= most) &&
        matches(numbers.names[i], spelled(pattern)))
      most = numbers.values[i];
  return most;
}

bool is_number_of_the_end(std::string_view pattern) {
  if (pattern == "largest_logit") return true;
  std::string name(spelled(pattern));
  for (size_t star = name.find('*'); star != name.npos; star = name.find('*'))
    name.replace(star, 1, star > 0 && name[star - 1] == 'L' ? "01" : "1");
  return kept_at_end(name);
}

std::string measured_for(std::string_view number) {
  if (std::ranges::find(kEndNumbers, number, &EndNumber::name) != kEndNumbers.end())
    return std::string(number);
  return is_number_of_the_end(number) ? kLast : "";
}

double number_at_end(const RunNumbers& run, std::string_view number) {
  return measured_for(number) == kLast ? largest(run.last, number) : run.score_of(std::string(number));
}

bool is_number_of_a_step(const std::string& y, bool by_layer) {
  const auto known = [&](std::string name) {
    if (by_layer) {
      const size_t star = name.find("L*.");
      if (star == name.npos) return false;
      name.replace(star, 2, "L01");
      return kept_at_steps(name) || kept_at_moments(name);
    }
    return kept_at_steps(name);  // numbers at start and end are not a curve over steps
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
    for (const EndNumber* number : kEndNumbers) {
      if (!asks(std::string(number->name))) continue;
      if (const double value = number->measure(run); std::isfinite(value))
        numbers_.scores[std::string(number->name)] = short_number(value);
    }
    if (asks(kLeftOut)) take_left_out(run, numbers_);
  }
  clock_.lap();
  numbers_.seconds = clock_.seconds();
  return std::move(numbers_);
}

}  // namespace normscope::experiments

#include "app/reproduce/taken.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <utility>

#include "app/reproduce/claim.h"
#include "engine/core/error.h"
#include "engine/io/input_value.h"
#include "training/data/pairs_task.h"
#include "training/experiments/recording.h"
#include "training/experiments/result_store.h"
#include "training/run/run.h"
#include "training/session/ablation.h"
#include "training/spec/limits.h"
#include "training/text/bleu.h"
#include "training/text/dependency_parser.h"
#include "training/text/translator.h"

namespace normscope::reproduce {
namespace {

using Json = nlohmann::json;
using experiments::list_json, experiments::number_from, experiments::number_json;

constexpr size_t kLongestName = 200, kMostNames = 100'000, kMostFrames = 1000, kMostStacks = 2;
constexpr int32_t kTranslated = 48;                                  // rows of made-up data, greedily
constexpr BeamOptions kPairsBeam{.beam = 5, .length_penalty = 1.2};  // as normscope translate

// Sub-layers of either stack: "L01.attn", "dec.L12.cross". The matrices' norms and mean squares are of every step of
// the ladder; the rest needs tensors side by side and is measured before training and after it.
constexpr const char* kNorms = R"(\.(attn\.w[qkvo]|cross\.w[qkvo]|ffn\.w[12])\.(grad|update|weight)_norm)";
constexpr const char* kSquares = R"(\.(attn|cross|ffn)\.(out|sum)\.mean_square)";
constexpr const char* kMoments =
    R"(\.(attn|cross|ffn)\.(token_cosine|layer_cosine|branch\.variance|input\.variance|attention_entropy|skip\.mean|branch\.mean))";

bool kept_at_steps(const std::string& name) {
  static const std::regex pattern(
      fmt::format(R"(total\.grad_norm|(enc\.|dec\.)?L\d\d({}|{}))", kNorms, kSquares));
  return std::regex_match(name, pattern);
}

/// Of the residual dependency, the shares of the branch itself, of the input, and their sum over all.
bool kept_share(const std::string& name) {
  const size_t beta = name.find("beta2.");
  if (beta == name.npos) return false;
  const std::string rest = name.substr(beta + 6);
  const size_t dot = rest.find('.');
  const std::string row = rest.substr(0, dot), column = rest.substr(dot + 1);
  return column == "sum" || column == "0" || column == row;
}

bool kept_at_moments(const std::string& name) {
  static const std::regex pattern(fmt::format(R"((enc\.|dec\.)?L\d\d{})", kMoments));
  return kept_share(name) || std::regex_match(name, pattern);
}

/// Five digits: a store of thousands of runs stays small, and no claim looks closer.
double short_number(double value) {
  return std::isfinite(value) ? std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr) : kUnknown;
}

std::vector<double> numbers_from(const InputValue& json, size_t least, size_t most) {
  std::vector<double> values;
  for (const InputValue& item : json.list(least, most)) values.push_back(number_from(item));
  return values;
}

std::vector<std::string> names_from(const InputValue& json) {
  std::vector<std::string> names;
  for (const InputValue& item : json.list(0, kMostNames)) names.push_back(item.text(kLongestName));
  return names;
}

Json numbers_json(const Numbers& numbers) {
  return {{"names", numbers.names}, {"values", list_json(numbers.values)}};
}

Numbers read_numbers(const InputValue& json) {
  Numbers numbers;
  numbers.names = names_from(json.at("names"));
  numbers.values = numbers_from(json.at("values"), numbers.names.size(), numbers.names.size());
  return numbers;
}

Frames read_frames(const InputValue& json) {
  Frames frames;
  frames.names = names_from(json.at("names"));
  for (const InputValue& step : json.at("steps").list(0, kMostFrames))
    frames.steps.push_back(step.whole(1, kMostSteps));
  for (const InputValue& row : json.at("rows").list(frames.steps.size(), frames.steps.size()))
    frames.rows.push_back(numbers_from(row, frames.names.size(), frames.names.size()));
  return frames;
}

/// Nothing of a model that lies outside the definitions (two streams, for instance).
Numbers moment_of(Run& run) {
  Numbers numbers;
  if (!is_transformer(run.spec().model.architecture)) return numbers;
  if (run.spec().model.stack().second != NormKind::None) return numbers;
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

/// The frame of the step just made joins `frames`, unless the history has thinned it away.
void take_frame(const Run& run, Frames& frames) {
  const History& history = *run.history();
  std::vector<float> all;
  int32_t found = 0;
  if (!history.frame(run.steps_done(), all, found) || found != run.steps_done()) return;
  if (!frames.steps.empty() && frames.steps.back() == found) return;
  const std::vector<StatInfo>& layout = history.layout();
  if (frames.names.empty())
    for (const StatInfo& stat : layout)
      if (kept_at_steps(stat.name)) frames.names.push_back(stat.name);
  std::vector<double> row;
  for (size_t i = 0; i < layout.size(); ++i)
    if (kept_at_steps(layout[i].name)) row.push_back(short_number(static_cast<double>(all[i])));
  if (row.size() != frames.names.size()) return;  // an edit rebuilt the network: the rest is of another model
  frames.steps.push_back(found);
  frames.rows.push_back(std::move(row));
}

std::string without_padding(const Task& task, std::span<const int32_t> row) {
  std::vector<int32_t> symbols;
  for (const int32_t symbol : row)
    if (symbol >= 0 && symbol != task.end()) symbols.push_back(symbol);
  return task.decode(symbols);
}

/// What is translated and what should come of it.
struct HeldOut {
  std::vector<std::vector<int32_t>> sources;
  std::vector<std::string> references;
};

HeldOut all_pairs(const PairsTask& task) {
  HeldOut held;
  for (const TsvRow& row : task.validation()) {
    held.sources.push_back(task.tokenizer().encode(row.first));
    held.sources.back().push_back(task.end());
    held.references.push_back(row.second);
  }
  return held;
}

HeldOut first_rows(const Run& run) {
  const Task& task = run.task();
  const int32_t T = run.spec().model.sequence;
  Batch batch(task.shape(run.spec().seed, 1, Split::Validation, kTranslated, T));
  task.fill(run.spec().seed, 1, Split::Validation, kTranslated, T, batch.view());
  const auto rows = static_cast<size_t>(batch.B);
  const size_t width = batch.source.size() / rows;
  HeldOut held;
  for (size_t row = 0; row < rows; ++row) {
    const size_t length = batch.key_lengths.empty() ? width : static_cast<size_t>(batch.key_lengths[row]);
    const auto source = std::span(batch.source).subspan(row * width, length);
    held.sources.emplace_back(source.begin(), source.end());
    held.references.push_back(without_padding(
        task,
        std::span(batch.targets).subspan(row * static_cast<size_t>(batch.T), static_cast<size_t>(batch.T))));
  }
  return held;
}

double bleu_of(Run& run) {
  const Task& task = run.task();
  const auto* pairs = dynamic_cast<const PairsTask*>(&task);
  const HeldOut held = pairs ? all_pairs(*pairs) : first_rows(run);
  Translator translator(run.store(), run.spec().model, task.begin(), task.end(),
                        pairs ? kPairsBeam : BeamOptions{.beam = 1, .length_penalty = 1});
  std::vector<std::string> written;
  for (const std::vector<int32_t>& row : translator.translate(held.sources))
    written.push_back(without_padding(task, row));
  return corpus_bleu(written, held.references).score;
}

/// Each layer alone, and the last k of its stack together.
void take_left_out(Run& run, Taken& taken) {
  if (!is_transformer(run.spec().model.architecture)) return;
  const double whole = loss_without(run, {});
  std::vector<std::vector<std::string>> stacks;  // the layers' names
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

class Taking final : public experiments::Measurement {
 public:
  void begin(Run& run) override { taken_.start = moment_of(run); }
  bool after_step(const Run& run) override {
    static const std::vector<int32_t> kept = ladder();
    const int32_t step = run.steps_done();
    if (step == run.spec().train.steps || std::binary_search(kept.begin(), kept.end(), step))
      take_frame(run, taken_.frames);
    return true;
  }
  Json end(Run& run) override {
    take_frame(run, taken_.frames);
    taken_.record = experiments::record_of(run);
    if (!run.non_finite()) {
      taken_.end = moment_of(run);
      taken_.validation = short_number(run.validation_loss());
      taken_.accuracy = short_number(run.validation_accuracy());
      if (const auto score = attachment_of(run.store(), run.spec().model, run.task()))
        taken_.attachment = short_number(score->unlabelled());
      if (run.task().form() == TaskForm::Translate) taken_.bleu = short_number(bleu_of(run));
      take_left_out(run, taken_);
    }
    taken_.seconds = seconds();
    return to_json(taken_);
  }
  Json so_far() const override {
    Taken now = taken_;
    now.seconds = seconds();
    return to_json(now);
  }
  void go_on(const InputValue& so_far) override {
    taken_ = taken_from(so_far);
    since_ = Clock::now();
  }
  void known(const InputValue& result, Run*) override { taken_from(result); }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const {
    return taken_.seconds + std::chrono::duration<double>(Clock::now() - since_).count();
  }
  Taken taken_;
  Clock::time_point since_ = Clock::now();
};

}  // namespace

double Numbers::at(std::string_view name) const {
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? kUnknown : values[static_cast<size_t>(it - names.begin())];
}

Json to_json(const Taken& taken) {
  Json rows = Json::array(), left_out = Json::array();
  for (const std::vector<double>& row : taken.frames.rows) rows.push_back(list_json(row));
  for (const LeftOutRise& one : taken.left_out)
    left_out.push_back(
        {{"stack", one.stack}, {"layers", list_json(one.layers)}, {"top", list_json(one.top)}});
  return {
      {"record", experiments::to_json(taken.record)},
      {"validation", number_json(taken.validation)},
      {"accuracy", number_json(taken.accuracy)},
      {"attachment", number_json(taken.attachment)},
      {"bleu", number_json(taken.bleu)},
      {"frames", {{"names", taken.frames.names}, {"steps", taken.frames.steps}, {"rows", std::move(rows)}}},
      {"start", numbers_json(taken.start)},
      {"end", numbers_json(taken.end)},
      {"left_out", std::move(left_out)},
      {"seconds", taken.seconds}};
}

Taken taken_from(const InputValue& json) {
  Taken taken;
  taken.record = experiments::record_from(json.at("record"));
  taken.validation = number_from(json.at("validation"));
  taken.accuracy = number_from(json.at("accuracy"));
  taken.attachment = number_from(json.at("attachment"));
  taken.bleu = number_from(json.at("bleu"));
  taken.frames = read_frames(json.at("frames"));
  taken.start = read_numbers(json.at("start"));
  taken.end = read_numbers(json.at("end"));
  for (const InputValue& one : json.at("left_out").list(0, kMostStacks)) {
    LeftOutRise& rise = taken.left_out.emplace_back();
    rise.stack = one.at("stack").text(kLongestName);
    rise.layers = numbers_from(one.at("layers"), 0, kMostFrames);
    rise.top = numbers_from(one.at("top"), 0, kMostFrames);
  }
  taken.seconds = json.at("seconds").number(0, 1e9);
  return taken;
}

std::pair<std::string, std::string> names_in(const std::string& y) {
  const size_t slash = y.find(" / ");
  if (slash == y.npos) return {y, {}};
  return {y.substr(0, slash), y.substr(slash + 3)};
}

bool is_number_of_a_step(const std::string& y, bool by_layer) {
  const auto known = [&](std::string name) {
    if (by_layer) {
      const size_t star = name.find("L*.");
      if (star == name.npos) return false;
      name.replace(star, 2, "L01");
      return kept_at_steps(name) || kept_at_moments(name);
    }
    return kept_at_steps(name);  // the moments are no curve over steps
  };
  const auto [top, below] = names_in(y);
  return known(top) && (below.empty() || known(below));
}

std::unique_ptr<experiments::Measurement> make_taking() { return std::make_unique<Taking>(); }

}  // namespace normscope::reproduce

#include "training/experiments/taken.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "training/experiments/store/result_store.h"
#include "training/io/input_value.h"
#include "training/measure/history.h"
#include "training/spec/limits.h"

namespace normscope::experiments {
namespace {

using Json = nlohmann::json;

constexpr size_t kLongestName = 200, kMostNames = 100'000, kMostFrames = 1000, kMostStacks = 2;
constexpr double kMostSeconds = 1e9;

// Sub-layers of either stack: "L01.attn", "dec.L12.cross". The matrices' norms and mean squares are of every step of
// the ladder; the rest needs tensors side by side and is measured before training and after it.
constexpr const char* kNorms = R"(\.(attn\.w[qkvo]|cross\.w[qkvo]|ffn\.w[12])\.(grad|update|weight)_norm)";
constexpr const char* kSquares = R"(\.(attn|cross|ffn)\.(out|sum)\.mean_square)";
constexpr const char* kMoments =
    R"(\.(attn|cross|ffn)\.(token_cosine|layer_cosine|branch\.variance|input\.variance|attention_entropy|skip\.mean|branch\.mean))";

/// Of the residual dependency, the shares of the branch itself, of the input, and their sum over all.
bool kept_share(const std::string& name) {
  const size_t beta = name.find("beta2.");
  if (beta == name.npos) return false;
  const std::string rest = name.substr(beta + 6);
  const size_t dot = rest.find('.');
  const std::string row = rest.substr(0, dot), column = rest.substr(dot + 1);
  return column == "sum" || column == "0" || column == row;
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

Json frames_json(const Frames& frames) {
  Json rows = Json::array();
  for (const std::vector<double>& row : frames.rows) rows.push_back(list_json(row));
  return {{"names", frames.names}, {"steps", frames.steps}, {"rows", std::move(rows)}};
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

std::vector<LeftOutRise> read_left_out(const InputValue& json) {
  std::vector<LeftOutRise> all;
  for (const InputValue& one : json.list(0, kMostStacks))
    all.push_back({one.at("stack").text(kLongestName), numbers_from(one.at("layers"), 0, kMostFrames),
                   numbers_from(one.at("top"), 0, kMostFrames)});
  return all;
}

}  // namespace

double Numbers::at(std::string_view name) const {
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? kUnknown : values[static_cast<size_t>(it - names.begin())];
}

Json to_json(const Taken& taken) {
  Json json = {{"parts", taken.parts},
               {"record", to_json(taken.record)},
               {"validation", number_json(taken.validation)},
               {"accuracy", number_json(taken.accuracy)},
               {"attachment", number_json(taken.attachment)},
               {"seconds", taken.seconds}};
  if (taken.has(kLayers)) {
    json["frames"] = frames_json(taken.frames);
    json["start"] = numbers_json(taken.start);
    json["end"] = numbers_json(taken.end);
  }
  if (taken.has(kWritten)) json["bleu"] = number_json(taken.bleu);
  if (taken.has(kLeftOut)) {
    json["left_out"] = Json::array();
    for (const LeftOutRise& one : taken.left_out)
      json["left_out"].push_back(
          {{"stack", one.stack}, {"layers", list_json(one.layers)}, {"top", list_json(one.top)}});
  }
  return json;
}

Taken taken_from(const InputValue& json) {
  constexpr Parts kAll = kShares | kScores | kLayers | kLeftOut | kWritten;
  Taken taken;
  const auto record = json.find("record");
  if (!record) {  // a record alone
    taken.parts = kShares;
    taken.record = record_from(json);
    return taken;
  }
  const auto parts = json.find("parts");
  taken.parts = parts ? static_cast<Parts>(parts->whole(0, kAll)) : kAll & ~kShares;
  taken.record = record_from(*record);
  taken.validation = number_from(json.at("validation"));
  taken.accuracy = number_from(json.at("accuracy"));
  taken.attachment = number_from(json.at("attachment"));
  if (taken.has(kLayers)) {
    taken.frames = read_frames(json.at("frames"));
    taken.start = read_numbers(json.at("start"));
    taken.end = read_numbers(json.at("end"));
  }
  if (taken.has(kWritten)) taken.bleu = number_from(json.at("bleu"));
  if (taken.has(kLeftOut)) taken.left_out = read_left_out(json.at("left_out"));
  taken.seconds = json.at("seconds").number(0, kMostSeconds);
  return taken;
}

std::vector<int32_t> ladder() {
  return {1, 2, 3, 5, 10, 20, 50, 100, 150, 200, 300, 400, 500, 700, 1000, 1500, 2000};
}

bool kept_at_steps(const std::string& name) {
  static const std::regex pattern(
      fmt::format(R"(total\.grad_norm|(enc\.|dec\.)?L\d\d({}|{}))", kNorms, kSquares));
  return std::regex_match(name, pattern);
}

bool kept_at_moments(const std::string& name) {
  static const std::regex pattern(fmt::format(R"((enc\.|dec\.)?L\d\d{})", kMoments));
  return kept_share(name) || std::regex_match(name, pattern);
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
  const auto [top, below] = two_names(y);
  return known(top) && (below.empty() || known(below));
}

}  // namespace normscope::experiments

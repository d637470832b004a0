#include "training/experiments/taken.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "training/io/input_value.h"
#include "training/measure/history.h"
#include "training/spec/codec.h"
#include "training/spec/limits.h"

namespace normscope::experiments {
namespace {

constexpr size_t kLongestName = 200, kMostNames = 100'000, kMostFrames = 1000, kMostStacks = 2;
constexpr double kMostSeconds = 1e9;
constexpr codec::List kNames{0, kMostNames, codec::Text{kLongestName}};

/// A number for each name.
codec::List<codec::AnyNumber> as_many(const std::vector<std::string>& names) {
  return {names.size(), names.size(), codec::AnyNumber{}};
}

// `kNorms` and `kSquares` match numbers of sub-layers ("L01.attn", "dec.L12.cross") that are kept at every step of the
// ladder. The others need tensors side by side and are measured before and after training.
constexpr const char* kNorms = R"(\.(attn\.w[qkvo]|cross\.w[qkvo]|ffn\.w[12])\.(grad|update|weight)_norm)";
constexpr const char* kSquares = R"(\.(attn|cross|ffn)\.(out|sum)\.mean_square)";
constexpr const char* kMoments =
    R"(\.(attn|cross|ffn)\.(token_cosine|layer_cosine|branch\.variance|input\.variance|attention_entropy|skip\.mean|branch\.mean))";

struct NameSet {
  codec::Json write(const Names& names) const { return names; }
  void read(const InputValue& json, Names& names) const {
    for (const InputValue& name : json.list(0, kMostNames)) names.insert(name.text(kLongestName));
  }
};

/// `kept_share` keeps, of the residual dependency, the shares of the branch itself and of the input, and the sum over
/// all.
bool kept_share(const std::string& name) {
  const size_t beta = name.find("beta2.");
  if (beta == name.npos) return false;
  const std::string rest = name.substr(beta + 6);
  const size_t dot = rest.find('.');
  const std::string row = rest.substr(0, dot), column = rest.substr(dot + 1);
  return column == "sum" || column == "0" || column == row;
}

/// What a study's word for a number stands for.
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

}  // namespace

double Numbers::at(std::string_view name) const {
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? kUnknown : values[static_cast<size_t>(it - names.begin())];
}

template <class Io>
void io(Io& io, codec::Of<Io, Numbers>& numbers) {
  io("names", numbers.names, kNames);
  io("values", numbers.values, as_many(numbers.names));
}

template <class Io>
void io(Io& io, codec::Of<Io, Frames>& frames) {
  io("names", frames.names, kNames);
  io("steps", frames.steps, codec::List{0, kMostFrames, codec::Whole{1, kMostSteps}});
  io("rows", frames.rows, codec::List{frames.steps.size(), frames.steps.size(), as_many(frames.names)});
}

template <class Io>
void io(Io& io, codec::Of<Io, LeftOutRise>& rise) {
  constexpr codec::List kLayersOfStack{0, kMostFrames, codec::AnyNumber{}};
  io("stack", rise.stack, codec::Text{kLongestName});
  io("layers", rise.layers, kLayersOfStack);
  io("top", rise.top, kLayersOfStack);
}

template <class Io>
void io(Io& io, codec::Of<Io, Taken>& taken) {
  io("measured", taken.measured, NameSet{});
  io("record", taken.record);
  io("validation", taken.validation);
  io("accuracy", taken.accuracy);
  io("scores", taken.scores, codec::Map{kMostNames, codec::AnyNumber{}});
  io("seconds", taken.seconds, codec::Number{0, kMostSeconds});
  if (taken.measured.contains(kLayers)) {
    io("frames", taken.frames);
    io("start", taken.start);
    io("end", taken.end);
  }
  if (taken.measured.contains(kLast)) io("last", taken.last);
  if (taken.measured.contains(kLeftOut))
    io("left_out", taken.left_out, codec::List{0, kMostStacks, codec::Object{}});
}

bool Taken::has(const Names& asked) const {
  return std::includes(measured.begin(), measured.end(), asked.begin(), asked.end());
}

double Taken::score(const std::string& key) const {
  const auto found = scores.find(key);
  return found == scores.end() ? kUnknown : found->second;
}

nlohmann::json to_json(const Taken& taken) { return codec::write(taken); }

Taken taken_from(const InputValue& json) { return codec::read<Taken>(json); }

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

bool kept_at_end(const std::string& name) {
  static const std::regex logits(R"((enc\.|dec\.)?L\d\d\.(attn|cross)\.[a-z0-9_.]*logit[a-z0-9_.]*)");
  static const std::regex updates(R"((enc\.|dec\.)?L\d\d\.(spike_ratio|update_cosine))");
  return name == kCriticalStat || std::regex_match(name, logits) || std::regex_match(name, updates) ||
         kept_at_steps(name) || kept_at_moments(name);
}

double largest(const Numbers& numbers, std::string_view pattern) {
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

bool is_number_of_a_step(const std::string& y, bool by_layer) {
  const auto known = [&](std::string name) {
    if (by_layer) {
      const size_t star = name.find("L*.");
      if (star == name.npos) return false;
      name.replace(star, 2, "L01");
      return kept_at_steps(name) || kept_at_moments(name);
    }
    return kept_at_steps(name);  // numbers at start and end are no curve over steps
  };
  const auto [top, below] = two_names(y);
  return known(top) && (below.empty() || known(below));
}

}  // namespace normscope::experiments

#include "training/measure/token_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/cpu/measure_rows.h"
#include "engine/ops/ops.h"
#include "engine/tape/store.h"

namespace normscope {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

ValueId find(const ProgramData& step, std::string_view name) {
  const auto at = std::ranges::find(step.values, name, &ValueInfo::name);
  return at == step.values.end() ? kNone : static_cast<ValueId>(at - step.values.begin());
}

const ValueInfo& info(const ProgramData& step, ValueId value) {
  return step.values[static_cast<size_t>(value)];
}

/// The name of the matrix that a node multiplies by; empty for other nodes.
std::string_view matrix_of(const std::vector<ValueInfo>& values, const Node& node) {
  if (node.op != OpKind::Linear) return {};
  const ValueInfo& matrix = values[static_cast<size_t>(node.in[1])];
  return matrix.role == Role::Parameter ? std::string_view(matrix.name) : std::string_view();
}

bool is_kept(const ProgramData& step, ValueId value, bool gradient) {
  const MemoryPlan& plan = step.plan;
  const auto v = static_cast<size_t>(value);
  const std::vector<bool>& reused = gradient ? plan.gradient_reused : plan.value_reused;
  return (gradient ? plan.gradient_offset : plan.value_offset)[v] != kNoOffset &&
         (reused.empty() || !reused[v]);
}

}  // namespace

std::vector<ValueId> heard_values(const Tape& tape) {
  std::vector<ValueId> heard;
  for (const Node& node : tape.nodes())
    if (matrix_of(tape.values(), node).ends_with(".ffn.w2")) heard.push_back(node.out);
  return heard;
}

void Differing::take(const float* all, size_t width, const CountedTokens& tokens) {
  width_ = width;
  const size_t count = tokens.rows.size();
  mean_.assign(width, 0.0);
  for (const size_t row : tokens.rows)
    for (size_t i = 0; i < width; ++i) mean_[i] += static_cast<double>(all[row * width + i]);
  for (double& m : mean_) m /= static_cast<double>(count);
  rows_.resize(count * width);
  float* to = rows_.data();
  for (const size_t row : tokens.rows)
    for (size_t i = 0; i < width; ++i)
      *to++ = static_cast<float>(static_cast<double>(all[row * width + i]) - mean_[i]);
}

double Differing::square() const {
  double sum = 0;
  for (size_t at = 0; at < rows_.size(); at += width_)
    sum += cpu::moments(&rows_[at], static_cast<int64_t>(width_)).square;
  return sum;
}

double Differing::between(const CountedTokens& tokens) {
  const double whole = square();
  if (tokens.symbol.empty() || !(whole > 0)) return kNothing;
  sums_.assign(tokens.symbols * width_, 0.0);
  counts_.assign(tokens.symbols, 0.0);
  for (size_t t = 0; t < tokens.symbol.size(); ++t) {
    double* sum = &sums_[tokens.symbol[t] * width_];
    for (size_t i = 0; i < width_; ++i) sum[i] += static_cast<double>(rows_[t * width_ + i]);
    counts_[tokens.symbol[t]] += 1;
  }
  double part = 0;
  for (size_t s = 0; s < tokens.symbols; ++s) {
    const double* sum = &sums_[s * width_];
    part += std::inner_product(sum, sum + width_, sum, 0.0) / counts_[s];
  }
  return part / whole;
}

double Differing::directions() {
  const size_t count = rows_.size() / width_;
  if (!(square() > 0)) return kNothing;
  room_.reserve(count, width_);
  return effective_rank(rows_, count, width_, room_);
}

std::string_view TokenMeasurements::Place::stack() const {
  const size_t end = name.find('.');
  return name.starts_with("enc.") || name.starts_with("dec.") ? std::string_view(name).substr(0, end + 1)
                                                              : std::string_view();
}

std::vector<TokenMeasurements::Place> TokenMeasurements::places_of(const ProgramData& step) {
  std::vector<Place> places;
  const auto place_of = [&](std::string_view matrix, int32_t layer) -> Place& {
    const std::string name(matrix.substr(0, matrix.rfind('.')));
    const auto known = std::ranges::find(places, name, &Place::name);
    return known != places.end() ? *known : *places.insert(places.end(), Place{.name = name, .layer = layer});
  };
  for (const Node& node : step.nodes) {
    const std::string_view matrix = matrix_of(step.values, node);
    if (matrix.ends_with(".ffn.w1")) {
      place_of(matrix, node.layer).input = node.in[0];
    } else if (matrix.ends_with(".ffn.w2")) {
      Place& place = place_of(matrix, node.layer);
      place.hidden = node.in[0];
      place.matrix = node.in[1];
      place.output = node.out;
    }
  }
  std::erase_if(places, [](const Place& p) { return p.input == kNone || p.output == kNone; });
  for (const char* logits : {"logits", "logits.uncapped"})
    if (const ValueId v = find(step, logits); v != kNone && !places.empty()) {
      const Node& node = step.nodes[static_cast<size_t>(info(step, v).node)];
      if (node.op == OpKind::Linear && info(step, node.in[0]).shape.rank == 3)
        places.push_back({.name = std::string(places.back().stack()) + "readout", .input = node.in[0]});
    }
  return places;
}

TokenMeasurements::TokenMeasurements(const ProgramData& step) {
  for (const Place& place : places_of(step)) {
    for (const char* number : {".sight", ".identity"}) layout_.push_back({place.name + number, place.layer});
    if (place.output == kNone) continue;
    for (const char* number : {".directions", ".hearing", ".w2.telling"})
      layout_.push_back({place.name + number, place.layer});
  }
}

/// Null where it is not kept.
const float* TokenMeasurements::value(Program& step, ValueId value, bool gradient,
                                      std::vector<float>& room) const {
  if (!is_kept(step.data(), value, gradient)) return nullptr;
  Executable& machine = step.executable();
  const float* const at = gradient ? machine.gradient(value) : machine.value(value);
  if (!at || step.data().store->backend().on_host()) return at;
  room.resize(static_cast<size_t>(info(step.data(), value).shape.size()));
  machine.read(at, room);
  return room.data();
}

/// Finds the tokens of a stack that count.
void TokenMeasurements::count(Program& step, std::string_view stack) {
  const ProgramData& data = step.data();
  const char *const symbols = stack == "enc." ? "source" : "tokens", *const lengths = stack == "dec."
                                                                                          ? "target_lengths"
                                                                                          : "key_lengths";
  const ValueId input = find(data, symbols);
  const Shape& shape = info(data, input != kNone ? input : find(data, "x")).shape;
  const std::span<const int32_t> unpadded =
      find(data, lengths) == kNone ? std::span<const int32_t>() : step.tokens(lengths);
  tokens_ = {};
  for (int64_t row = 0; row < shape[0]; ++row) {
    const int64_t length =
        unpadded.empty() ? shape[1] : std::min<int64_t>(shape[1], unpadded[static_cast<size_t>(row)]);
    for (int64_t t = 0; t < length; ++t) tokens_.rows.push_back(static_cast<size_t>(row * shape[1] + t));
  }
  if (input == kNone) return;
  std::map<int32_t, size_t> known;
  for (const size_t row : tokens_.rows)
    tokens_.symbol.push_back(known.emplace(step.tokens(symbols)[row], known.size()).first->second);
  tokens_.symbols = known.size();
}

double* TokenMeasurements::number_input(Program& step, const Place& place, double* number) {
  const float* const x = value(step, place.input, false, room_);
  const size_t width = static_cast<size_t>(info(step.data(), place.input).shape.cols());
  const size_t numbers = place.output == kNone ? 2 : 3;
  std::fill(number, number + numbers, kNothing);
  if (x && tokens_.rows.size() > 1) {
    differing_.take(x, width, tokens_);
    number[0] = std::sqrt(differing_.square() / static_cast<double>(tokens_.rows.size() * width));
    number[1] = differing_.between(tokens_);
    if (numbers == 3) number[2] = differing_.directions();
  }
  return number + numbers;
}

double* TokenMeasurements::number_gradients(Program& step, const Place& place, double* number) {
  const size_t count = tokens_.rows.size();
  number[0] = number[1] = kNothing;
  const float* const d = value(step, place.output, true, room_);
  if (!d || count < 2) return number + 2;
  const auto size = [&](ValueId v) { return static_cast<size_t>(info(step.data(), v).shape.cols()); };
  const size_t width = size(place.output), hidden = size(place.hidden);
  answers_.take(d, width, tokens_);
  number[0] = std::sqrt(answers_.square());
  const float* const h = value(step, place.hidden, false, other_);
  if (!h) return number + 2;
  sums_.assign(hidden, 0.0);
  for (const size_t row : tokens_.rows)
    for (size_t i = 0; i < hidden; ++i) sums_[i] += static_cast<double>(h[row * hidden + i]);
  const float* const g = value(step, place.matrix, true, room_);
  if (!g) return number + 2;
  double sum = 0;
  for (size_t i = 0; i < hidden; ++i)
    for (size_t j = 0; j < width; ++j) {
      const double telling = static_cast<double>(g[i * width + j]) - sums_[i] * answers_.mean()[j];
      sum += telling * telling;
    }
  number[1] = std::sqrt(sum);
  return number + 2;
}

void TokenMeasurements::measure(Program& step, std::span<double> out) {
  auto known = places_.find(&step.data());
  if (known == places_.end()) known = places_.emplace(&step.data(), places_of(step.data())).first;
  double* number = out.data();
  std::string_view stack = "?";
  for (const Place& place : known->second) {
    if (place.stack() != stack) count(step, stack = place.stack());
    number = number_input(step, place, number);
    if (place.output != kNone) number = number_gradients(step, place, number);
  }
}

}  // namespace normscope

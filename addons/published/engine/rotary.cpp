// rotary checks its inputs and records one node. It saves nothing; its backward pass reads the table.
#include "addons/published/engine/rotary.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/core/error.h"
#include "engine/model/recorder.h"
#include "engine/ops/rules.h"
#include "engine/tape/store.h"

namespace normscope {
namespace {

/// Whether training does not change a value: an input, or a parameter that is not trained.
bool is_given(const Tape& tape, ValueId v) {
  const ValueInfo& info = tape.value(v);
  if (info.role == Role::Parameter)
    return !tape.store().parameters()[static_cast<size_t>(info.parameter)].trainable;
  return info.role == Role::Input;
}

}  // namespace

ValueId rotary(Tape& tape, const std::string& name, ValueId x, ValueId table, RotarySpec spec) {
  Node node = tape.node(OpKind::Rotary, name, {x, table}, spec);
  const Shape in = tape.shape(x), angles = tape.shape(table);
  const std::string where = "rotary " + tape.named(name);
  if (in.rank != 3) fail(where, "x {} must have shape (B,T,D)", to_string(in));
  if (spec.heads < 1 || in[2] % spec.heads != 0)
    fail(where, "width {} is not a multiple of {} heads", in[2], spec.heads);
  const int64_t width = in[2] / spec.heads;
  if (angles.rank != 2 || angles[0] < in[1] || angles[1] < 2 || angles[1] % 2 != 0 || angles[1] > width)
    fail(where, "table {} does not fit {} positions and heads of {}: expected (>=T,2n), 2n at most {}",
         to_string(angles), in[1], width, width);
  if (!is_given(tape, table))
    fail(where, "table {} is trained or computed: expected an input, or a parameter that is not trained",
         tape.value(table).name);
  return tape.add_node(std::move(node), in);
}

OpRules rotary_rules() {
  static constexpr OpRule kRows[] = {
      {.title = "Rotary position embedding",
       .formula =
           R"(y_a = c_{t,i} x_a - s_{t,i} x_b, \quad y_b = c_{t,i} x_b + s_{t,i} x_a \text{ for pair } i = (a, b) \text{ of each head})",
       .shapes =
           "x and y (B,T,D), table (>=T,2n): n cosines c, then n sines s for each position t; pair i < n of a head: i and n+i (halves), or 2i and 2i+1 (neighbours); from 2n on y is x",
       .rule = R"(dx_a = c_{t,i} dy_a + s_{t,i} dy_b, \quad dx_b = c_{t,i} dy_b - s_{t,i} dy_a)",
       .source = "Su et al. 2021; not checked",
       .reads = {2}}};
  return {kRows};
}

namespace {

/// A mixture of the trained rate (kept = 1) and the rate over `factor` (kept = 0).
double mixed(double rate, double factor, double kept) { return rate * kept + rate / factor * (1 - kept); }

/// A mixture that grows with the turns of a pair in the positions of the training: kept = 0 at `low`, 1 at `high`.
double llama3_rate(const RotaryConfig& c, double rate, double positions) {
  const double turns = positions * rate / (2 * std::numbers::pi);
  const double kept = (turns - c.low) / (static_cast<double>(c.high) - c.low);
  return mixed(rate, c.factor, std::clamp(kept, 0.0, 1.0));
}

/// A mixture by the pair's index: kept falls from 1 at the pair with `high` turns to 0 at the pair with `low` turns.
double yarn_rate(const RotaryConfig& c, double rate, int32_t pair, int32_t numbers, double positions) {
  const auto place = [&](double turns) {
    return numbers * std::log(positions / (turns * 2 * std::numbers::pi)) / (2 * std::log(c.base));
  };
  const double first = std::max(std::floor(place(c.high)), 0.0);
  const double last = std::min(std::ceil(place(c.low)), numbers - 1.0);
  const double width = last == first ? 0.001 : last - first;
  return mixed(rate, c.factor, 1 - std::clamp((pair - first) / width, 0.0, 1.0));
}

double scaled_rate(const RotaryConfig& c, double rate, int32_t pair, int32_t numbers, double positions) {
  switch (c.scaling) {
    case RotaryScaling::None:
      return rate;
    case RotaryScaling::Linear:
      return rate / c.factor;
    case RotaryScaling::Llama3:
      return llama3_rate(c, rate, positions);
    case RotaryScaling::Yarn:
      return yarn_rate(c, rate, pair, numbers, positions);
  }
  return rate;
}

}  // namespace

int32_t rotary_numbers(const RotaryConfig& config, int32_t head_width) {
  return static_cast<int32_t>(config.share * static_cast<float>(head_width)) / 2 * 2;
}

Init rotary_table(const RotaryConfig& config, int32_t head_width, int32_t positions, bool local) {
  const int32_t numbers = rotary_numbers(config, head_width);
  local = local && config.local_base > 0;
  const double base = local ? config.local_base : config.base;
  Init init{.kind = Init::Kind::Turns, .value = 1.0};
  if (!local && config.scaling == RotaryScaling::Yarn && config.factor > 1)
    init.value = 0.1 * std::log(config.factor) + 1;
  for (int32_t i = 0; i < numbers / 2; ++i) {
    const double rate = std::pow(base, -2.0 * i / numbers);
    init.rates.push_back(
        local ? rate
              : scaled_rate(config, rate, i, numbers, config.trained > 0 ? config.trained : positions));
  }
  return init;
}

namespace {

/// Nothing is added to the symbols; queries and keys of self-attention turn.
class RotaryPositions : public Part {
 public:
  explicit RotaryPositions(Recorder& recorder) : r_(recorder), config_(recorder.config.of<RotaryConfig>()) {}

  void begin() override {
    turns_ = table("rotary", false);
    if (config_.local_base > 0) turns_of_windows_ = table("rotary.local", true);
  }

  ValueId placed(const std::string& name, ValueId x, int32_t heads) override {
    const std::string& pattern = config_.pattern;
    if (!pattern.empty() && pattern[static_cast<size_t>(r_.layer - 1) % pattern.size()] == 'n') return x;
    const bool local = has_window(r_.config, r_.layer) && turns_of_windows_ != kNone;
    return rotary(r_.tape, name, x, local ? turns_of_windows_ : turns_, {heads, config_.pairing});
  }

 private:
  ValueId table(const char* name, bool local) {
    const int32_t T = r_.config.sequence, dh = head_width(r_.config);
    return r_.parameter(name, {T, rotary_numbers(config_, dh)}, rotary_table(config_, dh, T, local), false);
  }

  Recorder& r_;
  const RotaryConfig& config_;
  ValueId turns_ = kNone, turns_of_windows_ = kNone;
};

bool rotates(const ModelConfig& c) {
  return is_transformer(c.architecture) && c.positions == Positions::Rotary;
}

std::unique_ptr<Part> record_rotary(Recorder& recorder) {
  if (!rotates(recorder.config)) return nullptr;
  return std::make_unique<RotaryPositions>(recorder);
}

void check_rotary(const ModelConfig& c) {
  if (!rotates(c) || c.heads < 1) return;  // which is refused elsewhere
  const RotaryConfig& r = c.of<RotaryConfig>();
  if (rotary_numbers(r, head_width(c)) < 2)
    fail("model.rotary_share", "{} of a head of width {} is not two numbers: expected a pair at least",
         r.share, head_width(c));
  if (r.pattern.find_first_not_of("rn") != r.pattern.npos)
    fail("model.rotary_pattern", "'{}' has other letters than r and n: expected for instance rrrn",
         r.pattern);
  if (r.scaling != RotaryScaling::None && !(r.low < r.high))
    fail("model.rotary_low", "{} turns are not fewer than model.rotary_high = {}", r.low, r.high);
}

/// Turned queries and keys, each with its gradient.
PartCost cost_of_rotary(const ModelConfig& c, int32_t batch) {
  if (!rotates(c)) return {};
  const int64_t heads = c.heads + kv_heads(c);
  return {.activations = attentions_of(c) * 2 * batch * c.sequence * heads * head_width(c)};
}

}  // namespace

constinit const PartRow rotary_part{.record = record_rotary, .check = check_rotary, .cost = cost_of_rotary};

}  // namespace normscope

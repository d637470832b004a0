#include "training/spec/small_size.h"

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace normscope {
namespace {

struct Size {
  int32_t d_model, feed_forward, heads, sequence, batch, steps;
};
constexpr Size kSmall{32, 64, 2, 16, 8, 200}, kUsual{64, 256, 4, 64, 16, 300};
constexpr double kRate = 5.0 / 3, kSteps = 2.0 / 3;

/// Rounded, so that the inverse gives the same number.
float scaled(float rate, double by) {
  const double digits = std::pow(10.0, 5 - std::floor(std::log10(static_cast<double>(rate))));
  return static_cast<float>(std::round(static_cast<double>(rate) * by * digits) / digits);
}

RunSpec at(RunSpec spec, const Size& size, double rate, double steps) {
  for (const auto& [key, value] : {std::pair{"model.d_model", size.d_model},
                                   {"model.feed_forward", size.feed_forward},
                                   {"model.heads", size.heads},
                                   {"model.sequence", size.sequence},
                                   {"train.batch", size.batch},
                                   {"train.steps", size.steps}})
    set_field(spec, key, std::to_string(value));
  spec.model.attention.head_width = spec.model.attention.kv_heads = 0;
  Schedule& schedule = spec.train.schedule;
  if (schedule.peak > 0) schedule.peak = scaled(schedule.peak, rate);
  const auto scale = [steps](int32_t& step) { step = static_cast<int32_t>(std::lrint(step * steps)); };
  scale(schedule.warmup);
  scale(schedule.reference);
  scale(schedule.end);
  for (int32_t& step : schedule.milestones) scale(step);
  return spec;
}

/// Of the rows of small_verdicts.def.
RunSpec measured(int32_t warmup, std::initializer_list<std::string_view> settings) {
  RunSpec spec;
  for (const std::string_view setting : settings) {
    const size_t equals = setting.find('=');
    set_field(spec, setting.substr(0, equals), setting.substr(equals + 1));
  }
  spec.train.schedule.warmup = warmup;
  return at_small_size(std::move(spec));
}

using Settings = std::vector<std::pair<std::string, std::string>>;

Settings of_any_seed(RunSpec spec) {
  spec.name.clear();
  spec.seed = 1;
  return field_values(spec);
}

}  // namespace

Message without_small_size(const RunSpec& spec) {
  if (!is_transformer(spec.model.architecture)) return "only transformers have a small size";
  if (!spec.train.init_from.empty()) return "weights from a file have a size of their own";
  return "";
}

RunSpec at_small_size(RunSpec spec) { return at(std::move(spec), kSmall, kRate, kSteps); }
RunSpec at_usual_size(RunSpec spec) { return at(std::move(spec), kUsual, 1 / kRate, 1 / kSteps); }

const std::vector<SizesDisagree>& where_sizes_disagree() {
  static const std::vector<SizesDisagree> rows{
#define SMALL_VERDICT(warmup, usual, usual_tried, small, small_tried, ...) \
  {measured(warmup, {__VA_ARGS__}), {usual, usual_tried}, {small, small_tried}},
#include "training/spec/small_verdicts.def"
#undef SMALL_VERDICT
  };
  return rows;
}

const SizesDisagree* sizes_disagree(RunSpec small) {
  static const auto rows = [] {
    std::map<Settings, const SizesDisagree*> by_settings;
    for (const SizesDisagree& row : where_sizes_disagree()) by_settings[of_any_seed(row.run)] = &row;
    return by_settings;
  }();
  const auto at = rows.find(of_any_seed(std::move(small)));
  return at == rows.end() ? nullptr : at->second;
}

}  // namespace normscope

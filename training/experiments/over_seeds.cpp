#include "training/experiments/over_seeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "training/io/number_json.h"
#include "training/io/text_table.h"

namespace normscope::experiments {
namespace {

/// The finite numbers of the known runs by seed, their mean and, of two or more, the deviation.
std::vector<double> spread_over(const OverSeeds& arm, double Record::*number, double& mean,
                                double& deviation) {
  mean = deviation = kUnknown;
  std::vector<double> values;
  for (const auto& run : arm.runs)
    if (run && std::isfinite((*run).*number)) values.push_back((*run).*number);
  if (values.empty()) return values;
  const double count = static_cast<double>(values.size());
  double sum = 0, square = 0;
  for (const double value : values) sum += value;
  mean = sum / count;
  for (const double value : values) square += (value - mean) * (value - mean);
  if (values.size() > 1) deviation = std::sqrt(square / (count - 1));
  return values;
}

void summarise_losses(OverSeeds& arm) {
  arm.low = arm.high = kUnknown;
  const std::vector<double> losses = spread_over(arm, &Record::loss, arm.mean, arm.deviation);
  if (losses.empty()) return;
  arm.low = *std::min_element(losses.begin(), losses.end());
  arm.high = *std::max_element(losses.begin(), losses.end());
}

/// The geometric mean of `of` over the known runs; NaN when one is not finite or there is none.
template <typename Of>
double geometric(const OverSeeds& arm, Of of) {
  double sum = 0;
  int32_t count = 0;
  for (const auto& run : arm.runs) {
    if (!run) continue;
    const double value = of(*run);
    if (!std::isfinite(value)) return kUnknown;
    sum += std::log(value);
    ++count;
  }
  return count ? std::exp(sum / count) : kUnknown;
}

}  // namespace

void OverSeeds::summarise() {
  known = static_cast<int32_t>(
      std::count_if(runs.begin(), runs.end(), [](const auto& run) { return run.has_value(); }));
  summarise_losses(*this);
  spread_over(*this, &Record::score, score, score_deviation);
  gradient = geometric(*this, [](const Record& r) { return r.gradient_first; });
  ratio = geometric(*this, [](const Record& r) { return r.gradient_first / r.gradient_last; });
  double spread = kUnknown;
  spread_over(*this, &Record::beta2, beta2, spread);
  spread_over(*this, &Record::measured, measured, spread);
}

int32_t OverSeeds::count(Verdict verdict) const {
  return static_cast<int32_t>(std::count_if(runs.begin(), runs.end(),
                                            [&](const auto& run) { return run && run->verdict == verdict; }));
}

int32_t OverSeeds::since() const {
  std::vector<int32_t> steps;
  for (const auto& run : runs)
    if (run && run->verdict == Verdict::Learns) steps.push_back(run->since);
  if (steps.empty()) return 0;
  std::sort(steps.begin(), steps.end());
  return steps[(steps.size() - 1) / 2];
}

std::string OverSeeds::verdict() const {
  if (known == 0) return "–";
  constexpr Verdict order[] = {Verdict::Learns,    Verdict::Stuck,     Verdict::Diverges,
                               Verdict::NotFinite, Verdict::Undecided, Verdict::Failed};
  for (const Verdict v : order) {
    const int32_t n = count(v);
    if (n == known) return to_string(v);
    if (n > 0) return fmt::format("{} {} of {}", to_string(v), n, known);
  }
  return "–";
}

nlohmann::json to_json(const OverSeeds& arm) {
  nlohmann::json json = {{"verdict", arm.verdict()},
                         {"learns", arm.count(Verdict::Learns)},
                         {"known", arm.known},
                         {"since", arm.since()},
                         {"loss", number_json(arm.mean)},
                         {"loss_low", number_json(arm.low)},
                         {"loss_high", number_json(arm.high)},
                         {"loss_deviation", number_json(arm.deviation)},
                         {"gradient_first", number_json(arm.gradient)},
                         {"gradient_ratio", number_json(arm.ratio)},
                         {"beta2", number_json(arm.beta2)}};
  if (std::isfinite(arm.score)) json["score"] = number_json(arm.score);
  Table runs{run_columns()};
  for (size_t i = 0; i < arm.runs.size(); ++i)
    if (arm.runs[i]) runs.rows.push_back(run_row(i + 1, *arm.runs[i]));
  json["runs"] = to_json(runs);
  return json;
}

std::vector<Column> run_columns() {
  std::vector<Column> columns = data_columns({"seed", "verdict", "steps", "since", "loss", "unigram", "beta2",
                                              "gradient_first", "gradient_last", "score"});
  for (const char* key : {"what", "beta2_reason"}) columns.push_back({key, "", Kind::Note});
  return columns;
}

TableRow run_row(size_t seed, const Record& r) {
  const auto words = [](const std::string& text) { return text.empty() ? Cell() : Cell(text); };
  return {seed,
          to_string(r.verdict),
          r.steps,
          r.since,
          r.loss,
          r.level,
          r.beta2,
          r.gradient_first,
          r.gradient_last,
          std::isnan(r.score) ? Cell() : Cell(r.score),
          words(r.what),
          words(r.beta2_reason)};
}

std::string power(double value) { return std::isfinite(value) ? fmt::format("{:.1e}", value) : "–"; }

std::string verdict_text(const OverSeeds& arm) {
  const int32_t since = arm.since();
  std::string text = arm.verdict() + (since > 0 ? fmt::format(" from {}", since) : "");
  if (arm.known > 0 && arm.known < static_cast<int32_t>(arm.runs.size()))
    text += fmt::format(" ({} seed{})", arm.known, arm.known == 1 ? "" : "s");
  return text;
}

std::string loss_text(const OverSeeds& arm) {
  if (!std::isfinite(arm.mean)) return "–";
  const int digits = arm.mean >= 100 ? 0 : arm.mean >= 10 ? 1 : 3;
  return fixed(arm.mean, digits) + (std::isfinite(arm.deviation) ? " ± " + fixed(arm.deviation, digits) : "");
}

std::string score_text(const OverSeeds& arm) {
  if (!std::isfinite(arm.score)) return "–";
  const int digits = arm.score >= 10 ? 1 : 2;
  return fixed(arm.score, digits) +
         (std::isfinite(arm.score_deviation) ? " ± " + fixed(arm.score_deviation, digits) : "");
}

}  // namespace normscope::experiments

#include "app/zoo/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace normscope::zoo {
namespace {

constexpr double kSame = 0.05;  ///< nats between means that count as equal

void summarise_losses(Arm& arm) {
  std::vector<double> losses;
  for (const auto& run : arm.runs)
    if (run && std::isfinite(run->loss)) losses.push_back(run->loss);
  if (losses.empty()) return;
  const double count = static_cast<double>(losses.size());
  double sum = 0, square = 0;
  for (const double loss : losses) sum += loss;
  arm.mean = sum / count;
  for (const double loss : losses) square += (loss - arm.mean) * (loss - arm.mean);
  arm.deviation = losses.size() > 1 ? std::sqrt(square / (count - 1)) : kUnknown;
  arm.low = *std::min_element(losses.begin(), losses.end());
  arm.high = *std::max_element(losses.begin(), losses.end());
}

/// Geometric mean of what `of` gives for the known runs; NaN when one is not finite or there is none.
template <typename Of>
double geometric(const Arm& arm, Of of) {
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

void finish(Row& row) {
  double sum = 0;
  int32_t count = 0;
  for (Arm& arm : row.arms) {
    summarise_losses(arm);
    arm.gradient = geometric(arm, [](const Record& r) { return r.gradient_first; });
    arm.ratio = geometric(arm, [](const Record& r) { return r.gradient_first / r.gradient_last; });
    for (const auto& run : arm.runs) {
      if (!run) continue;
      if (std::isfinite(run->beta2)) {
        sum += run->beta2;
        ++count;
      }
      if (!run->beta2_reason.empty()) row.beta2_reason = run->beta2_reason;
      if (run->verdict == Verdict::Failed) row.beta2_reason = run->what;
    }
  }
  if (count) row.beta2 = sum / count;
}

bool overlap(const Arm& a, const Arm& b) {
  return (a.low <= b.high && b.low <= a.high) || std::fabs(a.mean - b.mean) < kSame;
}

Judged::Result result_of(const Claim& claim, const Arm& arm, const Arm* other) {
  using Result = Judged::Result;
  const int32_t learn = arm.count(Verdict::Learns);
  const auto all_or_none = [&](bool all, bool none) {
    return all ? Result::Agrees : none ? Result::Differs : Result::Partly;
  };
  switch (claim.expect) {
    case Claim::Expect::Learns:
      return all_or_none(learn == arm.known, learn == 0);
    case Claim::Expect::Stuck:
      return all_or_none(learn == 0, learn == arm.known);
    case Claim::Expect::Partly:
      return learn > 0 && learn < arm.known ? Result::Agrees : Result::Differs;
    case Claim::Expect::AsGoodAs:
      return !other ? Result::Unknown : overlap(arm, *other) ? Result::Agrees : Result::Differs;
    case Claim::Expect::WorseThan:
      return !other ? Result::Unknown : arm.low > other->high ? Result::Agrees : Result::Differs;
  }
  return Result::Unknown;
}

}  // namespace

int32_t Arm::count(Verdict verdict) const {
  return static_cast<int32_t>(std::count_if(runs.begin(), runs.end(),
                                            [&](const auto& run) { return run && run->verdict == verdict; }));
}

int32_t Arm::since() const {
  std::vector<int32_t> steps;
  for (const auto& run : runs)
    if (run && run->verdict == Verdict::Learns) steps.push_back(run->since);
  if (steps.empty()) return 0;
  std::sort(steps.begin(), steps.end());
  return steps[(steps.size() - 1) / 2];
}

std::string Arm::verdict() const {
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

const Row* Summary::find(std::string_view entry, int32_t layers) const {
  for (const Row& row : rows)
    if (row.layers == layers && row.entry.name == entry) return &row;
  return nullptr;
}

Summary summarise(const Plan& plan, const std::vector<Job>& jobs,
                  const std::vector<std::optional<Record>>& records) {
  Summary summary{plan, {}, kUnknown, true};
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    if (summary.rows.empty() || summary.rows.back().layers != job.layers ||
        summary.rows.back().entry.name != plan.entries[job.entry].name) {
      summary.rows.push_back({});
      summary.rows.back().entry = plan.entries[job.entry];
      summary.rows.back().layers = job.layers;
    }
    Arm& arm = summary.rows.back().arms[job.warm ? 1 : 0];
    arm.warmup = job.spec.train.schedule.warmup;
    arm.runs.push_back(records[i]);
    arm.known += records[i].has_value();
    summary.complete = summary.complete && records[i].has_value();
    if (records[i] && std::isfinite(records[i]->level) && !std::isfinite(summary.level))
      summary.level = records[i]->level;
  }
  for (Row& row : summary.rows) finish(row);
  std::erase_if(summary.rows, [](const Row& row) { return !row.any(); });
  return summary;
}

std::vector<Judged> judge(const Summary& summary) {
  std::vector<Judged> out;
  if (!summary.plan.base.empty() || summary.plan.steps > 0 || summary.plan.warmup > 0) return out;
  for (const Claim& claim : claims()) {
    const Row* row = summary.find(claim.entry, claim.layers);
    if (!row) continue;
    const Arm& arm = row->arms[claim.warmup];
    if (arm.known == 0) continue;
    const Row* other = *claim.other ? summary.find(claim.other, claim.layers) : nullptr;
    const Arm* beside = other && other->arms[claim.warmup].known > 0 ? &other->arms[claim.warmup] : nullptr;
    Judged judged{claim, result_of(claim, arm, beside),
                  fmt::format("{}, {}", verdict_text(arm), loss_text(arm))};
    if (beside) judged.here += fmt::format(" beside {}", loss_text(*beside));
    out.push_back(std::move(judged));
  }
  return out;
}

std::string fixed(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "–";
}

std::string power(double value) { return std::isfinite(value) ? fmt::format("{:.1e}", value) : "–"; }

std::string verdict_text(const Arm& arm) {
  const int32_t since = arm.since();
  std::string text = arm.verdict() + (since > 0 ? fmt::format(" from {}", since) : "");
  if (arm.known > 0 && arm.known < static_cast<int32_t>(arm.runs.size()))
    text += fmt::format(" ({} seed{})", arm.known, arm.known == 1 ? "" : "s");
  return text;
}

std::string loss_text(const Arm& arm) {
  if (!std::isfinite(arm.mean)) return "–";
  const int digits = arm.mean >= 100 ? 0 : arm.mean >= 10 ? 1 : 3;
  return fixed(arm.mean, digits) + (std::isfinite(arm.deviation) ? " ± " + fixed(arm.deviation, digits) : "");
}

}  // namespace normscope::zoo

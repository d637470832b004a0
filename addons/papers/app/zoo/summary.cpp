#include "addons/papers/app/zoo/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "training/data/data_identity.h"

namespace normscope::zoo {
namespace {

constexpr double kSame = 0.05;  ///< nats; means closer than this count as equal

void finish(Row& row) {
  double sum = 0;
  int32_t count = 0;
  for (Arm& arm : row.arms) {
    arm.summarise();
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

Judged::Result result_of(const Expected& claim, const Arm& arm, const Arm* other) {
  using Result = Judged::Result;
  const int32_t learn = arm.count(Verdict::Learns);
  const auto all_or_none = [&](bool all, bool none) {
    return all ? Result::Agrees : none ? Result::Differs : Result::Partly;
  };
  switch (claim.expect) {
    case Expected::Expect::Learns:
      return all_or_none(learn == arm.known, learn == 0);
    case Expected::Expect::Stuck:
      return all_or_none(learn == 0, learn == arm.known);
    case Expected::Expect::Partly:
      return learn > 0 && learn < arm.known ? Result::Agrees : Result::Differs;
    case Expected::Expect::AsGoodAs:
      return !other ? Result::Unknown : overlap(arm, *other) ? Result::Agrees : Result::Differs;
    case Expected::Expect::WorseThan:
      return !other ? Result::Unknown : arm.low > other->high ? Result::Agrees : Result::Differs;
  }
  return Result::Unknown;
}

}  // namespace

const Row* Summary::find(std::string_view entry, int32_t layers) const {
  for (const Row& row : rows)
    if (row.layers == layers && row.entry.name == entry) return &row;
  return nullptr;
}

Summary summarise(const Plan& plan, const std::vector<Job>& jobs,
                  const std::vector<std::optional<Record>>& records) {
  Summary summary{plan, {}, kUnknown, true};
  std::map<std::pair<size_t, int32_t>, size_t> places;  // place of each row, by entry and depth
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    const auto [place, is_new] = places.try_emplace({job.entry, job.layers}, summary.rows.size());
    if (is_new) {
      Row& row = summary.rows.emplace_back();
      row.entry = plan.entries[job.entry];
      row.layers = job.layers;
    }
    Arm& arm = summary.rows[place->second].arms[job.warm ? 1 : 0];
    arm.warmup = job.spec.train.schedule.warmup;
    arm.runs.push_back(records[i]);
    summary.complete = summary.complete && records[i].has_value();
    // The level of another system is that of other symbols, so only the default model's counts.
    if (job.layers > 0 && records[i] && std::isfinite(records[i]->level) && !std::isfinite(summary.level)) {
      summary.level = records[i]->level;
      summary.unit = unit_of(job.spec.data);
    }
  }
  for (Row& row : summary.rows) finish(row);
  std::erase_if(summary.rows, [](const Row& row) { return !row.any(); });
  return summary;
}

std::vector<Judged> judge(const Summary& summary) {
  std::vector<Judged> out;
  if (!summary.plan.base.empty() || summary.plan.steps > 0 || summary.plan.warmup > 0) return out;
  for (const Expected& claim : claims()) {
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

}  // namespace normscope::zoo

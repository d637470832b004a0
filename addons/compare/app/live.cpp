#include "addons/compare/app/live.h"

#include <fmt/format.h>

#include <numeric>

#include "app/view/lab_data.h"

namespace normscope::compare {
namespace {

constexpr size_t kMostReruns = 128;  // whose histories are kept; then all of them are made anew

const RunView* run_of(const LabView& view, char letter) {
  const int at = view::find_run(view, letter);
  if (at < 0) return nullptr;
  const RunView& run = view.runs[static_cast<size_t>(at)];
  return run.history && run.spec ? &run : nullptr;
}

}  // namespace

std::shared_ptr<const History> LiveRuns::history_of(const std::shared_ptr<const std::vector<float>>& losses) {
  if (const auto known = reruns_.find(losses); known != reruns_.end()) return known->second;
  if (reruns_.size() >= kMostReruns) reruns_.clear();
  std::vector<int32_t> steps(losses->size());
  std::iota(steps.begin(), steps.end(), 1);
  auto history = std::make_shared<History>(std::vector<StatInfo>{});
  history->append_dense(steps, *losses, std::vector<float>(losses->size()));
  return reruns_.emplace(losses, std::move(history)).first->second;
}

std::optional<Compared> LiveRuns::take(const LabView& view, char letter, bool clock) {
  const RunView* run = run_of(view, letter);
  if (!run) return {};
  const RunSpec& spec = *run->spec;  // what trains now, after its edits
  Compared result;
  result.name = run->name;
  result.maker = "normscope";
  result.settings = field_values(spec);
  result.spec = spec;
  if (run->origin) result.origin = *run->origin;
  if (run->data) result.data = *run->data;
  result.edits = run->edits;
  result.letter = letter;
  const double unigram = view.unigram_entropy > 0 ? view.unigram_entropy : kUnknown;
  const double tokens = units_of_step(spec);
  const bool timed = clock && run->seconds_per_step > 0;
  result.seeds.push_back({.seed = spec.seed,
                          .history = run->history,
                          .unigram = unigram,
                          .tokens_per_step = tokens,
                          .seconds_per_step = timed ? run->seconds_per_step : kUnknown});
  if (run->spread)
    for (const RunSpread::Seed& rerun : run->spread->each)
      if (rerun.seed != spec.seed && rerun.losses && !rerun.losses->empty())
        result.seeds.push_back({.seed = rerun.seed,
                                .history = history_of(rerun.losses),
                                .unigram = unigram,
                                .tokens_per_step = tokens});
  return result;
}

std::string live_key(const LabView& view, char letter) {
  const RunView* run = run_of(view, letter);
  if (!run) return {};
  return fmt::format("{} {} {} {} {} {} {}", letter, static_cast<const void*>(run->history.get()),
                     run->history->version(), static_cast<const void*>(run->spread.get()),
                     static_cast<const void*>(run->spec.get()), run->edits.size(), run->name);
}

}  // namespace normscope::compare

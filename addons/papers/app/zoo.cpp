#include "addons/papers/app/zoo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/io/text.h"

namespace normscope::zoo {
namespace {

using sweep::StudyFile, sweep::Plan, sweep::Bundle;

constexpr int32_t kShallow = 8, kDeepSteps = 400;
constexpr std::string_view kDeepRows[] = {"post", "pre", "admin", "deepnorm"};

/// Leaves the rows that were named, or whose part was.
void keep_named(StudyFile& study, std::string_view only) {
  std::vector<std::string_view> wanted = split(only, ',');
  std::erase(wanted, std::string_view());
  if (wanted.empty()) return;
  std::set<std::string_view> missing(wanted.begin(), wanted.end());
  std::vector<std::string> known;
  for (const Plan& part : study.parts) {
    known.push_back(part.name);
    missing.erase(part.name);
    for (const Bundle& row : part.bundles) {
      known.push_back(row.name);
      missing.erase(row.name);
    }
  }
  if (!missing.empty())
    fail("zoo", "'{}' is not in the zoo: expected names among {}", *missing.begin(), fmt::join(known, ", "));
  for (Plan& part : study.parts)
    if (std::ranges::find(wanted, part.name) == wanted.end())
      std::erase_if(part.bundles,
                    [&](const Bundle& row) { return std::ranges::find(wanted, row.name) == wanted.end(); });
}

/// The part at a depth; `all`: also of the rows that the question of depth is not about.
void deepen(Plan& part, int32_t layers, bool all) {
  std::string rate = "3e-3";
  if (layers > kShallow) {
    rate = "1e-3";
    part.steps = kDeepSteps;
    if (!all)
      std::erase_if(part.bundles, [](const Bundle& row) {
        return std::ranges::find(kDeepRows, row.name) == std::end(kDeepRows);
      });
  }
  part.set = {fmt::format("model.layers={}", layers), "train.lr=" + rate};
}

}  // namespace

StudyFile study_of(const Choice& choice, const std::vector<Bundle>& own) {
  StudyFile study = sweep::read_study(sweep::studies_folder(), "zoo");
  Plan& mine = study.parts.emplace_back(study.parts.front());
  mine.name = "own";
  mine.title = "Your own";
  mine.bundles = own;
  keep_named(study, choice.only);
  std::vector<Plan> parts;
  for (const int32_t layers : choice.depths)
    for (Plan part : study.parts) {
      if (part.preset == "post") {
        deepen(part, layers, !choice.only.empty());
        if (choice.depths.size() > 1) {
          part.name += fmt::format("-{}", layers);
          part.title += fmt::format(", {} layers", layers);
        }
      } else if (layers != choice.depths.front()) {
        continue;
      }
      if (part.bundles.empty()) continue;
      part.seeds = choice.seeds;
      if (choice.steps > 0) part.steps = choice.steps;
      if (choice.warmup > 0) part.axes[0].values = {"0", std::to_string(choice.warmup)};
      std::erase_if(part.set, [](const std::string& set) { return set.starts_with("train.decay_end="); });
      const int32_t warmup = std::stoi(part.axes[0].values.back());
      part.set.push_back(fmt::format("train.decay_end={}", std::max(part.steps, warmup + 1)));
      part.set.insert(part.set.end(), choice.set.begin(), choice.set.end());
      part.take_bundles();
      parts.push_back(std::move(part));
    }
  study.parts = std::move(parts);
  return study;
}

std::vector<sweep::Bundle> own_placements() {
  std::vector<sweep::Bundle> all;
  for (const Placement placement : added_placements()) {
    const PlacementRow& row = row_of(placement);
    all.push_back({row.name,
                   row.label,
                   *row.source ? row.source : row.formula,
                   {std::string("model.placement=") + row.name}});
  }
  return all;
}

}  // namespace normscope::zoo

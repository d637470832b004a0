#include "addons/papers/app/reproduce/claim.h"

#include <algorithm>

namespace normscope::reproduce {
namespace {

void add_arms(const Claim& claim, const course::Measure& m, std::vector<Arm>& arms) {
  if (m.curve.empty()) {
    for (const std::string& other : {m.first, m.second})
      if (!other.empty()) add_arms(claim, *claim.language.measure(other), arms);
    return;
  }
  const Line* line = claim.line(m.curve);
  const bool score = line->y == "accuracy" || line->y == "uas" || line->y == "bleu";
  if ((line->of == Line::Of::Runs || line->of == Line::Of::Grid) && (score || is_loss(line->y)))
    arms.push_back({line, m.take == "at" ? std::optional(m.a) : std::nullopt});
}

}  // namespace

const char* to_string(Finding finding) {
  constexpr const char* kFindings[] = {"not run",           "reproduced",    "not at this scale",
                                       "contradicted here", "no system yet", "cannot be told here",
                                       "parts differ"};
  return kFindings[static_cast<size_t>(finding)];
}

const Line* Claim::line(std::string_view line_id) const {
  const auto it =
      std::find_if(lines.begin(), lines.end(), [&](const Line& one) { return one.id == line_id; });
  return it == lines.end() ? nullptr : &*it;
}

const Control* Claim::control(std::string_view run_id) const {
  const auto it =
      std::find_if(controls.begin(), controls.end(), [&](const Control& one) { return one.run == run_id; });
  return it == controls.end() ? nullptr : &*it;
}

bool is_loss(std::string_view y) {
  return y == "final_loss" || y == "final_excess" || y == "validation_loss" || y == "validation_bits";
}

std::vector<Arm> arms_of(const Claim& claim, const course::Measure& measure) {
  std::vector<Arm> arms;
  if (measure.take == "difference" || measure.take == "ratio") add_arms(claim, measure, arms);
  return arms;
}

experiments::Names numbers_of(const Claim& claim) {
  experiments::Names numbers;
  for (const Line& line : claim.lines) {
    const bool at_steps = line.of == Line::Of::Run && line.y != "loss" && line.y != "excess";
    if (at_steps || line.of == Line::Of::Profile || line.of == Line::Of::Shares || line.y == "own_shares")
      numbers.insert(experiments::kLayers);
    if (line.of == Line::Of::LeftOut) numbers.insert(experiments::kLeftOut);
    if (line.y == "bleu") numbers.insert(line.y);
  }
  return numbers;
}

Claim on_pairs(const Claim& claim) {
  Claim there = claim;
  if (claim.missing.empty()) return there;
  there.language.runs = std::move(there.pair_runs);
  there.pair_runs.clear();
  there.missing.clear();
  there.data = kOnPairs;
  return there;
}

}  // namespace normscope::reproduce

#include "addons/sweep/app/screen/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/words/words.h"
#include "training/io/text.h"
#include "training/spec/spec.h"

namespace normscope::sweep {
namespace {

std::string cells_words(int64_t count) { return tr("{count} cell | {count} cells", {{"count", count}}); }
std::string runs_words(int64_t count) { return tr("{count} run | {count} runs", {{"count", count}}); }

std::string seeds_words(const std::vector<size_t>& seeds) {
  std::vector<std::string> names;
  for (const size_t seed : seeds) names.push_back(std::to_string(seed));
  return tr("seed {names} | seeds {names}", {{"count", seeds.size()}, {"names", in_words(names, tr("and"))}});
}

}  // namespace

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string why_not(const Message& error) {
  const std::string why = words::spoken(without_where(error));
  const Field* field = find_field(where_of(error));
  return field ? words::spoken(field->label) + ": " + why : why;
}

namespace {

/// Says "The largest learning rate that learns: 0.0014 at warm-up 0, 0.014 at warm-up 200.", for
/// the lowest row and the highest. It is empty unless learning begins at the left in every row and ends within one.
std::string largest_that_learns(const Grid& grid) {
  const Plan& plan = grid.plan;
  if (plan.axes.size() < 2 || !is_numeric(plan.axes[0]) || plan.rows() < 2) return "";
  std::vector<size_t> counts;
  for (size_t row = 0; row < plan.rows(); ++row) {
    size_t learn = 0;
    for (size_t column = 0; column < plan.columns(); ++column) {
      const grid::Side side = side_of(grid.at(column, row));
      if (side == grid::Side::None || (side == grid::Side::Learns && column > learn)) return "";
      learn += side == grid::Side::Learns;
    }
    counts.push_back(learn);
  }
  if (counts.front() == counts.back() || std::min(counts.front(), counts.back()) == 0) return "";
  const auto part = [&](size_t row) {
    return tr("{value} at {axis} {where}", {{"value", plan.axes[0].said(counts[row] - 1)},
                                            {"axis", plan.axes[1].label()},
                                            {"where", plan.axes[1].said(row)}});
  };
  return tr(" The largest {axis} that learns: {first}, {last}.",
            {{"axis", plan.axes[0].label()}, {"first", part(0)}, {"last", part(plan.rows() - 1)}});
}

}  // namespace

std::string grid_sentence(const Grid& grid) {
  int64_t known = 0, learn = 0, disagree = 0;
  bool several = false;
  for (const Cell& cell : grid.cells) {
    if (side_of(cell) == grid::Side::None) continue;
    ++known;
    learn += side_of(cell) == grid::Side::Learns;
    disagree += cell.differs();
    several = several || cell.known > 1;
  }
  if (known == 0) return "";
  std::string text =
      grid.one_data() ? "" : capitalised(tr("cells of different data: their losses do not compare")) + ". ";
  text += several ? tr("At least half of the seeds learn in {learn} of {cells}",
                       {{"learn", learn}, {"cells", cells_words(known)}})
                  : tr("{learn} of {cells} learn", {{"learn", learn}, {"cells", cells_words(known)}});
  if (disagree > 0) text += tr("; seeds disagree in {cells}", {{"cells", disagree}});
  return text + "." + largest_that_learns(grid);
}

std::string cell_badge(const Cell& cell) {
  if (cell.failed()) return tr("cannot be trained");
  if (cell.known > 1)
    return tr("learns in {learn} of {all} seeds",
              {{"learn", cell.count(Verdict::Learns)}, {"all", cell.known}});
  return cell.words();
}

std::string cell_sentence(const Cell& cell) {
  if (!cell.refused.empty()) return why_not(cell.refused);
  if (cell.known == 0) return tr("Not trained yet.");
  std::vector<size_t> learn, others;
  for (size_t i = 0; i < cell.runs.size(); ++i)
    if (cell.runs[i]) (cell.runs[i]->verdict == Verdict::Learns ? learn : others).push_back(i + 1);
  if (cell.known == 1) {
    const RunNumbers& run = **std::ranges::find_if(cell.runs, [](const auto& r) { return r.has_value(); });
    if (cell.verdict == Verdict::Learns)
      return tr("It leaves the plateau at step {step}.", {{"step", cell.since()}});
    if (cell.verdict == Verdict::NotFinite) return tr("Not finite: {what}.", {{"what", run.what()}});
    if (cell.verdict == Verdict::Stuck) return tr("It never leaves the plateau.");
    if (cell.verdict == Verdict::Diverges) return tr("At the end it is worse than guessing.");
    return tr("Too few steps for a verdict.");
  }
  if (!learn.empty() && !others.empty()) {
    const std::string rest =
        tr("{seeds} does not | {seeds} do not", {{"count", others.size()}, {"seeds", seeds_words(others)}});
    if (learn.size() > 1)
      return tr("Luck decides: {seeds} learn, {others}.", {{"seeds", seeds_words(learn)}, {"others", rest}});
    return tr(
        "Luck decides: seed {seed} learns from step {step}, {others}.",
        {{"seed", learn.front()}, {"step", cell.runs[learn.front() - 1]->verdict.since}, {"others", rest}});
  }
  if (others.empty())
    return tr("Every seed learns, from step {step} in the median.", {{"step", cell.since()}});
  return tr("No seed learns.");
}

std::string predicted_sentence(const Cell& cell) {
  const theory::AtStart& at = cell.predicted;
  if (!at.objection.empty())
    return capitalised(tr("no prediction: {why}", {{"why", words::spoken(at.objection)}}));
  if (!std::isfinite(at.cosine)) return tr("Not trained yet.");
  return tr(
      "Before training, theory expects a cosine of {cosine} between two tokens, and at the "
      "bottom of the stack {gradient} times the gradient at its top.",
      {{"cosine", value_text(cell, Metric::PredictedCosine)},
       {"gradient", value_text(cell, Metric::PredictedGradient)}});
}

std::string region_sentence(const Grid& grid, const Brush& brush) {
  int64_t disagree = 0;
  int32_t fewest = 0;
  bool any = false;
  for (const Cell& cell : grid.cells) {
    if (!brush.holds(cell.column, cell.row)) continue;
    disagree += cell.differs();
    fewest = any ? std::min(fewest, cell.known) : cell.known;
    any = true;
  }
  if (fewest < 2) return tr("One seed cannot tell luck: ask for more.");
  return tr("The seeds disagree in {cells} of {all}.",
            {{"cells", disagree}, {"all", cells_words(static_cast<int64_t>(brush.cells()))}});
}

std::string extent_words(const Plan& plan) {
  return fmt::format("{}, {}", cells_words(static_cast<int64_t>(plan.columns() * plan.rows())),
                     runs_words(plan.runs()));
}

std::string progress_words(const SweepState& state, bool clock, double seconds) {
  const auto running = static_cast<int64_t>(state.under_way.size());
  if (!state.error.empty()) return words::spoken(state.error);
  switch (state.phase) {
    case Phase::Looking:
      return tr("looking for finished runs");
    case Phase::Training: {
      std::string text =
          tr("{running} running, {waiting} waiting",
             {{"running", running}, {"waiting", std::max<int64_t>(0, state.left() - running)}});
      if (clock && std::isfinite(state.seconds_left))
        text += tr(", {time} left", {{"time", duration_words(state.seconds_left)}});
      return text;
    }
    case Phase::Paused:
      return tr("paused, {runs} left", {{"runs", runs_words(state.left())}});
    case Phase::Stopped:
      return tr("stopped, {runs} left; what ran is kept", {{"runs", state.left()}});
    case Phase::Done:
      return tr("done");
    case Phase::Ready:
      break;
  }
  if (state.left() == 0) return tr("done");
  std::string text = tr("{runs} to train", {{"runs", runs_words(state.left())}});
  if (clock && std::isfinite(seconds)) text += tr(", about {time}", {{"time", duration_words(seconds)}});
  return text;
}

}  // namespace normscope::sweep

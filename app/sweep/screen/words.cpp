#include "app/sweep/screen/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "app/sweep/border.h"
#include "engine/core/in_words.h"
#include "training/experiments/study.h"

namespace normscope::sweep {
namespace {

std::string counted(int64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string seeds_words(const std::vector<size_t>& seeds) {
  std::vector<std::string> words;
  for (const size_t seed : seeds) words.push_back(std::to_string(seed));
  return (seeds.size() == 1 ? "seed " : "seeds ") + in_words(words, "and");
}

}  // namespace

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

namespace {

/// "The largest learning rate that learns: 0.0014 at warm-up 0, 0.014 at warm-up 200.", the lowest row and the highest;
/// empty unless what learns begins at the left in every row and ends within it in one.
std::string largest_that_learns(const Grid& grid) {
  const Plan& plan = grid.plan;
  if (plan.axes.size() < 2 || !is_numeric(plan.axes[0]) || plan.rows() < 2) return "";
  std::vector<size_t> counts;
  for (size_t row = 0; row < plan.rows(); ++row) {
    size_t learn = 0;
    for (size_t column = 0; column < plan.columns(); ++column) {
      const Side side = side_of(grid.at(column, row));
      if (side == Side::None || (side == Side::Learns && column > learn)) return "";
      learn += side == Side::Learns;
    }
    counts.push_back(learn);
  }
  if (counts.front() == counts.back() || std::min(counts.front(), counts.back()) == 0) return "";
  const auto part = [&](size_t row) {
    return fmt::format("{} at {} {}", plan.axes[0].values[counts[row] - 1], plan.axes[1].label(),
                       plan.axes[1].values[row]);
  };
  return fmt::format(" The largest {} that learns: {}, {}.", plan.axes[0].label(), part(0),
                     part(plan.rows() - 1));
}

}  // namespace

std::string grid_sentence(const Grid& grid) {
  int64_t known = 0, learn = 0, disagree = 0;
  bool several = false;
  for (const Cell& cell : grid.cells) {
    if (side_of(cell) == Side::None) continue;
    ++known;
    learn += side_of(cell) == Side::Learns;
    disagree += cell.sign == Sign::Disagree;
    several = several || cell.known > 1;
  }
  if (known == 0) return "";
  std::string text = grid.one_data() ? "" : capitalised(kDifferentData) + ". ";
  text += several ? fmt::format("At least half of the seeds learn in {} of {}", learn, counted(known, "cell"))
                  : fmt::format("{} of {} learn", learn, counted(known, "cell"));
  if (disagree > 0) text += fmt::format("; seeds disagree in {}", disagree);
  return text + "." + largest_that_learns(grid);
}

std::string cell_badge(const Cell& cell) {
  if (cell.sign == Sign::Failed) return "cannot be trained";
  if (cell.known > 1) return fmt::format("learns in {} of {} seeds", cell.count(Verdict::Learns), cell.known);
  return cell.words();
}

std::string cell_sentence(const Cell& cell) {
  if (!cell.refused.empty()) return cell.refused;
  if (cell.known == 0) return "Not trained yet.";
  std::vector<size_t> learn, others;
  for (size_t i = 0; i < cell.runs.size(); ++i)
    if (cell.runs[i]) (cell.runs[i]->verdict == Verdict::Learns ? learn : others).push_back(i + 1);
  if (cell.known == 1) {
    const Record& run =
        **std::find_if(cell.runs.begin(), cell.runs.end(), [](const auto& r) { return r.has_value(); });
    if (cell.sign == Sign::Learns) return fmt::format("It leaves the plateau at step {}.", run.since);
    if (cell.sign == Sign::NotFinite) return fmt::format("Not finite: {}.", run.what);
    if (cell.sign == Sign::Stuck) return "It never leaves the plateau.";
    if (cell.sign == Sign::Diverges) return "At the end it is worse than guessing.";
    return "Too few steps for a verdict.";
  }
  if (!learn.empty() && !others.empty()) {
    const std::string rest =
        fmt::format("{} {} not", seeds_words(others), others.size() == 1 ? "does" : "do");
    if (learn.size() > 1) return fmt::format("Luck decides: {} learn, {}.", seeds_words(learn), rest);
    return fmt::format("Luck decides: seed {} learns from step {}, {}.", learn.front(),
                       cell.runs[learn.front() - 1]->since, rest);
  }
  if (others.empty()) return fmt::format("Every seed learns, from step {} in the median.", cell.since());
  return "No seed learns.";
}

std::string region_sentence(const Grid& grid, const Brush& brush) {
  int64_t disagree = 0;
  int32_t fewest = 0;
  bool any = false;
  for (const Cell& cell : grid.cells) {
    if (!brush.holds(cell.column, cell.row)) continue;
    disagree += cell.sign == Sign::Disagree;
    fewest = any ? std::min(fewest, cell.known) : cell.known;
    any = true;
  }
  if (fewest < 2) return "One seed cannot tell luck: ask for more.";
  return fmt::format("The seeds disagree in {} of {}.", disagree,
                     counted(static_cast<int64_t>(brush.cells()), "cell"));
}

std::string extent_words(const Plan& plan) {
  return fmt::format("{}, {}", counted(static_cast<int64_t>(plan.columns() * plan.rows()), "cell"),
                     counted(plan.runs(), "run"));
}

std::string progress_words(const SweepState& state, bool clock) {
  const auto running = static_cast<int64_t>(state.under_way.size());
  if (!state.error.empty()) return state.error;
  switch (state.phase) {
    case Phase::Looking:
      return "looking for finished runs";
    case Phase::Training: {
      std::string text =
          fmt::format("{} running, {} waiting", running, std::max<int64_t>(0, state.left() - running));
      if (clock && std::isfinite(state.seconds_left))
        text += fmt::format(", {} left", experiments::duration_words(state.seconds_left));
      return text;
    }
    case Phase::Paused:
      return fmt::format("paused, {} left", counted(state.left(), "run"));
    case Phase::Stopped:
      return fmt::format("stopped, {} left; what ran is kept", state.left());
    case Phase::Done:
      return "done";
    case Phase::Ready:
      break;
  }
  return state.left() == 0 ? "done" : fmt::format("{} to train", counted(state.left(), "run"));
}

}  // namespace normscope::sweep

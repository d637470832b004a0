#include "app/course/map/river.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "app/ui/widgets.h"

namespace normscope::course {
namespace {

/// A row over its sum, `width` wide; empty where it has no sum.
std::vector<float> shares_of(const std::vector<double>& row, size_t entries, size_t width) {
  std::vector<double> known(width, 0);
  double sum = 0;
  for (size_t i = 0; i < std::min(entries, row.size()); ++i) {
    if (row[i] > 0) known[i] = row[i];
    sum += known[i];
  }
  if (!(sum > 0) || !std::isfinite(sum)) return {};
  std::vector<float> shares;
  for (double share : known) shares.push_back(static_cast<float>(share / sum));
  return shares;
}

/// How wide each column is beside the last, where the input has the same width in all of them; empty
/// where a state has no share of it.
std::vector<float> sizes_of(const std::vector<float>& shares, size_t width) {
  std::vector<float> sizes;
  for (size_t at = 0; at < shares.size(); at += width) {
    if (!(shares[at] > 0)) return {};
    sizes.push_back(shares[shares.size() - width] / shares[at]);
  }
  return sizes;
}

std::string percent(float share) { return fmt::format("{:.0f}", 100 * share); }

}  // namespace

void add_river(const experiments::ShareMap& map, plot::PlotSpec& plot, const Words& words, bool grows) {
  const size_t width = map.size() + 1;
  plot::River river;
  std::vector<float> shares(width, 0);
  shares[0] = 1;
  for (size_t i = 0; i < map.size(); ++i) {
    const std::vector<float> row = shares_of(map[i], i + 2, width);
    if (row.empty()) return;
    shares.insert(shares.end(), row.begin(), row.end());
  }
  const int branches = static_cast<int>(map.size());
  river.bands.push_back({words.tr("input"), {plot::Ink::Role::Neutral, 0, 1}});
  for (int branch = 1; branch <= branches; ++branch)
    river.bands.push_back(
        {words.tr("branch {number}", {{"number", branch}}), plot::Ink::depth(branch - 1, branches)});
  plot.sentence =
      words.tr("In the last state the newest branch has {newest} % of all shares, the input {input} %.",
               {{"input", percent(shares[shares.size() - width])}, {"newest", percent(shares.back())}});
  if (grows) {
    std::vector<float> sizes = sizes_of(shares, width);
    if (sizes.empty()) return;
    plot.sentence = words.tr("What a state's parts bring together is {times} times what the input brings.",
                             {{"times", ui::number(1 / sizes.front(), 3)}});
    river.sizes = plot::Column::of(std::move(sizes));
  }
  river.shares = plot::Column::of(std::move(shares));
  plot.river = std::move(river);
  plot.x.lo = -0.5;
  plot.x.hi = branches + 0.25;
  plot.x.integer = true;
  plot.x.label = words.tr("sub-layer");
  plot.y.label =
      words.tr(grows ? "variance of what each part brings" : "shares of the state, scaled to fill the river");
  plot.labels_inside = false;
  plot.pad_top = 12;
  plot.pad_bottom = 32;
}

}  // namespace normscope::course

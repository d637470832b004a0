#include "addons/compare/app/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "addons/compare/app/writers.h"
#include "app/panels/plot_cell.h"
#include "app/panels/plot_specs.h"
#include "app/plot/plot_axis.h"
#include "app/ui/numbers.h"
#include "app/view/glossary.h"
#include "engine/io/output_file.h"

namespace normscope::compare {
namespace {

/// The first step if the place is within kLoupeSteps of it, else the step before the place.
size_t first_column(const Track& track, const FirstPlace& place) {
  if (!place.parts) return 0;
  const auto at = std::ranges::lower_bound(track.steps, place.step);
  const auto index = static_cast<size_t>(at - track.steps.begin());
  return index < kLoupeSteps ? 0 : index - 1;
}

std::string prefix_of(const std::string& stack) {
  return stack == "encoder" ? "enc." : stack == "decoder" ? "dec." : "";
}

/// A matrix of the layer that both runs measure.
struct Row {
  std::string stat;
  const char* matrix;
  Track track;
  std::vector<Track> others;
};

/// The matrices in order of computation: attention, then feed-forward. `layer`: "dec.L06.".
std::vector<Row> rows_in(const Comparison& all, const Ruler& ruler, size_t run, const Opponents::Pair& pair,
                         const std::string& layer) {
  std::vector<view::Matrix> in_order(std::begin(view::kMatrices), std::end(view::kMatrices));
  std::rotate(in_order.begin(), in_order.begin() + 2, in_order.end());
  std::swap(in_order[in_order.size() - 2], in_order.back());
  std::vector<Row> rows;
  for (const view::Matrix& matrix : in_order) {
    Row row{fmt::format("{}{}.grad_norm", layer, matrix.path), matrix.label, {}, {}};
    row.track = stat_track(ruler, all.runs[run], *pair.one, row.stat);
    for (const SeedRecord* other : pair.others)
      if (other->history->find(row.stat) >= 0)
        row.others.push_back(stat_track(ruler, all.runs[all.baseline()], *other, row.stat));
    if (!row.track.empty() && !row.others.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

constexpr float kDecades = 4;  // range of the colours of the maps
constexpr size_t kColumns =
    320;  // of a map, at most; a column of several steps shows the ratio farthest from 1

plot::Column column(const std::vector<double>& values) {
  return plot::Column::of({values.begin(), values.end()});
}

std::vector<double> scaled(std::vector<double> values, bool wanted) {
  if (wanted)
    for (double& value : values) value = difference_scale(value);
  return values;
}

plot::Axis time_axis(const Comparison& all) {
  plot::Axis axis{.hi = 0};
  double low = std::numeric_limits<double>::infinity();
  for (const Loss& loss : all.losses)
    if (!loss.shown.empty()) {
      low = std::min(low, loss.shown.x.front());
      axis.hi = std::max(axis.hi, loss.shown.x.back());
    }
  const bool steps = all.choice.align == Alignment::Step;
  if (all.choice.range && std::isfinite(low)) axis.lo = steps ? low - 1 : low;
  if (axis.hi <= axis.lo) axis.hi = axis.lo + 1;
  axis.max_ticks = 7;
  axis.integer = steps;
  axis.label = tr(all.choice.align == Alignment::Step     ? "step"
                  : all.choice.align == Alignment::Tokens ? "tokens"
                                                          : "time of training");
  if (all.choice.align == Alignment::Time) axis.unit = tr("seconds");
  return axis;
}

plot::Series line_of(const Comparison& all, size_t run) {
  plot::Series line;
  line.id = std::string(1, all.letter(run));
  line.letter = line.id;
  line.ink = plot::Ink::run(all.colour(run));
  line.markers = plot::Markers::Sparse;
  return line;
}

plot::Band band_of(const Comparison& all, size_t run, const Spread& spread, bool scale) {
  return {.id = fmt::format("{}, range of its seeds", all.letter(run)),
          .x = column(spread.x),
          .lo = column(scaled(spread.low, scale)),
          .hi = column(scaled(spread.high, scale)),
          .ink = plot::Ink::run(all.colour(run))};
}

void difference_axis(plot::Axis& axis, double low, double high, bool scale, const std::string& unit) {
  axis.label =
      tr(scale ? "difference of the losses d as sign(d) log₁₀(1 + |d| / 0.05)" : "difference of the losses");
  axis.unit =
      scale ? tr("d in {unit}", {{"unit", words::spoken(nats_per(unit))}}) : words::spoken(nats_per(unit));
  const double air = std::max(0.05, 0.06 * (high - low));
  axis.lo = std::min(low, 0.0) - air;
  axis.hi = std::max(high, 0.0) + air;
  if (!scale) return;
  axis.ticks.push_back({0, "0"});
  // 0.1, 1 and 10; where the axis reaches further, as few powers as these.
  constexpr int kFirst = -1, kEachSide = 3, kPlain = 3;
  const double reach = std::max(-axis.lo, axis.hi) + std::log10(0.05);  // log10 of the largest difference
  const int stride = std::max(1, static_cast<int>(std::ceil((reach - kFirst) / kEachSide)));
  for (int power = kFirst + stride - 1; power <= std::max(reach, 1.0); power += stride) {
    const double tick = difference_scale(std::pow(10.0, power));
    const std::string words = power > kPlain ? ui::power_of_ten(power) : ui::number(std::pow(10.0, power), 1);
    axis.ticks.push_back({tick, "+" + words});
    axis.ticks.push_back({-tick, "−" + words});
  }
  std::erase_if(axis.ticks, [&](const plot::Tick& t) { return t.value < axis.lo || t.value > axis.hi; });
  axis.max_ticks = static_cast<int>(axis.ticks.size());
}

/// Notes in a plot, on the screen and in every file, that its losses are of different data.
void flag_data(plot::PlotSpec& plot, plot::Axis& axis, const Comparison& all) {
  const std::string words = data_sentence(all);
  if (words.empty()) return;
  std::vector<std::pair<size_t, std::string>> flags;
  for (size_t run = 0; run < all.runs.size(); ++run)
    if (const Difference& d = all.differences[run]; d.data != SameData::Same)
      flags.emplace_back(run, d.short_words());
  plot.note = fmt::format("{}; {}", fmt::join(together(all, flags), "; "), plot.note);
  axis.label += fmt::format(" ({})", words.substr(0, words.size() - 1));
}

/// Sorts the points of a map into columns of one width, and holds a point until the next one.
std::vector<float> binned(const RatioMap& map, const plot::Axis& axis, size_t columns) {
  std::vector<float> cells(static_cast<size_t>(map.layers) * columns,
                           std::numeric_limits<float>::quiet_NaN());
  const auto place = [&](double x) {
    // Column c holds points after its left edge up to its right one: step c + 1 if each step has one.
    const double at =
        std::ceil((x - axis.lo) * static_cast<double>(columns) / (axis.hi - axis.lo) - 1e-9) - 1;
    return static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(columns - 1)));
  };
  for (int32_t layer = 1; layer <= map.layers; ++layer) {
    float* row = &cells[static_cast<size_t>(layer - 1) * columns];
    size_t filled = columns;  // the last column with a value
    for (size_t i = 0; i < map.steps.size(); ++i) {
      const float value = map.at(layer, i);
      const size_t c = place(map.x[i]);
      if (filled < c) std::fill(row + filled + 1, row + c, row[filled]);
      if (!std::isfinite(value)) {
        filled = columns;  // nothing is held over a point that has no value
        continue;
      }
      if (!std::isfinite(row[c]) || std::fabs(value) > std::fabs(row[c])) row[c] = value;
      filled = c;
    }
  }
  return cells;
}

}  // namespace

Loupe loupe_of(const Comparison& all, size_t run) {
  Loupe loupe;
  const FirstPlace& place = all.places[run];
  if (run == all.baseline() || !place.lacks.empty()) return loupe;
  const Opponents found = opponents(all, run);
  const Opponents::Pair* pair = shown_pair(all, found, run);
  if (!pair) return loupe;
  const History& mine = *pair->one->history;
  const Ruler ruler = ruler_of(all.runs, all.choice);
  const std::string prefix = place.parts ? prefix_of(place.stack) : stack_of(mine);
  const int32_t layer = place.parts ? place.layer : layers_of(mine);
  std::vector<Row> rows = rows_in(all, ruler, run, *pair, fmt::format("{}L{:02}.", prefix, layer));
  if (rows.empty()) return loupe;
  // A thinned history keeps the extremes of each stat at different steps, so one track decides which steps are shown.
  const auto of_place =
      std::ranges::find_if(rows, [&](const Row& row) { return place.parts && row.stat == place.stat; });
  const Track& shown = of_place == rows.end() ? rows.front().track : of_place->track;
  const size_t begin = first_column(shown, place);
  const size_t end = std::min(begin + kLoupeSteps, shown.steps.size());
  loupe.steps.assign(shown.steps.begin() + static_cast<std::ptrdiff_t>(begin),
                     shown.steps.begin() + static_cast<std::ptrdiff_t>(end));
  loupe.layer = layer;
  loupe.stack = stack_word(prefix);
  for (const Row& row : rows) {
    loupe.matrices.push_back(row.matrix);
    for (size_t i = begin; i < end; ++i) {
      const double value = ruler.find(row.track, shown.x[i]).value_or(kUnknown);
      loupe.ratios.push_back(ratio_to_range(ruler, value, row.others, shown.x[i]).value_or(kUnknown));
    }
  }
  return loupe;
}

plot::PlotSpec loupe_plot(const Comparison& all, size_t run, const Loupe& loupe) {
  plot::PlotSpec plot;
  if (loupe.layer == 0 || loupe.steps.empty()) return plot;
  const char letter = all.letter(run);
  plot.id = fmt::format("compare-place-{}", letter);
  plot.title = tr("Where they part first");
  plot.note = tr("{layer} of {run}", {{"layer", layer_words(loupe.stack, loupe.layer)}, {"run", letter}});
  plot.sentence = place_sentence(all, run);
  plot.x.label = tr("step");
  plot.x.lo = loupe.steps.front() - 0.5;
  plot.x.hi = plot.x.lo + static_cast<double>(loupe.steps.size());
  for (size_t i = 0; i < loupe.steps.size(); ++i)
    plot.x.ticks.push_back({plot.x.lo + 0.5 + static_cast<double>(i), std::to_string(loupe.steps[i])});
  plot.x.max_ticks = static_cast<int>(kLoupeSteps);
  const size_t rows = loupe.matrices.size();
  plot.y.label = tr("matrix");
  plot.y.lo = 0.5;
  plot.y.hi = static_cast<double>(rows) + 0.5;
  // The first matrix stands on top.
  for (size_t row = 0; row < rows; ++row)
    plot.y.ticks.push_back({static_cast<double>(rows - row), loupe.matrices[row]});
  plot.y.max_ticks = static_cast<int>(rows);
  plot::HeatMap heat{.rows = static_cast<int>(rows), .columns = static_cast<int>(loupe.steps.size())};
  std::vector<float> cells;
  for (const double ratio : loupe.ratios) cells.push_back(static_cast<float>(std::log10(ratio)));
  heat.cells = plot::Column::of(std::move(cells));
  heat.signed_data = true;
  heat.stretched = true;
  heat.full = 4;
  heat.label = tr("colour: log₁₀ of the ratio, blue smaller, red larger, full at ±4");
  plot.heat = std::move(heat);
  return plot;
}

double difference_scale(double nats) { return std::copysign(std::log10(1 + std::fabs(nats) / 0.05), nats); }

plot::PlotSpec loss_plot(const Comparison& all) {
  plot::PlotSpec plot{.id = "compare-loss", .title = tr("Loss")};
  plot.note = tr("{unit}, lower is better; bold: mean of up to {steps} steps",
                 {{"unit", words::spoken(nats_per(all.unit))}, {"steps", kLossWindow}});
  plot.sentence = loss_sentence(all);
  plot.x = time_axis(all);
  plot.y.label = tr("loss");
  plot.y.unit = words::spoken(nats_per(all.unit));
  plot::Extent range, ends;
  std::set<std::string> seeds;  // whose lines are drawn
  std::vector<plot::Series> means;
  for (size_t run = 0; run < all.runs.size(); ++run) {
    const Loss& loss = all.losses[run];
    if (loss.shown.empty()) continue;
    range.add(loss.shown.y);
    ends.add(loss.means.back());
    seeds.insert(seed_words(all.runs[run].seeds.front()));
    if (!loss.seeds.x.empty()) plot.bands.push_back(band_of(all, run, loss.seeds, false));
    plot::Series line = line_of(all, run);
    line.name = words::spoken(all.runs[run].name);
    // The line and its numbers are of one seed; the table at the end has the mean of all seeds.
    line.value = nats_words(loss.means.back());
    line.decimals = 2;
    line.x = column(loss.shown.x);
    line.y = column(loss.means);
    plot.series.push_back(panels::single_steps(line, column(loss.shown.y)));
    means.push_back(std::move(line));
  }
  for (plot::Series& mean : means) plot.series.push_back(std::move(mean));
  if (!plot.bands.empty())
    plot.note +=
        tr("; band: range of the seeds, line: {seed}",
           {{"seed", seeds.size() > 1 || seeds.begin()->empty() ? tr("the first") : *seeds.begin()}});
  if (!range.empty()) {
    plot.y.hi = range.high;
    if (std::isfinite(all.unigram)) {
      plot.y.hi = panels::top_of_losses(all.unigram, range.high, ends.empty() ? 0 : ends.high);
      range.low = std::min(range.low, all.unigram);
    }
    plot.y.lo = range.low - 0.08 * (plot.y.hi - range.low);
    if (range.low >= 0) plot.y.lo = std::max(0.0, plot.y.lo);
    plot.y.hi += 0.04 * (plot.y.hi - plot.y.lo);
  }
  if (std::isfinite(all.unigram)) {
    plot::RefLine entropy{.value = all.unigram};
    const bool one =
        std::ranges::none_of(all.differences, [](const Difference& d) { return d.data == SameData::Other; });
    entropy.label = tr(one ? "{frequencies} {loss}" : "{frequencies} of {run} {loss}",
                       {{"frequencies", words::spoken(frequencies_of(all.level_unit))},
                        {"run", all.letter(all.baseline())},
                        {"loss", ui::decimals(all.unigram, 2)}});
    entropy.help = view::meaning("unigram");
    plot.lines.push_back(std::move(entropy));
  }
  flag_data(plot, plot.y, all);
  return plot;
}

plot::PlotSpec difference_plot(const Comparison& all, bool scale) {
  plot::PlotSpec plot{.id = "compare-difference",
                      .title = tr("Difference to {run}", {{"run", all.letter(all.baseline())}})};
  plot.note = tr("mean over {steps} steps; band: range of the seeds", {{"steps", kSmooth}});
  if (scale) plot.note += tr("; even near 0, logarithmic outside");
  plot.sentence = difference_sentence(all);
  plot.x = time_axis(all);
  plot::Extent range;
  for (size_t run = 0; run < all.runs.size(); ++run) {
    const Difference& d = all.differences[run];
    const bool itself = run == all.baseline();
    if (d.smooth.x.size() > 1 && (itself || d.at_end.size() > 1))
      plot.bands.push_back(band_of(all, run, d.smooth, scale));
    for (const auto& values : {d.smooth.low, d.smooth.high}) range.add(scaled(values, scale));
    plot::Series line = line_of(all, run);
    if (itself) {
      line.name = d.at_end.empty() ? tr("baseline") : tr("its {count} seeds", {{"count", d.at_end.size()}});
      line.x = plot::Column::of({static_cast<float>(plot.x.lo), static_cast<float>(plot.x.hi)});
      line.y = plot::Column::of({0, 0});
      line.markers = plot::Markers::None;
      line.end_marker = false;
    } else {
      if (d.smooth.x.empty()) continue;
      line.name = d.short_words();
      line.value = signed_decimals(d.smooth.mean.back());
      line.x = column(d.smooth.x);
      line.y = column(scaled(d.smooth.mean, scale));
    }
    plot.series.push_back(std::move(line));
  }
  if (range.empty()) range = {-0.1, 0.1};
  difference_axis(plot.y, range.low, range.high, scale, all.unit);
  flag_data(plot, plot.y, all);
  return plot;
}

plot::PlotSpec ratio_plot(const Comparison& all, size_t run) {
  const RatioMap& map = all.maps[run];
  plot::PlotSpec plot;
  const char letter = all.letter(run), base = all.letter(all.baseline());
  plot.id = fmt::format("compare-{}-{}", panels::info(all.choice.metric).id, letter);
  const std::string what = metric_words(all.choice);
  plot.title = tr("{metric}: {run}'s over {base}'s", {{"metric", what}, {"run", letter}, {"base", base}});
  plot.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(plot.title[0])));
  plot.note = map.against == Against::SameSeed
                  ? tr("same seed")
                  : tr("over the geometric mean {seeds}", {{"seeds", seeds_of_baseline(all)}});
  if (const std::string words = data_words(all, run); !words.empty()) plot.note = words + "; " + plot.note;
  plot.sentence = map_sentence(all, run);
  plot.x = time_axis(all);
  plot.y.label = tr("layer");
  plot.y.lo = 0.5;
  plot.y.hi = map.layers + 0.5;
  plot::HeatMap heat{.rows = map.layers};
  const bool steps = all.choice.align == Alignment::Step;
  const size_t wanted = steps ? static_cast<size_t>(std::ceil(plot.x.hi - plot.x.lo)) : map.steps.size();
  heat.columns = static_cast<int>(std::clamp<size_t>(wanted, 1, kColumns));
  heat.cells = plot::Column::of(binned(map, plot.x, static_cast<size_t>(heat.columns)));
  heat.row_first = "1";
  heat.row_last = std::to_string(map.layers);
  heat.signed_data = true;
  heat.stretched = true;
  heat.upward = true;
  heat.full = kDecades;
  heat.label = tr("colour: log₁₀ of the ratio, blue smaller, red larger, full at ±{decades}",
                  {{"decades", ui::significant(kDecades, 6)}});
  plot.heat = std::move(heat);
  plot.tile = all.colour(run);
  if (const FirstPlace& place = all.places[run]; place.parts && place.stack != "encoder") {
    plot.series.push_back({.id = fmt::format("first place, {}", place.stat),
                           .x = plot::Column::of({static_cast<float>(place.x)}),
                           .y = plot::Column::of({static_cast<float>(place.layer)}),
                           .marker = ui::Marker::Circle,
                           .end_label = false,
                           .ring = true});
  }
  return plot;
}

plot::PlotSpec end_plot(const Comparison& all) {
  plot::PlotSpec plot{.id = "compare-end",
                      .title = tr("At the end"),
                      .note = window_words(all),
                      .sentence = difference_sentence(all)};
  plot.y.lo = 0.4;
  plot.y.hi = static_cast<double>(all.rows.size()) + 0.6;
  plot.y.label = tr("run");
  plot.labels_inside = false;
  plot::Extent range;
  for (size_t i = 0; i < all.rows.size(); ++i) {
    const EndRow& row = all.rows[i];
    const double level = static_cast<double>(all.rows.size() - i);
    plot.y.ticks.push_back({level, std::string(1, all.letter(row.run))});
    std::vector<double> ends = scaled(all.differences[row.run].at_end, true);
    if (ends.empty() && row.run == all.baseline()) ends.push_back(0);
    std::erase_if(ends, [](double end) { return !std::isfinite(end); });
    std::ranges::sort(ends);
    if (ends.empty()) continue;
    range.add(ends);
    plot::Series marks = line_of(all, row.run);
    marks.value = loss_words(row);
    marks.name = row.verdict();
    marks.markers = plot::Markers::All;
    marks.x = column(ends);
    marks.y = plot::Column::of(std::vector<float>(ends.size(), static_cast<float>(level)));
    plot.series.push_back(std::move(marks));
  }
  plot.y.max_ticks = static_cast<int>(plot.y.ticks.size());
  if (range.empty()) range = {-0.1, 0.1};
  const Difference& own = all.differences[all.baseline()];
  if (std::isfinite(own.band_low)) {
    plot::Band band{.id = fmt::format("{}'s own seeds", all.letter(all.baseline())),
                    .x = column(scaled({own.band_low, own.band_high}, true)),
                    .ink = plot::Ink::run(all.colour(all.baseline()))};
    band.lo = plot::Column::of({static_cast<float>(plot.y.lo), static_cast<float>(plot.y.lo)});
    band.hi = plot::Column::of({static_cast<float>(plot.y.hi), static_cast<float>(plot.y.hi)});
    plot.bands.push_back(std::move(band));
  }
  difference_axis(plot.x, range.low, range.high, true, all.unit);
  flag_data(plot, plot.x, all);
  return plot;
}

std::vector<Figure> figures_of(const Comparison& all) {
  std::vector<Figure> figures;
  const auto add = [&](std::string name, plot::PlotSpec plot, float height, std::string csv) {
    figures.push_back({std::move(name), std::move(plot), {800, height}, std::move(csv)});
  };
  plot::PlotSpec loss = loss_plot(all);
  std::string numbers = plot::to_csv(loss);
  add("loss", std::move(loss), 300, std::move(numbers));
  add("difference", difference_plot(all), 280, plot::to_csv(difference_plot(all, false)));
  for (size_t run = 0; run < all.runs.size(); ++run)
    if (run != all.baseline() && all.maps[run].lacks.empty())
      add(fmt::format("{}-{}", panels::info(all.choice.metric).id, all.letter(run)), ratio_plot(all, run),
          190, map_csv(all, run));
  add("end", end_plot(all), 150 + 34 * static_cast<float>(all.rows.size()), end_csv(all));
  return figures;
}

void write_figure(const Figure& figure, view::PlotFormat format, const std::string& path) {
  if (format == view::PlotFormat::Csv) return write_file(path, figure.csv, "compare");
  panels::write_plot(path, figure.plot, format, false, figure.size);
}

std::string stacked_svg(const std::vector<Figure>& figures) {
  const auto below_each_other = [&](ui::Painter& p, const ui::Theme& t) {
    ui::Vec size;
    for (const Figure& figure : figures) {
      plot::draw_still(p, t, figure.plot, {0, size.y, figure.size.width, figure.size.height});
      size = {std::max(size.x, figure.size.width), size.y + figure.size.height};
    }
    return size;
  };
  return ui::to_svg(tr("Comparison"), below_each_other, ui::theme(false));
}

}  // namespace normscope::compare

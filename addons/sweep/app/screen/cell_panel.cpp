// The right column shows the cell under the mouse with its curves and wiring, and the brushed region.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "addons/sweep/app/screen/sweep_screen.h"
#include "addons/sweep/app/screen/words.h"
#include "app/ui/widgets.h"
#include "app/view/wiring_glyph.h"
#include "app/words/words.h"
#include "training/data/task.h"
#include "training/io/text.h"

namespace normscope::sweep {

using namespace ui;

namespace {

constexpr size_t kMostGrey = 100;  ///< the most curves of other cells

}  // namespace

/// Draws the seeds of one cell in ink, and behind them in grey the first seeds of other cells that read its
/// data.
plot::PlotSpec SweepScreen::curves_of(const Cell& cell) {
  plot::PlotSpec spec;
  spec.id = "sweep-cell";
  spec.title = grid_->text_of(cell);
  spec.x.label = tr("step");
  spec.x.integer = true;
  spec.x.hi = base_.train.steps;
  spec.y.label = tr("loss");
  spec.y.unit = tr("nats");
  double high = 1, low = std::numeric_limits<double>::infinity();
  const auto add = [&](const RunNumbers& run, bool own, size_t seed) {
    if (run.curve.empty()) return;
    plot::Series line;
    line.id = fmt::format("{}, seed {}", own ? "cell" : "other", seed);
    line.y = plot::Column::of(std::vector<float>(run.curve.begin(), run.curve.end()));
    line.x0 = (run.stride + 1) / 2.0;
    line.dx = run.stride;
    line.ink = {own ? plot::Ink::Role::Ink : plot::Ink::Role::Ink3, 0, 1};
    line.alpha = own ? 1 : 0.25f;
    line.width = own ? line::depth : 1;
    line.end_label = line.end_marker = own;
    if (own) {
      line.name = tr("seed {seed}##curves", {{"seed", seed}});
      line.value = words::with_decimal(fixed(run.loss, 2));
    }
    spec.x.hi = std::max(spec.x.hi, static_cast<double>(run.steps));
    for (const double loss : run.curve) {
      if (!std::isfinite(loss)) continue;
      low = std::min(low, loss);
      if (own) high = std::max(high, loss);
    }
    spec.series.push_back(std::move(line));
  };
  for (const Cell& other : grid_->cells)
    if (spec.series.size() < kMostGrey && !other.runs.empty() && other.runs[0] && &other != &cell &&
        other.data == cell.data)
      add(*other.runs[0], false, 1);
  for (size_t i = 0; i < cell.runs.size(); ++i)
    if (cell.runs[i]) add(*cell.runs[i], true, i + 1);
  if (std::isfinite(cell.level)) {
    plot::RefLine level;
    level.value = cell.level;
    level.short_label = words::spoken(frequencies_of(unit_of(grid_->data[cell.data])));
    level.label = fmt::format("{} {}", level.short_label, words::with_decimal(fixed(cell.level, 2)));
    spec.lines.push_back(level);
    high = std::min(std::max(high, cell.level * 1.05), cell.level * 1.6);
  }
  spec.y.lo = std::isfinite(low) ? std::max(0.0, low - 0.08 * (high - low)) : 0;
  spec.y.hi = high;
  spec.pad_right = 96;
  spec.labels_inside = false;
  return spec;
}

void SweepScreen::draw_curves(Ui& ui, const Rect& rect, const Cell& cell) {
  plot::PlotSpec spec = curves_of(cell);
  spec.pad_right = std::max(spec.pad_right, plot::needed_pad_right(ui, spec, rect.w));
  plot::draw_plot(
      ui, "sweep/curves", rect, spec, curve_view_,
      tr("Training loss of this cell's seeds; grey: one seed of every other cell with its data."));
}

void SweepScreen::draw_cell_panel(Ui& ui, const Rect& rect) {
  const std::optional<Place> place = shown_cell();
  if (!place) {
    Rect rest = panel(ui, rect, {tr("Cell"), "", "", 0, false});
    const std::string& text =
        tr("Point at a cell, or choose one with the arrow keys: its curves stand here.");
    ui.mark("sweep/cell", rest, text, tr("The cell under the hand."));
    ui.paint().text_wrapped(rest, {Face::Sans, type::body}, ui.theme().ink2, text, 18);
    return;
  }
  const Cell& cell = grid_->at(place->column, place->row);
  const std::string title = capitalised(grid_->text_of(cell));
  const bool fits = ui.paint().text_width({Face::Bold, type::title}, title) < rect.w - 2 * space::pad;
  Rect rest = panel(ui, rect, {fits ? title : tr("Cell"), "", "", 0, false});
  ui.mark("sweep/cell", rest, title, tr("The cell under the hand, or the one that was pinned."));
  const RunSpec* spec = spec_at(*place);
  Rect buttons = rest.take_bottom(34, 8);
  Rect head = rest.take_top(48, 6);
  if (spec) view::draw_wiring_glyph(ui, {head.right() - 82, head.y - 6}, spec->model, ui.theme().ink2);
  head.take_right(96);
  badge(ui, {head.x, head.y}, cell_badge(cell),
        cell.verdict == Verdict::Stuck ? BadgeKind::Solid : BadgeKind::Outline);
  const Rect words{rest.x, head.y + 26, rest.w - 96, 36};
  rest.take_top(12);
  const TextStyle body{Face::Sans, type::body};
  const std::string sentence = is_predicted(metric_) ? predicted_sentence(cell) : cell_sentence(cell);
  ui.mark("sweep/cell/sentence", words, sentence, tr("Why this cell got its verdict."));
  // Why a cell cannot be trained, or what is predicted of it, takes room from the curves.
  if (cell.failed() || is_predicted(metric_)) {
    const float height = std::min(rest.h, ui.paint().wrapped_height(rest.w, body, sentence, 17));
    ui.paint().text_wrapped(rest.take_top(height, 10), body, ui.theme().ink2, sentence, 17);
  } else if (ui.paint().wrapped_height(words.w, body, sentence, 17) <= words.h) {
    ui.paint().text_wrapped(words, body, ui.theme().ink2, sentence, 17);
  }
  if (cell.known > 0 && !cell.failed() && rest.h > 90) draw_curves(ui, rest, cell);
  ButtonOptions primary;
  primary.primary = true;
  primary.enabled = spec != nullptr;
  if (button(ui, "sweep/open", buttons.take_left(std::min(204.f, buttons.w - 60), 10),
             tr("Open as run D in the Lab"),
             tr("Trains this cell as run D from step 0 (click on the cell, or Enter)."), primary))
    open_cell(*place);
}

void SweepScreen::draw_region_rows(Ui& ui, Rect rest) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  std::vector<const Cell*> cells;
  for (const Cell& cell : grid_->cells)
    if (brush_->holds(cell.column, cell.row)) cells.push_back(&cell);
  // Cells whose seeds disagree come first, because they call for more seeds.
  std::ranges::stable_sort(cells, [](const Cell* a, const Cell* b) { return a->differs() > b->differs(); });
  const TextStyle mono{Face::Mono, type::tick}, body{Face::Sans, type::body}, small{Face::Sans, type::tick};
  const float seeds_w = std::min(150.f, rest.w / 2);
  const size_t axes = plan_.axes.size();
  const float column = (rest.w - seeds_w) / static_cast<float>(axes);
  Rect heads = rest.take_top(18);
  for (size_t i = 0; i < axes; ++i)
    p.text_in(heads.take_left(column), small, t.ink3, p.fit(small, plan_.axes[i].label(), column - 8));
  p.text_in(heads, small, t.ink3, tr("its seeds"));
  for (const Cell* cell : cells) {
    if (rest.h < 24) return;
    Rect row = rest.take_top(24);
    p.hairline({row.x, row.y}, {row.right(), row.y}, t.border);
    Rect seeds = row.take_right(seeds_w);
    for (size_t i = 0; i < axes; ++i) {
      const std::string value = plan_.axes[i].said(i == 0 ? cell->column : cell->row);
      p.text_in(row.take_left(column), mono, t.ink, p.fit(mono, value, column - 8));
    }
    Rect strip = seeds.take_left(std::min(66.f, 18.f * static_cast<float>(cell->runs.size())), 8);
    picture().paint_seeds(ui.paint(), ui.theme(), strip.inset(0, 6), *cell);
    const std::string words = cell->words();
    if (p.text_width(body, words) < seeds.w) p.text_in(seeds, body, t.ink2, words);
  }
}

void SweepScreen::draw_region(Ui& ui, const Rect& rect) {
  if (!brush_) {
    Rect rest = panel(ui, rect, {tr("Brushed region"), "", "", 0, false});
    const std::string& text = tr("Drag over the grid, or Shift and the arrow keys: a region for more seeds.");
    ui.mark("sweep/region", rest, text, tr("The cells that were brushed."));
    ui.paint().text_wrapped(rest, {Face::Sans, type::body}, ui.theme().ink2, text, 18);
    return;
  }
  Rect rest = panel(ui, rect,
                    {tr("Brushed region"), tr("{count} cell | {count} cells", {{"count", brush_->cells()}}),
                     region_sentence(*grid_, *brush_), 0, false});
  ui.mark("sweep/region", rest, region_sentence(*grid_, *brush_), tr("The cells that were brushed."));
  Rect buttons = rest.take_bottom(28, 8);
  Rect row = rest.take_top(26, 8);
  double seeds = seeds_in(plan_, *brush_);
  const FieldOptions many{.lo = 1, .hi = 20, .step = 1, .integer = true};
  const Brush there = *brush_;
  if (field(ui, "sweep/region/seeds", row.take_left(170, 10).inset(0, 1), tr("seeds in each cell"), seeds,
            tr("At least this many seeds in every cell of the region (+ adds one)."), many) == Change::Done)
    change(with_seeds(plan_, there, static_cast<int32_t>(seeds)));
  const std::string left =
      tr("{runs} runs left", {{"runs", static_cast<int64_t>(runs_.size()) - grid_->known}});
  if (ui.paint().text_width({Face::Sans, type::body}, left) < row.w)
    ui.paint().text_in(row, {Face::Sans, type::body}, ui.theme().ink2, left);
  if (brush_ && brush_->columns().last < grid_->plan.columns() && brush_->rows().last < grid_->plan.rows())
    draw_region_rows(ui, rest);
  if (button(ui, "sweep/region/narrow", buttons.take_left(184, 8), tr("Narrow the axes to this"),
             tr("The axes keep only these values."))) {
    change(narrowed(plan_, there));
    brush_.reset();
  }
  const std::string& clear = tr("Clear");
  const float wide = std::max(70.f, ui.paint().text_width({Face::Bold, type::title}, clear) + 20);
  if (button(ui, "sweep/region/clear", buttons.take_left(wide), clear,
             tr("No region is chosen any more (Escape).")))
    brush_.reset();
}

void SweepScreen::draw_right(Ui& ui, Rect rect) {
  if (size_ != Size::Compact) {
    const float lower = size_ == Size::Full ? 0.36f : 0.4f;
    const Rect below = rect.take_bottom(rect.h * lower, space::gap);
    draw_cell_panel(ui, rect);
    return draw_region(ui, below);
  }
  const std::vector<words::Label> labels{words::label("Cell"), words::label("Brushed region")};
  const Rect tabs = rect.take_top(26, 6);
  segmented(ui, "sweep/right", {tabs.x, tabs.y + 1, std::min(tabs.w, segmented_width(ui, labels)), 24},
            labels, right_tab_, tr("The cell under the hand, or the brushed region."));
  if (right_tab_ == 0)
    draw_cell_panel(ui, rect);
  else
    draw_region(ui, rect);
}

}  // namespace normscope::sweep

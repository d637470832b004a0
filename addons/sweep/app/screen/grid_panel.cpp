// The grid panel has the sentence, the grid with its profiles or the line plot, and the key; grid_picture.h draws the
// grid. On the grid a user chooses a cell, or a region.
#include <imgui.h>

#include <algorithm>

#include "addons/sweep/app/screen/sweep_screen.h"
#include "addons/sweep/app/sweep_writers.h"
#include "app/plot/plot_axis.h"
#include "app/ui/widgets.h"

namespace normscope::sweep {

using namespace ui;

GridPicture SweepScreen::picture() const {
  return {*grid_, metric_, scale_, key_, state_->under_way, tiles_, shown_cell()};
}

void SweepScreen::draw_grid_panel(Ui& ui, const Rect& rect) {
  const bool compact = size_ == Size::Compact;
  const std::string& title = info(metric_).title();
  PanelOptions options{.title = capitalised(title.size() < 40 ? title : info(metric_).name)};
  options.note =
      metric_ == Metric::Loss ? loss_note(*grid_) : tr("{steps} steps", {{"steps", base_.train.steps}});
  Rect rest = panel(ui, rect, options);
  const Rect sentence = rest.take_top(space::sentence_row);
  const std::string words = grid_sentence(*grid_);
  const TextStyle body{Face::Sans, type::body};
  ui.paint().text_in(sentence.moved(0, -7), body, ui.theme().ink2,
                     fitting(ui.paint(), body, sentence.w, {words, words.substr(0, words.find(". ") + 1)}));
  ui.mark("sweep/sentence", sentence, words, tr("What the grid says, computed from its cells."));
  const Rect foot = rest.take_bottom(40, 4);
  if (plan_.axes.size() < 2) {
    draw_key(ui, foot);
    return draw_line_plot(ui, rest);
  }
  Rect above{}, beside{};
  if (!compact) above = rest.take_top(88);
  rest.take_top(24);
  rest.take_left(64);
  if (!compact) beside = rest.take_right(84, 8);
  rest.take_bottom(42);
  const GridLayout at = fitted(rest, plan_.columns(), plan_.rows());
  draw_key(ui, {foot.x, std::min(foot.y, at.area.bottom() + 56), foot.w, foot.h});
  hold_grid(ui, at);
  picture().paint(ui.paint(), ui.theme(), at);
  draw_brush(ui, at);
  if (!compact) draw_profiles(ui, at, above, beside);
}

namespace {

/// Joins neighbouring cells that have a value, and leaves a gap where one has none.
void draw_profile(Painter& p, const std::vector<std::optional<Vec>>& points, Colour colour, bool lit) {
  const std::optional<Vec>* before = nullptr;
  for (const auto& point : points) {
    if (before && *before && point) p.line(**before, *point, colour, lit ? 2.2f : 1.2f);
    if (lit && point) p.circle(*point, 3, colour);
    before = &point;
  }
}

/// The points of a line and the range that they need.
struct Points : plot::Extent {
  std::vector<float> x, y;
  void add(size_t column, double value) {
    x.push_back(static_cast<float>(column));
    y.push_back(static_cast<float>(value));
    Extent::add(value);
  }
};

plot::Axis across(const Axis& axis) {
  plot::Axis x;
  const size_t count = axis.values.size();
  x.lo = -0.5;
  x.hi = static_cast<double>(count) - 0.5;
  x.label = axis.title();
  x.integer = true;
  const size_t every = std::max<size_t>(1, count / 6);
  for (size_t i = 0; i < count; i += every) x.ticks.push_back({static_cast<double>(i), axis.said(i)});
  return x;
}

plot::Axis up(Metric metric, const Points& points) {
  plot::Axis y;
  const bool log = info(metric).log, known = !points.x.empty();
  y.scale = log ? plot::AxisScale::Log : plot::AxisScale::Linear;
  y.label = info(metric).title();
  y.unit = info(metric).unit;
  const double low = known ? points.low : 0.1, high = known ? points.high : 1;
  const double room = std::max(0.1, 0.15 * (high - low));
  y.lo = log ? low / 2 : low - room;
  y.hi = log ? high * 2 : high + room;
  return y;
}

/// Covers the columns of a region over the whole height of the plot.
plot::Band band_of(const Span& columns, const plot::Axis& y) {
  plot::Band band{.id = "region"};
  const auto low = static_cast<float>(y.lo), high = static_cast<float>(y.hi);
  band.x =
      plot::Column::of({static_cast<float>(columns.first) - 0.5f, static_cast<float>(columns.last) + 0.5f});
  band.lo = plot::Column::of({low, low});
  band.hi = plot::Column::of({high, high});
  band.ink = {plot::Ink::Role::Ink2, 0, 1};
  band.theory = true;  // draws the paler of the two kinds of band
  return band;
}

plot::Series series_of(std::string id, Points points) {
  return {.id = std::move(id),
          .x = plot::Column::of(std::move(points.x)),
          .y = plot::Column::of(std::move(points.y)),
          .end_label = false,
          .end_marker = false};
}

}  // namespace

/// Labels the ends of the profiles, and the cell whose profiles are dark.
void SweepScreen::draw_scale_words(Ui& ui, const GridLayout& at, const Rect& top) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const TextStyle mono{Face::Mono, type::tick}, small{Face::Sans, type::tick};
  const auto words = [&](double end) {
    if (!std::isfinite(end)) return std::string();
    return info(metric_).log ? number_text(end, metric_) : words::with_decimal(fixed(end, 2));
  };
  p.text({top.x - 8, top.y + 8}, mono, t.ink3, words(scale_.high), Align::Right);
  p.text({top.x - 8, top.bottom() + 2}, mono, t.ink3, words(scale_.low), Align::Right);
  const float right = top.right() + 12;
  const std::optional<Place> lit = shown_cell();
  if (!lit) {
    p.text({right, top.y + 10}, small, t.ink3, tr("one line a row"));
    return;
  }
  const TextStyle bold{Face::Bold, type::tick};
  const std::string value = plan_.axes[1].said(lit->row);
  const std::string row = plan_.axes[1].label() + " " + value;
  p.text({right, top.y + 10}, bold, t.ink, p.text_width(bold, row) <= 96 ? row : value);
  p.text({right, top.y + 25}, small, t.ink3, tr("other rows"));
  const std::string column = plan_.axes[0].said(lit->column);
  p.text({right, at.area.bottom() + 16}, bold, t.ink, column);
}

void SweepScreen::draw_profiles(Ui& ui, const GridLayout& at, const Rect& above, const Rect& beside) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const std::optional<Place> lit = shown_cell();
  const Rect top{at.area.x, above.y + 6, at.area.w, above.h - 14},
      side{at.area.right() + 14, at.area.y, beside.w - 24, at.area.h};
  const auto share = [&](size_t column, size_t row) {
    return static_cast<float>(scale_.colour(value_of(grid_->at(column, row), metric_)));
  };
  ui.mark("sweep/profiles/rows", top, plan_.axes[1].label(),
          tr("The metric along every row; higher is better where colours are dark."));
  ui.mark("sweep/profiles/columns", side, plan_.axes[0].label(), tr("The metric along every column."));
  draw_scale_words(ui, at, top);
  p.hairline({top.x, top.bottom()}, {top.right(), top.bottom()}, t.grid);
  p.hairline({side.x, side.y}, {side.x, side.bottom()}, t.grid);
  for (const bool now : {false, true})  // the dark ones last
    for (const bool rows : {true, false}) {
      const size_t lines = rows ? plan_.rows() : plan_.columns(),
                   length = rows ? plan_.columns() : plan_.rows();
      for (size_t line = 0; line < lines; ++line) {
        if ((lit && (rows ? lit->row : lit->column) == line) != now) continue;
        std::vector<std::optional<Vec>> points(length);
        for (size_t i = 0; i < length; ++i) {
          const size_t column = rows ? i : line, row = rows ? line : i;
          const Vec middle = at.pitch(column, row).centre();
          if (const float s = share(column, row); std::isfinite(s))
            points[i] = rows ? Vec{middle.x, top.y + (1 - s) * top.h} : Vec{side.x + s * side.w, middle.y};
        }
        draw_profile(p, points, now ? t.ink : t.control.alpha(0.55f), now);
      }
    }
}

plot::PlotSpec SweepScreen::line_plot() const {
  const bool log = info(metric_).log;
  const auto shown = [&](double value) { return std::isfinite(value) && (!log || value > 0); };
  std::vector<Points> seeds;  // one for each seed, over the values of the axis
  Points means, all;
  plot::PlotSpec spec;
  for (const Cell& cell : grid_->cells) {
    seeds.resize(std::max(seeds.size(), cell.runs.size()));
    for (size_t i = 0; i < cell.runs.size(); ++i) {
      if (!cell.runs[i]) continue;
      Cell one;
      one.runs = {cell.runs[i]};
      one.summarise();
      const double value = value_of(one, metric_);
      if (!shown(value)) continue;
      seeds[i].add(cell.column, value);
      all.add(cell.column, value);
    }
    const double mean = value_of(cell, metric_);
    if (!shown(mean)) continue;
    means.add(cell.column, mean);
    plot::Note sign{
        .x = static_cast<double>(cell.column), .y = mean, .text = cell.mark(), .dx = -4, .dy = -10};
    spec.notes.push_back(std::move(sign));
  }
  spec.id = "sweep";
  spec.title = info(metric_).title();
  spec.x = across(plan_.axes[0]);
  spec.y = up(metric_, all);
  if (brush_) spec.bands.push_back(band_of(brush_->columns(), spec.y));
  if (const std::optional<Place> lit = shown_cell()) {
    plot::RefLine& chosen = spec.lines.emplace_back();
    chosen.value = static_cast<double>(lit->column);
    chosen.horizontal = false;
  }
  if (all.x.empty()) return spec;
  for (size_t i = 0; i < seeds.size(); ++i) {
    if (seeds[i].x.empty()) continue;
    plot::Series& one =
        spec.series.emplace_back(series_of(fmt::format("seed {}", i + 1), std::move(seeds[i])));
    one.width = 0.8f;
    one.alpha = 0.6f;
    one.markers = plot::Markers::All;
    one.marker = Marker::Circle;
  }
  spec.series.push_back(series_of("mean over seeds", std::move(means)));
  return spec;
}

void SweepScreen::draw_line_plot(Ui& ui, const Rect& rect) {
  const plot::PlotHit hit =
      plot::draw_plot(ui, "sweep/line", rect, line_plot(), line_view_,
                      tr("The metric over the axis; each mark is a seed. Drag for a region."));
  const double column = std::round(hit.x);
  const Place nearest{static_cast<size_t>(std::clamp(column, 0.0, static_cast<double>(plan_.columns()) - 1)),
                      0};
  // A drag in a zoomed plot moves the plot instead.
  if (hit.pressed && !line_view_.zoomed()) drag_from_ = nearest;
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) drag_from_.reset();
  if (drag_from_ && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
    brush_ = Brush{drag_from_->column, 0, nearest.column, 0};
    right_tab_ = 1;
  }
  std::optional<Place> under;
  if (hit.hovered && column >= 0 && column < static_cast<double>(plan_.columns()))
    under = Place{static_cast<size_t>(column), 0};
  point_at(ui, under, hit.clicked);
  if (hit.clicked && hovered_) open_cell(*hovered_);
}

/// The cell under the mouse; nothing while the mouse has not moved since a key chose a cell, which would otherwise
/// have no effect.
void SweepScreen::point_at(const Ui& ui, std::optional<Place> place, bool pressed) {
  if (lies_at_ && (pressed || !(*lies_at_ == ui.mouse()))) lies_at_.reset();
  hovered_ = lies_at_ ? std::nullopt : place;
}

void SweepScreen::hold_grid(Ui& ui, const GridLayout& at) {
  HitOptions surface{.arrows = Arrows::Both, .overlap = true, .tooltip = false};
  const std::optional<Place> shown = shown_cell();
  const std::string value = shown ? grid_->text_of(grid_->at(shown->column, shown->row)) + ": " +
                                        cell_badge(grid_->at(shown->column, shown->row))
                                  : "";
  const Hit hit =
      ui.hit("sweep/grid", at.area, value,
             tr("Each cell is one pair of values. A click opens it in the Lab, Ctrl+click keeps it "
                "shown, dragging chooses a region."),
             surface);
  point_at(ui, hit.hovered || hit.held ? at.at(ui.mouse()) : std::nullopt,
           hit.held || (hit.clicked && !hit.by_key));
  if (hit.pressed) drag_from_ = at.nearest(ui.mouse());
  if (hit.dragging && drag_from_) {
    const Place now = at.nearest(ui.mouse());
    brush_ = Brush{drag_from_->column, drag_from_->row, now.column, now.row};
    right_tab_ = 1;
  } else if (hit.clicked && hit.by_key && chosen_) {
    open_cell(*chosen_);
  } else if (hit.clicked && !hit.by_key && hovered_) {
    if (hit.ctrl)
      pinned_ = pinned_ == hovered_ ? std::nullopt : hovered_;
    else
      open_cell(*hovered_);
  }
  if (hit.released) drag_from_.reset();
  if (hit.arrow_x || hit.arrow_y)
    move(ui, std::clamp(hit.arrow_x, -1, 1), std::clamp(hit.arrow_y, -1, 1), hit.shift);
}

void SweepScreen::draw_brush(Ui& ui, const GridLayout& at) {
  if (!brush_) return;
  const Theme& t = ui.theme();
  const Span columns = brush_->columns(), rows = brush_->rows();
  const Rect box = at.blocks({columns.first, rows.first}, {columns.last, rows.last});
  ui.paint().dashed_outline(box, t.ink, 1.4f, {5, 3});
  const struct {
    Vec at;
    bool right, top;
  } corners[] = {{{box.x, box.bottom()}, false, false},
                 {{box.right(), box.bottom()}, true, false},
                 {{box.x, box.y}, false, true},
                 {{box.right(), box.y}, true, true}};
  const Brush before = *brush_;
  for (size_t i = 0; i < 4; ++i) {
    const auto& corner = corners[i];
    const Hit hit = ui.hit(fmt::format("sweep/corner/{}", i + 1), centred(corner.at, 24, 24),
                           tr("{count} cell | {count} cells", {{"count", before.cells()}}),
                           tr("A corner of the region: drag it, or move it with the arrow keys."),
                           {.arrows = Arrows::Both, .radius = 12});
    ui.paint().accent_disc(t, corner.at, 6);
    if (hit.pressed)  // the opposite corner stays
      drag_from_ = Place{corner.right ? columns.first : columns.last, corner.top ? rows.first : rows.last};
    if (hit.dragging && drag_from_) {
      // A corner lies between cells, and the cell inside the region counts.
      const Vec within{at.pitch_x() / (corner.right ? -2 : 2), at.pitch_y() / (corner.top ? 2 : -2)};
      const Place now = at.nearest(ui.mouse() + within);
      brush_ = Brush{drag_from_->column, drag_from_->row, now.column, now.row};
    }
    if (hit.released) drag_from_.reset();
    if (hit.arrow_x || hit.arrow_y) {
      const Place here{corner.right ? columns.last : columns.first, corner.top ? rows.last : rows.first},
          across{corner.right ? columns.first : columns.last, corner.top ? rows.first : rows.last},
          now = beside(here, std::clamp(hit.arrow_x, -1, 1), std::clamp(hit.arrow_y, -1, 1));
      // A corner stops at the opposite one, because beyond it the two would exchange their roles.
      brush_ = Brush{across.column, across.row,
                     corner.right ? std::max(now.column, across.column) : std::min(now.column, across.column),
                     corner.top ? std::max(now.row, across.row) : std::min(now.row, across.row)};
    }
  }
}

void SweepScreen::hold_ends(Ui& ui, const Rect& key) {
  const char* const names[] = {"sweep/key/low", "sweep/key/high"};
  for (const size_t end : {size_t{0}, size_t{1}}) {
    const Vec at{key.x + key.w * static_cast<float>(key_[end]), key.centre().y};
    const Hit hit =
        ui.hit(names[end], centred(at, 24, 24), ui::number(key_[end], 2),
               tr("An end of the colours: drag it to see small differences; a double click sets it back."),
               {.arrows = Arrows::Across, .radius = 12});
    ui.paint().accent_disc(ui.theme(), at, 6);
    double next = key_[end];
    if (hit.dragging) next = (ui.mouse().x - key.x) / key.w;
    if (hit.arrow_x) next += 0.02 * hit.arrow_x;
    if (hit.double_clicked) next = static_cast<double>(end);
    next = std::clamp(next, 0.0, 1.0);
    key_[end] = end == 0 ? std::min(next, key_[1] - 0.05) : std::max(next, key_[0] + 0.05);
  }
}

void SweepScreen::draw_key(Ui& ui, const Rect& rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const TextStyle small{Face::Sans, type::tick};
  const Rect key{rect.x + 64, rect.y + 4, std::min(240.f, rect.w - 72), 12};
  const Rect words{key.x - 40, key.bottom() + 4, key.w + 80, 16};
  picture().paint_key(p, t, key, words);
  if (picture().has_colours()) hold_ends(ui, key);
  const Rect note{words.right() + 20, rect.y, rect.right() - words.right() - 20, 16};
  const std::string hint =
      plan_.axes.size() > 1
          ? fitting(
                p, small, note.w,
                {tr("Under a cell stand its seeds. Dashed: not trained yet. Drag over the grid for a region."),
                 tr("Under a cell: its seeds. Drag over the grid for a region."), tr("Drag: a region")})
          : fitting(
                p, small, note.w,
                {tr("Each mark is a seed, the line their mean. Click a value to open it in the Lab, drag for "
                    "a region."),
                 tr("Each mark is a seed. Click a value to open it, drag for a region."),
                 tr("Drag: a region")});
  if (!hint.empty()) p.text_in(note, small, t.ink3, hint);
}

}  // namespace normscope::sweep

// The hand on the grid hovers, clicks, brushes, and moves the corners of a brush and the ends of the colour key.
#include <fmt/format.h>

#include <algorithm>

#include "addons/sweep/app/screen/sweep_screen.h"
#include "addons/sweep/app/screen/words.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "training/data/data_identity.h"

namespace normscope::sweep {

using namespace ui;

/// What the mouse points at. It is nothing while the mouse has not moved since a key chose a cell,
/// because two cells would be meant.
void SweepScreen::point_at(const Ui& ui, std::optional<Place> place, bool pressed) {
  if (lies_at_ && (pressed || !(*lies_at_ == ui.mouse()))) lies_at_.reset();
  hovered_ = lies_at_ ? std::nullopt : place;
}

void SweepScreen::hold_grid(Ui& ui, const GridLayout& at) {
  HitOptions surface;
  surface.overlap = true;
  surface.arrows = true;
  surface.tooltip = false;
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
    HitOptions options;
    options.arrows = true;
    options.radius = 12;
    const Hit hit = ui.hit(fmt::format("sweep/corner/{}", i + 1), centred(corner.at, 24, 24),
                           tr("{count} cell | {count} cells", {{"count", before.cells()}}),
                           tr("A corner of the region: drag it, or move it with the arrow keys."), options);
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

/// Handles the ends of the colours.
void SweepScreen::hold_ends(Ui& ui, const Rect& key) {
  const char* const names[] = {"sweep/key/low", "sweep/key/high"};
  for (const size_t end : {size_t{0}, size_t{1}}) {
    const Vec at{key.x + key.w * static_cast<float>(key_[end]), key.centre().y};
    HitOptions options;
    options.arrows = true;
    options.radius = 12;
    const Hit hit = ui.hit(
        names[end], centred(at, 24, 24), ui::number(key_[end], 2),
        tr("An end of the colours: drag it to see small differences; a double click sets it back."), options);
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

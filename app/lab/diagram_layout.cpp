#include "app/lab/diagram_layout.h"

#include <algorithm>

namespace normscope::lab {
namespace {

using ui::centred;
using ui::Rect;

// The two sizes of the picture.
struct Measures {
  float end_h, final_gap, bottom_gap, row_gap,
      sheet;  // output and embedding; gaps; offset of the sheets behind a group
  float single_h, group_h;
  float pitch, slot_y, plus_y, box_y;  // of a sub-layer, from its upper edge
  float box_h, slot_w, slot_h, trunk_w;
  float trunk_dx, open_dx, row_dx;  // from the left edge
  float bars_w, bars_gap, max_pitch_extra;
};

constexpr Measures kFull{24, 31, 13, 7, 4, 39, 47, 87, 11, 29, 60, 30, 32, 20, 32, 46, 16, 80, 74, 10, 60};
constexpr Measures kCompact{22, 27, 10, 6, 3, 32, 44, 73, 9, 25, 51, 26, 28, 20, 28, 32, 2, 58, 58, 9, 30};

float row_height(const Measures& m, const DiagramRow& row, float pitch) {
  if (row.open) return 2 * pitch + 3;
  return row.count() > 1 ? m.group_h : m.single_h;
}

float sheets_height(const Measures& m, const DiagramRow& row) {
  return !row.open && row.count() > 1 ? 2 * m.sheet : 0;
}

SublayerLayout layout_sublayer(const Measures& m, const DiagramLayout& d, const Rect& box, Sub sub,
                               float top) {
  SublayerLayout s;
  s.sub = sub;
  s.trunk = centred({d.trunk_x, top + m.slot_y}, m.trunk_w, m.slot_h);
  s.plus = {d.trunk_x, top + m.plus_y};
  // Spare pitch moves the function down together with its fork: the branch stays a flat loop.
  const float middle = top + m.box_y;
  s.return_x = box.right() - 15;
  const float before_x = d.trunk_x + (d.compact ? 39.f : 52.f);
  s.before = centred({before_x, middle}, m.slot_w, m.slot_h);
  s.after = centred({s.return_x - (d.compact ? 19.f : 28.f), middle}, m.slot_w, m.slot_h);
  const float gap = d.compact ? 6.f : 14.f;
  s.box = {s.before.right() + gap, middle - m.box_h / 2, s.after.x - s.before.right() - 2 * gap, m.box_h};
  s.fork_y = middle + (d.compact ? 16.f : 20.f);
  s.pill =
      centred({d.trunk_x, (s.plus.y + 8 + s.fork_y) / 2}, d.compact ? 44.f : 50.f, d.compact ? 18.f : 20.f);
  s.bar = {d.bars_x, middle - (d.compact ? 10.f : 8.f), d.bars_w, 8};
  return s;
}

void layout_open(const Measures& m, const DiagramLayout& d, RowLayout& r, float y, float pitch) {
  r.box = {d.left + m.open_dx, y, d.bars_x - m.bars_gap - d.left - m.open_dx, 2 * pitch + 3};
  r.subs[1] = layout_sublayer(m, d, r.box, Sub::feed_forward, y);
  r.subs[0] = layout_sublayer(m, d, r.box, Sub::attention, y + pitch);
}

void layout_collapsed(const Measures& m, const DiagramLayout& d, RowLayout& r, float y) {
  const bool group = r.row.count() > 1;
  const float right = d.bars_x - m.bars_gap - 5;
  r.box = {d.left + m.row_dx, y, right - d.left - m.row_dx - (group ? 2 * m.sheet : 0),
           group ? m.group_h : m.single_h};
  r.sheets = group ? 2 : 0;
  const float spread = group ? 13.5f : 11.5f;
  for (Sub sub : kSubs) {
    const float cy = r.box.centre().y + (sub == Sub::attention ? spread : -spread);
    SmallSlots& small = r.small[sub == Sub::attention ? 0 : 1];
    small.sub = sub;
    small.branch = centred({r.box.x + 1, cy}, 13, 11);
    small.trunk = centred({d.trunk_x, cy}, 20, 11);
  }
  if (group) {
    const int n = r.row.count();
    const float pitch = std::min(12.f, (m.group_h + 12) / n), h = std::max(1.f, pitch - 4);
    const float top = r.box.centre().y - (pitch * (n - 1) + h) / 2;
    for (int i = 0; i < n; ++i) {
      r.bars.push_back({d.bars_x, top + pitch * i, d.bars_w, h});
      r.bar_layers.push_back(r.row.last - i);
    }
  } else {
    const float cy = r.box.centre().y;
    r.bars = {{d.bars_x, cy - 7.5f, d.bars_w, 5},
              {d.bars_x, cy + 2.5f, d.bars_w, 5}};  // feed-forward, attention
    r.bar_layers = {r.row.first, r.row.first};
  }
}

}  // namespace

DiagramLayout layout_diagram(const Rect& area, const std::vector<DiagramRow>& rows, bool compact) {
  const Measures& m = compact ? kCompact : kFull;
  DiagramLayout d;
  d.compact = compact;
  d.left = area.x, d.trunk_x = area.x + m.trunk_dx;
  d.bars_w = m.bars_w, d.bars_x = area.right() - m.bars_w;

  float needed = 2 * m.end_h + m.final_gap + m.bottom_gap, shares = 1;
  for (size_t i = 0; i < rows.size(); ++i) {
    needed += row_height(m, rows[i], m.pitch) + sheets_height(m, rows[i]) + (i > 0 ? m.row_gap : 0);
    shares += rows[i].open ? 2.f : i > 0 ? 1.f : 0.f;
  }
  const float spare = std::max(0.f, area.h - needed);
  const float share = spare / shares;
  const float pitch = m.pitch + std::min(share, m.max_pitch_extra);
  float used = needed;
  for (const DiagramRow& row : rows) used += row.open ? 2 * (pitch - m.pitch) : 0;
  // What the open layer does not take goes between the rows.
  float gaps = 1;
  for (size_t i = 1; i < rows.size(); ++i) gaps += 1;
  const float extra = std::max(0.f, area.h - used) / gaps;

  float y = area.y;
  d.output = {area.x, y, compact ? 196.f : 220.f, m.end_h};
  y += m.end_h;
  d.trunk_top = y;
  d.final_slot = centred({d.trunk_x, y + 16}, m.trunk_w - 4, compact ? 15.f : 16.f);
  y += m.final_gap + extra;
  d.rows.resize(rows.size());
  for (size_t k = rows.size(); k-- > 0;) {
    RowLayout& r = d.rows[k];
    r.row = rows[k];
    y += sheets_height(m, rows[k]);
    if (rows[k].open)
      layout_open(m, d, r, y, pitch);
    else
      layout_collapsed(m, d, r, y);
    y += row_height(m, rows[k], pitch) + (k > 0 ? m.row_gap + extra : m.bottom_gap);
  }
  d.trunk_bottom = y;
  d.embedding = {area.x, y, d.output.w, m.end_h};
  d.content_height = y + m.end_h - area.y;
  return d;
}

}  // namespace normscope::lab

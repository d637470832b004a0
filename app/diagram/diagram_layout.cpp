#include "app/diagram/diagram.h"

#include <algorithm>
#include <cmath>

namespace normscope::diagram {
namespace {

using ui::centred;
using ui::Rect;

// The measures of a stack in one of its three sizes.
struct Measures {
  // Output and embedding; gaps; offset of the sheets behind a group.
  float end_h, final_gap, bottom_gap, row_gap, sheet;
  float single_h, group_h;
  float pitch, slot_y, plus_y, box_y;  // of a sub-layer, from its upper edge
  float box_h, slot_w, slot_h, stream_w;
  float stream_dx, open_dx, row_dx;  // from the left edge
  float before_dx, after_dx, box_gap, fork_dy;
  float size_w, gradient_w, bars_gap, max_pitch_extra;
  bool narrow;
};

constexpr Measures kFull{24, 31, 13, 7,  4,  39, 47, 87, 11, 29, 60, 30, 32,   20,
                         32, 46, 16, 80, 52, 28, 14, 20, 36, 50, 10, 60, false};
constexpr Measures kCompact{22, 27, 10, 6,  3,  32, 44, 73, 9,  25, 51, 26, 28,   20,
                            28, 32, 2,  58, 39, 19, 6,  16, 24, 34, 8,  30, false};
constexpr Measures kNarrow{21, 26, 9, 6,  3,  33, 42, 70, 10, 27, 49, 24, 26,  18,
                           28, 15, 0, 36, 36, 20, 5,  12, 0,  40, 0,  44, true};

// Gives three sub-layers the height of two where they can share it. A second stream takes its room from them.
Measures fitted(Measures m, const StackRows& t) {
  if (m.narrow) {
    if (t.second || t.embedding_norm) m.pitch -= 6;
    return m;
  }
  if (t.cross) {
    m.pitch -= 12;
    m.box_y -= 4;
  }
  if (t.second && !t.cross) {
    m.pitch -= 8;
    m.box_y -= 3;
  }
  return m;
}

float row_height(const Measures& m, const StackRows& t, const view::DiagramRow& row, float pitch) {
  if (row.open) return static_cast<float>(view::subs_of(t.cross).size()) * pitch + 3;
  return row.count() > 1 ? m.group_h : m.single_h;
}

float sheets_height(const Measures& m, const view::DiagramRow& row) {
  return !row.open && row.count() > 1 ? 2 * m.sheet : 0;
}

SublayerLayout layout_sublayer(const Measures& m, const StackLayout& d, const Rect& row, view::Sub sub,
                               float top) {
  SublayerLayout s{.sub = sub,
                   .stream = centred({d.stream_x, top + m.slot_y}, m.stream_w, m.slot_h),
                   .plus = {d.stream_x, top + m.plus_y}};
  const float middle = top + m.box_y;
  s.return_x = row.right() - (m.narrow ? 7.f : 15.f);
  s.before = centred({d.stream_x + m.before_dx, middle}, m.slot_w, m.slot_h);
  s.after = centred({s.return_x - m.after_dx, middle}, m.slot_w, m.slot_h);
  s.box = {s.before.right() + m.box_gap, middle - m.box_h / 2, s.after.x - s.before.right() - 2 * m.box_gap,
           m.box_h};
  s.fork_y = middle + m.fork_dy;
  const bool flat = m.fork_dy < 20;
  const float pill_w = m.narrow ? 48.f : flat ? 44.f : 50.f;  // "ω 3.45"
  s.pill = centred({d.stream_x, (s.plus.y + 8 + s.fork_y) / 2}, pill_w, flat ? 18.f : 20.f);
  if (m.narrow) s.pill.x = d.left;
  s.branch_pill = centred({s.box.centre().x, s.plus.y}, 66, 16);
  if (m.narrow) {
    s.bar = {s.box.x, (s.plus.y + s.box.y) / 2 - 1.5f, s.box.w, 4};
  } else {
    const float y = middle - (m.fork_dy < 20 ? 10.f : 8.f);
    s.size_bar = {d.size_head.x, y, d.size_head.w, 8};
    s.bar = {d.gradient_head.x, y, d.gradient_head.w, 8};
  }
  return s;
}

void layout_open(const Measures& m, const StackLayout& d, RowLayout& r, float y, float pitch) {
  const auto subs = view::subs_of(d.cross);
  const float right = m.narrow ? d.right : d.size_head.x - m.bars_gap;
  r.box = {d.left + m.open_dx, y, right - d.left - m.open_dx, static_cast<float>(subs.size()) * pitch + 3};
  for (size_t i = 0; i < subs.size(); ++i)
    r.subs.push_back(
        layout_sublayer(m, d, r.box, subs[i], y + pitch * static_cast<float>(subs.size() - 1 - i)));
  if (m.narrow) {
    r.collapse = {r.box.right() - 24, r.box.y + 2, 20, 18};
    r.skip = {r.collapse.x - 26, r.box.y + 6, 10, 10};
  } else if (m.open_dx >= 16) {
    r.collapse = {d.left, r.box.centre().y + 10, 16, 16};
    r.skip = {d.left, r.box.centre().y - 13, 10, 10};
  }
}

void layout_bars(const Measures& m, const StackLayout& d, RowLayout& r) {
  const float cy = r.box.centre().y, right = m.narrow ? r.box.right() - 8 : 0;
  const auto bar = [&](float y, float h, int layer, view::Sub sub) {
    if (m.narrow)
      r.bars.push_back({{}, {right - m.gradient_w, y, m.gradient_w, h}, layer, sub});
    else
      r.bars.push_back(
          {{d.size_head.x, y, d.size_head.w, h}, {d.gradient_head.x, y, d.gradient_head.w, h}, layer, sub});
  };
  if (r.row.count() > 1) {
    const int n = r.row.count();
    const float pitch = std::min(m.narrow ? 8.f : 12.f, (m.group_h + (m.narrow ? -8.f : 12.f)) / n);
    const float h = std::max(1.f, pitch - (m.narrow ? 3.f : 4.f));
    const float top = cy - (pitch * static_cast<float>(n - 1) + h) / 2;
    for (int i = 0; i < n; ++i)
      bar(top + pitch * static_cast<float>(i), h, r.row.last - i, view::Sub::FeedForward);
    return;
  }
  const auto subs = view::subs_of(d.cross);
  const float pitch = subs.size() > 2 ? 8 : 10, h = subs.size() > 2 ? 4 : 5;
  const float top = cy - (pitch * static_cast<float>(subs.size() - 1) + h) / 2;
  for (size_t i = 0; i < subs.size(); ++i)
    bar(top + pitch * static_cast<float>(i), h, r.row.first, subs[subs.size() - 1 - i]);
}

void layout_collapsed(const Measures& m, const StackLayout& d, RowLayout& r, float y) {
  const bool group = r.row.count() > 1;
  const float right = m.narrow ? d.right : d.size_head.x - m.bars_gap - 5;
  r.box = {d.left + m.row_dx, y, right - d.left - m.row_dx - (group ? 2 * m.sheet : 0),
           group ? m.group_h : m.single_h};
  r.sheets = group ? 2 : 0;
  const auto subs = view::subs_of(d.cross);
  const float n = static_cast<float>(subs.size());
  const float pitch = n > 2   ? (r.box.h + (group ? 0.f : 4.f)) / n
                      : group ? 27.f
                              : std::min(23.f, r.box.h * 0.62f);
  const float h = std::min(11.f, pitch - 2);
  for (size_t i = 0; i < subs.size(); ++i) {
    const float cy = r.box.centre().y + ((n - 1) / 2 - static_cast<float>(i)) * pitch;
    r.small.push_back({subs[i],
                       centred({r.box.x + 1, cy}, 13, h),
                       centred({r.box.right() - 1, cy}, 13, h),
                       centred({d.stream_x, cy}, 20, h),
                       centred({d.stream_x, cy + pitch / 2}, 14, 8),
                       {}});
  }
  layout_bars(m, d, r);
  const float end = m.narrow ? r.bars.front().gradient.x - 5 : r.box.right() - 27;
  for (SmallSlots& small : r.small) {
    const float cy = small.before.centre().y, height = std::min(13.f, pitch - 1);
    small.inside = {r.box.x + 14, cy - height / 2, end - r.box.x - 14, height};
  }
}

void put_heads(const Measures& m, StackLayout& d) {
  if (m.narrow) return;
  d.gradient_head = {d.right - m.gradient_w, d.output.y, m.gradient_w, m.end_h};
  d.size_head = {d.gradient_head.x - 8 - m.size_w, d.output.y, m.size_w, m.end_h};
}

StackLayout layout_stack(const Measures& base, const StackRows& t, const Rect& area, bool memory) {
  const Measures m = fitted(base, t);
  const float join_h = !t.second ? 0 : m.narrow ? 18.f : 14.f;
  const float bottom_gap = t.embedding_norm ? std::max(m.bottom_gap, 21.f) : m.bottom_gap;
  StackLayout d{.side = t.side,
                .cross = t.cross,
                .narrow = m.narrow,
                .left = area.x,
                .right = area.right(),
                .stream_x = area.x + m.stream_dx};
  const auto& rows = t.rows;
  const float subs = static_cast<float>(view::subs_of(t.cross).size());

  float needed = 2 * m.end_h + m.final_gap + join_h + bottom_gap, shares = 1;
  for (size_t i = 0; i < rows.size(); ++i) {
    needed += row_height(m, t, rows[i], m.pitch) + sheets_height(m, rows[i]) + (i > 0 ? m.row_gap : 0);
    shares += rows[i].open ? subs : i > 0 ? 1.f : 0.f;
  }
  const float share = std::max(0.f, area.h - needed) / shares;
  const float pitch = m.pitch + std::min(share, m.max_pitch_extra);
  float used = needed;
  for (const view::DiagramRow& row : rows) used += row.open ? subs * (pitch - m.pitch) : 0;
  // Height that the open layer does not take goes between the rows; where all are collapsed, under them too.
  const bool any_open = std::ranges::any_of(rows, [](const auto& row) { return row.open; });
  const size_t gaps = std::max<size_t>(rows.size(), 1) + (any_open ? 0 : 1);
  const float extra = std::max(0.f, area.h - used) / static_cast<float>(gaps);

  float y = area.y;
  d.output = {area.x, y, m.narrow ? std::min(150.f, area.w) : m.fork_dy < 20 ? 104.f : 220.f, m.end_h};
  put_heads(m, d);
  if (memory) d.output = {};
  y += m.end_h;
  d.stream_top = y;
  if (t.second) {
    d.join = {d.stream_x, y + 9};
    d.second =
        m.narrow ? centred({d.stream_x - 11, y + 20}, 14, 13) : centred({d.stream_x - 29, y + 26}, 20, 14);
    y += join_h;
  }
  d.final_slot = centred({d.stream_x, y + 16}, m.stream_w - 4, m.fork_dy < 20 ? 15.f : 16.f);
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
    y += row_height(m, t, rows[k], pitch) + (k > 0 ? m.row_gap + extra : bottom_gap + (any_open ? 0 : extra));
  }
  d.stream_bottom = y;
  d.embedding = {area.x, y, m.narrow ? std::min(196.f, area.w) : m.fork_dy < 20 ? 196.f : 220.f, m.end_h};
  d.embedding_slot =
      centred({d.stream_x, y - bottom_gap / 2}, d.final_slot.w, t.embedding_norm ? 15.f : bottom_gap - 2);
  d.content_height = y + m.end_h - area.y;
  return d;
}

// Makes the embedding's box smaller for the box of a memory.
void put_segment(StackLayout& d, bool compact) {
  d.embedding.w = compact ? 118.f : 150.f;
  const float left = d.embedding.right() + 8;
  d.segment = {left, d.embedding.y, d.right - left, d.embedding.h};
}

// Leads keys and values up from the encoder, over, down between the stacks and into cross-attention.
void route_memory(DiagramLayout& d) {
  const StackLayout *from = d.stack_layout(view::Side::Encoder), *to = d.stack_layout(view::Side::Main);
  if (!from || !to || to->rows.empty()) return;
  const float roof = from->stream_top - 10, channel = (from->right + to->left) / 2;
  d.memory = {{from->stream_x, from->stream_top}, {from->stream_x, roof}, {channel, roof}};
  d.memory_label = {from->stream_x + 12, roof - 16, channel - from->stream_x - 16, 14};
  for (const RowLayout& row : to->rows)
    for (const SublayerLayout& sub : row.subs)
      if (sub.sub == view::Sub::Cross) {
        const float y = sub.fork_y + 7, x = sub.box.centre().x;
        d.memory.insert(d.memory.end(), {{channel, y}, {x, y}, {x, sub.box.bottom() + 1}});
        return;
      }
  const Rect& row = to->rows.front().box;
  d.memory.insert(d.memory.end(), {{channel, row.centre().y}, {to->left - 2, row.centre().y}});
}

}  // namespace

int RowLayout::layer_at(float y) const {
  const int n = row.count();
  const int up =
      static_cast<int>(std::floor((box.bottom() - y) / std::max(1.f, box.h) * static_cast<float>(n)));
  return row.first + std::clamp(up, 0, n - 1);
}

const StackLayout* DiagramLayout::stack_layout(view::Side side) const {
  for (const StackLayout& t : stack_layouts)
    if (t.side == side) return &t;
  return nullptr;
}

DiagramLayout layout_diagram(const Rect& area, const std::vector<StackRows>& stack_layouts, bool compact) {
  DiagramLayout d{.compact = compact};
  constexpr float kChannel = 26;
  if (stack_layouts.size() == 2) {
    const float width = (area.w - kChannel) / 2;
    for (size_t i = 0; i < 2; ++i)
      d.stack_layouts.push_back(
          layout_stack(kNarrow, stack_layouts[i],
                       {area.x + (width + kChannel) * static_cast<float>(i), area.y, width, area.h},
                       stack_layouts[i].side == view::Side::Encoder));
    route_memory(d);
  } else {
    for (const StackRows& t : stack_layouts) {
      d.stack_layouts.push_back(layout_stack(compact ? kCompact : kFull, t, area, false));
      if (t.segment) put_segment(d.stack_layouts.back(), compact);
    }
  }
  for (const StackLayout& t : d.stack_layouts)
    d.content_height = std::max(d.content_height, t.content_height);
  return d;
}

DiagramLayout layout_diagram(const Rect& area, const std::vector<view::DiagramRow>& rows, bool compact) {
  return layout_diagram(area, std::vector<StackRows>{{view::Side::Main, false, rows}}, compact);
}

DiagramLayout layout_small(const Rect& area, const std::vector<StackRows>& stack_layouts) {
  DiagramLayout d;
  if (stack_layouts.size() == 1) {
    d.stack_layouts.push_back(layout_stack(kNarrow, stack_layouts[0], area, false));
    d.content_height = d.stack_layouts[0].content_height;
  } else {
    d = layout_diagram(area, stack_layouts, false);
  }
  for (StackLayout& t : d.stack_layouts)
    for (RowLayout& row : t.rows) row.collapse = {};
  return d;
}

std::optional<Rect> place_of(const DiagramLayout& layout, view::SlotId at) {
  const StackLayout* stack_layout = layout.stack_layout(at.side);
  if (!stack_layout) return std::nullopt;
  if (at.layer == view::kFinal) return stack_layout->final_slot;
  if (at.layer == view::kEmbedding) return stack_layout->embedding_slot;
  for (const RowLayout& row : stack_layout->rows) {
    if (at.layer < row.row.first || at.layer > row.row.last) continue;
    for (const SublayerLayout& sub : row.subs)
      if (sub.sub == at.sub) return sub.slot(at.slot);
    for (const SmallSlots& small : row.small)
      if (small.sub == at.sub) return small.slot(at.slot);
  }
  return std::nullopt;
}

}  // namespace normscope::diagram

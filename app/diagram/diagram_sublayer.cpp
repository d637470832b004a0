#include "app/diagram/diagram_sublayer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "app/diagram/diagram_scales.h"
#include "app/panels/metrics.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::diagram {

using namespace ui;

namespace {

constexpr float kCorner = 10;  // radius of the corner where the branch returns

// Names of a function, the longest first: the first that fits is used.
std::array<std::string, 2> sub_titles(view::Sub sub, bool beside_cross) {
  if (sub == view::Sub::Cross) return {tr("Cross-attention"), tr("Cross-att.")};
  if (sub == view::Sub::FeedForward) return {tr("Feed-forward"), tr("Feed-fwd")};
  if (beside_cross) return {tr("Self-attention"), tr("Self-att.")};
  return {tr("Attention"), tr("Attention")};
}

}  // namespace

// 2.4 px, or 2 to 5 by the branch's own share of the state once that is measured.
float SublayerPainter::branch_width(view::Sub sub, int layer) const {
  const float share = panels::own_share(input.data, run, layer, sub, input.step, d.side);
  return std::isfinite(share) ? 2 + 3 * std::clamp(share, 0.f, 1.f) : line::branch;
}

void SublayerPainter::branch(const SublayerLayout& s, int layer, float from_y) {
  const float x = d.stream_x, cy = s.box.centre().y, w = branch_width(s.sub, layer);
  const float reach = s.before.x - x;  // the branch leaves in one swing and arrives flat at the slot
  const float aside = x + reach * 0.4f, up = s.fork_y;
  if (from_y != up) {  // up beside the stream first
    p.bezier({x + 3, from_y}, {aside, from_y - 2}, {aside, from_y - 10}, {aside, from_y - 14}, t.wire, w);
    p.line({aside, from_y - 14}, {aside, up}, t.wire, w);
  }
  const Vec begin{from_y == up ? x + 3 : aside, up};
  p.bezier(begin, {x + reach * 0.45f, up - 2}, {x + reach * 0.35f, cy}, {s.before.x - 4, cy}, t.wire, w);
  p.line({s.before.x - 5, cy}, {s.box.x, cy}, t.wire, w);
  const float back = s.plus.y, k = d.narrow ? 6 : kCorner;
  p.line({s.box.right(), cy}, {s.return_x - k, cy}, t.wire, w);
  p.bezier({s.return_x - k, cy}, {s.return_x - k * 0.45f, cy}, {s.return_x, cy - k * 0.45f},
           {s.return_x, cy - k}, t.wire, w);
  p.line({s.return_x, cy - k}, {s.return_x, back + k}, t.wire, w);
  p.bezier({s.return_x, back + k}, {s.return_x, back + k * 0.45f}, {s.return_x - k * 0.45f, back},
           {s.return_x - k, back}, t.wire, w);
  p.line({s.return_x - k, back}, {x + 16, back}, t.wire, w);
  const Vec head[] = {{x + 9, back}, {x + 18, back - 4.5f}, {x + 18, back + 4.5f}};
  p.polygon(head, t.wire);
}

// Puts into the box what its function has beside norms, each where there is room for its words.
void SublayerPainter::add_ingredients(std::vector<std::string>& inside, view::Sub sub, int layer,
                                      float width) const {
  std::vector<std::string> all = ingredient_words(run.spec->model, sub, layer);
  std::ranges::reverse(all);
  for (const std::string& first : all) {
    std::string line = first;
    for (const std::string& word : inside) line += "  " + word;
    if (p.text_width({Face::Sans, type::tick}, line) + 6 <= width) inside.insert(inside.begin(), first);
  }
}

void SublayerPainter::function_box(const SublayerLayout& s, int layer) {
  p.fill(s.box, solid(), 6);
  p.outline(s.box, t.wire, line::box, 6);
  std::vector<std::string> inside = inner_words(wiring(layer, s.sub));
  add_ingredients(inside, s.sub, layer, s.box.w);
  const bool small = compact || d.narrow;
  Rect words = s.box;
  if (!inside.empty()) {
    words.h *= 0.54f;
    words.y += 0.5f;
  }
  const TextStyle title{Face::Bold, d.narrow                   ? type::tick
                                    : small || !inside.empty() ? type::body
                                                               : type::title};
  const auto names = sub_titles(s.sub, stacks.both);
  p.text_in(words, title, t.ink,
            names[p.text_width(title, names[0]) + (d.narrow ? 3.f : 10.f) > words.w ? 1 : 0], Align::Centre);
  if (inside.empty()) return;
  // The words have no outline, which in so low a box would cross their letters.
  std::string line;
  for (const std::string& word : inside) line += (line.empty() ? "" : "  ") + word;
  p.text_in({s.box.x, words.bottom() - 0.5f, s.box.w, s.box.bottom() - words.bottom() - 2},
            {Face::Sans, type::tick}, t.ink2, line, Align::Centre);
}

void SublayerPainter::plus(Vec centre) {
  const float r = d.narrow ? 7 : 8;
  p.circle(centre, r, t.panel);
  p.ring(centre, r, t.ink, 1.6f);
  p.line({centre.x - r / 2, centre.y}, {centre.x + r / 2, centre.y}, t.ink, 1.6f);
  p.line({centre.x, centre.y - r / 2}, {centre.x, centre.y + r / 2}, t.ink, 1.6f);
}

void SublayerPainter::pill(const Rect& r, const std::string& text) {
  p.fill(r, t.panel, r.h / 2);
  p.outline(r, t.ink, 1.4f, r.h / 2);
  p.text_in(r, {Face::Mono, type::tick}, t.ink, text, Align::Centre);
}

void SublayerPainter::scales(const SublayerLayout& s, int layer) {
  const Wiring& w = wiring(layer, s.sub);
  const ScalesNow now =
      state.pending ? ScalesNow{} : scales_at(input.data, run, d.side, layer, s.sub, input.step);
  if (const ScaleWords skip = skip_words(w, now); !skip.text.empty()) pill(s.pill, skip.text);
  if (const ScaleWords branch = branch_words(w, now); !branch.text.empty()) pill(s.branch_pill, branch.text);
  std::string below;
  if (w.pre_scale != 1.0f) below = "×" + ui::decimals(w.pre_scale, 2) + " = 1/√l";
  if (w.init_gain != 1.0f) below = "init ×" + ui::decimals(w.init_gain, 2);
  if (!below.empty() && !d.narrow)
    p.text({s.box.centre().x, s.box.bottom() + (stacks.both ? 10.f
                                                : compact   ? 12.f
                                                            : 13.f)},
           {Face::Mono, type::tick}, t.ink2, below, Align::Centre);
}

void SublayerPainter::second_stream() {
  const float x = d.second.centre().x, k = 5, y = d.join.y;
  const float lane = d.stream_x - (d.narrow ? 11.f : 14.f);  // the lane runs beside the layers
  const float turn = d.second.bottom() + 8;
  p.line({lane, d.stream_bottom}, {lane, turn}, t.wire, 2);
  if (stream_layout(stack.wiring).beside_read)  // every branch reads it too
    for (const RowLayout& row : d.rows)
      for (const SublayerLayout& s : row.subs) {
        p.line({lane, s.fork_y}, {d.stream_x - 5, s.fork_y}, t.wire, 2);
        p.circle({lane, s.fork_y}, 3, t.wire);
      }
  if (lane != x) p.bezier({lane, turn}, {lane, turn - 7}, {x, turn - 1}, {x, turn - 8}, t.wire, 2);
  p.line({x, turn - (lane != x ? 8.f : 0.f)}, {x, y + k}, t.wire, 2);
  p.bezier({x, y + k}, {x, y}, {x, y}, {x + k, y}, t.wire, 2);
  p.line({x + k, y}, {d.stream_x - 7, y}, t.wire, 2);
  p.fill({x - 4, d.second.y - 2, 8, d.second.h + 4}, t.panel);
  small_fixed(d.second);
  const std::string_view text = view::token_text(stream_layout(stack.wiring).beside);
  if (p.text_width({Face::Bold, type::tick}, text) + 4 < d.second.w)
    p.text_in(d.second, {Face::Bold, type::tick}, t.ink2, text, Align::Centre);
  plus(d.join);
}

void SublayerPainter::memory_ways() {
  const float x = d.size_head.x - 5;
  float top = d.segment.y;
  for (const RowLayout& r : d.rows) {
    const float y = r.subs.empty() ? r.small.front().before.centre().y : r.subs.front().box.centre().y;
    const float end = r.box.right() + 1;
    p.line({x, y}, {end + 3, y}, t.wire, 2);
    const Vec head[] = {{end, y}, {end + 5, y - 3.5f}, {end + 5, y + 3.5f}};
    p.polygon(head, t.wire);
    top = std::min(top, y);
  }
  p.line({x, d.segment.y}, {x, top - 1}, t.wire, 2);
}

void SublayerPainter::end_box(const Rect& r, const std::string& title, const std::string& what) {
  // A box that has scrolled away in part is not drawn, so that no text is cut.
  const Control* area = ui.registry().find("diagram");
  if (area && !area->rect.inset(0, -4).contains(r)) return;
  p.fill(r, solid(), 5);
  p.outline(r, t.wire, line::box, 5);
  Rect inside = r.inset(12, 0);
  const float w = p.text_in(inside, {Face::Bold, type::body}, t.ink, title);
  inside.take_left(w + 7);
  const TextStyle style{Face::Sans, type::body};
  if (p.text_width(style, what) <= inside.w) p.text_in(inside, style, t.ink3, what);
}

std::string SublayerPainter::memory_words() const {
  const int32_t states = run.spec->model.memory;
  const float room = d.segment.w - 31 - p.text_width({Face::Bold, type::body}, tr("Memory##box"));
  return fitting(p, {Face::Sans, type::body}, room,
                 {tr("{states} states of the segment before, no gradient", {{"states", states}}),
                  tr("{states} states, no gradient", {{"states", states}}),
                  tr("{states} states", {{"states", states}})});
}

void SublayerPainter::size_bar(const Rect& r, int layer, view::Sub sub) {
  if (r.empty()) return;
  p.fill(r, solid(), 2);
  const float value = input.data.stream_variance(run, layer, sub, input.step, d.side);
  if (!std::isfinite(value) || value <= 0) return;
  const float share = std::clamp((std::log10(value) + 2) / 4, 0.02f, 1.f);  // the bar spans 0.01 to 100
  p.fill({r.x, r.y, r.w * share, r.h}, t.wire, 2);
}

void SublayerPainter::gradient_bar(const Rect& r, int layer, view::Sub sub) {
  paint_gradient_bar(ui, r, input.data.gradient(run, layer, sub, input.step, d.side), layer, layers(),
                     input.hover_layer == layer);
}

void paint_gradient_bar(Ui& ui, const Rect& r, float value, int layer, int layers, bool lit) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.fill(r, t.dark ? t.field : t.sunk, 2);
  if (lit) p.outline(r.inset(-2), t.ink, 1, 3);
  if (!std::isfinite(value) || value <= 0) return;
  const float share = std::clamp((std::log10(value) + 6) / (std::log10(3.f) + 6), 0.02f, 1.f);
  p.fill({r.x, r.y, r.w * share, r.h}, depth_colour(t, layer, layers), 2);
}

}  // namespace normscope::diagram

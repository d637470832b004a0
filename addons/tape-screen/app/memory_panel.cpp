// Draws the picture of the memory plan, and answers the mouse on it. See memory_panel.h.
#include "addons/tape-screen/app/memory_panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "addons/tape-screen/app/panel_frame.h"
#include "addons/tape-screen/app/step_worker.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::tape_screen {

using namespace ui;

namespace {

constexpr float kScaleWide = 32, kNamesWide = 76, kFlagHigh = 24, kFootHigh = 18, kBarsHigh = 122;

Colour colour_of(const Theme& t, int32_t layer, BufferKind kind, int layers) {
  if (kind == BufferKind::Weight) return t.ink3;
  if (kind == BufferKind::Moments || kind == BufferKind::Workspace) return t.trough;
  if (kind == BufferKind::Batch) return t.strong;
  const Colour own = layer > 0 ? depth_colour(t, layer - 1, std::max(1, layers)) : t.ink2;
  return kind == BufferKind::Gradient ? mix(own, t.panel, 0.4f) : own;
}

/// Lists the instructions that touch a buffer: "96", "96, 97", "96, 97, 98 and 4 more".
std::string touched_by(const std::vector<int32_t>& all) {
  std::string text;
  constexpr size_t kNamed = 3;
  for (size_t i = 0; i < std::min(all.size(), kNamed); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(all[i]);
  return all.size() > kNamed
             ? tr("{listed} and {more} more", {{"listed", text}, {"more", all.size() - kNamed}})
             : text;
}

std::string buffer_words(const Buffer& b) {
  std::string text = b.kind == BufferKind::Gradient
                         ? tr("gradient of {name}\ngradient, {size}",
                              {{"name", b.name}, {"size", words::with_decimal(size_words(b.bytes))}})
                         : tr("{name}\n{kind}, {size}", {{"name", b.name},
                                                         {"kind", tr(to_string(b.kind))},
                                                         {"size", words::with_decimal(size_words(b.bytes))}});
  if (b.value == kNone) return text + tr(", there throughout");
  if (!b.writers.empty()) text += tr(", written by {by}", {{"by", touched_by(b.writers)}});
  return b.readers.empty() ? text : text + tr(", read by {by}", {{"by", touched_by(b.readers)}});
}

bool is_of(const Buffer& b, TensorId t) {
  return b.value == t.value && b.value != kNone && (b.kind == BufferKind::Gradient) == t.gradient;
}

}  // namespace

const Buffer* MemoryPanel::hovered(const StepFacts& facts) const {
  const bool same = of_ && (of_ == facts.readable || of_ == facts.shared);
  return under_ && same ? &of_->buffers[*under_] : nullptr;
}

MemoryRequest MemoryPanel::draw(Ui& ui, const Rect& rect, const MemoryInput& given) {
  if (given.head_room <= 0) panel(ui, rect, {});
  Rect rest = rect.inset(space::pad, 0);
  rest.h -= 8;
  rest.take_top(given.head_room);
  const bool both = given.readable && given.shared;
  if (!plan_by_hand_) plan_ = given.reuses ? 1 : 0;
  const std::shared_ptr<const MemoryMap> map = !both        ? (given.shared ? given.shared : given.readable)
                                               : plan_ == 0 ? given.readable
                                                            : given.shared;
  if (map != of_) {
    of_ = map;
    under_.reset();
    boxes_.clear();
    width_ = height_ = 0;
  }
  const std::string sentence =
      map ? plan_sentence(*map) : tr("The memory plan stands here once a step was played.");
  ui.mark("tape/memory", rect, sentence,
          tr("Address down, instructions across: what lies where, and how long."));
  if (!map) {
    rest.take_top(12);
    ui.paint().text_wrapped(rest, kBodyWords, ui.theme().ink2, sentence, 17);
    return {};
  }
  Frame f{ui, given, *map};
  save(f, save_menu(ui, "tape/memory", rect, tr("the memory plan")));
  draw_title(f, rest);
  const Rect bars = rest.take_bottom(std::min(kBarsHigh, rest.h), 6);
  draw_map(f, rest);
  draw_bars(f, bars);
  return f.asked;
}

void MemoryPanel::draw_title(Frame& f, Rect& rest) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  if (f.given.head_room <= 0) {
    Rect row = rest.take_top(space::title_row);
    row.take_right(30);  // room for the menu
    row.take_left(p.text_in(row, kTitleBold, t.ink, tr("Memory")) + 12);
    p.text_in(row, kBodyWords, t.ink3,
              fitting(p, kBodyWords, row.w,
                      {tr("address down, instructions across"), tr("address by instruction")}));
  }
  if (f.given.readable && f.given.shared) {
    // The names stay, whatever has room and whichever the run's own plan is.
    std::vector<words::Label> labels{words::label("gradients stay readable"),
                                     words::label("gradients share memory")};
    if (segmented_width(ui, labels) > rest.w) {
      labels[0].shown = tr("readable");
      labels[1].shown = tr("shared");
    }
    std::vector<words::Label> marked = labels;
    std::string& own = marked[static_cast<size_t>(f.given.reuses)].shown;
    own = tr("{plan} (this run)", {{"plan", own}});
    if (segmented_width(ui, marked) <= rest.w) labels = marked;
    const Rect row = rest.take_top(24, 6);
    const Rect place{row.x, row.y, std::min(row.w, segmented_width(ui, labels)), row.h};
    if (segmented(ui, "tape/memory/plan", place, labels, plan_,
                  tr("The plan in which every gradient can still be read, or the one that saves memory.")))
      plan_by_hand_ = true;
  }
  const std::string brief =
      tr("{planned}; apart {apart}.", {{"planned", words::with_decimal(size_words(f.map.planned))},
                                       {"apart", words::with_decimal(size_words(f.map.apart))}});
  p.text_in(rest.take_top(18, 4), kBodyWords, t.ink2,
            fitting(p, kBodyWords, rest.w, {plan_sentence(f.map), brief}));
}

void MemoryPanel::draw_map(Frame& f, Rect rest) {
  Ui& ui = f.ui;
  if (rest.h < kFlagHigh + kFootHigh + 40) return;
  rest.take_left(kScaleWide);
  const Rect flags = rest.take_top(kFlagHigh);
  const Rect foot = rest.take_bottom(kFootHigh);
  const Rect names = rest.take_right(kNamesWide, 6);
  f.plot = rest;
  draw_scale(f);
  draw_boxes(f);
  hold_map(f);
  draw_linked(f);
  draw_under(f);
  draw_names(f, names);
  draw_flag(f, {rest.x, flags.y, rest.w, flags.h});
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const float fold = f.x_of(f.given.fold);
  const std::pair<float, std::string> words[] = {
      {rest.x, tr("forward")}, {fold, tr("fold")}, {rest.right(), tr("backward")}};
  const float left = p.text_width(kTickWords, words[0].second),
              right = p.text_width(kTickWords, words[2].second),
              middle = p.text_width(kTickWords, words[1].second) / 2;
  for (const auto& [x, word] : words) {
    const Align align = x == rest.x ? Align::Left : x == rest.right() ? Align::Right : Align::Centre;
    const bool free =
        align != Align::Centre || (x - middle > rest.x + left + 6 && x + middle < rest.right() - right - 6);
    if (free) p.text({x, foot.y + 13}, kTickWords, t.ink3, word, align);
  }
}

/// Draws MiB or KiB at the left.
void MemoryPanel::draw_scale(Frame& f) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  const bool small = f.map.planned < size_t{1} << 20;
  const double whole = static_cast<double>(f.map.planned) / (small ? 1024 : 1024 * 1024);
  const double step = address_step(whole);
  p.text({f.plot.x - 6, f.plot.y - 8}, kTickWords, t.ink3, small ? "KiB" : "MiB", Align::Right);
  for (double at = 0; at <= whole; at += step) {
    const float y = f.plot.y + f.plot.h * static_cast<float>(at / std::max(whole, 1e-9));
    p.hairline({f.plot.x, y}, {f.plot.right(), y}, t.grid);
    const std::string label = fitting(p, kTickMono, kScaleWide - 6, {number(at)});
    p.text({f.plot.x - 6, y + 4}, kTickMono, t.ink3, label, Align::Right);
  }
}

void MemoryPanel::draw_boxes(Frame& f) {
  if (width_ != f.plot.w || height_ != f.plot.h || boxes_.empty()) {
    width_ = f.plot.w;
    height_ = f.plot.h;
    boxes_ = memory_boxes(f.map, width_, height_, 1 / f.ui.scale());
  }
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  const float least = 1 / f.ui.scale();
  for (const MemoryBox& box : boxes_) {
    Rect r = box.rect.moved(f.plot.x, f.plot.y);
    if (r.h > 4) r.h -= 0.5f;  // a gap tells neighbours apart
    r.w = std::max(r.w, least);
    r.h = std::max(r.h, least);
    p.fill(r, colour_of(t, box.layer, box.kind, f.given.layers));
  }
}

/// Finds the buffer under the mouse, which is the smallest that lies there.
void MemoryPanel::hold_map(Frame& f) {
  Ui& ui = f.ui;
  HitOptions options;
  options.arrows = true;
  options.overlap = true;
  options.tooltip = false;
  options.radius = 3;
  const std::string value = under_ ? buffer_words(f.map.buffers[*under_]) : "";
  const Hit hit =
      ui.hit("tape/memory/map", f.plot, value,
             tr("What lies where, and from when to when. Point at a buffer, or go through them with the "
                "arrow keys."),
             options);
  const size_t count = f.map.buffers.size();
  if (hit.hovered && f.plot.contains(ui.mouse())) {
    under_.reset();
    for (size_t i = 0; i < count; ++i) {
      if (!f.rect_of(f.map.buffers[i]).contains(ui.mouse())) continue;
      if (!under_ || f.map.buffers[i].bytes < f.map.buffers[*under_].bytes) under_ = i;
    }
    if (under_) ui.tooltip(buffer_words(f.map.buffers[*under_]));
  } else if (!hit.focused) {
    under_.reset();
  }
  const int move = hit.arrow_x - hit.arrow_y;
  if (move != 0 && count > 0) {
    const int64_t now = under_ ? static_cast<int64_t>(*under_) : move > 0 ? -1 : static_cast<int64_t>(count);
    under_ = static_cast<size_t>(std::clamp<int64_t>(now + move, 0, static_cast<int64_t>(count) - 1));
  }
}

/// Outlines and names what the instruction under the head reads and writes.
void MemoryPanel::draw_linked(Frame& f) {
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  p.hairline({f.x_of(f.given.head), f.plot.y - 4}, {f.x_of(f.given.head), f.plot.bottom()}, t.cursor);
  p.dashed_line({f.x_of(f.given.fold), f.plot.y}, {f.x_of(f.given.fold), f.plot.bottom()}, t.axis, 1, {2, 3});
  struct NamedTensor {
    Rect box;
    std::string sign;
  };
  std::vector<NamedTensor> named;
  const auto add = [&](TensorId id, const std::string& sign) {
    for (const Buffer& b : f.map.buffers) {
      if (!is_of(b, id) || b.kind == BufferKind::Weight) continue;
      const Rect r = f.rect_of(b);
      const float high = std::max(r.h, 3.f);
      const Rect box = Rect{r.x, r.centre().y - high / 2, std::max(r.w, 3.f), high}.inset(-1);
      p.outline(box, t.panel, 3, 2);
      p.outline(box, t.ink, line::outline, 2);
      if (!sign.empty()) named.push_back({box, sign});
    }
  };
  if (f.given.hovered) add(*f.given.hovered, "");
  if (f.given.shown)
    for (const std::vector<ShownTensor>* list : {&f.given.shown->reads, &f.given.shown->writes})
      for (const ShownTensor& tensor : *list) add(tensor.id, tensor.sign);
  std::ranges::sort(named, [](const NamedTensor& a, const NamedTensor& b) { return a.box.y < b.box.y; });
  float free_from = f.plot.y;
  for (const NamedTensor& one : named) {
    const float wide = p.text_width(kBodyBold, one.sign) + 8;
    const bool right = f.x_of(f.given.head) + wide + 24 < f.plot.right();
    const float x = right ? f.x_of(f.given.head) + 16 : f.x_of(f.given.head) - 16 - wide;
    const Rect chip{x, std::max(free_from, one.box.centre().y - 8), wide, 16};
    if (chip.bottom() > f.plot.bottom() || x < f.plot.x) continue;
    free_from = chip.bottom() + 1;
    p.line({right ? one.box.right() : one.box.x, one.box.centre().y},
           {right ? chip.x : chip.right(), chip.centre().y}, t.ink, 1);
    p.fill(chip, t.panel, 3);
    p.text_in(chip, kBodyBold, t.ink, one.sign, Align::Centre);
  }
}

/// Shows the buffer under the mouse, its writers as lines and its readers as dashes.
void MemoryPanel::draw_under(Frame& f) {
  if (!under_) return;
  Painter& p = f.ui.paint();
  const Theme& t = f.ui.theme();
  const Buffer& b = f.map.buffers[*under_];
  const Rect r = f.rect_of(b);
  const Rect box = Rect{r.x, r.y, std::max(r.w, 2.f), std::max(r.h, 2.f)}.inset(-1);
  const float top = std::max(f.plot.y, box.y - 8), bottom = std::min(f.plot.bottom(), box.bottom() + 8);
  for (const int32_t i : b.writers) p.line({f.x_of(i), top}, {f.x_of(i), bottom}, t.ink, 1.2f);
  for (const int32_t i : b.readers) p.dashed_line({f.x_of(i), top}, {f.x_of(i), bottom}, t.ink, 1.2f, {2, 2});
  p.outline(box, t.panel, 3, 2);
  p.outline(box, t.ink, line::outline, 2);
}

/// Draws the play head, which can be dragged.
void MemoryPanel::draw_flag(Frame& f, const Rect& row) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const std::string words = fmt::format("{}", f.given.head);
  const float wide = p.text_width(kBodyMono, words) + 14;
  Rect flag{f.x_of(f.given.head) - wide / 2, row.y + 2, wide, 18};
  flag.x = std::clamp(flag.x, row.x, std::max(row.x, row.right() - wide));
  HitOptions options;
  options.arrows = true;
  options.radius = radius::tile;
  const Hit hit =
      ui.hit("tape/memory/flag", flag, words,
             tr("The play head: drag it along the instructions, or use the arrow keys."), options);
  p.accent_box(ui.theme(), flag, radius::tile);
  p.text_in(flag, kBodyMono, ui.theme().on_accent, words, Align::Centre);
  int32_t head = f.given.head;
  if (hit.dragging) head = f.instruction_at(ui.mouse().x);
  head = std::clamp(head + hit.arrow_x, 0, std::max(f.map.instructions - 1, 0));
  if (head != f.given.head) f.asked.head = head;
}

}  // namespace normscope::tape_screen

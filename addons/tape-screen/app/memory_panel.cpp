// The picture of the memory plan, its answers to the mouse, and its files.
#include "addons/tape-screen/app/panels.h"

#include <algorithm>
#include <tuple>

#include "addons/tape-screen/app/step_worker.h"
#include "addons/tape-screen/app/tape_writers.h"
#include "app/ui/widgets.h"

namespace normscope::tape_screen {

using namespace ui;

struct MemoryPanel::Frame {
  ui::Ui& ui;
  const MemoryInput& given;
  const MemoryMap& map;
  ui::Rect plot{};
  std::optional<int32_t> head{};  // where the flag was dragged

  float x_of(int32_t instruction) const {
    return plot.x + plot.w * (static_cast<float>(instruction) + 0.5f) /
                        static_cast<float>(std::max(map.instructions, 1));
  }
  int32_t instruction_at(float x) const {
    const auto i = static_cast<int32_t>(
        std::floor((x - plot.x) / std::max(plot.w, 1.f) * static_cast<float>(map.instructions)));
    return std::clamp(i, 0, std::max(map.instructions - 1, 0));
  }
  ui::Rect rect_of(const Buffer& b) const {
    return buffer_rect(map, b, plot.w, plot.h).moved(plot.x, plot.y);
  }
};

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

constexpr float kNamePitch = 16;

const std::string& segment_words(const MemorySegment& segment) { return tr(segment.name); }

/// Moves labels down until none overlaps, then up where the last exceeds `high`.
void spread(std::vector<float>& y, float low, float high, float pitch) {
  for (size_t i = 0; i < y.size(); ++i) y[i] = std::max(y[i], i > 0 ? y[i - 1] + pitch : low);
  for (size_t i = y.size(); i-- > 0;) y[i] = std::min(y[i], i + 1 < y.size() ? y[i + 1] - pitch : high);
}

constexpr int kMapRows = 240, kMapColumns = 600;  // of the plot at most

std::string listed(const std::vector<int32_t>& instructions) {
  std::string text;
  for (const int32_t i : instructions) text += (text.empty() ? "" : " ") + std::to_string(i);
  return text;
}

std::string most_sentence(const MemoryMap& map) {
  return tr("Most is alive at instruction {instruction}: {size}.",
            {{"instruction", map.most_at}, {"size", words::with_decimal(size_words(map.most))}});
}

double address_step(double whole) {
  const double raw = whole / 4;
  const double decade = std::pow(10, std::floor(std::log10(std::max(raw, 1e-9))));
  for (const double m : {1.0, 2.0, 5.0})
    if (m * decade >= raw) return m * decade;
  return 10 * decade;
}

plot::PlotSpec memory_plot(const MemoryMap& map) {
  plot::PlotSpec plot{.id = "tape-memory",
                      .title = tr("Memory"),
                      .note = tr("address down, instructions across"),
                      .sentence = plan_sentence(map) + " " + most_sentence(map)};
  plot.x.hi = std::max(1, map.instructions);
  plot.x.label = tr("instruction");
  plot.x.integer = true;
  plot.y.lo = 0;
  plot.y.hi = std::max(1e-6, static_cast<double>(map.planned) / (1024 * 1024));
  plot.y.label = tr("address, from the top");
  plot.y.unit = "MiB";
  const double step = address_step(plot.y.hi);
  for (double at = 0; at <= plot.y.hi; at += step) plot.y.ticks.push_back({plot.y.hi - at, ui::number(at)});
  plot.y.max_ticks = static_cast<int>(plot.y.ticks.size());
  plot::HeatMap heat{
      .rows = kMapRows, .columns = std::clamp(map.instructions, 1, kMapColumns), .stretched = true};
  heat.label = tr("colour: layer; 0 is for weights, moments, batch and all that is outside of the layers");
  std::vector<float> cells(static_cast<size_t>(heat.rows) * static_cast<size_t>(heat.columns),
                           std::numeric_limits<float>::quiet_NaN());
  int32_t layers = 1;
  for (const Buffer& b : map.buffers) {
    layers = std::max(layers, b.layer);
    const ui::Rect r = buffer_rect(map, b, static_cast<float>(heat.columns), static_cast<float>(heat.rows));
    const int top = static_cast<int>(r.y), left = static_cast<int>(r.x);
    const int bottom = std::min(heat.rows, std::max(top + 1, static_cast<int>(std::lround(r.bottom()))));
    const int right = std::min(heat.columns, std::max(left + 1, static_cast<int>(std::lround(r.right()))));
    for (int row = top; row < bottom; ++row)
      for (int column = left; column < right; ++column)
        cells[static_cast<size_t>(row) * static_cast<size_t>(heat.columns) + static_cast<size_t>(column)] =
            static_cast<float>(b.layer);
  }
  heat.full = static_cast<float>(layers);
  heat.cells = plot::Column::of(std::move(cells));
  plot.heat = std::move(heat);
  return plot;
}

std::string memory_csv(const MemoryMap& map) {
  std::string text = "address,bytes,first,last,kind,layer,name,writers,readers\n";
  for (const Buffer& b : map.buffers)
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{}\n", b.address, b.bytes, b.first, b.last, to_string(b.kind),
                    b.layer, plot::csv_field(b.name), listed(b.writers), listed(b.readers));
  return text;
}

std::string memory_json(const MemoryMap& map) { return to_json(map).dump(1); }

}  // namespace

const Buffer* MemoryPanel::hovered(const StepFacts& facts) const {
  const bool same = of_ && (of_ == facts.readable || of_ == facts.shared);
  return under_ && same ? &of_->buffers[*under_] : nullptr;
}

std::optional<int32_t> MemoryPanel::draw(Ui& ui, const Rect& rect, const MemoryInput& given,
                                         ScreenRequests& desk) {
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
  save_menu(ui, "tape/memory", rect, tr("the memory plan"),
            {"tape-memory", [&] { return std::vector{memory_plot(*map)}; }, [&] { return memory_csv(*map); },
             [&] { return memory_json(*map); }},
            desk);
  draw_title(f, rest);
  const Rect bars = rest.take_bottom(std::min(kBarsHigh, rest.h), 6);
  draw_map(f, rest);
  draw_bars(f, bars);
  return f.head;
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
    // The labels keep their names, even if shortened or marked.
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
    if (free) p.text({x, foot.y + 13}, kTickWords, ui.theme().ink3, word, align);
  }
}

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
  const float least = 1 / f.ui.scale();
  for (const MemoryBox& box : boxes_) {
    Rect r = box.rect.moved(f.plot.x, f.plot.y);
    if (r.h > 4) r.h -= 0.5f;  // a gap tells neighbours apart
    r.w = std::max(r.w, least);
    r.h = std::max(r.h, least);
    f.ui.paint().fill(r, colour_of(f.ui.theme(), box.layer, box.kind, f.given.layers));
  }
}

/// Finds the buffer under the mouse, the smallest if there are several.
void MemoryPanel::hold_map(Frame& f) {
  Ui& ui = f.ui;
  HitOptions options{.arrows = Arrows::Either, .overlap = true, .tooltip = false, .radius = 3};
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

void MemoryPanel::draw_flag(Frame& f, const Rect& row) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const std::string words = fmt::format("{}", f.given.head);
  const float wide = p.text_width(kBodyMono, words) + 14;
  Rect flag{f.x_of(f.given.head) - wide / 2, row.y + 2, wide, 18};
  flag.x = std::clamp(flag.x, row.x, std::max(row.x, row.right() - wide));
  const Hit hit = ui.hit("tape/memory/flag", flag, words,
                         tr("The play head: drag it along the instructions, or use the arrow keys."),
                         {.arrows = Arrows::Across, .radius = radius::tile});
  p.accent_box(ui.theme(), flag, radius::tile);
  p.text_in(flag, kBodyMono, ui.theme().on_accent, words, Align::Centre);
  int32_t head = f.given.head;
  if (hit.dragging) head = f.instruction_at(ui.mouse().x);
  head = std::clamp(head + hit.arrow_x, 0, std::max(f.map.instructions - 1, 0));
  if (head != f.given.head) f.head = head;
}

/// Labels segments and layers at the right, each at the middle of its memory.
void MemoryPanel::draw_names(Frame& f, const Rect& names) {
  struct Name {
    float y = 0;
    std::string text;
    int layer = 0;
  };
  std::vector<Name> all;
  const double down = static_cast<double>(f.plot.h) / static_cast<double>(std::max<size_t>(f.map.planned, 1));
  const auto place = [&](double address) { return f.plot.y + static_cast<float>(down * address); };
  for (const MemorySegment& s : f.map.segments)
    if (s.name != "activations" && down * static_cast<double>(s.bytes) >= 5)
      all.push_back(
          {place(static_cast<double>(s.address) + static_cast<double>(s.bytes) / 2), segment_words(s), 0});
  std::vector<std::pair<double, double>> layers(static_cast<size_t>(std::max(1, f.given.layers)) + 1);
  for (const Buffer& b : f.map.buffers) {
    const bool activation = b.kind == BufferKind::Activation || b.kind == BufferKind::Saved;
    if (!activation || b.layer <= 0 || b.layer > f.given.layers) continue;
    auto& [sum, weight] = layers[static_cast<size_t>(b.layer)];
    sum += (static_cast<double>(b.address) + static_cast<double>(b.bytes) / 2) * static_cast<double>(b.bytes);
    weight += static_cast<double>(b.bytes);
  }
  const auto room = static_cast<size_t>(std::max(0.f, names.h / kNamePitch - static_cast<float>(all.size())));
  const size_t every = room == 0 ? 0 : (layers.size() - 1 + room - 1) / room;
  for (size_t l = 1; l < layers.size() && every > 0; l += every)
    if (layers[l].second > 0)
      all.push_back({place(layers[l].first / layers[l].second), tr("layer {layer}", {{"layer", l}}),
                     static_cast<int>(l)});
  std::ranges::sort(all, {}, &Name::y);
  if (static_cast<float>(all.size()) * kNamePitch > names.h) return;
  std::vector<float> y;
  for (const Name& name : all) y.push_back(name.y);
  spread(y, names.y + kNamePitch / 2, names.bottom() - kNamePitch / 2, kNamePitch);
  Painter& p = f.ui.paint();
  for (size_t i = 0; i < all.size(); ++i) {
    Rect line{names.x, y[i] - 7, names.w, 14};
    if (all[i].layer > 0)
      depth_square(f.ui, {line.x, line.y + 3, 8, 8}, all[i].layer - 1, std::max(1, f.given.layers));
    line.take_left(12);
    p.text_in(line, kTickWords, f.ui.theme().ink2, fitting(p, kTickWords, line.w, {all[i].text}));
  }
}

/// Compares the plan with every tensor in its own place, to one scale.
void MemoryPanel::draw_bars(Frame& f, Rect rest) {
  Ui& ui = f.ui;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const MemoryMap& map = f.map;
  const std::string most = most_sentence(map);
  ui.mark("tape/memory/bars", rest,
          tr("as planned {planned}, every tensor in its own place {apart}. {most}",
             {{"planned", words::with_decimal(size_words(map.planned))},
              {"apart", words::with_decimal(size_words(map.apart))},
              {"most", most}}),
          tr("The plan compared with a place of its own for every tensor, to one scale."));
  const double whole = static_cast<double>(std::max<size_t>({map.planned, map.apart, 1}));
  p.hairline({rest.x, rest.y}, {rest.right(), rest.y}, t.border);
  rest.take_top(5);
  for (const bool apart : {false, true}) {
    Rect head = rest.take_top(17);
    p.text_in(head, kBodyMono, t.ink, words::with_decimal(size_words(apart ? map.apart : map.planned)),
              Align::Right);
    p.text_in(head, kBodyWords, t.ink2, apart ? tr("every tensor in its own place") : tr("as planned"));
    const Rect bar = rest.take_top(18, 8);
    float x = bar.x;
    for (const MemorySegment& s : map.segments) {
      const size_t bytes = apart ? s.apart : s.bytes;
      const float wide = bar.w * static_cast<float>(static_cast<double>(bytes) / whole);
      const Colour fill = s.name == "weights"       ? t.ink3
                          : s.name == "activations" ? depth_colour(t, 0, 2)
                          : s.name == "gradients"   ? mix(depth_colour(t, 0, 2), t.panel, 0.6f)
                                                    : t.trough;
      p.fill({x, bar.y, std::max(0.f, wide - 1), bar.h}, fill);
      const std::string named =
          fmt::format("{} {}", segment_words(s), number(static_cast<double>(bytes) / (1024 * 1024), 3));
      p.text_in({x + 5, bar.y, std::max(0.f, wide - 10), bar.h}, kTickWords, ink_on(fill),
                fitting(p, kTickWords, wide - 12, {named, segment_words(s)}));
      x += wide;
    }
  }
  if (rest.h >= 17) p.text_in(rest.take_top(18), kBodyWords, t.ink2, fitting(p, kBodyWords, rest.w, {most}));
}

std::string plan_sentence(const MemoryMap& map) {
  if (map.apart == map.planned)
    return tr("{planned}.", {{"planned", words::with_decimal(size_words(map.planned))}});
  return tr("{planned}; every tensor in its own place would take {apart}.",
            {{"planned", words::with_decimal(size_words(map.planned))},
             {"apart", words::with_decimal(size_words(map.apart))}});
}

ui::Rect buffer_rect(const MemoryMap& map, const Buffer& buffer, float width, float height) {
  const float across = width / static_cast<float>(std::max(map.instructions, 1));
  const double down = static_cast<double>(height) / static_cast<double>(std::max<size_t>(map.planned, 1));
  return {across * static_cast<float>(buffer.first),
          static_cast<float>(down * static_cast<double>(buffer.address)),
          across * static_cast<float>(buffer.last - buffer.first + 1),
          static_cast<float>(down * static_cast<double>(buffer.bytes))};
}

std::vector<MemoryBox> memory_boxes(const MemoryMap& map, float width, float height, float pixel) {
  // Buffers thinner than a pixel that cover the same pixels share a `Place`.
  using Place = std::tuple<int64_t, int64_t, int64_t, int32_t, BufferKind>;
  std::map<Place, size_t> thin;
  std::vector<MemoryBox> boxes;
  const auto pixel_of = [&](float v) { return static_cast<int64_t>(std::floor(v / pixel)); };
  for (size_t i = 0; i < map.buffers.size(); ++i) {
    const Buffer& b = map.buffers[i];
    const ui::Rect r = buffer_rect(map, b, width, height);
    MemoryBox box{r, b.layer, b.kind, static_cast<int32_t>(i), 1};
    if (r.h >= pixel) {
      boxes.push_back(box);
      continue;
    }
    const Place place{pixel_of(r.y), pixel_of(r.x), pixel_of(r.right()), b.layer, b.kind};
    const auto [at, is_new] = thin.try_emplace(place, boxes.size());
    if (is_new) {
      boxes.push_back(box);
      continue;
    }
    MemoryBox& same = boxes[at->second];
    const float right = std::max(same.rect.right(), r.right()),
                bottom = std::max(same.rect.bottom(), r.bottom());
    same.rect.x = std::min(same.rect.x, r.x);
    same.rect.y = std::min(same.rect.y, r.y);
    same.rect.w = right - same.rect.x;
    same.rect.h = bottom - same.rect.y;
    same.buffer = -1;
    ++same.count;
  }
  return boxes;
}

void save_menu(ui::Ui& ui, const std::string& name, const ui::Rect& panel, std::string_view what,
               const PanelFiles& files, ScreenRequests& desk) {
  const std::vector<ui::FileRow> rows{
      {"svg", tr("Save as SVG"),
       tr("Saves {what} in the pictures folder, as a drawing that is sharp at any size.", {{"what", what}})},
      {"png", tr("Save as PNG"), tr("Saves {what} in the pictures folder, as a picture.", {{"what", what}})},
      {"csv", tr("Save as CSV"),
       tr("Saves {what} in the pictures folder, as a table of all numbers.", {{"what", what}})},
      {"json", tr("Save as JSON"),
       tr("Saves {what} in the pictures folder, with all that is known.", {{"what", what}})}};
  const std::string chosen =
      ui::file_menu(ui, name + "/menu", {panel.right() - 36, panel.y + 6, 24, 24},
                    tr("Save {what} as SVG, PNG, CSV or JSON.", {{"what", what}}), rows);
  if (chosen == "csv" || chosen == "json")
    desk.files.push_back({files.name + "." + chosen, chosen == "csv" ? files.csv() : files.json()});
  else if (!chosen.empty())
    desk.saves.push_back({std::make_shared<const std::vector<plot::PlotSpec>>(files.plots()),
                          {},
                          chosen == "svg" ? view::PlotFormat::Svg : view::PlotFormat::Png});
}

}  // namespace normscope::tape_screen

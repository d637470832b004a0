// Beside the memory's picture: names of segments and layers. Below it: the plan against every tensor in its own place.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "addons/tape-screen/app/memory_panel.h"
#include "addons/tape-screen/app/panel_frame.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::tape_screen {

using namespace ui;

namespace {

constexpr float kNamePitch = 16;

const std::string& segment_words(const MemorySegment& segment) { return tr(segment.name); }

/// Moves labels down until none overlaps, and back up where the last has left the room.
void spread(std::vector<float>& y, float low, float high, float pitch) {
  for (size_t i = 0; i < y.size(); ++i) y[i] = std::max(y[i], i > 0 ? y[i - 1] + pitch : low);
  for (size_t i = y.size(); i-- > 0;) y[i] = std::min(y[i], i + 1 < y.size() ? y[i + 1] - pitch : high);
}

}  // namespace

/// Names segments and layers at the right, each at the middle of what it has.
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

}  // namespace normscope::tape_screen

// The rectangles of the memory's picture, and its buffers as files.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "addons/tape-screen/app/memory_panel.h"
#include "app/plot/plot.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::tape_screen {
namespace {

constexpr int kMapRows = 240, kMapColumns = 600;  // of the plot at most

std::string listed(const std::vector<int32_t>& instructions) {
  std::string text;
  for (const int32_t i : instructions) text += (text.empty() ? "" : " ") + std::to_string(i);
  return text;
}

}  // namespace

std::string plan_sentence(const MemoryMap& map) {
  if (map.apart == map.planned)
    return tr("{planned}.", {{"planned", words::with_decimal(size_words(map.planned))}});
  return tr("{planned}; every tensor in its own place would take {apart}.",
            {{"planned", words::with_decimal(size_words(map.planned))},
             {"apart", words::with_decimal(size_words(map.apart))}});
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

ui::Rect buffer_rect(const MemoryMap& map, const Buffer& buffer, float width, float height) {
  const float across = width / static_cast<float>(std::max(map.instructions, 1));
  const double down = static_cast<double>(height) / static_cast<double>(std::max<size_t>(map.planned, 1));
  return {across * static_cast<float>(buffer.first),
          static_cast<float>(down * static_cast<double>(buffer.address)),
          across * static_cast<float>(buffer.last - buffer.first + 1),
          static_cast<float>(down * static_cast<double>(buffer.bytes))};
}

std::vector<MemoryBox> memory_boxes(const MemoryMap& map, float width, float height, float pixel) {
  // Buffers thinner than a pixel that lie in the same one, over the same pixels across, share a `Place`.
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

plot::PlotSpec memory_plot(const MemoryMap& map) {
  plot::PlotSpec plot;
  plot.id = "tape-memory";
  plot.title = tr("Memory");
  plot.note = tr("address down, instructions across");
  plot.sentence = plan_sentence(map) + " " + most_sentence(map);
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
  plot::HeatMap heat;
  heat.rows = kMapRows;
  heat.columns = std::clamp(map.instructions, 1, kMapColumns);
  heat.stretched = true;
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

}  // namespace normscope::tape_screen

// A plot as a picture of its own, outside the window and without neighbours: what the file writers draw.
#include <algorithm>

#include "app/plot/plot.h"
#include "app/plot/plot_layout.h"
#include "app/ui/svg.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::plot {

float pad_for_labels(const PlotSpec& plot, const Measure& measure, float width) {
  const float label = label_width(plot, measure);
  if (label <= 0) return plot.pad_right;
  // The line ends at a share t of the area's width w; the label must end where the rectangle ends: w(1-t) + (total-w)
  // >= need.
  const float t = AxisMap(plot.x.scale, plot.x.lo, plot.x.hi, 0, 1)(end_of_lines(plot));
  const float need = label + label_offset + 4;
  const float total = width - plot.pad_left;
  const float w = t > 1e-6f ? (total - need) / t : total;
  return std::clamp(total - w, plot.pad_right, std::max(plot.pad_right, total * 0.45f));
}

constexpr float kLine = 18;  // of a sentence that is broken

PlotSpec still(const PlotSpec& plot, const Measure& measure, float width) {
  const PlotSpec fresh;
  PlotSpec s = plot;
  if (!s.handles.empty()) {
    s.handles.clear();
    s.note.clear();  // both are for the user
  }
  s.hover.reset();
  s.x.show_labels = s.y.show_labels = true;
  s.pad_left = std::max(s.pad_left, s.river ? river_left : fresh.pad_left);
  if (has_axes(s))
    for (const Tick& tick : ticks_of(s.y, s.y.lo, s.y.hi, s.y.max_ticks))
      s.pad_left = std::max(s.pad_left, measure({ui::Face::Mono, ui::type::tick}, tick.label) + label_offset);
  s.pad_top = std::max(s.pad_top, fresh.pad_top);
  s.pad_bottom = s.heat && !s.heat->stretched ? 40 : std::max(s.pad_bottom, fresh.pad_bottom);
  s.pad_right = fresh.pad_right;
  if (s.heat && !s.heat->ticked) return s;
  const auto labelled = [](const Series& series) { return series.end_label; };
  if (s.tile && s.series.size() > 1 && std::ranges::none_of(s.series, labelled))
    for (Series* series : {&s.series.front(), &s.series.back()}) {
      series->end_label = true;
      if (series->name.empty()) series->name = series->id;
    }
  s.pad_right = s.labels_inside ? pad_for_labels(s, measure, width)
                                : std::max(30.f, label_width(s, measure) + label_offset);
  return s;
}

std::string caption(const PlotSpec& plot) {
  const auto words_of = [](const Axis& axis) {
    return axis.unit.empty() ? axis.label : axis.label + ", " + axis.unit;
  };
  if (plot.heat && !plot.heat->stretched)
    return plot.y.label.empty()
               ? ""
               : tr("{what}; the more a cell stands out, the larger its share", {{"what", plot.y.label}});
  std::string text;
  if (!plot.x.label.empty()) text = tr("x: {text}", {{"text", words_of(plot.x)}});
  if (!plot.y.label.empty())
    text += (text.empty() ? "" : "; ") + tr("y: {text}", {{"text", words_of(plot.y)}});
  if (plot.heat && !plot.heat->label.empty()) text += (text.empty() ? "" : "; ") + plot.heat->label;
  return text;
}

void draw_still(ui::Painter& p, const ui::Theme& theme, const PlotSpec& plot, const ui::Rect& rect,
                const View& view) {
  const ui::TextStyle bold{ui::Face::Bold, ui::type::title}, body{ui::Face::Sans, ui::type::body},
      tick{ui::Face::Sans, ui::type::tick};
  const std::string below = caption(plot);
  const PlotSpec picture = still(plot, measure_of(p), rect.w);
  ui::Rect rest = rect;
  ui::Rect title = rest.take_top(plot.title.empty() ? 8 : ui::space::title_row).inset(ui::space::pad, 0);
  const float behind = title.w - p.text_width(bold, plot.title) - 12;
  const std::string beside = ui::behind_title(p, behind, picture.question, picture.brief, picture.note);
  // A file has no tooltip: what has no room behind the title has a line of its own, if that is free.
  const std::string& line = plot.sentence.empty() && beside.empty() ? picture.note : plot.sentence;
  const float broken = p.wrapped_height(title.w, body, line, kLine) - kLine;  // 0: it is one line
  const ui::Rect sentence =
      rest.take_top(line.empty() ? 0 : ui::space::sentence_row + broken).inset(ui::space::pad, 0);
  const ui::Rect foot = rest.take_bottom(below.empty() ? 6 : 22);
  p.begin_group(plot.question.empty() ? plot.title : plot.title + ": " + plot.question);
  p.fill(rect, theme.panel);
  title.take_left(p.text_in(title, bold, theme.ink, plot.title) + 12);
  p.text_in(title, body, theme.ink3, beside);
  if (broken > 0)
    p.text_wrapped(sentence, body, theme.ink2, line, kLine);
  else
    p.text_in(sentence.moved(0, -3), body, theme.ink2, line);
  p.text_in(foot.inset(ui::space::pad, 0), tick, theme.ink3, below);
  paint(p, theme, picture, layout_plot(picture, view, rest, theme, measure_of(p)));
  p.end_group();
}

std::string to_svg(const PlotSpec& plot, const ui::Theme& theme, ExportSize size, const View& view) {
  const auto picture = [&](ui::Painter& p, const ui::Theme& t) {
    draw_still(p, t, plot, {0, 0, size.width, size.height}, view);
    return ui::Vec{size.width, size.height};
  };
  return ui::to_svg(plot.title, picture, theme);
}

}  // namespace normscope::plot

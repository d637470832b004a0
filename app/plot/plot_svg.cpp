// The SVG writer: prints the same Drawing that the screen paints. No font is loaded, widths are estimated
// from the two faces' usual advances, which is close enough for labels that only must not touch. What is cut at the
// plot area refers to it by an id that holds the plot's, so that several plots can stand on one page. See plot.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "app/plot/plot.h"
#include "app/plot/plot_layout.h"
#include "app/plot/svg_page.h"

namespace normscope::plot {
namespace {

float estimated_width(ui::TextStyle style, std::string_view s) {
  const bool mono = style.face == ui::Face::Mono || style.face == ui::Face::MonoMedium;
  float em = 0;
  for (unsigned char c : s) {
    if ((c & 0xC0) == 0x80) continue;  // continuation of a character already counted
    if (mono)
      em += 0.6f;
    else if (std::string_view("iljt.,:;'|!I ()[]").find(char(c)) != std::string_view::npos)
      em += 0.29f;
    else if (c == 'm' || c == 'w' || c == 'M' || c == 'W')
      em += 0.87f;
    else if (c >= 'A' && c <= 'Z')
      em += 0.69f;
    else if (c >= '0' && c <= '9')
      em += 0.63f;
    else
      em += 0.58f;
  }
  return em * style.px * (style.face == ui::Face::Bold ? 1.05f : 1.f);
}

// "area-gradient-b".
std::string area_id(std::string_view plot) {
  std::string id = "area";
  if (!plot.empty()) id += '-';
  for (const char c : plot) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    id += plain ? c : '-';
  }
  return id;
}

class Writer {
 public:
  Writer(const ui::Theme& theme, const PlotMap& map, std::string_view plot)
      : theme_(theme), clip_(map.area.inset(-2)), area_(area_id(plot)) {}

  template <typename... A>
  void put(fmt::format_string<A...> format, A&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<A>(args)...);
  }

  static std::string paint(const char* what, ui::Colour c) {
    std::string text = fmt::format(" {}=\"{}\"", what, ui::to_hex(c));
    if (c.a < 255) text += fmt::format(" {}-opacity=\"{:.3g}\"", what, c.a / 255.0);
    return text;
  }
  static std::string dashes(ui::Dash d, float phase = 0) {
    if (d.solid()) return {};
    return fmt::format(" stroke-dasharray=\"{:g} {:g}\" stroke-dashoffset=\"{:.2f}\"", d.on, d.off, phase);
  }
  std::string points(const std::vector<ui::Vec>& list, bool reversed = false) const {
    std::string text;
    for (size_t i = 0; i < list.size(); ++i) {
      ui::Vec p = list[reversed ? list.size() - 1 - i : i];
      fmt::format_to(std::back_inserter(text), "{}{:.2f},{:.2f}", text.empty() ? "" : " ", p.x, p.y);
    }
    return text;
  }

  void operator()(const FillItem& i) {
    put("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"", i.rect.x, i.rect.y, i.rect.w,
        i.rect.h);
    if (i.radius > 0) put(" rx=\"{:g}\"", i.radius);
    out += paint("fill", i.colour);
    if (i.accent && theme_.accent_outline.a)
      out += paint("stroke", theme_.accent_outline) + " stroke-width=\"1.2\"";
    out += "/>\n";
  }
  void operator()(const RuleItem& i) {
    put("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke-width=\"{:g}\"{}{}/>\n", i.a.x,
        i.a.y, i.b.x, i.b.y, i.width, paint("stroke", i.colour), dashes(i.dash));
  }
  void operator()(const StrokeItem& i) {
    if (!i.dash.solid() && i.along == ui::DashAlong::X) return cut(i);  // SVG's own dashes follow the path
    put("<polyline fill=\"none\" stroke-width=\"{:g}\" stroke-linejoin=\"round\"{}{}{} points=\"{}\"/>\n",
        i.width, paint("stroke", i.colour), dashes(i.dash, i.phase), i.clip ? clipped() : "",
        points(i.points));
  }
  void cut(const StrokeItem& i) {
    ui::Pieces pieces;
    ui::cut_dashes(i.points, i.dash, i.phase, pieces, i.along);
    put("<path fill=\"none\" stroke-width=\"{:g}\" stroke-linejoin=\"round\"{}{} d=\"", i.width,
        paint("stroke", i.colour), i.clip ? clipped() : "");
    for (size_t k = 0; k < pieces.size(); ++k)
      for (const ui::Vec& p : pieces[k])
        put("{}{:.2f} {:.2f}", &p == &pieces[k].front() ? "M" : "L", p.x, p.y);
    out += "\"/>\n";
  }
  void operator()(const StripItem& i) {
    put("<polygon{}{} points=\"{} {}\"/>\n", paint("fill", i.colour), clipped(), points(i.upper),
        points(i.lower, true));
  }
  void operator()(const MarkItem& i) {
    const float s = i.size, x = i.centre.x, y = i.centre.y;
    std::string look = paint("fill", i.fill) + paint("stroke", i.edge) + " stroke-width=\"1\"";
    switch (i.marker) {
      case ui::Marker::None:
        break;
      case ui::Marker::Circle:
        put("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:g}\"{}/>\n", x, y, s, look);
        break;
      case ui::Marker::Square:
        put("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:g}\" height=\"{:g}\"{}/>\n", x - s * 0.9, y - s * 0.9,
            s * 1.8, s * 1.8, look);
        break;
      case ui::Marker::Triangle:
        put("<polygon{} points=\"{}\"/>\n", look,
            points({{x, y - s * 1.26f}, {x + s * 1.24f, y + s * 0.92f}, {x - s * 1.24f, y + s * 0.92f}}));
        break;
      case ui::Marker::Diamond:
        put("<polygon{} points=\"{}\"/>\n", look,
            points({{x, y - s * 1.25f}, {x + s * 1.25f, y}, {x, y + s * 1.25f}, {x - s * 1.25f, y}}));
        break;
    }
  }
  void operator()(const TextItem& i) { text(i.baseline, i.style, i.colour, i.text, i.align); }

  void text(ui::Vec at, ui::TextStyle style, ui::Colour colour, std::string_view s,
            ui::Align align = ui::Align::Left) {
    const bool mono = style.face == ui::Face::Mono || style.face == ui::Face::MonoMedium;
    const char* anchor = align == ui::Align::Centre ? "middle" : align == ui::Align::Right ? "end" : "start";
    put("<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"{:g}\" font-family=\"{}\"{} "
        "text-anchor=\"{}\"{}>{}</text>\n",
        at.x, at.y, style.px,
        mono ? "JetBrains Mono, DejaVu Sans Mono, monospace" : "Inter, DejaVu Sans, sans-serif",
        style.face == ui::Face::Bold ? " font-weight=\"600\"" : "", anchor, paint("fill", colour),
        svg_escaped(s));
  }

  std::string clipped() const { return fmt::format(" clip-path=\"url(#{})\"", area_); }

  std::string out;
  const ui::Theme& theme_;
  ui::Rect clip_;
  std::string area_;
};

// Question and note, or the one of them that has room; without a question the note always.
std::string words_behind(const PlotSpec& plot, float room) {
  const ui::TextStyle body{ui::Face::Sans, ui::type::body};
  if (plot.question.empty()) return plot.note;
  const std::string both = plot.question + (plot.note.empty() ? "" : "   ") + plot.note;
  if (estimated_width(body, both) <= room) return both;
  return estimated_width(body, plot.question) <= room ? plot.question : plot.brief;
}

}  // namespace

std::string to_svg(const PlotSpec& plot, const ui::Theme& theme, ExportSize size, const View& view) {
  ui::Rect rest{0, 0, size.width, size.height};
  ui::Rect title_row = rest.take_top(plot.title.empty() ? 8 : ui::space::title_row);
  ui::Rect sentence_row = rest.take_top(plot.sentence.empty() ? 0 : ui::space::sentence_row);
  const std::string below = caption(plot);
  const ui::Rect caption_row = rest.take_bottom(below.empty() ? 6 : caption_height);
  const PlotSpec picture = still(plot, estimated_width, rest.w);
  Drawing drawing = layout_plot(picture, view, rest, theme, estimated_width);
  Writer w(theme, drawing.map, plot.id);
  w.put(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" "
      "height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\">\n<title>{2}</title>\n",
      size.width, size.height,
      svg_escaped(plot.question.empty() ? plot.title : plot.title + ": " + plot.question));
  w.put("<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n", ui::to_hex(theme.panel));
  w.put(
      "<clipPath id=\"{}\"><rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" "
      "height=\"{:.2f}\"/></clipPath>\n",
      w.area_, w.clip_.x, w.clip_.y, w.clip_.w, w.clip_.h);
  if (!plot.title.empty()) {
    const ui::TextStyle bold{ui::Face::Bold, ui::type::title}, body{ui::Face::Sans, ui::type::body};
    ui::Vec at{ui::space::pad, title_row.centre().y + 5};
    w.text(at, bold, theme.ink, plot.title);
    const float behind = at.x + estimated_width(bold, plot.title) + 12;
    if (const std::string words = words_behind(picture, size.width - ui::space::pad - behind); !words.empty())
      w.text({behind, at.y}, body, theme.ink3, words);
    if (!plot.sentence.empty()) w.text({at.x, sentence_row.centre().y + 1}, body, theme.ink2, plot.sentence);
  }
  if (!below.empty())
    w.text({ui::space::pad, caption_row.bottom() - 8}, {ui::Face::Sans, ui::type::tick}, theme.ink3, below);
  for (const Item& item : drawing.items) std::visit(w, item);
  if (plot.tile) {
    const ui::RunLook& run = theme.runs[*plot.tile];
    w(FillItem{drawing.tile, run.tile, 3});
    w.text({drawing.tile.centre().x, drawing.tile.centre().y + 4}, {ui::Face::Bold, 11}, run.tile_letter,
           std::string(1, run.letter), ui::Align::Centre);
  }
  w.out += "</svg>\n";
  return w.out;
}

std::string stacked_svg(const std::vector<std::string>& documents, const ui::Theme& theme) {
  constexpr std::string_view kOpen = "<svg ";
  const auto length = [](const std::string& document, std::string_view name) {
    const size_t at = document.find(fmt::format(" {}=\"", name));
    return at == document.npos ? 0.0 : std::strtod(document.c_str() + at + name.size() + 3, nullptr);
  };
  double width = 0, height = 0;
  std::string inner;
  for (const std::string& document : documents) {
    const size_t open = document.find(kOpen);
    if (open == document.npos) continue;
    inner += fmt::format("<svg y=\"{:g}\" {}", height, document.substr(open + kOpen.size()));
    width = std::max(width, length(document, "width"));
    height += length(document, "height");
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" "
      "height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"{2}\"/>\n{3}</svg>\n",
      width, height, ui::to_hex(theme.panel), inner);
}

}  // namespace normscope::plot

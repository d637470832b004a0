// The painter of paint.h that writes shapes and texts as elements of an SVG document.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "app/ui/glyphs.h"
#include "app/ui/paint.h"
#include "app/ui/shapes.h"

namespace normscope::ui {

namespace {

/// Inter Regular's advances from the blank to the tilde, in hundredths of the em.
constexpr uint8_t kAdvances[] = {28, 28, 40, 63, 64, 81, 64, 22, 36, 36, 50, 66, 28, 46, 28, 36, 62, 46, 61,
                                 64, 64, 61, 62, 57, 62, 62, 28, 28, 66, 66, 66, 51, 94, 68, 65, 73, 72, 60,
                                 59, 74, 74, 26, 54, 65, 56, 89, 75, 76, 63, 76, 64, 64, 64, 74, 68, 95, 64,
                                 66, 62, 36, 36, 36, 47, 45, 50, 56, 62, 56, 62, 58, 36, 61, 59, 24, 24, 54,
                                 24, 87, 59, 60, 61, 61, 37, 52, 36, 58, 56, 81, 54, 56, 54, 36, 33, 36, 66};
constexpr float kMonoAdvance = 0.6f, kOtherAdvance = 0.66f, kBoldFactor = 1.035f;  // ems

bool is_mono(TextStyle style) { return style.face == Face::Mono || style.face == Face::MonoMedium; }

/// Rounds to a hundredth of a pixel: "12.5".
std::string px(float v) { return fmt::format("{:g}", std::round(v * 100.f) / 100.f + 0.f); }

std::string points(std::span<const Vec> list) {
  std::string text;
  for (Vec p : list) text += (text.empty() ? "M" : "L") + px(p.x) + " " + px(p.y);
  return text;
}

class SvgPainter final : public Painter {
 public:
  /// With glyphs, letters are written as outlines.
  explicit SvgPainter(Colour page, const Glyphs* glyphs = nullptr) : glyphs_(glyphs) {
    put("<rect width=\"100%\" height=\"100%\"");
    end("fill", page);
  }

  void outline(const Rect& r, Colour c, float width, float radius) override {
    if (r.empty()) return;
    const Rect middle = r.inset(width / 2);
    put("<rect fill=\"none\" stroke-width=\"{:g}\"{}", width, place(middle, radius - width / 2));
    end("stroke", c);
  }
  void hairline(Vec a, Vec b, Colour c, float width) override { line(a, b, c, width); }
  void dashed(std::span<const Vec> line, Colour c, float width, Dash dash, float phase,
              DashAlong along) override {
    if (dash.solid()) return polyline(line, c, width, false);
    std::string d;
    if (along == DashAlong::X) {  // dashes of SVG follow the path
      Pieces pieces;
      cut_dashes(line, dash, phase, pieces, along);
      for (size_t i = 0; i < pieces.size(); ++i) d += points(pieces[i]);
      return stroke(d, c, width);
    }
    stroke(points(line), c, width,
           fmt::format(" stroke-dasharray=\"{} {}\" stroke-dashoffset=\"{}\"", px(dash.on), px(dash.off),
                       px(phase)));
  }
  void polyline(std::span<const Vec> line, Colour c, float width, bool closed) override {
    if (line.size() > 1) stroke(points(line) + (closed ? "Z" : ""), c, width);
  }
  void polygon(std::span<const Vec> convex, Colour c) override {
    put("<path d=\"{}Z\"", points(convex));
    end("fill", c);
  }
  void strip(std::span<const Vec> upper, std::span<const Vec> lower, Colour c) override {
    std::vector<Vec> around(upper.begin(), upper.end());
    around.insert(around.end(), lower.rbegin(), lower.rend());
    polygon(around, c);
  }
  void hatch(const Rect& r, Colour c, float stripe, float pitch) override {
    const float turned = 1 / std::sqrt(2.f);
    const std::string id = fmt::format("hatch-{}-{}", px(stripe), px(pitch));
    if (defined_.insert(id).second) {
      put("<pattern id=\"{}\" width=\"{}\" height=\"9\" patternUnits=\"userSpaceOnUse\" "
          "patternTransform=\"rotate(45)\"><rect width=\"{}\" height=\"9\"",
          id, pitch * turned, stripe * turned);
      end("fill", c, "/></pattern>\n");
    }
    put("<rect fill=\"url(#{})\"{}/>\n", id, place(r, 0));
  }
  void circle(Vec o, float r, Colour c) override {
    put("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", px(o.x), px(o.y), px(r));
    end("fill", c);
  }
  void ring(Vec o, float r, Colour c, float width) override {
    put("<circle fill=\"none\" stroke-width=\"{:g}\" cx=\"{}\" cy=\"{}\" r=\"{}\"", width, px(o.x), px(o.y),
        px(r));
    end("stroke", c);
  }
  float text(Vec at, TextStyle style, Colour c, std::string_view s, Align align) override {
    if (s.empty()) return 0;
    if (glyphs_) return outlined(at, style, c, s, align);
    std::string inside;
    float down = 0;  // drop of the last piece
    for_pieces(s, [&](std::string_view piece, bool lowered) {
      const float drop = lowered ? kSubscriptDrop * style.px : 0;
      inside += drop == down ? svg_escaped(piece)
                             : fmt::format("<tspan dy=\"{}\" font-size=\"{}\">{}</tspan>", px(drop - down),
                                           px(style.px * (lowered ? kSubscriptSize : 1)), svg_escaped(piece));
      down = drop;
    });
    put("<text x=\"{}\" y=\"{}\" font-size=\"{:g}\"{}{}{}", px(at.x), px(at.y), style.px,
        is_mono(style) ? " font-family=\"JetBrains Mono, DejaVu Sans Mono, monospace\"" : "",
        style.face == Face::Bold ? " font-weight=\"600\"" : "",
        align == Align::Centre  ? " text-anchor=\"middle\""
        : align == Align::Right ? " text-anchor=\"end\""
                                : "");
    end("fill", c, ">" + inside + "</text>\n");
    return text_width(style, s);
  }
  float text_width(TextStyle style, std::string_view s) const override {
    if (glyphs_) return glyphs_->width(style, s);
    float em = 0;
    for_pieces(s, [&](std::string_view piece, bool lowered) {
      for (const unsigned char c : piece) {
        if ((c & 0xC0) == 0x80) continue;  // a later byte of a character already counted
        const float advance = is_mono(style)       ? kMonoAdvance
                              : c >= 32 && c < 127 ? 0.01f * kAdvances[c - 32]
                                                   : kOtherAdvance;
        em += advance * (lowered ? kSubscriptSize : 1);
      }
    });
    return em * style.px * (style.face == Face::Bold ? kBoldFactor : 1);
  }
  /// The id of a clip is made of its rectangle, so that equal ids of several documents on one page mean equal clips.
  void push_clip(const Rect& r) override {
    const std::string id = fmt::format("clip-{}-{}-{}-{}", px(r.x), px(r.y), px(r.w), px(r.h));
    if (defined_.insert(id).second) put("<clipPath id=\"{}\"><rect{}/></clipPath>\n", id, place(r, 0));
    put("<g clip-path=\"url(#{})\">\n", id);
  }
  void pop_clip() override { put("</g>\n"); }
  void begin_group(std::string_view title) override { put("<g><title>{}</title>\n", svg_escaped(title)); }
  void end_group() override { put("</g>\n"); }

  /// The text of the document up to a colour, and that colour; `what` is "fill" or "stroke".
  struct Part {
    std::string before;
    const char* what;
    Colour colour;
    std::string rule() const {
      const std::string opaque = fmt::format("{}:{}", what, to_hex(colour));
      return colour.a == 255 ? opaque : opaque + fmt::format(";{}-opacity:{:.3g}", what, colour.a / 255.0);
    }
  };
  const std::vector<Part>& parts() const { return parts_; }
  const std::string& rest() const { return text_; }

 private:
  float outlined(Vec at, TextStyle style, Colour c, std::string_view s, Align align) {
    const float width = text_width(style, s);
    at.x -= align == Align::Left ? 0 : align == Align::Centre ? width / 2 : width;
    const auto pair = [](Vec p) { return px(p.x) + " " + px(p.y) + " "; };
    std::string d;
    for (const Stroke& each : glyphs_->outline(style, at, s)) switch (each.to) {
        case Stroke::To::Move:
          d += "M" + pair(each.end);
          break;
        case Stroke::To::Line:
          d += "L" + pair(each.end);
          break;
        case Stroke::To::Curve:
          d += "C" + pair(each.a) + pair(each.b) + pair(each.end);
          break;
        case Stroke::To::Close:
          d += "Z";
          break;
      }
    put("<path aria-label=\"{}\" d=\"{}\"", svg_escaped(s), d);
    end("fill", c);
    return width;
  }
  void box(const Rect& r, Colour c, float radius, Corners corners, Edges) override {
    put("<rect{}", place(r, radius));
    end("fill", c);
    if (corners == Corners::Lower) box({r.x, r.y, r.w, r.h / 2}, c, 0, Corners::All, Edges::Exact);
  }
  void stroke(const std::string& d, Colour c, float width, const std::string& more = "") {
    put("<path fill=\"none\" stroke-width=\"{}\" stroke-linejoin=\"round\"{} d=\"{}\"", px(width), more, d);
    end("stroke", c);
  }
  static std::string place(const Rect& r, float radius) {
    return fmt::format(" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}", px(r.x), px(r.y), px(r.w), px(r.h),
                       radius > 0 ? fmt::format(" rx=\"{}\"", px(radius)) : "");
  }
  template <typename... A>
  void put(fmt::format_string<A...> format, A&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<A>(args)...);
  }
  void end(const char* what, Colour colour, std::string_view after = "/>\n") {
    parts_.push_back({std::exchange(text_, std::string(after)), what, colour});
  }

  const Glyphs* glyphs_;
  std::vector<Part> parts_;
  std::string text_;
  std::set<std::string> defined_;
};

/// Each pair of colours, one for each theme, becomes a class; a document of one theme has the colours in its shapes.
std::string document(std::string_view title, const Picture& picture, const Theme& theme, const Theme* other,
                     float millimetres = 0) {
  SvgPainter page(theme.panel, millimetres > 0 ? &Glyphs::found() : nullptr),
      second(other ? other->panel : Colour{});
  const Vec size = picture(page, theme);
  if (other) picture(second, *other);
  if (other && page.parts().size() != second.parts().size())
    throw Error("picture: its shapes differ between the themes");
  std::map<std::string, size_t> classes;
  std::string body, day, night;
  for (size_t i = 0; i < page.parts().size(); ++i) {
    const std::string rule = page.parts()[i].rule(), dark = other ? second.parts()[i].rule() : "";
    body += page.parts()[i].before;
    if (!other) {
      body += fmt::format(" style=\"{}\"", rule);
      continue;
    }
    const auto [at, is_new] = classes.try_emplace(rule + dark, classes.size());
    body += fmt::format(" class=\"c{}\"", at->second);
    if (!is_new) continue;
    day += fmt::format(".c{}{{{}}}", at->second, rule);
    night += fmt::format(".c{}{{{}}}", at->second, dark);
  }
  const float unit = millimetres > 0 ? millimetres / size.x : 1;
  const char* const name = millimetres > 0 ? "mm" : "";
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{6}{8}\" "
      "height=\"{7}{8}\" viewBox=\"0 0 {0} {1}\" font-family=\"Inter, DejaVu Sans, sans-serif\">\n"
      "<title>{2}</title>\n{3}{4}{5}</svg>\n",
      px(size.x), px(size.y), svg_escaped(title),
      other ? fmt::format("<style>{}@media (prefers-color-scheme:dark){{{}}}</style>\n", day, night) : "",
      body, page.rest(), px(size.x * unit), px(size.y * unit), name);
}

}  // namespace

std::string svg_escaped(std::string_view s) {
  std::string out;
  for (char c : s) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

std::string to_svg(std::string_view title, const Picture& picture) {
  return document(title, picture, theme(false), &theme(true));
}

std::string to_svg(std::string_view title, const Picture& picture, const Theme& theme) {
  return document(title, picture, theme, nullptr);
}

std::string to_paper_svg(std::string_view title, const Picture& picture, const Theme& theme,
                         float millimetres) {
  return document(title, picture, theme, nullptr, millimetres);
}

}  // namespace normscope::ui

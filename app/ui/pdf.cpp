// The painter of paint.h that writes a page of a PDF (ISO 32000-1): its shapes are paths, and so are its letters, so
// that the file has no font that a publisher could miss. The same picture gives the same bytes each time.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <numbers>
#include <set>

#include "app/ui/glyphs.h"
#include "app/ui/paint.h"
#include "app/ui/shapes.h"

namespace normscope::ui {
namespace {

constexpr float kPointsPerMillimetre = 72 / 25.4f;

/// Rounds to a thousandth: "12.5".
std::string number(float v) { return fmt::format("{:g}", std::round(v * 1000.f) / 1000.f + 0.f); }
std::string pair(Vec p) { return number(p.x) + " " + number(p.y) + " "; }

class PdfPainter final : public Painter {
 public:
  explicit PdfPainter(const Glyphs& glyphs) : glyphs_(glyphs) {}

  void outline(const Rect& r, Colour c, float width, float radius) override {
    if (r.empty()) return;
    polyline(rounded(r.inset(width / 2), std::max(0.f, radius - width / 2)), c, width, true);
  }
  void hairline(Vec a, Vec b, Colour c, float width) override { line(a, b, c, width); }
  void dashed(std::span<const Vec> line, Colour c, float width, Dash dash, float phase,
              DashAlong along) override {
    if (dash.solid()) return polyline(line, c, width, false);
    if (along == DashAlong::Path) {
      const std::string pattern =
          fmt::format("[{} {}] {} d ", number(dash.on), number(dash.off), number(phase));
      return stroke(path(line), c, width, pattern);
    }
    Pieces pieces;
    cut_dashes(line, dash, phase, pieces, along);
    for (size_t i = 0; i < pieces.size(); ++i) polyline(pieces[i], c, width, false);
  }
  void polyline(std::span<const Vec> line, Colour c, float width, bool closed) override {
    if (line.size() > 1) stroke(path(line) + (closed ? "h " : ""), c, width);
  }
  void polygon(std::span<const Vec> convex, Colour c) override { fill_path(path(convex), c); }
  void strip(std::span<const Vec> upper, std::span<const Vec> lower, Colour c) override {
    std::vector<Vec> around(upper.begin(), upper.end());
    around.insert(around.end(), lower.rbegin(), lower.rend());
    fill_path(path(around), c);
  }
  void circle(Vec o, float r, Colour c) override { fill_path(round(o, r), c); }
  void ring(Vec o, float r, Colour c, float width) override { stroke(round(o, r), c, width); }
  float text(Vec at, TextStyle style, Colour c, std::string_view s, Align align) override {
    const float width = text_width(style, s);
    at.x -= align == Align::Left ? 0 : align == Align::Centre ? width / 2 : width;
    std::string outline;
    for (const Stroke& each : glyphs_.outline(style, at, s)) switch (each.to) {
        case Stroke::To::Move:
          outline += pair(each.end) + "m ";
          break;
        case Stroke::To::Line:
          outline += pair(each.end) + "l ";
          break;
        case Stroke::To::Curve:
          outline += pair(each.a) + pair(each.b) + pair(each.end) + "c ";
          break;
        case Stroke::To::Close:
          outline += "h ";
          break;
      }
    if (!outline.empty()) fill_path(outline, c);
    return width;
  }
  float text_width(TextStyle style, std::string_view s) const override { return glyphs_.width(style, s); }
  void push_clip(const Rect& r) override {
    content_ += fmt::format("q {}{}re W n\n", pair({r.x, r.y}), pair({r.w, r.h}));
  }
  void pop_clip() override { content_ += "Q\n"; }

  const std::string& content() const { return content_; }
  const std::set<int>& opacities() const { return opacities_; }

 private:
  void box(const Rect& r, Colour c, float radius, Corners corners, Edges) override {
    fill_path(path(rounded(r, radius)), c);
    if (corners == Corners::Lower) fill_path(path(rounded({r.x, r.y, r.w, r.h / 2}, 0)), c);
  }
  static std::string path(std::span<const Vec> points) {
    std::string text;
    for (Vec p : points) text += pair(p) + (text.empty() ? "m " : "l ");
    return text;
  }
  /// A circle as four curves.
  static std::string round(Vec o, float r) {
    constexpr float kBend = 0.5523f;  // 4/3 (√2 - 1)
    std::string text = pair({o.x + r, o.y}) + "m ";
    for (int quarter = 0; quarter < 4; ++quarter) {
      const float angle = std::numbers::pi_v<float> / 2 * static_cast<float>(quarter);
      const Vec u{std::cos(angle), std::sin(angle)}, v{-u.y, u.x};
      text += pair(o + (u + v * kBend) * r) + pair(o + (v + u * kBend) * r) + pair(o + v * r) + "c ";
    }
    return text + "h ";
  }
  void fill_path(const std::string& path, Colour c) {
    content_ += opacity(c) + colour(c) + "rg " + path + "f\n";
  }
  void stroke(const std::string& path, Colour c, float width, const std::string& dash = "[] 0 d ") {
    content_ += opacity(c) + colour(c) + "RG " + number(width) + " w " + dash + path + "S\n";
  }
  static std::string colour(Colour c) {
    return fmt::format("{:.3g} {:.3g} {:.3g} ", c.r / 255.0, c.g / 255.0, c.b / 255.0);
  }
  std::string opacity(Colour c) {
    opacities_.insert(c.a);
    return fmt::format("/a{} gs ", c.a);
  }

  const Glyphs& glyphs_;
  std::string content_;
  std::set<int> opacities_;
};

/// A text of any letters: UTF-16 in hexadecimal digits.
std::string pdf_text(std::string_view text) {
  std::string out = "<FEFF";
  for (size_t at = 0; at < text.size();) {
    const auto sign = static_cast<uint32_t>(next_sign(text, at));
    if (sign < 0x10000) out += fmt::format("{:04X}", sign);
  }
  return out + ">";
}

/// Numbers the objects from 1 on, and lists where each begins.
class PdfFile {
 public:
  void add(const std::string& object) {
    begins_.push_back(text_.size());
    text_ += fmt::format("{} 0 obj\n{}\nendobj\n", begins_.size(), object);
  }
  std::string ended() const {
    std::string table = fmt::format("xref\n0 {}\n0000000000 65535 f \n", begins_.size() + 1);
    for (size_t at : begins_) table += fmt::format("{:010} 00000 n \n", at);
    return text_ + table +
           fmt::format("trailer\n<< /Size {} /Root 1 0 R /Info 5 0 R >>\nstartxref\n{}\n%%EOF\n",
                       begins_.size() + 1, text_.size());
  }

 private:
  std::string text_ = "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n";  // a version with opacity, and bytes that are no text
  std::vector<size_t> begins_;
};

}  // namespace

std::string to_pdf(std::string_view title, const Picture& picture, const Theme& theme, float millimetres) {
  PdfPainter page(Glyphs::found());
  const Vec size = picture(page, theme);
  const float points = millimetres * kPointsPerMillimetre / size.x;
  const float width = size.x * points, height = size.y * points;
  std::string opacities;
  for (int a : page.opacities()) {
    const std::string share = number(static_cast<float>(a) / 255);
    opacities += fmt::format("/a{} << /ca {} /CA {} >> ", a, share, share);
  }
  // PDF counts from the lower edge upwards. Joins are round, as on the screen.
  const std::string content =
      fmt::format("{} 0 0 {} 0 {} cm 1 j\n{}", points, -points, number(height), page.content());
  PdfFile file;
  file.add("<< /Type /Catalog /Pages 2 0 R >>");
  file.add("<< /Type /Pages /Kids [3 0 R] /Count 1 >>");
  file.add(fmt::format(
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {} {}] /Contents 4 0 R /Resources << /ExtGState << "
      "{}>> >> >>",
      number(width), number(height), opacities));
  file.add(fmt::format("<< /Length {} >>\nstream\n{}\nendstream", content.size(), content));
  file.add(fmt::format("<< /Title {} /Creator (normscope) >>", pdf_text(title)));
  return file.ended();
}

}  // namespace normscope::ui

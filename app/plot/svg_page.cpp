#include "app/plot/svg_page.h"

namespace normscope::plot {

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

void SvgLayer::text(double x, double y, double px, std::string_view style, std::string_view what,
                    std::string_view anchor, bool bold) {
  put("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:g}\" class=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", x,
      y, px, style, anchor, bold ? " font-weight=\"600\"" : "", svg_escaped(what));
}

std::string svg_page(double width, double height, std::string_view title, std::string_view light,
                     std::string_view dark, std::string_view body) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" font-family=\"Inter, DejaVu Sans, "
      "sans-serif\">\n<title>{2}</title>\n<style>{3}@media "
      "(prefers-color-scheme:dark){{{4}}}</style>\n<rect class=\"bg\" width=\"100%\" "
      "height=\"100%\"/>\n{5}</svg>\n",
      width, height, svg_escaped(title), light, dark, body);
}

}  // namespace normscope::plot

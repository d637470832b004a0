#include "addons/classroom/app/worksheet/mathml.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "app/ui/paint.h"

namespace normscope::course {
namespace {

using tex::NodeKind;
using tex::NodePtr;

class MathWriter {
 public:
  explicit MathWriter(bool display) : display_(display) {}

  std::string element(const NodePtr& node) const {
    if (!node) return row("");
    switch (node->kind) {
      case NodeKind::Row:
        return row(all(node->children));
      case NodeKind::Symbol:
        return symbol(*node);
      case NodeKind::Operator:
        return tag("mo", ui::svg_escaped(node->text));
      case NodeKind::Space:
        return fmt::format("<mspace width=\"{:g}em\"/>", node->width);
      case NodeKind::Fraction:
        return tag("mfrac", all(node->children));
      case NodeKind::Root:
        return node->children[1] ? tag("mroot", all(node->children))
                                 : tag("msqrt", element(node->children[0]));
      case NodeKind::Scripts:
        return scripts(*node);
      case NodeKind::Fence:
        return row(fence(node->text) + element(node->children[0]) + fence(node->close));
      case NodeKind::Accent:
        return fmt::format("<mover accent=\"true\">{}<mo>{}</mo></mover>", element(node->children[0]),
                           accent(node->text));
      case NodeKind::Big:
        return fmt::format("<mo largeop=\"true\" movablelimits=\"false\">{}</mo>",
                           ui::svg_escaped(node->text));
    }
    return row("");
  }

 private:
  static std::string tag(std::string_view name, const std::string& inside) {
    return fmt::format("<{0}>{1}</{0}>", name, inside);
  }
  static std::string row(const std::string& inside) { return tag("mrow", inside); }

  std::string all(const std::vector<NodePtr>& nodes) const {
    std::string out;
    for (const NodePtr& node : nodes) out += element(node);
    return out;
  }

  /// A number, a sign, words with their blanks, or a name.
  static std::string symbol(const tex::Node& node) {
    const std::string& text = node.text;
    if (text.empty()) return row("");
    const bool digits = std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    if (digits) return tag("mn", text);
    constexpr std::string_view kSigns = "()[]{}|,;:/!";
    if (text.size() == 1 && kSigns.find(text[0]) != kSigns.npos)
      return fmt::format("<mo stretchy=\"false\">{}</mo>", text);
    if (text.find(' ') != text.npos) return tag("mtext", unbroken(text));
    return fmt::format("<mi{}>{}</mi>", node.bold ? " style=\"font-weight:bold\"" : "",
                       ui::svg_escaped(text));
  }

  /// Keeps blanks at either end, which would be left out otherwise.
  static std::string unbroken(const std::string& text) {
    std::string out;
    for (const char c : ui::svg_escaped(text)) out += c == ' ' ? std::string("\u00A0") : std::string(1, c);
    return out;
  }

  std::string scripts(const tex::Node& node) const {
    const NodePtr &base = node.children[0], &below = node.children[1], &above = node.children[2];
    const bool limits = display_ && base && base->kind == NodeKind::Big;
    const char* name = below && above ? (limits ? "munderover" : "msubsup")
                       : below        ? (limits ? "munder" : "msub")
                                      : (limits ? "mover" : "msup");
    return tag(name, element(base) + (below ? element(below) : "") + (above ? element(above) : ""));
  }

  static std::string fence(const std::string& sign) {
    if (sign.empty()) return "";
    return fmt::format("<mo fence=\"true\" stretchy=\"true\">{}</mo>", ui::svg_escaped(sign));
  }

  static const char* accent(const std::string& kind) {
    return kind == "hat" ? "^" : kind == "bar" ? "¯" : kind == "tilde" ? "~" : kind == "dot" ? "˙" : "→";
  }

  bool display_;
};

}  // namespace

std::string mathml(const tex::Formula& formula, bool display) {
  return fmt::format("<math xmlns=\"http://www.w3.org/1998/Math/MathML\"{}>{}</math>",
                     display ? " display=\"block\"" : "", MathWriter(display).element(formula.root));
}

}  // namespace normscope::course

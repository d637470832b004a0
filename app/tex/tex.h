// Formulas from a small subset of TeX, parsed once, laid out at any size and drawn with the app's own fonts.
//
//   a_1 x^{2} \frac{a}{b} \sqrt{x} \sqrt[3]{x} \|x\| \left( \right) \hat x \bar x \tilde x \dot x \vec x
//   \sum_{i=1}^n \prod \int, \alpha ... \Omega, \partial \nabla \infty \cdot \times \le \ge \ne \approx \sim
//   \to \in \mathrm{Var} \text{words} \mathbf{x} \operatorname{LN}, \log \ln \exp \max \min, \, \; \quad,
//   \odot \propto \pm
//
// Upright throughout: the app sets no italics. Called by prose.h (parse) and by the player (layout, draw).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/ui/paint.h"

namespace normscope::tex {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

enum class NodeKind : uint8_t {
  Row,       ///< children side by side
  Symbol,    ///< text, set as one piece
  Operator,  ///< text with space on both sides: + = <
  Space,     ///< width em
  Fraction,  ///< children: numerator, denominator
  Root,      ///< children: radicand, index (may be null)
  Scripts,   ///< children: base, subscript, superscript (the last two may be null)
  Fence,     ///< children: inside; text, close: delimiters ("(", "‖", "|", "[", "{" or none)
  Accent,    ///< children: base; text: the kind of accent ("hat", "bar", "tilde", "dot", "vec")
  Big,       ///< a large operator: text, limits above and below in display style
};

struct Node {
  NodeKind kind = NodeKind::Row;
  std::string text{}, close{};
  bool bold = false;
  float width = 0;
  std::vector<NodePtr> children{};
};

struct Formula {
  NodePtr root;  ///< null: empty
  std::string source;
};

/// Limits of one formula: bytes, and levels of braces and arguments in each other.
inline constexpr size_t kLongest = 10'000;
inline constexpr int kDeepest = 64;

/// Throws Error "position N: \foo is not known ..."; N counts bytes from 1.
Formula parse(std::string_view source);

/// A piece of a laid out formula; coordinates from its left end on the baseline, y downwards.
struct Piece {
  enum class Kind : uint8_t { Text, Line } kind = Kind::Text;
  ui::Vec at{}, to{};  ///< Text: its left end on the baseline; Line: both ends
  ui::TextStyle style{};
  std::string text{};
  float width = 1;  ///< Line
};
struct Layout {
  float width = 0, ascent = 0, descent = 0;
  std::vector<Piece> pieces{};
};

using Measure = std::function<float(ui::TextStyle, std::string_view)>;
/// px: em size of the base. display: large operators carry their limits above and below, fractions are full size.
Layout layout(const Formula& formula, float px, bool display, const Measure& measure);

/// Draws with the baseline's left end at `at`.
void draw(ui::Painter& painter, const Layout& layout, ui::Vec at, ui::Colour colour);

}  // namespace normscope::tex

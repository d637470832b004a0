// Layout and drawing of tex.h. Every function returns a box with its baseline at y = 0; boxes are moved and joined.
#include <algorithm>
#include <cmath>

#include "app/tex/tex.h"

namespace normscope::tex {
namespace {

using ui::Vec;

// Shares of the em, as in the fonts of the app (Inter's capitals and x-height).
constexpr float kAxis = 0.27f, kAscent = 0.76f, kDescent = 0.20f, kScript = 0.72f, kSmallest = 9.f;

class Setter {
 public:
  explicit Setter(const Measure& measure) : measure_(measure) {}

  Layout node(const Node& n, float px, bool display) const {
    switch (n.kind) {
      case NodeKind::Row:
        return row(n, px, display);
      case NodeKind::Symbol:
        return word(n.text, px, n.bold);
      case NodeKind::Operator:
        return padded(word(n.text, px, false), 0.22f * px);
      case NodeKind::Space:
        return blank(n.width * px);
      case NodeKind::Fraction:
        return fraction(n, px, display);
      case NodeKind::Root:
        return root(n, px, display);
      case NodeKind::Scripts:
        return scripts(n, px, display);
      case NodeKind::Fence:
        return fence(n, px, display);
      case NodeKind::Accent:
        return accent(n, px, display);
      case NodeKind::Big:
        return big(n.text, px, display);
    }
    return {};
  }

 private:
  static float smaller(float px) { return std::max(px * kScript, std::min(px, kSmallest)); }
  static float rule(float px) { return std::max(1.f, px / 15); }

  static Layout blank(float width) {
    Layout box;
    box.width = width;
    return box;
  }

  Layout word(const std::string& text, float px, bool bold) const {
    const ui::TextStyle style{bold ? ui::Face::Bold : ui::Face::Sans, px};
    Layout box;
    if (text.empty()) return box;
    box.width = measure_(style, text);
    box.ascent = kAscent * px;
    box.descent = kDescent * px;
    Piece piece;
    piece.style = style;
    piece.text = text;
    box.pieces.push_back(std::move(piece));
    return box;
  }

  static Layout padded(Layout box, float pad) {
    for (Piece& p : box.pieces) {
      p.at.x += pad;
      p.to.x += pad;
    }
    box.width += 2 * pad;
    return box;
  }

  /// Adds `part` moved by `by`; the box grows to hold it.
  static void put(Layout& box, const Layout& part, Vec by) {
    for (Piece p : part.pieces) {
      p.at = p.at + by;
      p.to = p.to + by;
      box.pieces.push_back(std::move(p));
    }
    box.width = std::max(box.width, by.x + part.width);
    box.ascent = std::max(box.ascent, part.ascent - by.y);
    box.descent = std::max(box.descent, part.descent + by.y);
  }

  static void stroke(Layout& box, Vec a, Vec b, float width) {
    Piece p;
    p.kind = Piece::Kind::Line;
    p.at = a;
    p.to = b;
    p.width = width;
    box.pieces.push_back(std::move(p));
    box.ascent = std::max({box.ascent, -a.y, -b.y});
    box.descent = std::max({box.descent, a.y, b.y});
    box.width = std::max({box.width, a.x, b.x});
  }

  Layout row(const Node& n, float px, bool display) const {
    Layout box;
    const Node* before = nullptr;
    for (const NodePtr& child : n.children) {
      // A minus with nothing before it is a sign.
      const bool sign = child->kind == NodeKind::Operator && child->text == "−" &&
                        (!before || before->kind == NodeKind::Operator);
      put(box, sign ? word(child->text, px, false) : node(*child, px, display), {box.width, 0});
      before = child.get();
    }
    return box;
  }

  Layout fraction(const Node& n, float px, bool display) const {
    const float size = display ? px : smaller(px) * 1.08f;
    const Layout top = node(*n.children[0], size, false), below = node(*n.children[1], size, false);
    const float pad = 0.12f * px, gap = 0.16f * px, axis = -kAxis * px, line = rule(px);
    const float width = std::max(top.width, below.width) + 2 * pad;
    Layout box;
    put(box, top, {(width - top.width) / 2, axis - gap - line / 2 - top.descent});
    put(box, below, {(width - below.width) / 2, axis + gap + line / 2 + below.ascent});
    stroke(box, {0, axis}, {width, axis}, line);
    return padded(std::move(box), 0.06f * px);
  }

  Layout root(const Node& n, float px, bool display) const {
    const Layout inside = node(*n.children[0], px, display);
    const float line = rule(px), top = -(inside.ascent + 0.14f * px), foot = inside.descent, left = 0.5f * px;
    Layout box;
    stroke(box, {0.02f * px, -0.2f * px}, {0.14f * px, -0.28f * px}, line);
    stroke(box, {0.14f * px, -0.28f * px}, {0.28f * px, foot}, line * 1.4f);
    stroke(box, {0.28f * px, foot}, {left - 0.02f * px, top}, line);
    stroke(box, {left - 0.02f * px, top}, {left + inside.width + 0.08f * px, top}, line);
    put(box, inside, {left + 0.02f * px, 0});
    if (n.children[1]) put(box, node(*n.children[1], smaller(px) * 0.8f, false), {0, -0.42f * px});
    return padded(std::move(box), 0.04f * px);
  }

  Layout scripts(const Node& n, float px, bool display) const {
    const Node& base_node = *n.children[0];
    const Layout base = node(base_node, px, display);
    const float size = smaller(px);
    const bool stacked = base_node.kind == NodeKind::Big && display && base_node.text != "∫";
    Layout sub, super;
    if (n.children[1]) sub = node(*n.children[1], size, false);
    if (n.children[2]) super = node(*n.children[2], size, false);
    Layout box;
    if (stacked) {
      const float width = std::max({base.width, sub.width, super.width}), gap = 0.1f * px;
      put(box, base, {(width - base.width) / 2, 0});
      if (n.children[1]) put(box, sub, {(width - sub.width) / 2, base.descent + gap + sub.ascent});
      if (n.children[2]) put(box, super, {(width - super.width) / 2, -base.ascent - gap - super.descent});
      return padded(std::move(box), 0.1f * px);
    }
    put(box, base, {0, 0});
    const bool tall = base.ascent > 1.1f * kAscent * px;
    const float up = tall ? base.ascent - 0.35f * size : 0.40f * px;
    const float down = tall ? base.descent + 0.05f * size : 0.20f * px;
    const float x = base.width + 0.03f * px;
    if (n.children[1]) put(box, sub, {x, down});
    if (n.children[2]) put(box, super, {x, -up});
    return box;
  }

  /// Draws straight delimiters as lines and round and square ones as strokes, so that they take any
  /// height.
  void delimiter(Layout& box, const std::string& kind, float x, float top, float foot, float px,
                 bool opening) const {
    const float line = rule(px), w = 0.16f * px, near = opening ? x + w : x, far = opening ? x : x + w;
    if (kind == "‖") {
      stroke(box, {x + 0.02f * px, top}, {x + 0.02f * px, foot}, line);
      stroke(box, {x + 0.16f * px, top}, {x + 0.16f * px, foot}, line);
    } else if (kind == "|") {
      stroke(box, {x + w / 2, top}, {x + w / 2, foot}, line);
    } else if (kind == "[" || kind == "]") {
      stroke(box, {far, top}, {far, foot}, line);
      stroke(box, {far, top}, {near, top}, line);
      stroke(box, {far, foot}, {near, foot}, line);
    } else if (kind == "(" || kind == ")") {
      constexpr int kParts = 10;
      Vec before{};
      for (int i = 0; i <= kParts; ++i) {
        const float t = static_cast<float>(i) / kParts, bend = std::pow(2 * t - 1, 2.f);
        const Vec here{far + (near - far) * bend, top + (foot - top) * t};
        if (i) stroke(box, before, here, line * 1.1f);
        before = here;
      }
    } else {
      constexpr int kParts = 12;
      const float middle = (top + foot) / 2, mid = (near + far) / 2;
      Vec before{};
      for (int i = 0; i <= kParts; ++i) {
        const float t = static_cast<float>(i) / kParts, y = top + (foot - top) * t;
        const float away = std::abs(y - middle) / std::max(1.f, (foot - top) / 2);
        const Vec here{away > 0.8f   ? mid + (near - mid) * (away - 0.8f) * 5
                       : away < 0.2f ? mid + (far - mid) * (1 - away * 5)
                                     : mid,
                       y};
        if (i) stroke(box, before, here, line);
        before = here;
      }
    }
  }

  Layout fence(const Node& n, float px, bool display) const {
    const Layout inside = node(*n.children[0], px, display);
    const float grow = 0.06f * px, top = -inside.ascent - grow, foot = inside.descent + grow,
                room = 0.28f * px;
    Layout box;
    float x = 0.08f * px;
    if (!n.text.empty()) {
      delimiter(box, n.text, x, top, foot, px, true);
      x += room;
    }
    put(box, inside, {x, 0});
    x += inside.width + 0.06f * px;
    if (!n.close.empty()) {
      delimiter(box, n.close, x, top, foot, px, false);
      x += room - 0.06f * px;
    }
    box.width = std::max(box.width, x);
    return box;
  }

  Layout accent(const Node& n, float px, bool display) const {
    Layout box = node(*n.children[0], px, display);
    // Small letters are lower than the box of a text says.
    const Node& base = *n.children[0];
    const bool low = base.kind == NodeKind::Symbol && base.text.size() == 1 &&
                     std::string("acegmnopqrsuvwxyz").find(base.text) != std::string::npos;
    const float y = -(low ? 0.62f * px : box.ascent + 0.04f * px), c = box.width / 2, h = 0.12f * px,
                w = 0.2f * px;
    const float line = rule(px), width = box.width;
    if (n.text == "bar") {
      stroke(box, {c - std::max(w, width * 0.42f), y - h / 2}, {c + std::max(w, width * 0.42f), y - h / 2},
             line);
    } else if (n.text == "hat") {
      stroke(box, {c - w, y}, {c, y - h}, line);
      stroke(box, {c, y - h}, {c + w, y}, line);
    } else if (n.text == "tilde") {
      stroke(box, {c - w, y}, {c - w / 3, y - h}, line);
      stroke(box, {c - w / 3, y - h}, {c + w / 3, y}, line);
      stroke(box, {c + w / 3, y}, {c + w, y - h}, line);
    } else if (n.text == "dot") {
      stroke(box, {c - line, y - h / 2}, {c + line, y - h / 2}, 2 * line);
    } else {
      stroke(box, {c - w, y - h / 2}, {c + w, y - h / 2}, line);
      stroke(box, {c + w / 2, y - h}, {c + w, y - h / 2}, line);
      stroke(box, {c + w / 2, y}, {c + w, y - h / 2}, line);
    }
    return box;
  }

  Layout big(const std::string& text, float px, bool display) const {
    const float size = display ? 1.5f * px : 1.12f * px;
    Layout box, sign = word(text, size, false);
    put(box, sign, {0, 0.12f * (size - px) + 0.06f * px});
    return padded(std::move(box), 0.06f * px);
  }

  const Measure& measure_;
};

}  // namespace

Layout layout(const Formula& formula, float px, bool display, const Measure& measure) {
  if (!formula.root) return {};
  return Setter(measure).node(*formula.root, px, display);
}

void draw(ui::Painter& painter, const Layout& layout, Vec at, ui::Colour colour) {
  for (const Piece& piece : layout.pieces) {
    if (piece.kind == Piece::Kind::Text)
      painter.text(at + piece.at, piece.style, colour, piece.text);
    else
      painter.line(at + piece.at, at + piece.to, colour, piece.width);
  }
}

}  // namespace normscope::tex

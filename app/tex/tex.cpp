// Layout and drawing of tex.h. Every function returns a box with its baseline at y = 0; boxes are moved and joined.
#include "app/tex/tex.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "engine/core/error.h"

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

  static Layout blank(float width) { return {.width = width}; }

  Layout word(const std::string& text, float px, bool bold) const {
    const ui::TextStyle style{bold ? ui::Face::Bold : ui::Face::Sans, px};
    Layout box;
    if (text.empty()) return box;
    box.width = measure_(style, text);
    box.ascent = kAscent * px;
    box.descent = kDescent * px;
    box.pieces.push_back({.style = style, .text = text});
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
    box.pieces.push_back({.kind = Piece::Kind::Line, .at = a, .to = b, .width = width});
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

  /// Draws straight delimiters as lines and round and square ones as strokes, so that they take any height.
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

// ---- The parser of tex.h is a recursive descent over the source, with one function per construct.

namespace {

const std::map<std::string_view, std::string_view> kSymbols{
    {"alpha", "α"},      {"beta", "β"},   {"gamma", "γ"},  {"delta", "δ"},   {"epsilon", "ε"},
    {"varepsilon", "ε"}, {"zeta", "ζ"},   {"eta", "η"},    {"theta", "θ"},   {"iota", "ι"},
    {"kappa", "κ"},      {"lambda", "λ"}, {"mu", "μ"},     {"nu", "ν"},      {"xi", "ξ"},
    {"pi", "π"},         {"rho", "ρ"},    {"sigma", "σ"},  {"tau", "τ"},     {"phi", "φ"},
    {"chi", "χ"},        {"psi", "ψ"},    {"omega", "ω"},  {"Gamma", "Γ"},   {"Delta", "Δ"},
    {"Theta", "Θ"},      {"Lambda", "Λ"}, {"Xi", "Ξ"},     {"Pi", "Π"},      {"Sigma", "Σ"},
    {"Phi", "Φ"},        {"Psi", "Ψ"},    {"Omega", "Ω"},  {"partial", "∂"}, {"nabla", "∇"},
    {"infty", "∞"},      {"ell", "ℓ"},    {"ldots", "…"},  {"cdots", "…"},   {"dots", "…"},
    {"prime", "′"},      {"Vert", "‖"},   {"lbrace", "{"}, {"rbrace", "}"},  {"degree", "°"}};

const std::map<std::string_view, std::string_view> kOperators{
    {"cdot", "·"},   {"times", "×"},      {"le", "≤"},  {"leq", "≤"},    {"ge", "≥"},
    {"geq", "≥"},    {"ne", "≠"},         {"neq", "≠"}, {"approx", "≈"}, {"sim", "∼"},
    {"to", "→"},     {"rightarrow", "→"}, {"in", "∈"},  {"pm", "±"},     {"odot", "⊙"},
    {"propto", "∝"}, {"ll", "≪"},         {"gg", "≫"},  {"equiv", "≡"}};

const std::map<std::string_view, std::string_view> kBig{{"sum", "∑"}, {"prod", "∏"}, {"int", "∫"}};
constexpr std::array<std::string_view, 9> kNames{"log", "ln",  "exp",  "max", "min",
                                                 "sin", "cos", "tanh", "det"};
constexpr std::array<std::string_view, 5> kAccents{"hat", "bar", "tilde", "dot", "vec"};
const std::map<std::string_view, float> kSpaces{{",", 0.17f}, {":", 0.22f},  {";", 0.28f},  {"!", -0.1f},
                                                {" ", 0.3f},  {"quad", 1.f}, {"qquad", 2.f}};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

NodePtr make(Node node) { return std::make_shared<const Node>(std::move(node)); }
NodePtr leaf(NodeKind kind, std::string_view text, bool bold = false) {
  return make({.kind = kind, .text = std::string(text), .bold = bold});
}
NodePtr over(NodeKind kind, std::vector<NodePtr> children, std::string_view text = {},
             std::string_view close = {}) {
  return make({.kind = kind,
               .text = std::string(text),
               .close = std::string(close),
               .children = std::move(children)});
}

class Parser {
 public:
  explicit Parser(std::string_view source) : s_(source) {
    if (s_.size() > kLongest)
      refuse(0, Message("{} bytes: expected a formula of at most {}", s_.size(), kLongest));
  }

  NodePtr all() {
    NodePtr row = sequence("");
    if (at_ < s_.size()) refuse(at_, Message("'{}' closes nothing: expected an opening before it", s_[at_]));
    return row;
  }

 private:
  [[noreturn]] void refuse(size_t at, const Message& what) const {
    constexpr size_t kShown = 200;
    const std::string shown = std::string(s_.substr(0, kShown)) + (s_.size() > kShown ? "..." : "");
    throw Error("formula '{}', position {}: {}", shown, at + 1, what);
  }

  // Limits the nesting, because the parser, the layout and the end of a formula recurse as deeply as it is nested.
  class Level {
   public:
    explicit Level(Parser& parser) : depth_(parser.depth_) {
      if (++depth_ > kDeepest)
        parser.refuse(parser.at_, Message("nested too deeply: expected at most {} levels", kDeepest));
    }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };

  void skip_blanks() {
    while (at_ < s_.size() && (s_[at_] == ' ' || s_[at_] == '\n' || s_[at_] == '\t' || s_[at_] == '\r'))
      ++at_;
  }
  bool take(std::string_view text) {
    if (s_.substr(at_, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }
  /// Requires that a command of letters ends where the name ends.
  bool at_command(std::string_view name) const {
    if (s_.substr(at_, name.size() + 1) != "\\" + std::string(name)) return false;
    const size_t after = at_ + name.size() + 1;
    return after >= s_.size() || !is_letter(s_[after]);
  }

  bool at_end(std::string_view end) {
    if (at_ >= s_.size()) return true;
    if (end == "\\right") return at_command("right");
    if (end == "\\|") return s_.substr(at_, 2) == "\\|";
    return s_[at_] == '}' || (end == "]" && s_[at_] == ']');
  }

  NodePtr sequence(std::string_view end) {
    const Level level(*this);
    std::vector<NodePtr> row;
    for (skip_blanks(); !at_end(end); skip_blanks()) {
      if (s_[at_] == '}') break;
      row.push_back(scripted(atom()));
    }
    return row.size() == 1 ? row[0] : over(NodeKind::Row, std::move(row));
  }

  NodePtr scripted(NodePtr base) {
    NodePtr sub, super;
    for (;;) {
      skip_blanks();
      if (at_ >= s_.size() || (s_[at_] != '_' && s_[at_] != '^')) break;
      const size_t where = at_;
      NodePtr& slot = s_[at_++] == '_' ? sub : super;
      if (slot) refuse(where, "two scripts in one place: expected braces around one");
      slot = argument("a script");
    }
    if (!sub && !super) return base;
    return over(NodeKind::Scripts, {std::move(base), std::move(sub), std::move(super)});
  }

  /// Reads {...} or a single atom.
  NodePtr argument(std::string_view what) {
    skip_blanks();
    if (at_ >= s_.size() || s_[at_] == '}') refuse(at_, Message("nothing stands here: expected {}", what));
    if (s_[at_] != '{') return atom();
    return group();
  }

  NodePtr group() {
    const size_t open = at_++;
    NodePtr inside = sequence("}");
    if (!take("}")) refuse(open, "this brace is not closed: expected }");
    return inside;
  }

  std::string words(std::string_view command) {
    skip_blanks();
    if (!take("{")) refuse(at_, Message("\\{} needs braces: expected {{words}}", command));
    const size_t end = s_.find('}', at_);
    if (end == std::string_view::npos) refuse(at_ - 1, "this brace is not closed: expected }");
    std::string text(s_.substr(at_, end - at_));
    at_ = end + 1;
    return text;
  }

  std::string delimiter() {
    skip_blanks();
    if (take("\\|") || take("\\Vert")) return "‖";
    if (take("\\{")) return "{";
    if (take("\\}")) return "}";
    for (const char* d : {"(", ")", "[", "]", "|"})
      if (take(d)) return d;
    if (take(".")) return "";
    refuse(at_, {"no delimiter: expected one of {}", "( ) [ ] | \\| \\{ \\} ."});
  }

  NodePtr fenced() {
    const std::string open = delimiter();
    const size_t where = at_;
    NodePtr inside = sequence("\\right");
    if (!take("\\right")) refuse(where, "\\left is not closed: expected \\right");
    return over(NodeKind::Fence, {std::move(inside)}, open, delimiter());
  }

  /// Reads \| ... \|.
  NodePtr norm(size_t where) {
    NodePtr inside = sequence("\\|");
    if (!take("\\|")) refuse(where, "this norm is not closed: expected \\|");
    return over(NodeKind::Fence, {std::move(inside)}, "‖", "‖");
  }

  NodePtr space(float width) {
    Node node{.kind = NodeKind::Space, .width = width};
    return make(std::move(node));
  }

  NodePtr root() {
    NodePtr index;
    skip_blanks();
    if (take("[")) {
      index = sequence("]");
      if (!take("]")) refuse(at_, "the index of the root is not closed: expected ]");
    }
    NodePtr inside = argument("what the root is of");
    return over(NodeKind::Root, {std::move(inside), std::move(index)});
  }

  /// Puts a thin space before the argument in "mean x", but none before a bracket or a script.
  NodePtr operator_name() {
    NodePtr name = leaf(NodeKind::Symbol, words("operatorname"));
    skip_blanks();
    const std::string_view rest = s_.substr(at_);
    const bool letter =
        !rest.empty() && (is_letter(rest[0]) || (rest[0] == '\\' && !rest.starts_with("\\left")));
    return letter ? over(NodeKind::Row, {std::move(name), space(0.17f)}) : std::move(name);
  }

  NodePtr command() {
    const size_t where = at_++;
    if (at_ >= s_.size()) refuse(where, "a command has no name: expected a letter");
    if (!is_letter(s_[at_])) {
      const std::string_view mark = s_.substr(at_++, 1);
      if (mark == "|") return norm(where);
      if (mark == "{" || mark == "}" || mark == "%" || mark == "&" || mark == "#" || mark == "_")
        return leaf(NodeKind::Symbol, mark);
      if (const auto it = kSpaces.find(mark); it != kSpaces.end()) return space(it->second);
      refuse(where, Message("\\{} is not known", mark));
    }
    const size_t from = at_;
    while (at_ < s_.size() && is_letter(s_[at_])) ++at_;
    const std::string_view name = s_.substr(from, at_ - from);
    if (const auto it = kSymbols.find(name); it != kSymbols.end()) return leaf(NodeKind::Symbol, it->second);
    if (const auto it = kOperators.find(name); it != kOperators.end())
      return leaf(NodeKind::Operator, it->second);
    if (const auto it = kBig.find(name); it != kBig.end()) return leaf(NodeKind::Big, it->second);
    if (const auto it = kSpaces.find(name); it != kSpaces.end()) return space(it->second);
    for (std::string_view known : kNames)
      if (name == known) return over(NodeKind::Row, {leaf(NodeKind::Symbol, name), space(0.15f)});
    for (std::string_view accent : kAccents)
      if (name == accent) return over(NodeKind::Accent, {argument("what the accent stands on")}, name);
    if (name == "frac") {
      NodePtr top = argument("a numerator");
      NodePtr below = argument("a denominator");
      return over(NodeKind::Fraction, {std::move(top), std::move(below)});
    }
    if (name == "sqrt") return root();
    if (name == "left") return fenced();
    if (name == "right") refuse(where, "\\right without \\left: expected \\left before it");
    if (name == "operatorname") return operator_name();
    if (name == "text" || name == "mathrm") return leaf(NodeKind::Symbol, words(name));
    if (name == "mathbf") return leaf(NodeKind::Symbol, words(name), true);
    refuse(where, Message("\\{} is not known", name));
  }

  NodePtr atom() {
    const Level level(*this);
    const char c = s_[at_];
    if (c == '\\') return command();
    if (c == '{') return group();
    if (c == '_' || c == '^') return leaf(NodeKind::Symbol, "");
    if (c == '+' || c == '=' || c == '<' || c == '>') {
      ++at_;
      return leaf(NodeKind::Operator, std::string_view(&c, 1));
    }
    if (c == '-') {
      ++at_;
      return leaf(NodeKind::Operator, "−");
    }
    if (c == '*') {
      ++at_;
      return leaf(NodeKind::Operator, "·");
    }
    if (c >= '0' && c <= '9') {
      const size_t from = at_;
      while (at_ < s_.size() &&
             ((s_[at_] >= '0' && s_[at_] <= '9') ||
              (s_[at_] == '.' && at_ + 1 < s_.size() && s_[at_ + 1] >= '0' && s_[at_ + 1] <= '9')))
        ++at_;
      return leaf(NodeKind::Symbol, s_.substr(from, at_ - from));
    }
    size_t length = 1;  // a whole character of UTF-8
    while (at_ + length < s_.size() && (static_cast<uint8_t>(s_[at_ + length]) & 0xC0) == 0x80) ++length;
    at_ += length;
    return leaf(NodeKind::Symbol, s_.substr(at_ - length, length));
  }

  std::string_view s_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Formula parse(std::string_view source) { return {Parser(source).all(), std::string(source)}; }

}  // namespace normscope::tex

// The parser of tex.h is a recursive descent over the source, with one function per construct.
#include <array>
#include <map>

#include "app/tex/tex.h"
#include "engine/core/error.h"

namespace normscope::tex {
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
  Node node;
  node.kind = kind;
  node.text = text;
  node.bold = bold;
  return make(std::move(node));
}
NodePtr over(NodeKind kind, std::vector<NodePtr> children, std::string_view text = {},
             std::string_view close = {}) {
  Node node;
  node.kind = kind;
  node.text = text;
  node.close = close;
  node.children = std::move(children);
  return make(std::move(node));
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

  // Limits the nesting, because the parser, the layout and the end of a formula recurse as deeply as it is
  // nested.
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
    Node node;
    node.kind = NodeKind::Space;
    node.width = width;
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

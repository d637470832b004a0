// The reader of prose.h turns md4c's events into blocks, then splits the text of a block at braces into inlines.
#include "app/course/prose.h"

#include <md4c.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <sstream>

#include "engine/core/error.h"

namespace normscope::course {
namespace {

using Kind = Inline::Kind;

const std::map<std::string_view, Kind> kWords{
    {"value", Kind::Value}, {"band", Kind::Band}, {"ref", Kind::Reference}, {"drag", Kind::Drag},
    {"text", Kind::Sample}, {"name", Kind::Name}, {"lesson", Kind::Lesson}, {"cut", Kind::Cut}};
constexpr std::string_view kExpected =
    "{A}, {value NAME}, {band NAME}, {ref NAME}, {drag NAME}, {text A}, {name A}, {if NAME < NUMBER}, "
    "{else if NAME < NUMBER}, {else}, {always}, {task FIGURE} or {end}";

/// The place of the first byte that is not part of a whole UTF-8 character.
size_t first_bad_byte(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    const auto c = static_cast<uint8_t>(s[i]);
    const size_t length = c < 0x80 ? 1 : (c >> 5) == 6 ? 2 : (c >> 4) == 14 ? 3 : (c >> 3) == 30 ? 4 : 0;
    if (length == 0 || i + length > s.size()) return i;
    for (size_t k = 1; k < length; ++k)
      if ((static_cast<uint8_t>(s[i + k]) & 0xC0) != 0x80) return i;
    i += length;
  }
  return std::string_view::npos;
}

class Reader {
 public:
  Reader(std::string_view source, const std::string& file) : source_(source), file_(file) {
    for (size_t at = source.find('\n'); at != source.npos; at = source.find('\n', at + 1))
      line_ends_.push_back(at);
  }

  std::vector<Block> read() {
    if (const size_t bad = first_bad_byte(source_); bad != std::string_view::npos)
      refuse(line_of(source_.data() + bad), "a byte that is not UTF-8: expected a UTF-8 text");
    MD_PARSER parser{};
    parser.flags = MD_FLAG_LATEXMATHSPANS | MD_FLAG_NOHTML;
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      return static_cast<Reader*>(self)->enter(type, detail);
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void*, void* self) {
      return static_cast<Reader*>(self)->leave(type);
    };
    parser.enter_span = [](MD_SPANTYPE type, void*, void* self) {
      return static_cast<Reader*>(self)->span(type, true);
    };
    parser.leave_span = [](MD_SPANTYPE type, void*, void* self) {
      return static_cast<Reader*>(self)->span(type, false);
    };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
      return static_cast<Reader*>(self)->text(type, {text, size});
    };
    md_parse(source_.data(), static_cast<MD_SIZE>(source_.size()), &parser, this);
    if (!error_.empty()) throw Error(error_);
    for (Block& block : blocks_) split(block);
    return std::move(blocks_);
  }

 private:
  // Keeps the first error and ends the parse, because no exception may pass through C code such as md4c.
  int fault(const Message& what) {
    if (error_.empty()) error_ = Message("{}:{}: {}", file_, line_, what);
    return 1;
  }
  [[noreturn]] void refuse(int line, const Message& what) const {
    throw Error("{}:{}: {}", file_, line, what);
  }

  int line_of(const char* at) const {
    const auto offset = static_cast<size_t>(at - source_.data());
    return 1 + static_cast<int>(std::ranges::lower_bound(line_ends_, offset) - line_ends_.begin());
  }

  int enter(MD_BLOCKTYPE type, void* detail) {
    switch (type) {
      case MD_BLOCK_DOC:
      case MD_BLOCK_UL:
        return 0;
      case MD_BLOCK_OL:
        numbered_ = true;
        return 0;
      case MD_BLOCK_QUOTE:
        quoted_ = true;
        return 0;
      case MD_BLOCK_LI:
        item_ = true;
        return open(numbered_ ? Block::Kind::Numbered : Block::Kind::Item);
      case MD_BLOCK_HR:
        blocks_.push_back({Block::Kind::Rule, {}});
        return 0;
      case MD_BLOCK_H:
        if (static_cast<MD_BLOCK_H_DETAIL*>(detail)->level > 2)
          return fault("a heading below ##: expected # or ##");
        return open(Block::Kind::Heading);
      case MD_BLOCK_P:
        if (item_) return 0;  // a paragraph of a list item joins the block that the item opened
        return open(quoted_ ? Block::Kind::Note : Block::Kind::Paragraph);
      default:
        return fault("code, a table or HTML: expected paragraphs, headings, lists, notes and formulas");
    }
  }

  int open(Block::Kind kind) {
    blocks_.push_back({kind, {}});
    return 0;
  }

  int leave(MD_BLOCKTYPE type) {
    if (type == MD_BLOCK_QUOTE) quoted_ = false;
    if (type == MD_BLOCK_LI) item_ = false;
    if (type == MD_BLOCK_OL) numbered_ = false;
    return 0;
  }

  int span(MD_SPANTYPE type, bool enter) {
    switch (type) {
      case MD_SPAN_EM:
      case MD_SPAN_STRONG:
        strong_ = enter;
        return 0;
      case MD_SPAN_LATEXMATH:
        formula_ = enter;
        return enter ? 0 : close_formula(false);
      case MD_SPAN_LATEXMATH_DISPLAY:
        formula_ = enter;
        return enter ? 0 : close_formula(true);
      default:
        return fault("a link, a picture or code: expected words and formulas");
    }
  }

  int close_formula(bool display) {
    Inline formula{.kind = Kind::Formula, .text = std::move(tex_), .line = line_};
    tex_.clear();
    try {
      formula.formula = tex::parse(formula.text);
    } catch (const Error& error) {
      return fault(error.message);
    }
    Block& block = blocks_.back();
    if (display && !block.inlines.empty())
      return fault("a display formula after words: expected it to begin a paragraph");
    if (display) block.kind = Block::Kind::Display;
    block.inlines.push_back(std::move(formula));
    return 0;
  }

  int text(MD_TEXTTYPE type, std::string_view text) {
    if (text.data() >= source_.data() && text.data() < source_.data() + source_.size())
      line_ = line_of(text.data());
    if (type == MD_TEXT_SOFTBR || type == MD_TEXT_BR) text = " ";
    if (type == MD_TEXT_ENTITY) return fault(Message("the entity {}: expected the character itself", text));
    if (formula_) {
      tex_ += text;
      return 0;
    }
    if (blocks_.empty()) return 0;
    std::vector<Inline>& row = blocks_.back().inlines;
    if (row.empty() || row.back().kind != Kind::Text || row.back().strong != strong_) {
      row.push_back({.strong = strong_, .line = line_});
    }
    row.back().text += text;
    return 0;
  }

  /// Splits marks such as {value x} off the text.
  void split(Block& block) const {
    std::vector<Inline> out;
    for (Inline& piece : block.inlines) {
      if (piece.kind != Kind::Text) {
        out.push_back(std::move(piece));
        continue;
      }
      std::string_view rest = piece.text;
      while (!rest.empty()) {
        const size_t open = rest.find('{');
        if (open > 0) add(out, piece, Kind::Text, std::string(rest.substr(0, open)));
        if (open == std::string_view::npos) break;
        const size_t close = rest.find('}', open);
        if (close == std::string_view::npos) refuse(piece.line, "a brace that is not closed: expected }");
        braces(out, piece, rest.substr(open + 1, close - open - 1));
        rest.remove_prefix(close + 1);
      }
    }
    check_forms(out);
    block.inlines = std::move(out);
  }

  /// Requires a sentence in forms to end in its paragraph, and one form to cover all other cases.
  void check_forms(const std::vector<Inline>& inlines) const {
    const Inline* begun = nullptr;
    bool last = false;  // {else}, {always} or {task} has begun
    for (const Inline& piece : inlines) {
      if (opens(piece.kind)) {
        if (begun) refuse(piece.line, Message("{{{}}} inside another: expected {{end}} before", piece.text));
        begun = &piece;
        last = piece.kind != Kind::If;
      } else if (piece.kind == Kind::Otherwise || piece.kind == Kind::End) {
        if (!begun)
          refuse(piece.line,
                 Message("{{{}}} without {{if}}: expected {{if NAME < NUMBER}} before", piece.text));
        if (piece.kind == Kind::Otherwise && last)
          refuse(piece.line, Message("{{{}}} after the last form: expected {{end}}", piece.text));
        if (piece.kind == Kind::Otherwise) last = piece.conditions.empty();
        if (piece.kind == Kind::End && !last)
          refuse(begun->line, Message("{{{}}} has no form for the case that it is not so: expected {{else}}",
                                      begun->text));
        if (piece.kind == Kind::End) begun = nullptr;
      }
    }
    if (begun)
      refuse(begun->line,
             Message("{{{}}} is not closed: expected {{end}} in the same paragraph", begun->text));
  }

  static void add(std::vector<Inline>& out, const Inline& like, Kind kind, std::string text) {
    out.push_back({.kind = kind, .text = std::move(text), .strong = like.strong, .line = like.line});
  }

  void braces(std::vector<Inline>& out, const Inline& piece, std::string_view inside) const {
    if (inside.size() == 1 && inside[0] >= 'A' && inside[0] <= 'D')
      return add(out, piece, Kind::Tile, std::string(inside));
    if (form(out, piece, inside)) return;
    const size_t blank = inside.find(' ');
    const auto word = kWords.find(inside.substr(0, blank));
    if (blank == std::string_view::npos || word == kWords.end())
      refuse(piece.line, Message("{{{}}}: expected {}", inside, kExpected));
    add(out, piece, word->second, std::string(inside.substr(blank + 1)));
  }

  /// Reads {if ...}, {else if ...}, {else}, {always}, {task ...}, {end}; false for anything else.
  bool form(std::vector<Inline>& out, const Inline& piece, std::string_view inside) const {
    const bool first = inside.starts_with("if "), next = inside.starts_with("else if ");
    if (inside.starts_with("task ")) {
      std::istringstream names{std::string(inside.substr(5))};
      std::string figure;
      names >> figure;
      add(out, piece, Kind::Task, figure);
      out.back().answers.assign(std::istream_iterator<std::string>(names), {});
      return true;
    }
    const Kind kind = first                      ? Kind::If
                      : next || inside == "else" ? Kind::Otherwise
                      : inside == "always"       ? Kind::Always
                      : inside == "end"          ? Kind::End
                                                 : Kind::Text;
    if (kind == Kind::Text) return false;
    add(out, piece, kind, std::string(inside));
    if (first || next) out.back().conditions = conditions(piece.line, inside, inside.substr(first ? 3 : 8));
    return true;
  }

  std::vector<Condition> conditions(int line, std::string_view whole, std::string_view rest) const {
    std::vector<Condition> all;
    std::istringstream words{std::string(rest)};
    std::string number, joint = "and";
    while (joint == "and") {
      Condition c;
      joint.clear();
      char* end = nullptr;
      words >> c.measure;
      if (c.measure == kChanged) {
        c.sign = ">";
        number = "0";
      } else {
        words >> c.sign >> number;
      }
      c.limit = std::strtod(number.c_str(), &end);
      const bool known = c.sign == "<" || c.sign == "<=" || c.sign == ">" || c.sign == ">=";
      if (!words || !known || number.empty() || *end || !std::isfinite(c.limit)) break;
      all.push_back(std::move(c));
      if (!(words >> joint)) return all;
    }
    refuse(line,
           Message("{{{}}}: expected NAME, one of < <= > >=, and a number; several joined by 'and'", whole));
  }

  std::string_view source_;
  std::vector<size_t> line_ends_;
  const std::string& file_;
  std::vector<Block> blocks_;
  std::string tex_, error_;
  bool strong_ = false, formula_ = false, quoted_ = false, item_ = false, numbered_ = false;
  int line_ = 1;
};

using Kind = Inline::Kind;

int32_t words_in(const Inline& piece) {
  if (piece.kind != Kind::Text) return 1;
  int32_t count = 0;
  bool inside = false;
  for (char c : piece.text) {
    const bool part = static_cast<uint8_t>(c) > 127 || std::isalnum(static_cast<uint8_t>(c));
    if (part && !inside) ++count;
    if (part || c == ' ') inside = part;
  }
  return count;
}

}  // namespace

Prose parse_prose(std::string_view markdown, const std::string& file) {
  return {file, Reader(markdown, file).read()};
}

int32_t Prose::words() const {
  int32_t count = 0;
  for (const Block& block : blocks) {
    int32_t form = 0, longest = 0;
    bool within = false;
    for (const Inline& piece : block.inlines) {
      if (opens(piece.kind)) {
        within = true;
        form = longest = 0;
      } else if (piece.kind == Kind::Otherwise || piece.kind == Kind::End) {
        longest = std::max(longest, form);
        form = 0;
        if (piece.kind == Kind::End) {
          count += longest;
          within = false;
        }
      } else {
        (within ? form : count) += words_in(piece);
      }
    }
  }
  return count;
}

std::pair<Prose, Prose> Prose::at_heading() const {
  const auto heading = std::ranges::find(blocks, Block::Kind::Heading, &Block::kind);
  const auto below = heading == blocks.end() ? heading : heading + 1;
  return {{file, {blocks.begin(), heading}}, {file, {below, blocks.end()}}};
}

bool Condition::holds(double value) const {
  return sign == "<"    ? value < limit
         : sign == "<=" ? value <= limit
         : sign == ">"  ? value > limit
                        : value >= limit;
}

std::vector<Inline> read_as(const std::vector<Inline>& inlines, const Number& number,
                            const std::string& unknown) {
  std::vector<Inline> out;
  enum class State : uint8_t { Outside, Waiting, Inside, Over } state = State::Outside;
  const auto choose = [&](const Inline& piece) {
    State next = State::Inside;
    for (const Condition& condition : piece.conditions) {
      const std::optional<double> value = number(condition.measure);
      if (!value) {
        Inline later = piece;
        later.kind = Kind::Text;
        later.text = unknown;
        later.conditions.clear();
        out.push_back(std::move(later));
        return State::Over;
      }
      if (!condition.holds(*value)) next = State::Waiting;
    }
    return next;
  };
  for (const Inline& piece : inlines) {
    if (opens(piece.kind))
      state = choose(piece);
    else if (piece.kind == Kind::Otherwise)
      state = state == State::Waiting ? choose(piece) : State::Over;
    else if (piece.kind == Kind::End)
      state = State::Outside;
    else if (state == State::Outside || state == State::Inside)
      out.push_back(piece);
  }
  return out;
}

}  // namespace normscope::course

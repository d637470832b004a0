#include "app/lesson-player/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>

#include "app/ui/widgets.h"
#include "app/view/glossary.h"
#include "training/io/text.h"

namespace normscope::lesson_player {
using namespace course;
namespace {

using namespace ui;
using Kind = Inline::Kind;

constexpr float kParagraph = 14, kTile = 18, kPillPad = 20, kDisplayIndent = 24, kRing = 22;

/// What a line is made of: a word, a formula, a tile, a pill.
struct Token {
  const Inline* from = nullptr;
  std::string text{};
  TextStyle style{Face::Sans, type::prose};
  tex::Layout formula{};
  const view::Term* term = nullptr;  ///< explained by the glossary, and the first of it on the page
  float width = 0;
  bool space_before = false;
};

class Column {
 public:
  Column(Ui& ui, const Rect& rect, const FlowContext& context, bool draw, KnobDrag* dragged)
      : ui_(ui), rect_(rect), context_(context), draw_(draw), dragged_(dragged), y_(rect.y) {
    if (context.used) used_ = *context.used;
  }

  float blocks(const Prose& prose) {
    bool first = true;
    for (const Block& b : prose.blocks) {
      if (!first) y_ += kParagraph;
      first = false;
      block(b);
    }
    mark_terms();
    if (context_.used) *context_.used = used_;
    return y_ - rect_.y;
  }

 private:
  tex::Measure measure() const {
    return [this](TextStyle style, std::string_view s) { return ui_.paint().text_width(style, s); };
  }

  void block(const Block& b) {
    const Theme& t = ui_.theme();
    const std::vector<Inline> inlines = read_as(b.inlines, context_.number, context_.unknown);
    switch (b.kind) {
      case Block::Kind::Rule:
        if (draw_) ui_.paint().hairline({rect_.x, y_ + 4}, {rect_.right(), y_ + 4}, t.border);
        y_ += 8;
        return;
      case Block::Kind::Heading:
        if (draw_) ui_.paint().hairline({rect_.x, y_}, {rect_.right(), y_}, t.border);
        y_ += 12;
        paragraph(inlines, rect_.x, {Face::Bold, type::title}, 22);
        y_ -= 8;
        return;
      case Block::Kind::Display:
        return display(inlines);
      case Block::Kind::Item:
      case Block::Kind::Numbered:
        if (draw_) ui_.paint().circle({rect_.x + 5, y_ + line_height() / 2}, 2.2f, t.ink2);
        return paragraph(inlines, rect_.x + 18, body(), line_height());
      case Block::Kind::Note:
      case Block::Kind::Paragraph:
        return paragraph(inlines, rect_.x, body(), line_height());
    }
  }

  TextStyle body() const { return {Face::Sans, context_.px}; }
  float line_height() const { return context_.line; }

  void display(const std::vector<Inline>& inlines) {
    const tex::Layout formula = tex::layout(inlines[0].formula, 18, true, measure());
    const float height = formula.ascent + formula.descent + 8, baseline = y_ + 4 + formula.ascent;
    if (draw_) tex::draw(ui_.paint(), formula, {rect_.x + kDisplayIndent, baseline}, ui_.theme().ink);
    note_formula({rect_.x + kDisplayIndent, y_, formula.width, height});
    const std::vector<Inline> rest(inlines.begin() + 1, inlines.end());
    const float x = rect_.x + kDisplayIndent + formula.width + 20, top = y_;
    y_ += height;
    if (rest.empty()) return;
    // Words behind the formula are on its line if they fit, below it otherwise.
    const std::set<const view::Term*> used = used_;
    const std::vector<Token> tokens = tokens_of(rest, {Face::Sans, type::title});
    const float gap = ui_.paint().text_width({Face::Sans, type::title}, " ");
    float width = 0;
    for (const Token& token : tokens) width += token.width + gap;
    if (x + width <= rect_.right()) {
      float at = x;
      for (const Token& token : tokens) {
        if (token.space_before && at > x) at += gap;
        put(token, at, baseline - 0.27f * 18 + 0.36f * type::title, ui_.theme().ink2);
        at += token.width;
      }
    } else {
      y_ = top + height;
      used_ = used;
      paragraph(rest, rect_.x + kDisplayIndent, {Face::Sans, type::title}, 21);
    }
  }

  std::vector<Token> tokens_of(const std::vector<Inline>& inlines, TextStyle style) {
    std::vector<Token> tokens;
    bool space = false;
    for (const Inline& piece : inlines) {
      if (piece.kind == Kind::Text || piece.kind == Kind::Name) {
        words(piece, piece.kind == Kind::Name ? context_.text(piece) : piece.text, style, tokens, space);
        continue;
      }
      Token token{.from = &piece, .style = style, .space_before = space};
      space = false;
      if (piece.kind == Kind::Formula) {
        token.formula = tex::layout(piece.formula, style.px * 1.02f, false, measure());
        token.width = token.formula.width;
      } else if (piece.kind == Kind::Tile) {
        token.width = kTile;
      } else if (piece.kind == Kind::Drag) {
        token.style = {Face::Mono, type::run_name};
        token.text = context_.knob(*context_.lesson->knob(piece.text));
        token.width = ui_.paint().text_width(token.style, token.text) + 2 * kPillPad;
      } else if (piece.kind == Kind::Lesson) {
        token.style = {Face::Mono, type::tick};
        token.text = context_.text(piece);
        token.width = kRing;
      } else if (piece.kind == Kind::Sample) {
        sample(piece, tokens);
        continue;
      } else {
        token.style = {Face::Mono, style.px * 0.94f};
        token.text = context_.text(piece);
        token.width = ui_.paint().text_width(token.style, token.text);
      }
      tokens.push_back(std::move(token));
    }
    find_terms(tokens);
    return tokens;
  }

  /// Marks the first use of each term on the page.
  void find_terms(std::vector<Token>& tokens) {
    std::vector<std::string> plain;
    for (const Token& token : tokens)
      plain.push_back(token.from->kind == Kind::Text ? plain_word(token.text) : std::string());
    for (size_t i = 0; i < tokens.size(); ++i) {
      TermMatch match = term_at_start(std::span(plain).subspan(i), *context_.words);
      if (tokens[i].from->kind == Kind::Formula)
        match = {term_of_formula(tokens[i].from->text, *context_.words), 1};
      if (!match.term) continue;
      if (used_.insert(match.term).second)
        for (size_t k = i; k < i + match.words; ++k) tokens[k].term = match.term;
      i += match.words - 1;
    }
  }

  /// Notes the words that were drawn of a term: a rectangle for each of their lines.
  void note_term(const Token& token, float x, float baseline) {
    std::string_view word_text = token.text;  // without the comma behind it
    while (!word_text.empty() && std::strchr(".,;:!?)", word_text.back())) word_text.remove_suffix(1);
    const float width =
        word_text.size() == token.text.size() ? token.width : ui_.paint().text_width(token.style, word_text);
    const Rect word{x, baseline - 14, width, 20};
    if (!terms_.empty() && terms_.back().first == token.term && terms_.back().second.y == word.y)
      terms_.back().second.w = word.right() - terms_.back().second.x;
    else
      terms_.emplace_back(token.term, word);
  }

  /// Lets glossary and keyboard find a term by its title's mark, see view/glossary.h; on a further line it
  /// has another mark.
  void mark_terms() {
    const view::Term* before = nullptr;
    int line = 1;
    for (const auto& [term, rect] : terms_) {
      line = term == before ? line + 1 : 1;
      before = term;
      const std::string more = line > 1 ? fmt::format("/{}", line) : "";
      if (context_.seen.contains(rect))
        ui_.mark(fmt::format("title/term/{}{}", term->id, more), rect, term->title, term->text);
    }
  }

  void words(const Inline& piece, std::string_view rest, TextStyle style, std::vector<Token>& tokens,
             bool& space) const {
    if (piece.strong) style.face = Face::Bold;
    while (!rest.empty()) {
      const size_t blank = rest.find(' ');
      if (blank == 0) {
        space = true;
        rest.remove_prefix(1);
        continue;
      }
      Token token{
          .from = &piece, .text = std::string(rest.substr(0, blank)), .style = style, .space_before = space};
      token.width = ui_.paint().text_width(style, token.text);
      tokens.push_back(std::move(token));
      space = false;
      rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank);
    }
  }

  /// Sets what a model writes: mono, in words, so that it wraps.
  void sample(const Inline& piece, std::vector<Token>& tokens) const {
    const std::string text = context_.text(piece);
    std::string_view rest = text;
    const TextStyle style{Face::Mono, type::body};
    while (!rest.empty()) {
      const size_t blank = rest.find(' ');
      Token token{
          .from = &piece, .text = std::string(rest.substr(0, blank)), .style = style, .space_before = true};
      token.width = ui_.paint().text_width(style, token.text);
      tokens.push_back(std::move(token));
      rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank + 1);
    }
  }

  /// Keeps tokens that no space parts on one line.
  void paragraph(const std::vector<Inline>& inlines, float left, TextStyle style, float line) {
    const std::vector<Token> tokens = tokens_of(inlines, style);
    const float space = ui_.paint().text_width(style, " ");
    float x = left, top = y_, high = line;
    size_t i = 0;
    while (i < tokens.size()) {
      size_t end = i + 1;
      float width = tokens[i].width, tall = line;
      const auto taller = [&](const Token& t) {
        if (t.from->kind == Kind::Formula)
          tall = std::max(tall, 2 * std::max(t.formula.ascent - 6, t.formula.descent + 4) + 8);
      };
      taller(tokens[i]);
      while (end < tokens.size() && !tokens[end].space_before) {
        width += tokens[end].width;
        taller(tokens[end++]);
      }
      const float gap = x > left && tokens[i].space_before ? space : 0;
      if (x > left && x + gap + width > rect_.right()) {
        top += high;
        x = left;
        high = line;
      } else {
        x += gap;
      }
      high = std::max(high, tall);
      for (; i < end; ++i) {
        put(tokens[i], x, top + line / 2 + 0.364f * style.px,
            context_.pale ? ui_.theme().ink2 : ui_.theme().ink);
        x += tokens[i].width;
      }
    }
    y_ = top + high;
  }

  void note_formula(const Rect& place) {
    if (draw_ && context_.formulas) context_.formulas->push_back(place);
  }

  void put(const Token& token, float x, float baseline, Colour colour) {
    if (!draw_) return;
    if (token.term) note_term(token, x, baseline);
    Painter& p = ui_.paint();
    switch (token.from->kind) {
      case Kind::Formula:
        tex::draw(p, token.formula, {x, baseline}, colour);
        return note_formula({x, baseline - std::max(token.formula.ascent, token.style.px), token.width,
                             std::max(token.formula.ascent, token.style.px) + token.formula.descent});
      case Kind::Tile:
        return tile(ui_, {x, baseline - 0.36f * token.style.px - kTile / 2, kTile, kTile},
                    token.from->text[0] - 'A');
      case Kind::Drag:
        return pill(token, {x, baseline - 0.36f * type::prose - 12, token.width, 24});
      case Kind::Lesson:
        return ring(token, {x, baseline - 0.36f * type::prose - kRing / 2, kRing, kRing});
      default:
        p.text({x, baseline}, token.style, colour, token.text);
    }
  }

  /// Draws the number of a lesson, which a click or Enter opens.
  void ring(const Token& token, const Rect& rect) {
    const std::string& id = token.from->text;
    const Words& words = *context_.words;
    const std::string name = fmt::format("lesson/ring/{}/{}", context_.rings + ++rings_, id);
    const Hit h = ui_.hit(name, rect, token.text, words.tr("Open lesson {lesson}", {{"lesson", token.text}}));
    const Theme& t = ui_.theme();
    if (h.hovered) ui_.paint().circle(rect.centre(), rect.h / 2, t.accent_soft);
    ui_.paint().ring(rect.centre(), rect.h / 2 - 1, t.control, 1.6f);
    ui_.paint().text_in(rect, token.style, t.ink2, token.text, Align::Centre);
    if (context_.ring) context_.ring(name, rect, id, h.clicked);
  }

  void pill(const Token& token, const Rect& rect) {
    const Knob& knob = *context_.lesson->knob(token.from->text);
    Painter& p = ui_.paint();
    HitOptions options{.enabled = context_.can_drag, .arrows = Arrows::Either, .radius = radius::field};
    const Lesson& lesson = *context_.lesson;
    const Hit h =
        ui_.hit("lesson/drag/" + knob.id, rect, token.text,
                lesson.words->tr("{knob}: drag, or use the arrow keys.", {{"knob", knob.label}}), options);
    const Theme& t = ui_.theme();
    if (context_.can_drag)
      p.accent_box(t, rect, radius::field);
    else
      p.fill(rect, t.accent_soft, radius::field);
    const Colour ink = context_.can_drag ? t.on_accent : t.ink;
    p.text_in(rect, token.style, ink, token.text, Align::Centre);
    for (const float side : {-1.f, 1.f}) {
      const Vec c{rect.centre().x + side * (rect.w / 2 - 9), rect.centre().y};
      const Vec points[] = {{c.x - side * 2, c.y - 4}, {c.x + side * 2, c.y}, {c.x - side * 2, c.y + 4}};
      p.polyline(points, ink, 1.4f);
    }
    if (!dragged_) return;
    if (h.pressed) ui_.press_value() = 0;
    double steps = h.arrow_x + h.arrow_y;
    if (h.held && h.dragging) {
      const double now = std::round(h.drag.x / 8);
      steps += now - ui_.press_value();
      ui_.press_value() = now;
    }
    if (steps != 0) *dragged_ = {knob.id, steps};
  }

  Ui& ui_;
  Rect rect_;
  const FlowContext& context_;
  bool draw_;
  KnobDrag* dragged_;
  float y_;
  int rings_ = 0;
  std::set<const view::Term*> used_;
  std::vector<std::pair<const view::Term*, Rect>> terms_;  ///< where they stand, in reading order
};

}  // namespace

float flow(Ui& ui, const Rect& rect, const Prose& prose, const FlowContext& context, bool draw,
           KnobDrag* dragged) {
  return Column(ui, rect, context, draw, dragged).blocks(prose);
}

float even_width(const Painter& p, float width, const TextStyle& style, const std::string& text, float line) {
  const float height = p.wrapped_height(width, style, text, line);
  if (height <= line) return width;
  constexpr float kStep = 4;
  int low = 0, high = static_cast<int>(std::ceil(width / 2 / kStep));
  while (low < high) {
    const int middle = (low + high) / 2;
    const bool fits =
        p.wrapped_height(width / 2 + kStep * static_cast<float>(middle), style, text, line) <= height;
    (fits ? high : low) = fits ? middle : middle + 1;
  }
  return std::min(width / 2 + kStep * static_cast<float>(low), width);
}

// ---- the terms that the glossary explains

namespace {

struct Phrase {
  std::vector<std::string> words;
  const view::Term* term;
};

/// Finds the next '|' that is not part of a formula's "\\|".
size_t separator(std::string_view words) {
  size_t bar = words.find('|');
  while (bar != words.npos && bar > 0 && words[bar - 1] == '\\') bar = words.find('|', bar + 1);
  return bar;
}

/// Sorts phrases by their first word, the longest first, and formulas by their source.
struct Index {
  std::map<std::string, std::vector<Phrase>, std::less<>> phrases;
  std::map<std::string, const view::Term*, std::less<>> formulas;

  explicit Index(const words::Language& language) {
    for (const view::Term& term : view::glossary(language)) {
      if (term.words == view::kNotInText) continue;
      add(term.title, term);
      std::string_view rest = term.words;
      while (!rest.empty()) {
        const size_t bar = separator(rest);
        const std::string_view one = rest.substr(0, bar);
        if (one.starts_with('$'))
          formulas.emplace(one.substr(1), &term);
        else
          add(one, term);
        rest = bar == rest.npos ? std::string_view{} : rest.substr(bar + 1);
      }
    }
    for (auto& [first, list] : phrases)
      std::ranges::stable_sort(
          list, [](const Phrase& a, const Phrase& b) { return a.words.size() > b.words.size(); });
  }

  void add(std::string_view text, const view::Term& term) {
    Phrase phrase{{}, &term};
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) phrase.words.push_back(plain_word(word));
    phrases[phrase.words[0]].push_back(std::move(phrase));
  }
};

const Index& index(const words::Language& language) {
  static words::Table<Index> all([](const words::Language& of) { return Index(of); });
  return all.in(language);
}

/// Accepts a known word and its plural.
bool is(const std::string& word, const std::string& known) {
  return word == known || (word.size() == known.size() + 1 && word.back() == 's' && word.starts_with(known));
}

TermMatch longest(const std::vector<Phrase>& list, std::span<const std::string> words) {
  for (const Phrase& phrase : list)
    if (phrase.words.size() <= words.size() &&
        std::equal(phrase.words.begin(), phrase.words.end(), words.begin(),
                   [](const std::string& known, const std::string& word) { return is(word, known); }))
      return {phrase.term, phrase.words.size()};
  return {};
}

}  // namespace

std::string plain_word(std::string_view word) {
  const std::string_view kEnds = ".,;:!?()";
  while (!word.empty() && kEnds.find(word.front()) != kEnds.npos) word.remove_prefix(1);
  while (!word.empty() && kEnds.find(word.back()) != kEnds.npos) word.remove_suffix(1);
  if (word.ends_with("'s")) word.remove_suffix(2);
  return small_letters(word);
}

TermMatch term_at_start(std::span<const std::string> words, const words::Language& language) {
  if (words.empty() || words[0].empty()) return {};
  const auto& phrases = index(language).phrases;
  TermMatch best;
  const auto try_word = [&](std::string_view first) {
    if (const auto it = phrases.find(first); it != phrases.end())
      if (const TermMatch match = longest(it->second, words); match.words > best.words) best = match;
  };
  try_word(words[0]);
  if (words[0].ends_with('s')) try_word(std::string_view(words[0]).substr(0, words[0].size() - 1));
  return best;
}

const view::Term* term_of_text(std::string_view text, const words::Language& language) {
  std::vector<std::string> plain;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) plain.push_back(plain_word(word));
  const TermMatch match = term_at_start(plain, language);
  return match.words == plain.size() ? match.term : nullptr;
}

const view::Term* term_of_formula(std::string_view tex, const words::Language& language) {
  const auto& formulas = index(language).formulas;
  const auto it = formulas.find(tex);
  return it == formulas.end() ? nullptr : it->second;
}

}  // namespace normscope::lesson_player

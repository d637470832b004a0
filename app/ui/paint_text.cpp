// Text of Painter: measuring, placing on the baseline, cutting and wrapping. See paint.h.
#include <imgui.h>

#include <cmath>

#include "app/ui/paint.h"

namespace normscope::ui {
namespace {

constexpr float capital_height = 0.727f;               // of the em, in Inter and JetBrains Mono alike
constexpr float ink_above = 0.76f, ink_below = 0.22f;  // ink box around the baseline, for the overlap test

size_t next_character(std::string_view s, size_t i) {
  ++i;
  while (i < s.size() && (uint8_t(s[i]) & 0xC0) == 0x80) ++i;
  return i;
}

// The matrices of a model are written "W_Q" and drawn with a subscript: smaller, and lower.
constexpr float kSubscriptSize = 0.74f, kSubscriptDrop = 0.22f;

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool names_matrix(char c) { return std::string_view("QKVO12").find(c) != std::string_view::npos; }

// Where the "_" of such a name stands at or after `from`; npos: nowhere. A path keeps its underscores.
size_t subscript_at(std::string_view s, size_t from) {
  if (s.find('/') != s.npos) return s.npos;
  for (size_t i = s.find("W_", from); i != s.npos; i = s.find("W_", i + 1)) {
    const bool alone = i == 0 || !is_letter(s[i - 1]);
    if (alone && i + 2 < s.size() && names_matrix(s[i + 2]) && (i + 3 == s.size() || !is_letter(s[i + 3])))
      return i + 1;
  }
  return s.npos;
}

// Calls piece(text, lowered) from left to right.
template <class Piece>
void for_pieces(std::string_view s, const Piece& piece) {
  size_t from = 0;
  for (size_t at = subscript_at(s, 0); at != s.npos; at = subscript_at(s, from)) {
    piece(s.substr(from, at - from), false);
    piece(s.substr(at + 1, 1), true);
    from = at + 2;
  }
  if (from < s.size()) piece(s.substr(from), false);
}

}  // namespace

float Painter::text_width(TextStyle style, std::string_view s) const {
  const Fonts::Entry& face = (*fonts_)[style.face];
  const float size = style.px * face.factor * scale_;
  float width = 0;
  for_pieces(s, [&](std::string_view piece, bool lowered) {
    const float of_piece = lowered ? size * kSubscriptSize : size;
    width += face.font->CalcTextSizeA(of_piece, FLT_MAX, 0, piece.data(), piece.data() + piece.size()).x;
  });
  return width / scale_;
}

float Painter::text(Vec at, TextStyle style, Colour colour, std::string_view s, Align align) {
  if (s.empty()) return 0;
  const Fonts::Entry& face = (*fonts_)[style.face];
  float size = style.px * face.factor * scale_;
  float width = text_width(style, s);
  float x = at.x - (align == Align::Left ? 0 : align == Align::Centre ? width / 2 : width);
  ImFontBaked* baked = face.font->GetFontBaked(size);
  float ascent = baked->Ascent * (size / baked->Size);
  // Whole device pixels: text that is dragged or scaled does not shimmer.
  const ImVec2 place{std::round(x * scale_), std::round(at.y * scale_ - ascent)};
  float right = place.x;
  for_pieces(s, [&](std::string_view piece, bool lowered) {
    const float of_piece = lowered ? size * kSubscriptSize : size;
    const float drop = lowered ? ascent * (1 - kSubscriptSize) + kSubscriptDrop * size : 0;
    list_->AddText(face.font, of_piece, {right, place.y + drop}, colour.packed(), piece.data(),
                   piece.data() + piece.size());
    right += face.font->CalcTextSizeA(of_piece, FLT_MAX, 0, piece.data(), piece.data() + piece.size()).x;
  });
  if (records_) {
    ImVec2 lo = list_->GetClipRectMin(), hi = list_->GetClipRectMax();
    Rect clip{lo.x / scale_, lo.y / scale_, (hi.x - lo.x) / scale_, (hi.y - lo.y) / scale_};
    Rect ink{place.x / scale_, at.y - ink_above * style.px, width, (ink_above + ink_below) * style.px};
    records_->push_back({ink, clip, std::string(s), layer_, style.px});
  }
  return width;
}

float Painter::text_in(const Rect& box, TextStyle style, Colour colour, std::string_view s, Align align) {
  float baseline = box.centre().y + capital_height / 2 * style.px;
  float x = align == Align::Left ? box.x : align == Align::Centre ? box.centre().x : box.right();
  // Half a pixel of grace: a box measured with text_width must never cut its own text.
  if (text_width(style, s) <= box.w + 0.5f) return text({x, baseline}, style, colour, s, align);
  return text({x, baseline}, style, colour, fit(style, s, box.w), align);
}

std::string Painter::fit(TextStyle style, std::string_view s, float width) const {
  if (text_width(style, s) <= width) return std::string(s);
  size_t kept = longest_prefix(style, s, width - text_width(style, "…"));
  while (kept > 0 && s[kept - 1] == ' ') --kept;
  return kept ? std::string(s.substr(0, kept)) + "…" : std::string();
}

size_t Painter::longest_prefix(TextStyle style, std::string_view s, float width) const {
  size_t kept = 0;
  while (kept < s.size()) {
    const size_t next = next_character(s, kept);
    if (text_width(style, s.substr(0, next)) > width) break;
    kept = next;
  }
  return kept;
}

std::string Painter::fit_words(TextStyle style, std::string_view s, float width) const {
  std::string all;
  while (true) {
    const std::string_view word = s.substr(0, s.find(' '));
    if (text_width(style, word) <= width) {
      all += word;
    } else {  // what it ends with tells more than what it begins with
      const float room = width - text_width(style, "…");
      const std::string_view head = word.substr(0, longest_prefix(style, word, room / 3));
      const float left = room - text_width(style, head);
      size_t tail = word.size();
      for (size_t at = tail; at > head.size() && text_width(style, word.substr(at)) <= left;) {
        tail = at--;
        while (at > 0 && (uint8_t(word[at]) & 0xC0) == 0x80) --at;
      }
      all += std::string(head) + "…" + std::string(word.substr(tail));
    }
    if (word.size() == s.size()) return all;
    all += ' ';
    s.remove_prefix(word.size() + 1);
  }
}

std::vector<std::string> Painter::wrap(float width, TextStyle style, std::string_view s) const {
  std::vector<std::string> lines(1);
  size_t i = 0;
  while (i < s.size()) {
    if (s[i] == '\n') {
      lines.emplace_back();
      ++i;
      continue;
    }
    size_t end = std::min(s.find_first_of(" \n", i), s.size());
    std::string_view word = s.substr(i, end - i);
    std::string longer = lines.back().empty() ? std::string(word) : lines.back() + " " + std::string(word);
    if (lines.back().empty() || text_width(style, longer) <= width)
      lines.back() = std::move(longer);
    else
      lines.emplace_back(word);
    // A word that is wider goes on in the next line, where there is room for words at all.
    constexpr size_t kShortest = 8;
    if (lines.back().size() == word.size() && word.size() > kShortest && text_width(style, word) > width) {
      const size_t part = longest_prefix(style, word, width);
      if (part >= kShortest) {
        lines.back().resize(part);
        lines.emplace_back();
        i += part;
        continue;
      }
    }
    i = end < s.size() && s[end] == ' ' ? end + 1 : end;
  }
  return lines;
}

float Painter::text_wrapped(const Rect& box, TextStyle style, Colour colour, std::string_view s, float line) {
  float y = box.y;
  for (const std::string& each : wrap(box.w, style, s)) {
    text({box.x, y + line / 2 + capital_height / 2 * style.px}, style, colour, each);
    y += line;
  }
  return y - box.y;
}

float Painter::wrapped_height(float width, TextStyle style, std::string_view s, float line) const {
  return line * float(wrap(width, style, s).size());
}

}  // namespace normscope::ui

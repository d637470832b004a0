// Text of Painter: centring, cutting and wrapping.
#include "app/ui/paint.h"

namespace normscope::ui {
namespace {

constexpr float capital_height = 0.727f;  // of the em, in Inter and JetBrains Mono alike

size_t next_character(std::string_view s, size_t i) {
  ++i;
  while (i < s.size() && (uint8_t(s[i]) & 0xC0) == 0x80) ++i;
  return i;
}

}  // namespace

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
    } else {  // the end of a path tells more than its beginning
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
    // A word wider than the line goes on in the next line, where there is room for words at all.
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

// See word_rule.h.
#include "addons/published/training/tokenizer/word_rule.h"

#include <algorithm>
#include <cstdint>

#include "addons/published/training/tokenizer/unicode.h"

namespace normscope::tokenizer {
namespace {

enum class Kind : uint8_t { Letter, Number, White, Other, End };

constexpr struct {
  std::string_view expression;
  const WordRule* rule;
} kPublished[] = {
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", &kGpt2Words},
    // Llama 3, OLMo 2, SmolLM3, GPT-4 as it was converted
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     &kLlama3Words},
    // The same, as GPT-4's own library writes it: what is possessive there gives nothing back here either.
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
     &kLlama3Words},
    // Qwen 2, 2.5 and 3
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     &kQwen2Words}};

Kind kind_of(char32_t c) {
  if (c < 0x80) {
    const char32_t small = c | 0x20;
    if (small >= 'a' && small <= 'z') return Kind::Letter;
    if (c >= '0' && c <= '9') return Kind::Number;
    return is_white(c) ? Kind::White : Kind::Other;
  }
  return is_letter(c) ? Kind::Letter : is_number(c) ? Kind::Number : is_white(c) ? Kind::White : Kind::Other;
}

Kind kind_at(std::string_view text, size_t at) {
  return at < text.size() ? kind_of(take_character(text, at)) : Kind::End;
}

/// Where the characters of a kind end, of which it takes at most `most`.
size_t run_end(std::string_view text, size_t at, Kind kind, size_t most = SIZE_MAX) {
  for (size_t count = 0; count < most && at < text.size(); ++count) {
    size_t behind = at;
    if (kind_of(take_character(text, behind)) != kind) break;
    at = behind;
  }
  return at;
}

/// Knows the letters of contractions; U+017F is a way to write s, as expressions without case know.
char32_t small_letter(char32_t c, bool any_case) {
  if (!any_case) return c;
  if (c == 0x17f) return 's';
  return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/// Returns `at` where none begins.
size_t contraction_end(std::string_view text, size_t at, bool any_case) {
  if (text[at] != '\'' || at + 1 >= text.size()) return at;
  size_t end = at + 1;
  const char32_t first = small_letter(take_character(text, end), any_case);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return end;
  if ((first != 'r' && first != 'v' && first != 'l') || end >= text.size()) return at;
  const char32_t second = small_letter(take_character(text, end), any_case);
  return second == (first == 'l' ? 'l' : 'e') ? end : at;
}

/// Leaves the last white character of a run to what follows it.
size_t white_end(std::string_view text, size_t at, bool lines_end) {
  size_t end = at, last = at, line = at;  // `last`: where the last character begins
  while (end < text.size()) {
    size_t behind = end;
    const char32_t c = take_character(text, behind);
    if (!is_white(c)) break;
    last = end;
    end = behind;
    if (c == '\r' || c == '\n') line = end;
  }
  if (lines_end && line > at) return line;
  return end == text.size() || last == at ? end : last;
}

}  // namespace

const WordRule* word_rule(std::string_view expression) {
  for (const auto& [published, rule] : kPublished)
    if (expression == published) return rule;
  return nullptr;
}

std::string_view expression_of(const WordRule& rule) {
  return std::ranges::find(kPublished, &rule, [](const auto& row) { return row.rule; })->expression;
}

size_t word_end(std::string_view text, size_t at, const WordRule& rule) {
  if (const size_t end = contraction_end(text, at, rule.any_case); end > at) return end;
  size_t behind = at;
  const char32_t c = take_character(text, behind);
  const Kind kind = kind_of(c);
  const bool blank = c == ' ';
  if (kind == Kind::Letter) return run_end(text, at, Kind::Letter);
  const bool before = rule.any_before ? kind != Kind::Number && c != '\r' && c != '\n' : blank;
  if (before && kind_at(text, behind) == Kind::Letter) return run_end(text, behind, Kind::Letter);
  if (kind == Kind::Number)
    return run_end(text, at, Kind::Number, rule.most_numbers ? rule.most_numbers : SIZE_MAX);
  if (blank && !rule.most_numbers && kind_at(text, behind) == Kind::Number)
    return run_end(text, behind, Kind::Number);
  const size_t first = blank ? behind : at;
  if (kind_at(text, first) != Kind::Other) return white_end(text, at, rule.lines_end);
  size_t end = run_end(text, first, Kind::Other);
  while (rule.lines_end && end < text.size() && (text[end] == '\r' || text[end] == '\n')) ++end;
  return end;
}

}  // namespace normscope::tokenizer

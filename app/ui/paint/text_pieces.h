// Splits a text at its subscripts: a matrix is written "W_Q" and drawn with a subscript. Private to
// app/ui.
#pragma once

#include <string_view>

namespace normscope::ui {

inline constexpr float kSubscriptSize = 0.74f,
                       kSubscriptDrop = 0.22f;  // smaller, and lower: shares of the em

/// The place of the "_" of such a name at or after `from`, else npos. A path keeps its
/// underscores.
inline size_t subscript_at(std::string_view s, size_t from) {
  const auto is_letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  if (s.find('/') != s.npos) return s.npos;
  for (size_t i = s.find("W_", from); i != s.npos; i = s.find("W_", i + 1)) {
    const bool alone = i == 0 || !is_letter(s[i - 1]);
    const bool matrix = i + 2 < s.size() && std::string_view("QKVO12").find(s[i + 2]) != s.npos;
    if (alone && matrix && (i + 3 == s.size() || !is_letter(s[i + 3]))) return i + 1;
  }
  return s.npos;
}

/// Calls piece(text, lowered) from left to right.
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

}  // namespace normscope::ui

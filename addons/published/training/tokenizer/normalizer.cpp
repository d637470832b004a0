#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "addons/published/training/tokenizer/component.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "engine/core/error.h"

namespace normscope::tokenizer {
namespace {

constexpr size_t kMaxBytes = 16'000'000;  // of the table in base64; the published ones have 0.4 MB
constexpr size_t kLongestGrapheme = 5;    // bytes

std::string from_base64(const InputValue& value) {
  const std::string text = value.text(kMaxBytes);
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : std::string_view(text).substr(0, std::min(text.find('='), text.size()))) {
    const auto digit =
        std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
    if (digit == std::string_view::npos) value.refuse("base64");
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

uint32_t little_endian(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i)
    word |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  return word;
}

// The fields of a unit of the trie: label or value, offset of its children, whether a text ends at it.
uint32_t label_of(uint32_t unit) { return unit & (0x80000000u | 0xff); }
uint32_t value_of(uint32_t unit) { return unit & 0x7fffffff; }
uint32_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); }
bool has_leaf(uint32_t unit) { return (unit >> 8 & 1) == 1; }

/// SentencePiece's table of replacements (precompiled_charsmap): a double-array trie over the bytes of the replaced
/// texts, and their replacements. A search stays within the table, whatever a file has.
class Charsmap {
 public:
  /// Throws Error where `value` is not a table in base64.
  explicit Charsmap(const InputValue& value);
  /// Looks up each grapheme of at most five bytes as a whole, everything else character by character.
  std::string replaced(std::string_view text) const {
    std::string made;
    made.reserve(text.size());
    const auto put = [&](std::string_view part) {
      const auto found = find(part);
      if (found) made += *found;
      return found.has_value();
    };
    for (size_t at = 0; at < text.size();) {
      const size_t end = grapheme_end(text, at);
      if (end - at <= kLongestGrapheme && put(text.substr(at, end - at))) {
        at = end;
        continue;
      }
      while (at < end) {
        const size_t begin = at;
        take_character(text, at);
        const std::string_view part = text.substr(begin, at - begin);
        if (!put(part)) made += part;
      }
    }
    return made;
  }

 private:
  /// The replacement of the shortest prefix of `part` in the table.
  std::optional<std::string_view> find(std::string_view part) const {
    size_t at = offset_of(units_[0]);
    for (char c : part) {
      const auto byte = static_cast<uint8_t>(c);
      at ^= byte;
      if (byte == 0 || at >= units_.size() || label_of(units_[at]) != byte) return std::nullopt;
      const uint32_t unit = units_[at];
      at ^= offset_of(unit);
      if (!has_leaf(unit)) continue;
      const size_t text = at < units_.size() ? value_of(units_[at]) : texts_.size();
      if (text >= texts_.size()) return std::nullopt;
      return std::string_view(texts_).substr(text, texts_.find('\0', text) - text);
    }
    return std::nullopt;
  }

  std::vector<uint32_t> units_;
  std::string texts_;  // each ends with a zero byte
};

/// Rewrites a text: calls `put` with every character and the new text to append to.
template <typename Put>
void each_character(std::string& text, Put&& put) {
  std::string made;
  made.reserve(text.size());
  for (size_t at = 0; at < text.size();) put(take_character(text, at), made);
  text = std::move(made);
}

template <typename Test>
void without(std::string& text, Test&& test) {
  each_character(text, [&](char32_t c, std::string& made) {
    if (!test(c)) put_character(made, c);
  });
}

template <NormalForm form>
Normalizer read_normal_form(const InputValue&) {
  return [](std::string& text) { text = in_form(text, form); };
}

Normalizer read_lowercase(const InputValue&) {
  return [](std::string& text) { text = in_lower_case(text); };
}

Normalizer read_strip_accents(const InputValue&) {
  return [](std::string& text) { without(text, is_mark); };
}

Normalizer read_prepend(const InputValue& value) {
  return [before = value.at("prepend").text(kMaxWord)](std::string& text) {
    if (!text.empty()) text.insert(0, before);
  };
}

Normalizer read_strip(const InputValue& value) {
  return [left = value.at("strip_left").flag(), right = value.at("strip_right").flag()](std::string& text) {
    size_t first = text.size(), last = 0;  // of what is not white
    for (size_t at = 0; at < text.size();) {
      const size_t begin = at;
      if (is_white(take_character(text, at))) continue;
      first = std::min(first, begin);
      last = at;
    }
    const size_t begin = left ? first : 0, end = right ? std::max(last, begin) : text.size();
    text = text.substr(begin, end - begin);
  };
}

Normalizer read_precompiled(const InputValue& value) {
  const InputValue table = value.at("precompiled_charsmap");
  if (table.is_null() || table.is("")) return [](std::string&) {};
  return [map = std::make_shared<Charsmap>(table)](std::string& text) { text = map->replaced(text); };
}

// The blocks of ideographs that BERT puts blanks around.
bool is_chinese(char32_t c) {
  constexpr std::pair<char32_t, char32_t> kBlocks[] = {
      {0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df}, {0x2a700, 0x2b73f},
      {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
  for (const auto& [first, last] : kBlocks)
    if (c >= first && c <= last) return true;
  return false;
}

void clean(std::string& text) {
  each_character(text, [](char32_t c, std::string& made) {
    const bool line = c == '\t' || c == '\n' || c == '\r';
    if (c == 0 || c == 0xfffd || (!line && is_control(c))) return;
    put_character(made, is_white(c) ? U' ' : c);
  });
}

Normalizer read_bert(const InputValue& value) {
  const bool lower = value.at("lowercase").flag(), chinese = value.at("handle_chinese_chars").flag(),
             cleaned = value.at("clean_text").flag();
  const auto accents = value.find("strip_accents");
  const bool strip = accents && !accents->is_null() ? accents->flag() : lower;
  return [=](std::string& text) {
    if (cleaned) clean(text);
    if (chinese)
      each_character(text, [](char32_t c, std::string& made) {
        const bool around = is_chinese(c);
        if (around) made += ' ';
        put_character(made, c);
        if (around) made += ' ';
      });
    if (strip) {
      text = in_form(text, NormalForm::D);
      without(text, is_nonspacing_mark);
    }
    if (lower) text = in_lower_case(text);
  };
}

Normalizer read_normalizer_sequence(const InputValue& value) {
  std::vector<Normalizer> parts;
  for (const InputValue& part : value.at("normalizers").list(0, kMaxParts))
    parts.push_back(read_normalizer(part));
  return [parts = std::move(parts)](std::string& text) {
    for (const Normalizer& part : parts) {
      part(text);
      require_short(text);
    }
  };
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty() || text.find(from) == text.npos) return;
  std::string made;
  size_t at = 0;
  for (size_t found; (found = text.find(from, at)) != text.npos; at = found + from.size()) {
    made.append(text, at, found - at).append(to);
    if (made.size() > kMaxText) break;
  }
  text = made.append(text, at);
}

/// Replaces runs of at least `least` characters for which `test` is true.
template <typename Test>
void replace_runs(std::string& text, size_t least, std::string_view to, Test&& test) {
  std::string made;
  size_t count = 0, begin = 0, at = 0;
  const auto end_run = [&](size_t end) {
    if (count >= least)
      made += to;
    else
      made.append(text, begin, end - begin);
    count = 0;
  };
  while (at < text.size()) {
    const size_t from = at;
    const char32_t c = take_character(text, at);
    if (test(c)) {
      if (count++ == 0) begin = from;
      continue;
    }
    if (count > 0) end_run(from);
    made.append(text, from, at - from);
  }
  if (count > 0) end_run(text.size());
  text = std::move(made);
}

}  // namespace

void require_short(const std::string& text) {
  if (text.size() > kMaxText)
    fail("tokenizer", "a text becomes longer than {} bytes: expected fewer", kMaxText);
}

Normalizer read_replacement(const InputValue& value) {
  const std::string to = value.at("content").text(kMaxWord);
  const InputValue pattern = value.at("pattern");
  if (const auto exact = pattern.find("String"))
    return [from = exact->text(kMaxWord), to](std::string& text) {
      replace_all(text, from, to);
      require_short(text);
    };
  const InputValue expression = pattern.at("Regex");
  if (expression.is(" {2,}"))
    return [to](std::string& text) { replace_runs(text, 2, to, [](char32_t c) { return c == ' '; }); };
  if (expression.is("\\s+")) return [to](std::string& text) { replace_runs(text, 1, to, is_white); };
  expression.refuse("\" {2,}\" or \"\\\\s+\": others are not known");
}

Normalizer read_normalizer(const InputValue& value) {
  constexpr ComponentReader<Normalizer> kNormalizers[] = {{"Sequence", read_normalizer_sequence},
                                                          {"Prepend", read_prepend},
                                                          {"Replace", read_replacement},
                                                          {"NFC", read_normal_form<NormalForm::C>},
                                                          {"NFD", read_normal_form<NormalForm::D>},
                                                          {"NFKC", read_normal_form<NormalForm::KC>},
                                                          {"NFKD", read_normal_form<NormalForm::KD>},
                                                          {"Lowercase", read_lowercase},
                                                          {"StripAccents", read_strip_accents},
                                                          {"BertNormalizer", read_bert},
                                                          {"Precompiled", read_precompiled},
                                                          {"Strip", read_strip}};
  if (value.is_null()) return [](std::string&) {};
  return read_component(value, kNormalizers);
}

Charsmap::Charsmap(const InputValue& value) {
  const std::string bytes = from_base64(value);
  const size_t trie = bytes.size() < 4 ? 0 : little_endian(bytes, 0);
  if (trie < 4 || trie % 4 != 0 || trie > bytes.size() - 4)
    value.refuse("a table of SentencePiece: the size of its trie, the trie, texts");
  for (size_t at = 0; at < trie; at += 4) units_.push_back(little_endian(bytes, 4 + at));
  texts_ = bytes.substr(4 + trie);
  if (texts_.empty() || texts_.back() != '\0' || well_formed(texts_) != texts_)
    value.refuse("a table of SentencePiece whose texts are UTF-8 and end with a zero byte");
}

}  // namespace normscope::tokenizer

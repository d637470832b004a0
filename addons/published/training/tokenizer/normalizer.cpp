// See component.h.
#include "addons/published/training/tokenizer/component.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "addons/published/training/tokenizer/unicode.h"
#include "engine/core/error.h"

namespace normscope::tokenizer {
namespace {

/// Hands every character to `put`, with the text that is made.
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
  return [before = value.at("prepend").text(kMostWord)](std::string& text) {
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
  for (const InputValue& part : value.at("normalizers").list(0, kMostParts))
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
    if (made.size() > kMostText) break;
  }
  text = made.append(text, at);
}

/// Replaces runs of at least `least` characters that `test` holds for.
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
  if (text.size() > kMostText)
    fail("tokenizer", "a text becomes longer than {} bytes: expected fewer", kMostText);
}

Normalizer read_replacement(const InputValue& value) {
  const std::string to = value.at("content").text(kMostWord);
  const InputValue pattern = value.at("pattern");
  if (const auto exact = pattern.find("String"))
    return [from = exact->text(kMostWord), to](std::string& text) {
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

}  // namespace normscope::tokenizer

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "addons/published/training/tokenizer/component.h"
#include "addons/published/training/tokenizer/unicode.h"

namespace normscope::tokenizer {
namespace {

/// A range of a text: a match, or the text between matches. Parts cover the text.
struct Part {
  size_t begin, end;
  bool match;
};
using Parts = std::vector<Part>;
using Finder = std::function<Parts(std::string_view)>;
using Behaviour = Parts (*)(const Parts&);

Parts removed(const Parts& parts) {
  Parts kept;
  for (const Part& part : parts)
    if (!part.match) kept.push_back(part);
  return kept;
}

Parts isolated(const Parts& parts) { return parts; }

Parts contiguous(const Parts& parts) {
  Parts joined;
  for (const Part& part : parts)
    if (!joined.empty() && joined.back().match == part.match)
      joined.back().end = part.end;
    else
      joined.push_back(part);
  return joined;
}

// Of consecutive matches, only the first joins the part before it.
Parts merged_with_previous(const Parts& parts) {
  Parts joined;
  bool after_match = false;
  for (const Part& part : parts) {
    if (part.match && !after_match && !joined.empty())
      joined.back().end = part.end;
    else
      joined.push_back(part);
    after_match = part.match;
  }
  return joined;
}

// Of consecutive matches, only the last joins the part after it.
Parts merged_with_next(const Parts& parts) {
  Parts joined;
  bool before_match = false;
  for (size_t i = parts.size(); i-- > 0;) {
    if (parts[i].match && !before_match && !joined.empty())
      joined.back().begin = parts[i].begin;
    else
      joined.push_back(parts[i]);
    before_match = parts[i].match;
  }
  std::ranges::reverse(joined);
  return joined;
}

void cut(std::vector<Piece>& pieces, const Finder& find, Behaviour behaviour) {
  std::vector<Piece> made;
  for (Piece& piece : pieces) {
    if (piece.token >= 0) {
      made.push_back(std::move(piece));
      continue;
    }
    for (const Part& part : behaviour(find(piece.text)))
      if (part.end > part.begin)
        made.push_back(
            {piece.text.substr(part.begin, part.end - part.begin), piece.first && part.begin == 0});
  }
  pieces = std::move(made);
}

/// Finds matches by end_of(text, at), which returns `at` where none begins.
template <typename End>
Finder each_match(End end_of) {
  return [end_of = std::move(end_of)](std::string_view text) {
    Parts parts;
    size_t last = 0;
    for (size_t at = 0; at < text.size();) {
      const size_t end = end_of(text, at);
      if (end == at) {
        take_character(text, at);
        continue;
      }
      if (last < at) parts.push_back({last, at, false});
      parts.push_back({at, end, true});
      at = last = end;
    }
    if (last < text.size()) parts.push_back({last, text.size(), false});
    return parts;
  };
}

/// Finds every single character that `test` holds for.
template <typename Test>
Finder each_that(Test test) {
  return each_match([test](std::string_view text, size_t at) {
    size_t behind = at;
    return test(take_character(text, behind)) ? behind : at;
  });
}

Finder every(std::string exact) {
  return each_match([exact = std::move(exact)](std::string_view text, size_t at) {
    return text.substr(at).starts_with(exact) ? at + exact.size() : at;
  });
}

size_t bloom_word_end(std::string_view text, size_t at) {
  size_t end = at + (text[at] == ' '), behind = end;
  const size_t first = end;
  while (behind < text.size()) {
    const char32_t c = take_character(text, behind);
    if (is_white(c) || std::u32string_view(U"()|.,!?…。，、।۔،").find(c) != std::u32string_view::npos) break;
    end = behind;
  }
  return end == first ? at : end;
}

size_t three_digits_end(std::string_view text, size_t at) {
  const std::string_view digits = text.substr(at, 3);
  const bool all = std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  return digits.size() == 3 && all ? at + 3 : at;
}

Finder words_of(const WordRule& rule) {
  return [&rule](std::string_view text) {
    Parts parts;
    for (size_t at = 0, end; at < text.size(); at = end) {
      end = word_end(text, at, rule);
      parts.push_back({at, end, true});
    }
    return parts;
  };
}

PreTokenizer read_byte_level(const InputValue& value) {
  const bool blank = value.at("add_prefix_space").flag();
  const auto expression = value.find("use_regex");
  const bool words = !expression || expression->flag();
  return [=](std::vector<Piece>& pieces) {
    for (Piece& piece : pieces)
      if (blank && piece.token < 0 && !piece.text.starts_with(' ')) piece.text.insert(0, 1, ' ');
    if (words) cut(pieces, words_of(kGpt2Words), isolated);
    for (Piece& piece : pieces)
      if (piece.token < 0) piece.text = in_byte_alphabet(piece.text);
  };
}

Finder read_pattern(const InputValue& pattern) {
  if (const auto exact = pattern.find("String")) return every(exact->text(kMaxWord));
  const InputValue expression = pattern.at("Regex");
  if (expression.is(kBloomExpression)) return each_match(bloom_word_end);
  if (expression.is(kThreeDigits)) return each_match(three_digits_end);
  const WordRule* rule = word_rule(expression.text(kMaxWord));
  if (!rule)
    expression.refuse(
        "the expression of GPT-2, GPT-4, Llama 3, Qwen 2, BLOOM or Falcon: others are not known");
  return words_of(*rule);
}

Behaviour read_behaviour(const InputValue& value) {
  constexpr std::pair<std::string_view, Behaviour> kBehaviours[] = {
      {"Removed", removed},
      {"Isolated", isolated},
      {"MergedWithPrevious", merged_with_previous},
      {"MergedWithNext", merged_with_next},
      {"Contiguous", contiguous}};
  std::vector<std::string_view> names;
  for (const auto& row : kBehaviours) names.push_back(row.first);
  return kBehaviours[value.at("behavior").choice(names)].second;
}

PreTokenizer read_split(const InputValue& value) {
  const Behaviour behaviour = read_behaviour(value);
  const auto invert = value.find("invert");
  const bool others = invert && invert->flag();
  return [find = read_pattern(value.at("pattern")), behaviour, others](std::vector<Piece>& pieces) {
    const auto found = [&](std::string_view text) {
      Parts parts = find(text);
      for (Part& part : parts) part.match = part.match != others;
      return parts;
    };
    cut(pieces, found, behaviour);
  };
}

PreTokenizer read_digits(const InputValue& value) {
  const Behaviour behaviour = value.at("individual_digits").flag() ? isolated : contiguous;
  return [behaviour](std::vector<Piece>& pieces) { cut(pieces, each_that(is_number), behaviour); };
}

PreTokenizer read_punctuation(const InputValue& value) {
  const Behaviour behaviour = read_behaviour(value);
  return [behaviour](std::vector<Piece>& pieces) { cut(pieces, each_that(is_punctuation), behaviour); };
}

PreTokenizer read_bert_words(const InputValue&) {
  return [](std::vector<Piece>& pieces) {
    cut(pieces, each_that(is_white), removed);
    cut(pieces, each_that(is_punctuation), isolated);
  };
}

PreTokenizer read_white_split(const InputValue&) {
  return [](std::vector<Piece>& pieces) { cut(pieces, each_that(is_white), removed); };
}

PreTokenizer read_metaspace_words(const InputValue& value) {
  const std::string mark = read_metaspace(value);
  const Prepend prepend = read_prepend_scheme(value);
  const auto split = value.find("split");
  const bool words = !split || split->is_null() || split->flag();
  return [=](std::vector<Piece>& pieces) {
    for (Piece& piece : pieces) {
      if (piece.token >= 0) continue;
      std::string made;
      for (char c : piece.text)
        if (c == ' ')
          made += mark;
        else
          made += c;
      const bool wanted = prepend == Prepend::Always || (prepend == Prepend::First && piece.first);
      if (wanted && !made.starts_with(mark)) made.insert(0, mark);
      piece.text = std::move(made);
    }
    if (words) cut(pieces, every(mark), merged_with_next);
  };
}

PreTokenizer read_word_sequence(const InputValue& value) {
  std::vector<PreTokenizer> parts;
  for (const InputValue& part : value.at("pretokenizers").list(0, kMaxParts))
    parts.push_back(read_pre_tokenizer(part));
  return [parts = std::move(parts)](std::vector<Piece>& pieces) {
    for (const PreTokenizer& part : parts) part(pieces);
  };
}

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

/// The end of a run of characters of a kind, at most `most` of them.
size_t run_end(std::string_view text, size_t at, Kind kind, size_t most = SIZE_MAX) {
  for (size_t count = 0; count < most && at < text.size(); ++count) {
    size_t behind = at;
    if (kind_of(take_character(text, behind)) != kind) break;
    at = behind;
  }
  return at;
}

/// For contractions; U+017F, a long s, equals s in expressions that ignore case.
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

/// The last white character of a run belongs to the next word.
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

std::string read_metaspace(const InputValue& value) {
  const InputValue mark = value.at("replacement");
  std::string text = mark.text(4);
  size_t end = 0;
  if (!text.empty()) take_character(text, end);
  if (text.empty() || end != text.size()) mark.refuse("one character");
  return text;
}

Prepend read_prepend_scheme(const InputValue& value) {
  constexpr std::string_view kSchemes[] = {"never", "first", "always"};
  if (const auto before = value.find("add_prefix_space"))
    if (!before->is_null() && !before->flag()) return Prepend::Never;
  const auto scheme = value.find("prepend_scheme");
  return scheme ? static_cast<Prepend>(scheme->choice(kSchemes)) : Prepend::Always;
}

PreTokenizer read_pre_tokenizer(const InputValue& value) {
  constexpr ComponentReader<PreTokenizer> kPreTokenizers[] = {{"Sequence", read_word_sequence},
                                                              {"ByteLevel", read_byte_level},
                                                              {"Split", read_split},
                                                              {"Digits", read_digits},
                                                              {"Punctuation", read_punctuation},
                                                              {"Metaspace", read_metaspace_words},
                                                              {"BertPreTokenizer", read_bert_words},
                                                              {"WhitespaceSplit", read_white_split}};
  if (value.is_null()) return [](std::vector<Piece>&) {};
  return read_component(value, kPreTokenizers);
}

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

#include "app/course/terms.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include "app/view/glossary.h"
#include "training/io/text.h"

namespace normscope::course {
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
  static std::map<const words::Language*, Index> of;
  return of.try_emplace(&language, language).first->second;
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

}  // namespace normscope::course

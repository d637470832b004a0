// See attachment.h.
#include "addons/systems/training/attachment.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

#include "engine/core/error.h"

namespace normscope {
namespace {

double percent(int64_t part, int64_t whole) {
  if (whole == 0) return std::numeric_limits<double>::quiet_NaN();
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// "nmod" for "nmod:poss".
std::string_view universal(std::string_view label) { return label.substr(0, label.find(':')); }

void require_same_words(const DependencyTree& gold, const DependencyTree& parsed, size_t number) {
  if (gold.words.size() != parsed.words.size())
    fail("attachment", "sentence {} has {} words and its parse {}: expected the same words", number,
         gold.words.size(), parsed.words.size());
  for (size_t w = 0; w < gold.words.size(); ++w)
    if (gold.words[w].form != parsed.words[w].form)
      fail("attachment", "word {} of sentence {} is '{}' and in its parse '{}': expected the same words",
           w + 1, number, gold.words[w].form, parsed.words[w].form);
}

}  // namespace

double Attachment::unlabelled() const { return percent(heads, words); }
double Attachment::labelled() const { return percent(labelled_heads, words); }

bool is_punctuation(const TreeWord& word) {
  constexpr std::string_view kPenn[] = {"``", "''", ":", ",", "."};
  if (word.upos != "_") return word.upos == "PUNCT";
  return std::find(std::begin(kPenn), std::end(kPenn), word.xpos) != std::end(kPenn);
}

Attachment attachment(std::span<const DependencyTree> gold, std::span<const DependencyTree> parsed,
                      bool punctuation) {
  if (gold.size() != parsed.size())
    fail("attachment", "{} sentences and {} parses: expected as many", gold.size(), parsed.size());
  Attachment sum;
  for (size_t i = 0; i < gold.size(); ++i) {
    require_same_words(gold[i], parsed[i], i + 1);
    for (size_t w = 0; w < gold[i].words.size(); ++w) {
      const TreeWord &right = gold[i].words[w], &given = parsed[i].words[w];
      if (!punctuation && is_punctuation(right)) continue;
      ++sum.words;
      if (right.head != given.head) continue;
      ++sum.heads;
      sum.labelled_heads += universal(right.label) == universal(given.label);
    }
  }
  return sum;
}

std::string to_string(const Attachment& attachment) {
  return fmt::format("UAS {:.2f}  LAS {:.2f}", attachment.unlabelled(), attachment.labelled());
}

}  // namespace normscope

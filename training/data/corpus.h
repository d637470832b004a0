// The built-in corpus: simple English-like sentences drawn from a small phrase grammar made for it.
//
// Promises: the text is a pure function of (seed, length). The grammar is unambiguous (tested by parsing), so that
// Grammar::entropy_rate() is the true entropy rate of the text, the loss that no model can beat on average. Expected
// sentence length, letter frequencies and derivation entropy are solutions of linear equations,
// not estimates. A sentence is a pure function of (seed, index).
//
// For a rule A with productions r of probability p_r, each a sequence of literal text and of rules B:
//
//     length(A)  = sum_r p_r (letters of r + sum_{B in r} length(B))            letters
//     count_c(A) = sum_r p_r (c's in r     + sum_{B in r} count_c(B))           letters c
//     entropy(A) = sum_r p_r (-ln p_r      + sum_{B in r} entropy(B))           nats
//
// That is (I - M) x = b with M_AB = sum_r p_r (number of B in r), one matrix and several right-hand sides. entropy(A)
// is the entropy of the *derivation*, and the entropy of the *string* if and only if each string has one derivation. A
// text is a sequence of independent sentences that end in a full stop, which occurs nowhere else, so by renewal theory
// letter c has the stationary frequency count_c / length, and the entropy rate is entropy / length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace normscope {

/// An alternative of a phrase, as written: `<name>` refers to a rule, everything else is literal.
struct Alternative {
  double weight;
  std::string_view body;
};

/// A rule of the grammar, as written. Exactly one of the two forms is filled.
struct RuleText {
  std::string_view name;
  std::vector<Alternative> phrases;  // "<determiner> <noun>"
  std::string_view words;            // "the*4 a*3 my": words with optional weights
};

/// A probabilistic context-free grammar whose expected values are computed exactly.
class Grammar {
 public:
  struct Part {
    int32_t rule = -1;  // an index into rules(), or -1 for literal text
    std::string text;
  };
  struct Production {
    double probability = 0;
    std::vector<Part> body;
  };
  struct Rule {
    std::string name;
    bool lexical = false;  // a list of words
    std::vector<Production> productions;
    std::vector<double> up_to;  // the sum of the probabilities up to and with each production
  };

  /// The first rule is the sentence. Throws Error for an unknown or repeated name, a weight that is not positive, a
  /// letter outside ASCII, or a grammar whose sentences have no finite expected length.
  explicit Grammar(std::span<const RuleText> rules);

  const std::vector<Rule>& rules() const { return rules_; }
  double sentence_length() const { return length_; }          // letters, expected
  double sentence_entropy() const { return entropy_; }        // nats, of the derivation
  double entropy_rate() const { return entropy_ / length_; }  // nats per letter
  /// Has the stationary probability of each letter; letters that never occur have 0.
  const std::array<double, 128>& letter_frequencies() const { return frequencies_; }
  double unigram_entropy() const;  // nats per letter, of letter_frequencies()

  /// Appends sentence number `index` of the text of `seed`.
  void append_sentence(uint64_t seed, uint64_t index, std::string& out) const;

 private:
  void parse(std::span<const RuleText> rules);
  void solve();

  std::vector<Rule> rules_;
  double length_ = 0;
  double entropy_ = 0;
  std::array<double, 128> frequencies_{};
};

/// Has 29 letters (a-z, space, comma, full stop), 102 words, and prepositional phrases nested at most two deep.
const Grammar& corpus_grammar();

/// The first `length` letters of the endless text of `seed`.
std::string corpus_text(uint64_t seed, size_t length);
/// The length of the text that the tasks on the built-in corpus take.
inline constexpr size_t kCorpusLetters = 2'000'000;

}  // namespace normscope

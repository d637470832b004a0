// These tests cover the built-in corpus: the same text for a seed, one parse for every sentence, and entropies that a
// sample confirms.
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "training/data/corpus.h"

using namespace normscope;
using namespace normscope::test;

namespace {

// Tries every way to derive a string from a grammar's productions, counting and adding up probabilities.
class Parser {
 public:
  struct Sum {
    uint64_t derivations = 0;
    double probability = 0;
  };

  Parser(const Grammar& grammar, const std::string& text) : grammar_(grammar), text_(text) {}

  Sum whole() {
    const Ends& ends = rule(0, 0);
    const auto end = ends.find(text_.size());
    return end == ends.end() ? Sum{} : end->second;
  }

 private:
  using Ends = std::map<size_t, Sum>;  // end of the match -> how it was reached

  const Ends& rule(int32_t index, size_t start) {
    const auto key = std::make_pair(index, start);
    const auto known = memo_.find(key);
    if (known != memo_.end()) return known->second;
    Ends all;
    for (const auto& production : grammar_.rules()[static_cast<size_t>(index)].productions) {
      Ends ends{{start, {1, production.probability}}};
      for (const auto& part : production.body) ends = extend(ends, part);
      for (const auto& [end, sum] : ends) {
        all[end].derivations += sum.derivations;
        all[end].probability += sum.probability;
      }
    }
    return memo_[key] = all;
  }

  Ends extend(const Ends& ends, const Grammar::Part& part) {
    Ends next;
    for (const auto& [end, sum] : ends) {
      if (part.rule < 0) {
        if (text_.compare(end, part.text.size(), part.text) == 0)
          add(next[end + part.text.size()], sum, {1, 1.0});
        continue;
      }
      for (const auto& [further, tail] : rule(part.rule, end)) add(next[further], sum, tail);
    }
    return next;
  }

  static void add(Sum& to, const Sum& left, const Sum& right) {
    to.derivations += left.derivations * right.derivations;
    to.probability += left.probability * right.probability;
  }

  const Grammar& grammar_;
  const std::string text_;
  std::map<std::pair<int32_t, size_t>, Ends> memo_;
};

std::string sentence(uint64_t seed, uint64_t index) {
  std::string text;
  corpus_grammar().append_sentence(seed, index, text);
  return text;
}

Grammar toy(std::vector<RuleText> rules) { return Grammar(rules); }

struct Moments {
  double mean = 0, standard_error = 0;
};

Moments moments(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (double v : values) sum += v;
  for (double v : values) squares += (v - sum / n) * (v - sum / n);
  return {sum / n, std::sqrt(squares / (n - 1) / n)};
}

}  // namespace

TEST_CASE("corpus: the text is a pure function of seed and length", "[data]") {
  const std::string text = corpus_text(7, 5000);
  CHECK(text.size() == 5000);
  CHECK(corpus_text(7, 5000) == text);
  CHECK(corpus_text(7, 1234) == text.substr(0, 1234));
  CHECK(corpus_text(8, 5000) != text);
  CHECK(corpus_text(7 + (uint64_t{1} << 40), 5000) != text);
  CHECK(corpus_text(7, 0).empty());
}

TEST_CASE("corpus: 29 letters and 102 words, none in two lists", "[data]") {
  std::set<std::string> words;
  std::map<std::string, size_t> sizes;
  for (const auto& rule : corpus_grammar().rules()) {
    if (!rule.lexical) continue;
    sizes[rule.name] = rule.productions.size();
    for (const auto& production : rule.productions) {
      const std::string& word = production.body.at(0).text;
      CAPTURE(word);
      CHECK(words.insert(word).second);
      const bool after_a = rule.name == "noun" || rule.name == "adjective";
      CHECK((!after_a || std::string("aeiou").find(word[0]) == std::string::npos));
    }
  }
  CHECK(words.size() == 102);
  CHECK(sizes["noun"] == 40);
  CHECK(sizes["adjective"] == 17);
  CHECK(sizes["transitive"] + sizes["intransitive"] == 16);
  CHECK(sizes["adverb"] == 10);
  CHECK(sizes["conjunction"] == 5);
  for (uint64_t seed : {1, 2, 3}) {
    const std::string text = corpus_text(seed, 100'000);
    CHECK(std::set<char>(text.begin(), text.end()).size() == 29);
  }
}

TEST_CASE("corpus: every sampled sentence has exactly one derivation", "[data]") {
  for (uint64_t index = 0; index < 2000; ++index) {
    const std::string text = sentence(3, index);
    CAPTURE(text);
    const auto sum = Parser(corpus_grammar(), text).whole();
    REQUIRE(sum.derivations == 1);
    REQUIRE(sum.probability > 0);
  }
  CHECK(Parser(corpus_grammar(), "the dog the cat. ").whole().derivations == 0);
}

TEST_CASE("corpus: the parser of these tests does see ambiguity", "[data]") {
  const Grammar grammar = toy({{"s", {{1, "<a><a>"}}, {}}, {"a", {}, "x xx"}});
  CHECK(Parser(grammar, "xx").whole().derivations == 1);
  CHECK(Parser(grammar, "xxx").whole().derivations == 2);
  CHECK(Parser(grammar, "xxx").whole().probability == Approx(0.5));
}

TEST_CASE("corpus: with one word a list, all clause shapes are distinct strings", "[data]") {
  // Enumerates the derivations of <clause> with lists cut to their first word. Words are in one list only, so
  // equal strings would need equal lists of word classes; distinct strings here mean an unambiguous grammar.
  const auto& rules = corpus_grammar().rules();
  std::function<std::vector<std::string>(int32_t)> all = [&](int32_t index) {
    const auto& rule = rules[static_cast<size_t>(index)];
    std::vector<std::string> strings;
    for (const auto& production : rule.productions) {
      std::vector<std::string> heads{""};
      for (const auto& part : production.body) {
        const std::vector<std::string> tails =
            part.rule < 0 ? std::vector<std::string>{part.text} : all(part.rule);
        std::vector<std::string> longer;
        for (const auto& head : heads) {
          for (const auto& tail : tails) longer.push_back(head + tail);
        }
        heads = std::move(longer);
      }
      strings.insert(strings.end(), heads.begin(), heads.end());
      if (rule.lexical) break;
    }
    return strings;
  };
  REQUIRE(rules[1].name == "clause");
  const std::vector<std::string> clauses = all(1);
  CHECK(clauses.size() > 1000);
  CHECK(std::set<std::string>(clauses.begin(), clauses.end()).size() == clauses.size());
  for (const auto& clause : clauses) REQUIRE(clause.find_first_of(",.") == std::string::npos);
}

TEST_CASE("corpus: expected length and entropy agree with a sample within four standard errors", "[data]") {
  const Grammar& grammar = corpus_grammar();
  std::vector<double> lengths, surprises;
  for (uint64_t index = 0; index < 20'000; ++index) {
    const std::string text = sentence(11, index);
    lengths.push_back(static_cast<double>(text.size()));
    if (index < 4000) surprises.push_back(-std::log(Parser(grammar, text).whole().probability));
  }
  const Moments length = moments(lengths), surprise = moments(surprises);
  CHECK(std::abs(length.mean - grammar.sentence_length()) < 4 * length.standard_error);
  CHECK(std::abs(surprise.mean - grammar.sentence_entropy()) < 4 * surprise.standard_error);
  CHECK(length.standard_error < 0.01 * length.mean);  // the comparison means something
  CHECK(surprise.standard_error < 0.01 * surprise.mean);
}

TEST_CASE("corpus: letter frequencies and unigram entropy agree with a long text", "[data]") {
  const Grammar& grammar = corpus_grammar();
  const std::string text = corpus_text(5, 1'000'000);
  std::vector<double> counts(128, 0.0);
  for (unsigned char c : text) counts[c] += 1e-6;
  double entropy = 0, sum = 0;
  for (size_t c = 0; c < 128; ++c) {
    sum += grammar.letter_frequencies()[c];
    // Letters come in words, about 200 000 of them: an error of a frequency p is about sqrt(p / 200 000) at most.
    const double p = grammar.letter_frequencies()[c];
    CHECK(std::abs(counts[c] - p) <= 5 * std::sqrt(p / 2e5));
    if (counts[c] > 0) entropy -= counts[c] * std::log(counts[c]);
  }
  CHECK(sum == Approx(1.0).epsilon(1e-12));
  CHECK(std::abs(entropy - grammar.unigram_entropy()) < 0.005);
}

TEST_CASE("corpus: the loss has a far ceiling and floor", "[data]") {
  CHECK(corpus_grammar().unigram_entropy() == Approx(2.892).margin(0.005));
  CHECK(corpus_grammar().entropy_rate() == Approx(0.574).margin(0.005));
}

TEST_CASE("grammar: expectations of grammars that can be done by hand", "[data]") {
  // s -> "ab" 1/4 | "a" s 3/4: 2 + 3 letters, geometric with mean 3 repeats.
  const Grammar grammar = toy({{"s", {{1, "ab"}, {3, "a<s>"}}, {}}});
  CHECK(grammar.sentence_length() == Approx(5.0));
  const double choice = -0.25 * std::log(0.25) - 0.75 * std::log(0.75);
  CHECK(grammar.sentence_entropy() == Approx(4 * choice));
  CHECK(grammar.letter_frequencies()['b'] == Approx(0.2));
  CHECK(grammar.letter_frequencies()['a'] == Approx(0.8));

  const Grammar weighted = toy({{"s", {{1, "<w>."}}, {}}, {"w", {}, "one*3 two"}});
  CHECK(weighted.sentence_length() == Approx(4.0));
  CHECK(weighted.sentence_entropy() == Approx(choice));
}

TEST_CASE("grammar: what cannot be used is refused", "[data]") {
  CHECK(error_of([] { toy({}); }) == "[grammar] there are no rules");
  CHECK(error_of([] { toy({{"s", {{1, "<t>"}}, {}}}); }) == "[grammar] no rule is named <t>");
  CHECK(error_of([] { toy({{"s", {{1, "<s"}}, {}}}); }) == "[grammar s] '<' without '>'");
  CHECK(error_of([] { toy({{"s", {{0, "a"}}, {}}}); }) == "[grammar s] a weight is not positive");
  CHECK(error_of([] { toy({{"s", {}, {}}}); }) == "[grammar s] the rule has no productions");
  CHECK(error_of([] { toy({{"s", {}, "a"}, {"s", {}, "b"}}); }) == "[grammar] two rules are named <s>");
  CHECK(error_of([] {
          toy({{"s", {{1, "\xc3\xa9"}}, {}}});
        }) == "[grammar s] a letter outside printable ASCII");
  const std::string endless = "[grammar] sentences have no finite expected length";
  CHECK(error_of([] { toy({{"s", {{1, "a<s>"}}, {}}}); }) == endless);
  CHECK(error_of([] { toy({{"s", {{1, "a"}, {1, "<s><s>"}}, {}}}); }) == endless);
  CHECK(error_of([] { toy({{"s", {{1, "a"}, {3, "<s><s>"}}, {}}}); }) == endless);
}

#include "training/data/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "training/data/text_source.h"
#include "training/io/text.h"

namespace normscope {
namespace {

using Rows = std::vector<std::vector<double>>;

int32_t find_rule(std::span<const RuleText> rules, std::string_view name) {
  for (size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].name == name) return static_cast<int32_t>(i);
  }
  fail("grammar", "no rule is named <{}>", name);
}

std::string checked_text(std::string_view text, std::string_view rule) {
  for (unsigned char c : text) {
    if (c < 0x20 || c >= 0x7f) fail(fmt::format("grammar {}", rule), "a letter outside printable ASCII");
  }
  return std::string(text);
}

Grammar::Production parse_phrase(std::span<const RuleText> rules, std::string_view rule,
                                 const Alternative& text) {
  Grammar::Production production;
  production.probability = text.weight;
  std::string_view rest = text.body;
  while (!rest.empty()) {
    const size_t open = rest.find('<');
    if (open != 0) {
      const std::string_view literal = rest.substr(0, open);
      production.body.push_back({-1, checked_text(literal, rule)});
      rest.remove_prefix(literal.size());
      continue;
    }
    const size_t close = rest.find('>');
    if (close == std::string_view::npos) fail(fmt::format("grammar {}", rule), "'<' without '>'");
    production.body.push_back({find_rule(rules, rest.substr(1, close - 1)), {}});
    rest.remove_prefix(close + 1);
  }
  return production;
}

Grammar::Production parse_word(std::string_view rule, std::string_view text) {
  Grammar::Production production;
  production.probability = 1;
  const size_t star = text.find('*');
  if (star != std::string_view::npos)
    production.probability = std::atof(std::string(text.substr(star + 1)).c_str());
  production.body.push_back({-1, checked_text(text.substr(0, star), rule)});
  return production;
}

void parse_words(std::string_view words, Grammar::Rule& rule) {
  for (const std::string_view word : split(words, ' '))
    if (!word.empty()) rule.productions.push_back(parse_word(rule.name, word));
}

void normalise(Grammar::Rule& rule) {
  double sum = 0;
  for (const auto& production : rule.productions) {
    if (!(production.probability > 0)) fail(fmt::format("grammar {}", rule.name), "a weight is not positive");
    sum += production.probability;
  }
  if (rule.productions.empty()) fail(fmt::format("grammar {}", rule.name), "the rule has no productions");
  double up_to = 0;
  for (auto& production : rule.productions) {
    production.probability /= sum;
    rule.up_to.push_back(up_to += production.probability);
  }
}

// Gaussian elimination with partial pivoting. Row i of `a` is [matrix row | right-hand sides]; the
// solutions replace the right-hand sides.
void solve_linear(Rows& a) {
  const size_t n = a.size();
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < n; ++row) {
      if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
    }
    std::swap(a[column], a[pivot]);
    if (std::abs(a[column][column]) < 1e-9) fail("grammar", "sentences have no finite expected length");
    for (size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = a[row][column] / a[column][column];
      if (factor == 0) continue;
      for (size_t k = column; k < a[row].size(); ++k) a[row][k] -= factor * a[column][k];
    }
  }
  for (size_t row = 0; row < n; ++row) {
    const double diagonal = a[row][row];
    for (double& value : a[row]) value /= diagonal;
  }
}

// The draws of one sentence: a stream of uniform numbers in (0, 1), four to a Philox block.
class Draws {
 public:
  Draws(uint64_t seed, uint64_t sentence) : seed_(seed), sentence_(sentence) {}

  double next() {
    if (used_ == 4) {
      block_ = philox({count_++, static_cast<uint32_t>(sentence_), static_cast<uint32_t>(sentence_ >> 32),
                       static_cast<uint32_t>(Purpose::Corpus)},
                      seed_);
      used_ = 0;
    }
    return (block_[used_++] + 0.5) * 0x1p-32;
  }

 private:
  uint64_t seed_, sentence_;
  std::array<uint32_t, 4> block_{};
  uint32_t count_ = 0;
  uint32_t used_ = 4;
};

const Grammar::Production& choose(const Grammar::Rule& rule, double u) {
  const auto at = std::ranges::upper_bound(rule.up_to, u) - rule.up_to.begin();
  // Rounding may leave the last sum a hair below 1.
  return rule.productions[std::min(static_cast<size_t>(at), rule.productions.size() - 1)];
}

// No string has two derivations: no word belongs to two lists, so words tell their class; a prepositional phrase
// attaches to the noun right before it; an adverb at the front precedes a determiner, and one at the end a mark; a
// comma occurs between clauses only. Nouns and adjectives begin with a consonant, so that "a" is always right.
const RuleText kRules[] = {
    {"sentence", {{0.7, "<clause>. "}, {0.3, "<clause>, <conjunction> <sentence>"}}, {}},
    {"clause", {{0.85, "<subject> <predicate>"}, {0.15, "<adverb> <subject> <predicate>"}}, {}},
    {"predicate",
     {{0.50, "<transitive> <object>"},
      {0.20, "<transitive> <object> <adverb>"},
      {0.20, "<intransitive> <preposition> <place>"},
      {0.10, "<intransitive> <adverb>"}},
     {}},
    {"subject", {{0.8, "<thing>"}, {0.2, "<thing> <preposition> <thing>"}}, {}},
    {"object", {{0.7, "<thing>"}, {0.3, "<thing> <preposition> <place>"}}, {}},
    {"place", {{0.75, "<thing>"}, {0.25, "<thing> <preposition> <thing>"}}, {}},
    {"thing",
     {{0.56, "<determiner> <noun>"},
      {0.36, "<determiner> <adjective> <noun>"},
      {0.08, "<determiner> <adjective> <adjective> <noun>"}},
     {}},
    {"determiner", {}, "the*6 a*4 my*2 our*2 his*2 her*2 one no"},
    {"noun",
     {},
     "teacher*12 farmer*9 doctor*7 dog*6 cat*5 bird*4 horse*4 king*3 queen*3 child*3 painter*3 river*2 "
     "garden*2 boat*2 house*2 tree*2 mountain*2 window*2 letter*2 story*2 fox*2 wolf bear poet giant hero "
     "wizard robot moon lake hill town barn bridge book lamp clock ship basket map"},
    {"adjective",
     {},
     "small*8 quiet*6 brave*5 bold*4 lazy*3 red*3 happy*3 clever*2 gentle*2 green*2 tired*2 jolly*2 black*2 "
     "shy tiny golden loud"},
    {"transitive", {}, "finds*4 paints*4 follows*3 watches*3 likes*2 hears*2 carries*2 helps calls draws"},
    {"intransitive", {}, "sleeps*3 waits*3 sings*2 dances*2 jumps reads"},
    {"adverb", {}, "often*3 slowly*3 today*2 again*2 alone twice early late soon now"},
    {"conjunction", {}, "and*2 but because while so"},
    {"preposition", {}, "near*3 under*2 behind*2 with by on"},
};

}  // namespace

Grammar::Grammar(std::span<const RuleText> rules) {
  parse(rules);
  solve();
}

void Grammar::parse(std::span<const RuleText> rules) {
  if (rules.empty()) fail("grammar", "there are no rules");
  for (size_t i = 0; i < rules.size(); ++i) {
    if (find_rule(rules, rules[i].name) != static_cast<int32_t>(i)) {
      fail("grammar", "two rules are named <{}>", rules[i].name);
    }
    Rule rule;
    rule.name = rules[i].name;
    rule.lexical = !rules[i].words.empty();
    for (const Alternative& phrase : rules[i].phrases)
      rule.productions.push_back(parse_phrase(rules, rule.name, phrase));
    parse_words(rules[i].words, rule);
    normalise(rule);
    rules_.push_back(std::move(rule));
  }
}

void Grammar::solve() {
  const size_t n = rules_.size();
  const size_t length = n, entropy = n + 1, letters = n + 2;  // columns
  Rows a(n, std::vector<double>(letters + 128, 0.0));
  for (size_t i = 0; i < n; ++i) {
    a[i][i] += 1;
    for (const Production& production : rules_[i].productions) {
      const double p = production.probability;
      a[i][entropy] -= p * std::log(p);
      for (const Part& part : production.body) {
        if (part.rule >= 0) a[i][static_cast<size_t>(part.rule)] -= p;
        a[i][length] += p * static_cast<double>(part.text.size());
        for (unsigned char c : part.text) a[i][letters + c] += p;
      }
    }
  }
  solve_linear(a);
  length_ = a[0][length];
  entropy_ = a[0][entropy];
  // The equations of a grammar that grows without bound still have a solution, with a negative expectation.
  for (size_t i = 0; i < n; ++i) {
    if (!(a[i][length] >= 0) || !(length_ > 0)) fail("grammar", "sentences have no finite expected length");
  }
  for (size_t c = 0; c < 128; ++c) frequencies_[c] = a[0][letters + c] / length_;
}

double Grammar::unigram_entropy() const { return entropy_of(frequencies_); }

void Grammar::append_sentence(uint64_t seed, uint64_t index, std::string& out) const {
  Draws draws(seed, index);
  std::vector<const Part*> pending;  // still to be written, last first
  pending.reserve(32);
  const auto expand = [&](int32_t rule) {
    const auto& body = choose(rules_[static_cast<size_t>(rule)], draws.next()).body;
    for (size_t i = body.size(); i-- > 0;) pending.push_back(&body[i]);
  };
  expand(0);
  while (!pending.empty()) {
    const Part* part = pending.back();
    pending.pop_back();
    if (part->rule >= 0) {
      expand(part->rule);
    } else {
      out += part->text;
    }
  }
}

const Grammar& corpus_grammar() {
  static const Grammar grammar(kRules);
  return grammar;
}

std::string corpus_text(uint64_t seed, size_t length) {
  std::string text;
  text.reserve(length + 1024);
  for (uint64_t sentence = 0; text.size() < length; ++sentence) {
    corpus_grammar().append_sentence(seed, sentence, text);
  }
  text.resize(length);
  return text;
}

}  // namespace normscope

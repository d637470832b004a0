// The grammar of the built-in corpus, as data. See corpus.h.
#include "engine/data/corpus.h"

namespace normscope {
namespace {

// Why no string has two derivations: no word belongs to two lists, so words tell their class; a prepositional
// phrase attaches to the noun right before it; an adverb at the front stands before a determiner, one at the
// end before a mark; a comma occurs between clauses only. Nouns and adjectives begin with a consonant, so
// that "a" is always right.
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
    {"determiner", {}, "the a my our his her one no"},
    {"noun",
     {},
     "dog cat bird cow fox wolf bear pig king queen boy girl child cook poet giant hero wizard robot moon "
     "river tree "
     "bush lake hill town barn door bed desk book lamp jar box key clock ship van cup map"},
    {"adjective",
     {},
     "big small quick lazy brave quiet loud sad shy wet grey black red blue gold jolly tiny"},
    {"transitive", {}, "saw met fed found liked heard held took hid moved"},
    {"intransitive", {}, "slept sat ran sang jumped danced"},
    {"adverb", {}, "today slowly often again alone twice early late soon now"},
    {"conjunction", {}, "and*2 but because while so"},
    {"preposition", {}, "near under by with in on"},
};

}  // namespace

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

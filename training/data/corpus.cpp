// The grammar of the built-in corpus, as data. See corpus.h.
#include "training/data/corpus.h"

namespace normscope {
namespace {

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

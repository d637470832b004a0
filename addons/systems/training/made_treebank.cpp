// The grammar, phrase by phrase: words are written from left to right, and attached once their head exists. See
// made_treebank.h.
#include "addons/systems/training/made_treebank.h"

#include <span>
#include <string_view>

#include "engine/core/philox.h"

namespace normscope {
namespace {

using WordList = std::span<const std::string_view>;

// No word belongs to two lists.
constexpr std::string_view kPersons[] = {"teacher", "farmer", "doctor", "child", "painter",
                                         "king",    "queen",  "sailor", "baker", "poet"};
constexpr std::string_view kThings[] = {"box",  "door",   "wall",   "clock", "boat",
                                        "gate", "letter", "window", "lamp",  "cart"};
constexpr std::string_view kTools[] = {"hammer", "knife", "key", "brush", "rope", "lever", "needle", "saw"};
constexpr std::string_view kParts[] = {"handle", "lid",    "label", "wheel",
                                       "mirror", "stripe", "bell",  "drawer"};
constexpr std::string_view kPlaces[] = {"garden", "kitchen", "harbour", "tower",
                                        "cellar", "forest",  "market",  "barn"};
constexpr std::string_view kHandling[] = {"opens", "cuts",  "repairs", "cleans",
                                          "moves", "marks", "lifts",   "breaks"};
constexpr std::string_view kPutting[] = {"leaves", "hides", "keeps", "drops", "stores", "places"};
constexpr std::string_view kKnowing[] = {"owns", "likes", "sees", "wants", "remembers", "describes"};
constexpr std::string_view kResting[] = {"sings", "sleeps", "waits", "dances", "laughs", "works"};
constexpr std::string_view kAdjectives[] = {"small", "quiet", "old",   "red",
                                            "green", "heavy", "brave", "broken"};
constexpr std::string_view kAdverbs[] = {"often", "slowly", "today", "again", "twice", "soon"};
constexpr std::string_view kDeterminers[] = {"the", "the", "the", "a", "my", "this"};
constexpr std::string_view kWhere[] = {"in", "near", "behind"};
constexpr std::string_view kJoining[] = {"and", "and", "or"};
constexpr std::string_view kReasons[] = {"because", "while", "although"};

enum class Kind : uint8_t { Person, Thing };
enum class Verb : uint8_t { Handling, Putting, Knowing };

WordList nouns(Kind kind) { return kind == Kind::Person ? WordList(kPersons) : WordList(kThings); }
WordList verbs(Verb verb) {
  return verb == Verb::Handling  ? WordList(kHandling)
         : verb == Verb::Putting ? WordList(kPutting)
                                 : WordList(kKnowing);
}
Kind other(Kind kind) { return kind == Kind::Person ? Kind::Thing : Kind::Person; }

/// Makes one sentence. Words are numbered from 1.
class Maker {
 public:
  Maker(uint64_t seed, uint64_t index) : seed_(seed), index_(index) {}

  DependencyTree make() {
    const int32_t root = chance(2) ? extraposed() : clause();
    attach(root, 0, "root");
    if (chance(20)) {
      const int32_t mark = put(draw(kReasons), "SCONJ"), reason = clause();
      attach(mark, reason, "mark");
      attach(reason, root, "advcl");
    }
    attach(put(".", "PUNCT"), root, "punct");
    return tree_;
  }

 private:
  uint32_t below(uint32_t range) {
    const uint32_t word = random_word(drawn_++, site_of("treebank"), static_cast<uint32_t>(index_),
                                      Purpose::Corpus, seed_ ^ (index_ >> 32 << 32));
    return static_cast<uint32_t>((uint64_t{word} * range) >> 32);
  }
  bool chance(uint32_t percent) { return below(100) < percent; }
  std::string_view draw(WordList words) { return words[below(static_cast<uint32_t>(words.size()))]; }
  Kind kind() { return chance(50) ? Kind::Person : Kind::Thing; }
  /// Weighted so that a phrase goes to the verb about as often as to the noun.
  Verb transitive() {
    const uint32_t tenth = below(10);
    return tenth < 5 ? Verb::Handling : tenth < 8 ? Verb::Putting : Verb::Knowing;
  }

  int32_t put(std::string_view form, std::string_view tag) {
    TreeWord word;
    word.form = form;
    word.lemma = form;
    word.upos = tag;
    tree_.words.push_back(std::move(word));
    return static_cast<int32_t>(tree_.words.size());
  }
  void attach(int32_t word, int32_t head, std::string_view label) {
    TreeWord& child = tree_.words[static_cast<size_t>(word) - 1];
    child.head = head;
    child.label = label;
  }

  /// Writes "the old box": determiner, at most `adjectives` adjectives, noun. It returns the noun.
  int32_t noun(WordList nouns, int32_t adjectives) {
    const int32_t determiner = put(draw(kDeterminers), "DET");
    std::vector<int32_t> before;
    while (static_cast<int32_t>(before.size()) < adjectives && chance(30))
      before.push_back(put(draw(kAdjectives), "ADJ"));
    const int32_t noun = put(draw(nouns), "NOUN");
    attach(determiner, noun, "det");
    for (const int32_t adjective : before) attach(adjective, noun, "amod");
    return noun;
  }

  /// Writes "with the hammer" and returns its noun, which is still to be attached.
  int32_t phrase(std::string_view preposition, WordList list) {
    const int32_t before = put(preposition, "ADP"), head = noun(list, 0);
    attach(before, head, "case");
    return head;
  }

  /// Writes "who sings", "which opens the door", for a noun still to be given. It returns the verb.
  int32_t relative(Kind of) {
    const int32_t pronoun = put(of == Kind::Person ? "who" : "which", "PRON");
    int32_t verb = 0;
    if (chance(50)) {
      verb = put(draw(kResting), "VERB");
    } else {
      verb = put(draw(verbs(transitive())), "VERB");
      attach(noun(nouns(kind()), 1), verb, "obj");
    }
    attach(pronoun, verb, "nsubj");
    return verb;
  }

  void join(int32_t to, Kind of) {
    const int32_t word = put(draw(kJoining), "CCONJ"), second = noun(nouns(of), 0);
    attach(word, second, "cc");
    attach(second, to, "conj");
  }

  /// Writes "the teacher", "the teacher of the box which falls", "the teacher of the box and the doctor".
  int32_t subject() {
    const Kind first = kind();
    const int32_t head = noun(nouns(first), 2);
    if (!chance(50)) return head;
    const int32_t second = phrase("of", nouns(other(first)));
    attach(second, head, "nmod");
    const Kind meant = kind();  // the noun that what follows belongs to
    const int32_t one = meant == first ? head : second;
    if (chance(35))
      attach(relative(meant), one, "acl:relcl");
    else if (chance(50))
      join(one, meant);
    return head;
  }

  /// Writes the object and what follows it: verb, preposition and its noun decide the attachment.
  void object(int32_t verb, Verb of) {
    const Kind first = kind();
    const int32_t head = noun(nouns(first), 1);
    attach(head, verb, "obj");
    if (chance(20)) return join(head, first);
    if (!chance(85)) return;
    const uint32_t which = below(10);
    int32_t after = 0;
    bool to_verb = false;
    if (which < 5) {
      const bool tool = chance(80);
      after = phrase("with", tool ? WordList(kTools) : WordList(kParts));
      to_verb = tool && of == Verb::Handling;
    } else if (which < 9) {
      after = phrase(draw(kWhere), kPlaces);
      to_verb = of == Verb::Putting;
    } else {
      after = phrase("of", nouns(kind()));
    }
    attach(after, to_verb ? verb : head, to_verb ? "obl" : "nmod");
  }

  /// Writes a verb and what follows it. It returns the verb.
  int32_t predicate() {
    const int32_t adverb = chance(15) ? put(draw(kAdverbs), "ADV") : 0;
    int32_t verb = 0;
    if (chance(25)) {
      verb = put(draw(kResting), "VERB");
      if (chance(40)) attach(phrase(draw(kWhere), kPlaces), verb, "obl");
    } else {
      const Verb kind = transitive();
      verb = put(draw(verbs(kind)), "VERB");
      object(verb, kind);
    }
    if (adverb > 0)
      attach(adverb, verb, "advmod");
    else if (chance(15))
      attach(put(draw(kAdverbs), "ADV"), verb, "advmod");
    return verb;
  }

  int32_t clause() {
    const int32_t who = subject(), verb = predicate();
    attach(who, verb, "nsubj");
    if (!chance(15)) return verb;
    const int32_t word = put(draw(kJoining), "CCONJ"), second = predicate();
    attach(word, second, "cc");
    attach(second, verb, "conj");
    return verb;
  }

  /// Writes "a child waits who sings": the clause crosses the arc between the verb and the root.
  int32_t extraposed() {
    const int32_t who = noun(kPersons, 1), verb = put(draw(kResting), "VERB");
    attach(who, verb, "nsubj");
    attach(relative(Kind::Person), who, "acl:relcl");
    return verb;
  }

  uint64_t seed_, index_, drawn_ = 0;
  DependencyTree tree_;
};

}  // namespace

DependencyTree made_tree(uint64_t seed, uint64_t index) { return Maker(seed, index).make(); }

std::vector<DependencyTree> made_treebank(uint64_t seed, uint64_t first, uint64_t count) {
  std::vector<DependencyTree> trees;
  for (uint64_t i = 0; i < count; ++i) trees.push_back(made_tree(seed, first + i));
  return trees;
}

}  // namespace normscope

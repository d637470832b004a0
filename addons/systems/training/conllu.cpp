#include "addons/systems/training/conllu.h"

#include <algorithm>
#include <charconv>

#include "engine/core/philox.h"
#include "training/data/text_source.h"
#include "training/io/input_kinds.h"
#include "training/io/text.h"

namespace normscope {
namespace {

constexpr size_t kColumns = 10;
constexpr std::string_view kNames[kColumns] = {"ID",    "FORM", "LEMMA",  "UPOS", "XPOS",
                                               "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"};
enum Column : size_t { kId, kForm, kLemma, kUpos, kXpos, kFeats, kHead, kLabel, kDeps, kMisc };
constexpr size_t kShown = 40;  // bytes of a value in a message

using Columns = std::vector<std::string_view>;

/// The whole text as a number from 0 to 1,000,000,000, or -1.
int64_t whole(std::string_view text) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = error == std::errc() && end == text.data() + text.size() && text.front() != '-';
  return number && value <= 1'000'000'000 ? value : -1;
}

/// Follows the heads up from a word, visiting each word once over all calls. `seen`: 0 no, 1 in this walk, 2 known.
bool reaches_root(std::span<const int32_t> heads, size_t word, std::vector<char>& seen) {
  size_t at = word;
  while (at != 0 && seen[at] == 0) {
    seen[at] = 1;
    at = static_cast<size_t>(heads[at - 1]);
  }
  const bool circle = at != 0 && seen[at] == 1;
  for (at = word; at != 0 && seen[at] == 1; at = static_cast<size_t>(heads[at - 1])) seen[at] = 2;
  return !circle;
}

class Reader {
 public:
  Reader(const std::string& name, TreeColumns columns) : name_(name), columns_(columns) {}

  void line(std::string_view text, size_t number) {
    number_ = number;
    while (text.ends_with('\r')) text.remove_suffix(1);  // each_line() leaves earlier ones
    if (text.empty()) return end_sentence();
    if (text.front() == '#') return comment(text);
    const Columns columns = columns_of(text);
    const std::string_view id = columns[kId];
    if (id.find('-') != id.npos) return multiword(id);
    if (id.find('.') != id.npos) return empty_node(id);
    word(columns);
  }

  std::vector<DependencyTree> end() {
    end_sentence();
    if (trees_.empty()) fail(name_, "has no sentence: expected CoNLL-U, ten columns a word");
    return std::move(trees_);
  }

 private:
  [[noreturn]] void refuse(Column column, std::string_view value, const Message& expected) const {
    refuse_at(number_, column, value, expected);
  }
  [[noreturn]] void refuse_at(size_t line, Column column, std::string_view value,
                              const Message& expected) const {
    const std::string shown = std::string(value.substr(0, kShown)) + (value.size() > kShown ? "…" : "");
    fail(name_, "line {}, column {} ({}) is '{}': expected {}", line, column + 1, kNames[column], shown,
         expected);
  }

  Columns columns_of(std::string_view text) const {
    Columns columns = split(text, '\t');
    const size_t count = columns.size();
    if (count != kColumns)
      fail(name_,
           count == 1
               ? Message("line {} has {} column: expected {} with a tab between", number_, count, kColumns)
               : Message("line {} has {} columns: expected {} with a tab between", number_, count, kColumns));
    for (size_t c = 0; c < kColumns; ++c)
      if (columns[c].empty())
        fail(name_, "line {}, column {} ({}) is empty: expected a text, or _ for none", number_, c + 1,
             kNames[c]);
    return columns;
  }

  void comment(std::string_view text) {
    if (!tree_.words.empty())
      fail(name_, "line {} is a comment among the words: expected it before the first, or a blank line",
           number_);
    tree_.comments.emplace_back(text);
  }

  /// A token of several words precedes the first of them and is not part of the tree.
  void multiword(std::string_view id) {
    const size_t dash = id.find('-');
    const int64_t first = whole(id.substr(0, dash)), last = whole(id.substr(dash + 1));
    const auto next = static_cast<int64_t>(tree_.words.size()) + 1;
    if (first != next || last < first || first <= covered_)
      refuse(kId, id, {"a token of words from {} on, such as {}-{}", next, next, next + 1});
    covered_ = last;
    covered_line_ = number_;
  }

  /// An empty node belongs to the enhanced graph and follows the word before its point.
  void empty_node(std::string_view id) const {
    const size_t point = id.find('.');
    const auto words = static_cast<int64_t>(tree_.words.size());
    if (whole(id.substr(0, point)) != words || whole(id.substr(point + 1)) < 1)
      refuse(kId, id, {"an empty node after word {}, such as {}.1", words, words});
  }

  void word(const Columns& columns) {
    const size_t next = tree_.words.size() + 1;
    if (whole(columns[kId]) != static_cast<int64_t>(next)) refuse(kId, columns[kId], std::to_string(next));
    if (next > kMaxWords) refuse(kId, columns[kId], {"at most {} words a sentence", kMaxWords});
    TreeWord word;
    word.form = columns[kForm];
    word.lemma = columns[kLemma];
    word.upos = columns[kUpos];
    word.xpos = columns[kXpos];
    word.feats = columns[kFeats];
    word.misc = columns[kMisc];
    word.label = columns[kLabel];
    word.head = head(columns);
    tree_.words.push_back(std::move(word));
    lines_.push_back(number_);
  }

  int32_t head(const Columns& columns) const {
    const bool none = columns[kHead] == "_";
    if (none && columns_ == TreeColumns::Unparsed) {
      if (columns[kLabel] != "_") refuse(kLabel, columns[kLabel], "_ beside a HEAD that is _");
      return kNoHead;
    }
    const int64_t head = whole(columns[kHead]);
    if (head < 0 || head > static_cast<int64_t>(kMaxWords))
      refuse(kHead, columns[kHead], "the number of a word of the sentence, or 0 for the root");
    if (columns[kLabel] == "_") refuse(kLabel, "_", "the relation to the head");
    return static_cast<int32_t>(head);
  }

  void end_sentence() {
    if (tree_.words.empty()) {
      if (covered_ > 0) unfinished_token();
      tree_.comments.clear();  // they belong to no sentence
      return;
    }
    if (covered_ > static_cast<int64_t>(tree_.words.size())) unfinished_token();
    check_tree();
    trees_.push_back(std::move(tree_));
    tree_ = {};
    lines_.clear();
    covered_ = 0;
  }

  [[noreturn]] void unfinished_token() const {
    fail(name_, "line {}, column 1 (ID): the token reaches to word {} of {}: expected words up to there",
         covered_line_, covered_, tree_.words.size());
  }

  [[noreturn]] void refuse_head(size_t word, const Message& expected) const {
    refuse_at(lines_[word], kHead, tree_.words[word].head < 0 ? "_" : std::to_string(tree_.words[word].head),
              expected);
  }

  void check_tree() const {
    const std::vector<TreeWord>& words = tree_.words;
    const auto unparsed = static_cast<size_t>(std::ranges::count(words, kNoHead, &TreeWord::head));
    if (unparsed == words.size()) return;
    size_t root = words.size();
    for (size_t w = 0; w < words.size(); ++w) {
      const int32_t head = words[w].head;
      if (head == kNoHead) refuse_head(w, "a head, which other words of the sentence have");
      if (head > static_cast<int32_t>(words.size()))
        refuse_head(w, Message("0 to {}, the words of the sentence", words.size()));
      if (head == static_cast<int32_t>(w) + 1) refuse_head(w, "another word than the word itself");
      if (head == 0 && root < words.size())
        refuse_head(w, Message("one root a sentence, which is word {} (line {})", root + 1, lines_[root]));
      if (head == 0) root = w;
    }
    const std::vector<int32_t> heads = heads_of(tree_);
    std::vector<char> seen(words.size() + 1, 0);
    for (size_t w = 0; w < words.size(); ++w)
      if (!reaches_root(heads, w + 1, seen))
        refuse_head(w, "a tree: from here the heads go round in a circle");
  }

  const std::string& name_;
  TreeColumns columns_;
  std::vector<DependencyTree> trees_;
  DependencyTree tree_;        // the tree being read
  std::vector<size_t> lines_;  // lines of its words
  size_t number_ = 0;
  int64_t covered_ = 0;  // last word of the newest multiword token
  size_t covered_line_ = 0;
};

// The grammar, phrase by phrase: words are written from left to right, and attached once their head exists.

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

std::vector<DependencyTree> parse_conllu(std::string_view text, const std::string& name,
                                         TreeColumns columns) {
  Reader reader(name, columns);
  each_line(text, name, [&](std::string_view line, size_t number) { reader.line(line, number); });
  return reader.end();
}

std::vector<DependencyTree> read_conllu(const std::string& path, TreeColumns columns) {
  return parse_conllu(read_input_file(path, input::kTable), path, columns);
}

std::string conllu_text(std::span<const DependencyTree> trees) {
  std::string text;
  for (const DependencyTree& tree : trees) {
    for (const std::string& comment : tree.comments) text += comment + "\n";
    for (size_t w = 0; w < tree.words.size(); ++w) {
      const TreeWord& word = tree.words[w];
      text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t_\t{}\n", w + 1, word.form, word.lemma, word.upos,
                          word.xpos, word.feats, word.head < 0 ? "_" : std::to_string(word.head), word.label,
                          word.misc);
    }
    text += "\n";
  }
  return text;
}

std::vector<int32_t> heads_of(const DependencyTree& tree) {
  std::vector<int32_t> heads;
  for (const TreeWord& word : tree.words) heads.push_back(word.head);
  return heads;
}

bool is_projective(std::span<const int32_t> heads) {
  const size_t n = heads.size();
  std::vector<size_t> children(n + 1, 0), first(n + 1), last(n + 1), size(n + 1, 1);
  for (size_t w = 1; w <= n; ++w) {
    first[w] = last[w] = w;
    ++children[static_cast<size_t>(heads[w - 1])];
  }
  std::vector<size_t> done;  // words whose descendants are all counted
  for (size_t w = 1; w <= n; ++w)
    if (children[w] == 0) done.push_back(w);
  while (!done.empty()) {
    const size_t word = done.back(), head = static_cast<size_t>(heads[word - 1]);
    done.pop_back();
    if (size[word] != last[word] - first[word] + 1) return false;
    if (head == 0) continue;
    first[head] = std::min(first[head], first[word]);
    last[head] = std::max(last[head], last[word]);
    size[head] += size[word];
    if (--children[head] == 0) done.push_back(head);
  }
  return true;
}

DependencyTree made_tree(uint64_t seed, uint64_t index) { return Maker(seed, index).make(); }

std::vector<DependencyTree> made_treebank(uint64_t seed, uint64_t first, uint64_t count) {
  std::vector<DependencyTree> trees;
  for (uint64_t i = 0; i < count; ++i) trees.push_back(made_tree(seed, first + i));
  return trees;
}

}  // namespace normscope

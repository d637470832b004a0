// These tests cover treebanks: what the reader of CoNLL-U refuses and with which line and column, the round trip, the
// oracle on every tree of the made-up treebank, the features of a state, attachment scores on cases counted by hand.
#include <algorithm>
#include <tuple>
#include "addons/systems/training/conllu.h"
#include "addons/systems/training/dependency_parser.h"
#include "engine/core/philox.h"
#include "engine/support/helpers.h"

namespace normscope::test::treebank_tests {
namespace {

/// A line of ten columns.
std::string line(const std::string& id, const std::string& form, const std::string& head,
                 const std::string& label, const std::string& upos = "X") {
  return id + "\t" + form + "\t_\t" + upos + "\t_\t_\t" + head + "\t" + label + "\t_\t_\n";
}

std::string refusal(const std::string& text, TreeColumns columns = TreeColumns::Required) {
  return error_of([&] { parse_conllu(text, "t.conllu", columns); });
}

DependencyTree tree_of(const std::vector<int32_t>& heads) {
  DependencyTree tree;
  for (size_t w = 0; w < heads.size(); ++w) {
    TreeWord word;
    word.form = "w" + std::to_string(w + 1);
    word.upos = "X";
    word.head = heads[w];
    word.label = heads[w] == 0 ? "root" : "dep";
    tree.words.push_back(word);
  }
  return tree;
}

std::vector<int32_t> rebuilt(const std::vector<Move>& moves, size_t words) {
  ParseState state(static_cast<int32_t>(words));
  for (const Move move : moves) state.apply(move, 0);
  CHECK(state.finished());
  std::vector<int32_t> heads;
  for (size_t w = 1; w <= words; ++w) heads.push_back(state.head(static_cast<int32_t>(w)));
  return heads;
}

/// Compares every pair of arcs, the root's arc drawn from in front of the first word.
bool has_crossing(const std::vector<int32_t>& heads) {
  const auto ends = [&](size_t w) {
    const auto word = static_cast<int32_t>(w) + 1;
    return std::pair(std::min(word, heads[w]), std::max(word, heads[w]));
  };
  for (size_t a = 0; a < heads.size(); ++a)
    for (size_t b = 0; b < heads.size(); ++b) {
      const auto [i, j] = ends(a);
      const auto [k, l] = ends(b);
      if (i < k && k < j && j < l) return true;
    }
  return false;
}

/// All trees with one root over so many words.
std::vector<std::vector<int32_t>> all_trees(int32_t words) {
  std::vector<std::vector<int32_t>> trees;
  std::vector<int32_t> heads(static_cast<size_t>(words), 0);
  const auto is_tree = [&] {
    if (std::ranges::count(heads, 0) != 1) return false;
    for (size_t w = 0; w < heads.size(); ++w) {
      int32_t at = static_cast<int32_t>(w) + 1;
      for (int32_t up = 0; up <= words && at != 0; ++up) at = heads[static_cast<size_t>(at) - 1];
      if (at != 0) return false;
    }
    return true;
  };
  for (bool more = true; more;) {
    if (is_tree()) trees.push_back(heads);
    more = false;
    for (int32_t& head : heads) {
      if (head < words) {
        ++head;
        more = true;
        break;
      }
      head = 0;
    }
  }
  return trees;
}

TEST_CASE("CoNLL-U: words, comments, multiword tokens and empty nodes") {
  const std::string text = "\xef\xbb\xbf# sent_id = 1\r\n# text = vámonos al mar\r\n" +
                           line("1-2", "vámonos", "_", "_") + line("1", "vamos", "0", "root", "VERB") +
                           line("2", "nos", "1", "obj", "PRON") + line("2.1", "x", "_", "_") +
                           line("3-4", "al", "_", "_") + line("3", "a", "5", "case", "ADP") +
                           line("4", "el", "5", "det", "DET") + line("5", "mar", "1", "obl", "NOUN") +
                           "\n\n" + line("1", "sí", "0", "root", "INTJ");  // no blank line at the end
  const auto trees = parse_conllu(text, "t.conllu");
  REQUIRE(trees.size() == 2);
  CHECK(trees[0].comments == std::vector<std::string>{"# sent_id = 1", "# text = vámonos al mar"});
  CHECK(heads_of(trees[0]) == std::vector<int32_t>{0, 1, 5, 5, 1});
  CHECK(trees[0].words[4].form == "mar");
  CHECK(trees[0].words[4].label == "obl");
  CHECK(trees[0].words[2].upos == "ADP");
  CHECK(trees[1].words.size() == 1);
}

TEST_CASE("CoNLL-U: what was read and written is the same when it is read again") {
  std::vector<DependencyTree> trees = made_treebank(5, 0, 40);
  trees[3].comments = {"# sent_id = 3", "#"};
  trees[4].words[0].feats = "Number=Sing|Person=3";
  trees[4].words[0].misc = "SpaceAfter=No";
  trees[5].words[0].xpos = "VBZ";
  trees[6].words[0].form = "New York";  // the format allows a blank in a form
  const std::string text = conllu_text(trees);
  CHECK(parse_conllu(text, "t") == trees);
  CHECK(conllu_text(parse_conllu(text, "t")) == text);
  for (DependencyTree& tree : trees)
    for (TreeWord& word : tree.words) {
      word.head = kNoHead;
      word.label = "_";
    }
  CHECK(parse_conllu(conllu_text(trees), "t", TreeColumns::Unparsed) == trees);
}

TEST_CASE("CoNLL-U: faults are said with line and column") {
  const std::string good = line("1", "a", "0", "root") + "\n";
  CHECK(contains(refusal(std::string(100'000, 'x')), "line 1 has 100000 bytes"));
  CHECK(contains(refusal(line(std::string(200, '7'), "a", "0", "root")), "7…': expected 1"));
  CHECK(contains(refusal(line("1", "a", "_", "nsubj"), TreeColumns::Unparsed), "column 8 (DEPREL)"));
  CHECK(contains(refusal(line("1", "a", "0", "root") + line("2", "b", "_", "_"), TreeColumns::Unparsed),
                 "line 2, column 7 (HEAD) is '_': expected a head"));
  CHECK(contains(error_of([] { read_conllu("no/such/trees.conllu"); }), "no such file"));
}

TEST_CASE("oracle: of all trees of up to six words those without crossing arcs, and no other") {
  size_t projective = 0, all = 0;
  for (int32_t words = 1; words <= 6; ++words)
    for (const std::vector<int32_t>& heads : all_trees(words)) {
      ++all;
      const auto moves = static_oracle(heads);
      CHECK(moves.has_value() == !has_crossing(heads));
      CHECK(is_projective(heads) == moves.has_value());
      if (!moves) continue;
      ++projective;
      CHECK(moves->size() == 2 * heads.size());
      CHECK(rebuilt(*moves, heads.size()) == heads);
    }
  // Rooted labelled trees: n^(n-1). Projective ones with one root: 1, 2, 7, 30, 143, 728 (binomial(3n-2, n-1) / n).
  CHECK(all == 1 + 2 + 9 + 64 + 625 + 7776);
  CHECK(projective == 1 + 2 + 7 + 30 + 143 + 728);
}

TEST_CASE("oracle: rebuilds every projective tree of the made-up treebank") {
  size_t crossing = 0, words = 0;
  for (const DependencyTree& tree : made_treebank(1, 0, kMadeTraining)) {
    const std::vector<int32_t> heads = heads_of(tree);
    words += heads.size();
    const auto moves = static_oracle(heads);
    CHECK(moves.has_value() == !has_crossing(heads));
    if (!moves)
      ++crossing;
    else
      CHECK(rebuilt(*moves, heads.size()) == heads);
  }
  // 2 of 100 are drawn with a clause behind the verb: 60 of 3,000, give or take four standard deviations.
  CHECK(crossing > 30);
  CHECK(crossing < 92);
  CHECK(words / kMadeTraining >= 8);
}

TEST_CASE("moves: what is not possible is refused, and whatever is chosen ends in a tree") {
  ParseState state(2);
  CHECK_FALSE(state.can(Move::Left));
  CHECK_FALSE(state.can(Move::Right));
  CHECK(contains(error_of([&] { state.apply(Move::Right); }), "is not possible"));
  state.apply(Move::Shift);
  CHECK_FALSE(state.can(Move::Right));  // a word is still to be read: the root has one child
  state.apply(Move::Shift);
  CHECK_FALSE(state.can(Move::Shift));
  state.apply(Move::Left, 4);
  CHECK(state.head(1) == 2);
  CHECK(state.label(1) == 4);
  state.apply(Move::Right, 5);
  CHECK(state.finished());
  CHECK(state.head(2) == 0);
  for (uint32_t choice = 0; choice < 200; ++choice) {
    ParseState any(5);
    uint32_t bits = choice * 2654435761u;
    while (!any.finished()) {
      std::vector<Move> possible;
      for (const Move move : {Move::Shift, Move::Left, Move::Right})
        if (any.can(move)) possible.push_back(move);
      REQUIRE_FALSE(possible.empty());
      any.apply(possible[bits % possible.size()], 0);
      bits = bits / 3 + choice;
    }
    int roots = 0;
    for (int32_t w = 1; w <= 5; ++w) roots += any.head(w) == 0;
    CHECK(roots == 1);
  }
}

TEST_CASE("features: stack, buffer, children and their labels") {
  // w1 <- w2, w2 -> w3, w3 -> w4: after SHIFT SHIFT LEFT SHIFT the stack is ROOT w2 w3 and w1 hangs on w2.
  std::vector<DependencyTree> trees = {tree_of({2, 0, 2, 3}), tree_of({2, 0, 2, 3})};
  const ParseVocabulary vocabulary(trees, "test");
  CHECK(vocabulary.labels() == 2);
  CHECK(vocabulary.transitions() == 5);
  CHECK(vocabulary.transition_name(0) == "shift");
  CHECK(vocabulary.transition_name(vocabulary.transition(Move::Right, 1)) == "right root");
  ParseState state(4);
  const int32_t dep = vocabulary.find_label("dep");
  for (const Move move : {Move::Shift, Move::Shift, Move::Left, Move::Shift}) state.apply(move, dep);
  const ParseFeatures f = vocabulary.features(state, vocabulary.encode(trees[0]));
  const auto name = [&](size_t i) { return vocabulary.name(f[i]); };
  CHECK(name(0) == "w3");
  CHECK(name(1) == "w2");
  CHECK(name(2) == "ROOT");
  CHECK(name(3) == "w4");
  CHECK(name(4) == "-");
  CHECK(name(6) == "-");    // s1 has no child yet
  CHECK(name(12) == "w1");  // outermost left child of s2
  CHECK(name(18 + 12) == "X");
  CHECK(name(36 + 6) == "dep");  // its label
  CHECK(name(36) == "-");
  CHECK(std::count(f.begin(), f.begin() + 18, f[4]) == 13);  // nothing stands at the other places
  // A label is allowed only with the kind of head that it was seen with.
  CHECK(vocabulary.allowed(state, vocabulary.transition(Move::Right, dep)));
  CHECK_FALSE(vocabulary.allowed(state, vocabulary.transition(Move::Right, vocabulary.find_label("root"))));
  // What training saw once is unknown, and so is what it did not see.
  trees[0].words[0].form = "rare";
  const ParseVocabulary rare(trees, "test");
  CHECK(rare.name(rare.encode(trees[0]).words[1]) == "?");
  CHECK(rare.find_label("nsubj") == -1);
}

TEST_CASE("attachment: counted by hand") {
  DependencyTree gold = tree_of({2, 0, 2, 3, 2});
  gold.words[0].label = "nmod:poss";
  gold.words[4].upos = "PUNCT";
  DependencyTree parsed = gold;
  CHECK(attachment({&gold, 1}, {&gold, 1}).labelled() == 100);
  parsed.words[0].label = "nmod";  // the part before the colon counts
  parsed.words[2].label = "obj";   // right head, wrong relation
  parsed.words[3].head = 2;        // wrong head
  parsed.words[4].head = 3;        // wrong head of punctuation
  const Attachment all = attachment({&gold, 1}, {&parsed, 1});
  CHECK(all.words == 5);
  CHECK(all.heads == 3);
  CHECK(all.labelled_heads == 2);
  CHECK(all.unlabelled() == Approx(60));
  CHECK(all.labelled() == Approx(40));
  CHECK(to_string(all) == "UAS 60.00  LAS 40.00");
  const Attachment words = attachment({&gold, 1}, {&parsed, 1}, false);
  CHECK(words.words == 4);
  CHECK(words.unlabelled() == Approx(75));
  CHECK(words.labelled() == Approx(50));
  TreeWord penn;
  penn.xpos = "''";
  CHECK(is_punctuation(penn));
  penn.upos = "NOUN";
  CHECK_FALSE(is_punctuation(penn));
  DependencyTree other = parsed;
  other.words[1].form = "else";
  CHECK(contains(error_of([&] { attachment({&gold, 1}, {&other, 1}); }), "word 2 of sentence 1 is 'w2'"));
  other.words.pop_back();
  CHECK(contains(error_of([&] { attachment({&gold, 1}, {&other, 1}); }), "has 5 words and its parse 4"));
  CHECK(contains(error_of([&] { attachment({&gold, 1}, {}); }), "1 sentences and 0 parses"));
}

TEST_CASE("made-up treebank: a function of seed and index, and its attachments need the words") {
  CHECK(made_tree(3, 17) == made_tree(3, 17));
  CHECK_FALSE(made_tree(3, 17) == made_tree(4, 17));
  CHECK_FALSE(made_tree(3, 17) == made_tree(3, 18));
  // The same tags with different trees: no rule that reads tags alone can be right about both.
  std::map<std::string, std::set<std::vector<int32_t>>> by_tags;
  std::set<std::string> labels;
  for (const DependencyTree& tree : made_treebank(1, 0, kMadeTraining)) {
    std::string tags;
    for (const TreeWord& word : tree.words) {
      tags += word.upos + " ";
      labels.insert(word.label);
    }
    by_tags[tags].insert(heads_of(tree));
    CHECK(parse_conllu(conllu_text({&tree, 1}), "made").front() == tree);  // it is a tree
  }
  const auto ambiguous =
      std::ranges::count_if(by_tags, [](const auto& entry) { return entry.second.size() > 1; });
  CHECK(ambiguous > 20);
  for (const char* label :
       {"root", "nsubj", "obj", "obl", "nmod", "acl:relcl", "conj", "cc", "advcl", "punct"})
    CHECK(labels.contains(label));
}

TEST_CASE("parsing task: rows are the oracle's states; crossing trees are left out and kept to be scored") {
  std::vector<DependencyTree> trees(20, tree_of({2, 0, 2, 3}));
  trees[19] = tree_of({3, 4, 0, 3});  // the arc from 4 to 2 crosses that from 3 to 1
  REQUIRE_FALSE(is_projective(heads_of(trees[19])));
  const ParsingTask task(trees, {}, "t.conllu");
  CHECK(task.validation().size() == 2);  // the last tenth
  CHECK(task.left_out(Split::Train) == 0);
  CHECK(task.left_out(Split::Validation) == 1);
  CHECK(task.transitions(Split::Train) == 18 * 8);
  CHECK(task.transitions(Split::Validation) == 8);
  CHECK(task.validation_batches(5, kParseFeatures) == 2);
  double sum = 0;
  for (const double p : task.unigram()) sum += p;
  CHECK(sum == Approx(1));
  CHECK(task.unigram()[0] == Approx(0.5));  // half of all transitions are shifts
  Batch batch(task.shape(1, 1, Split::Validation, 5, kParseFeatures));
  CHECK(batch.targets.size() == 5);
  task.fill(1, 2, Split::Validation, 5, kParseFeatures, batch.view());
  CHECK(batch.targets[3] == -1);  // beyond the eighth
  CHECK(task.class_name(batch.targets[2]) == "right root");
  CHECK(task.decode(std::span(batch.tokens).subspan(2 * kParseFeatures, kParseFeatures)) ==
        "- ROOT w2 | - - -");
  CHECK(contains(error_of([&] { task.require_context(64); }), "expected 48, the features of a state"));
  CHECK(contains(error_of([&] { ParsingTask({trees[0]}, {trees[19]}, "t.conllu"); }),
                 "1 and 0 projective trees"));
  // A label that training does not know is not a class: its row counts for nothing.
  DependencyTree other = trees[0];
  other.words[3].label = "vocative";
  const ParsingTask unknown(trees, {other}, "t.conllu");
  Batch rows = unknown.draw(1, 1, Split::Validation, 8, kParseFeatures);
  CHECK(std::ranges::count(rows.targets, -1) == 1);
  CHECK(unknown.hash() != task.hash());
}

// Attachment scores against an independent method: the evaluation of the CoNLL 2018 shared task, written anew from its
// definition (the script itself is not among the project's sources) and on the text of files.

/// A word of a CoNLL-U text: which characters of the text without blanks it covers.
struct EvaluatedWord {
  size_t begin = 0, end = 0;
  int head = 0;
  std::string relation, upos, xpos;
};

/// The words of all sentences, read column by column from the file's text and by nothing of the engine.
std::vector<std::vector<EvaluatedWord>> evaluated(const std::string& text) {
  std::vector<std::vector<EvaluatedWord>> sentences(1);
  size_t at = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() && !sentences.back().empty()) sentences.emplace_back();
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> columns(1);
    for (const char c : line)
      if (c == '\t')
        columns.emplace_back();
      else
        columns.back() += c;
    if (columns[0].find_first_of("-.") != std::string::npos)
      continue;  // a token of several words, an empty node
    const size_t begin = at;
    for (const char c : columns[1]) at += c != ' ';
    sentences.back().push_back({begin, at, std::stoi(columns[6]), columns[7].substr(0, columns[7].find(':')),
                                columns[3], columns[4]});
  }
  if (sentences.back().empty()) sentences.pop_back();
  return sentences;
}

/// UAS and LAS as the CoNLL 2018 shared task defines them: the F1 of words, aligned by the
/// characters that they cover, whose head is aligned with the head of the other one (or is the root in both) and, for
/// LAS, whose relation is the same up to its colon. `left_out` words of the gold file count on neither side.
template <class LeftOut>
std::pair<double, double> conll_scores(const std::string& gold, const std::string& system, LeftOut left_out) {
  std::map<std::pair<size_t, size_t>, std::tuple<size_t, size_t, std::string>> by_span;
  const auto head_of = [](const std::vector<EvaluatedWord>& sentence, const EvaluatedWord& word) {
    if (word.head == 0) return std::pair<size_t, size_t>{0, 0};  // no word covers nothing
    const EvaluatedWord& head = sentence.at(static_cast<size_t>(word.head) - 1);
    return std::pair{head.begin, head.end};
  };
  size_t golds = 0, systems = 0, heads = 0, labelled = 0;
  for (const auto& sentence : evaluated(gold))
    for (const EvaluatedWord& word : sentence) {
      if (left_out(word)) continue;
      const auto head = head_of(sentence, word);
      by_span[{word.begin, word.end}] = {head.first, head.second, word.relation};
      ++golds;
    }
  for (const auto& sentence : evaluated(system))
    for (const EvaluatedWord& word : sentence) {
      const auto other = by_span.find({word.begin, word.end});
      if (other == by_span.end()) continue;
      ++systems;
      const auto head = head_of(sentence, word);
      const auto& [begin, end, relation] = other->second;
      if (head != std::pair{begin, end}) continue;
      ++heads;
      labelled += relation == word.relation;
    }
  const auto f1 = [&](size_t right) {
    const double precision = static_cast<double>(right) / static_cast<double>(systems),
                 recall = static_cast<double>(right) / static_cast<double>(golds);
    return right == 0 ? 0 : 100 * 2 * precision * recall / (precision + recall);
  };
  return {f1(heads), f1(labelled)};
}

}  // namespace

TEST_CASE(
    "attachment: equals the evaluation of the CoNLL 2018 shared task, written anew from its definition") {
  auto chance = [n = uint64_t{0}](uint32_t among) mutable {
    return static_cast<int32_t>(random_word(++n, 3, 5, Purpose::Sample, 11) % among);
  };
  size_t differ = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<DependencyTree> gold = made_treebank(static_cast<uint64_t>(round) + 1, 0, 40), parsed;
    for (DependencyTree& tree : gold)
      for (TreeWord& word : tree.words) {
        if (chance(5) == 0) word.label += ":sub";
        if (round % 4 == 3) {  // the Penn Treebank's tags alone
          word.xpos = word.upos == "PUNCT" ? (chance(2) ? "." : "``") : "NN";
          word.upos = "_";
        }
      }
    parsed = gold;
    for (DependencyTree& tree : parsed)
      for (TreeWord& word : tree.words) {
        if (chance(4) == 0) word.head = chance(static_cast<uint32_t>(tree.words.size()) + 1);
        if (chance(6) == 0)
          word.label = chance(2) ? "dep" : word.label.substr(0, word.label.find(':')) + ":else";
        if (chance(3) == 0) word.upos = "X";  // the tags of the parse are not asked
      }
    // As a file may have them: tokens of several words and empty nodes are not words of the tree.
    const std::string gold_text = "# text\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + conllu_text(gold),
                      parsed_text = conllu_text(parsed);
    const auto all = conll_scores(gold_text, parsed_text, [](const EvaluatedWord&) { return false; });
    const auto words = conll_scores(gold_text, parsed_text, [](const EvaluatedWord& w) {
      if (w.upos != "_") return w.upos == "PUNCT";
      return w.xpos == "``" || w.xpos == "''" || w.xpos == ":" || w.xpos == "," || w.xpos == ".";
    });
    const Attachment ours = attachment(gold, parsed), without = attachment(gold, parsed, false);
    CHECK(ours.unlabelled() == Approx(all.first).epsilon(1e-12));
    CHECK(ours.labelled() == Approx(all.second).epsilon(1e-12));
    CHECK(without.unlabelled() == Approx(words.first).epsilon(1e-12));
    CHECK(without.labelled() == Approx(words.second).epsilon(1e-12));
    CHECK(all.first > all.second);
    differ += all.first != words.first;
  }
  CHECK(differ == 20);
}

}  // namespace normscope::test::treebank_tests

#include "addons/systems/training/dependency_parser.h"

#include <algorithm>
#include <limits>

#include "addons/systems/engine/parser.h"
#include "engine/tape/seal.h"
#include "training/data/batch_draws.h"
#include "training/experiments/run_numbers.h"

namespace normscope {
namespace {

constexpr size_t kNear = 3;          // of stack and buffer
constexpr int32_t kOftenEnough = 2;  // occurrences that make a word known

/// The words whose features are read, in their order.
std::array<int32_t, kParseWords> words_read(const ParseState& state) {
  std::array<int32_t, kParseWords> words{};
  size_t at = 0;
  for (size_t i = 0; i < kNear; ++i) words[at++] = state.stack(i);
  for (size_t i = 0; i < kNear; ++i) words[at++] = state.buffer(i);
  for (size_t i = 0; i < 2; ++i) {
    const int32_t word = state.stack(i), left = state.left_child(word, 0), right = state.right_child(word, 0);
    words[at++] = left;
    words[at++] = right;
    words[at++] = state.left_child(word, 1);
    words[at++] = state.right_child(word, 1);
    words[at++] = state.left_child(left, 0);
    words[at++] = state.right_child(right, 0);
  }
  return words;
}

constexpr int32_t kParsed = 128;  // sentences at a time

void write_tree(const ParseState& state, const ParseVocabulary& vocabulary, DependencyTree& tree) {
  for (size_t w = 0; w < tree.words.size(); ++w) {
    const auto number = static_cast<int32_t>(w) + 1;
    tree.words[w].head = state.head(number);
    tree.words[w].label = vocabulary.label(state.label(number));
  }
}

/// Attachment scores of a model on the validation trees.
class TreebankScoring final : public Scoring {
 public:
  explicit TreebankScoring(const ParsingTask& task) : task_(&task), parsing_{task.validation()} {}

  bool advance(Store& store, const ModelConfig& model, const std::function<bool()>& may_go_on) override {
    DependencyParser(store, model, task_->parse_vocabulary()).go_on(parsing_, [&](size_t) {
      return may_go_on();
    });
    return parsing_.complete();
  }
  std::vector<Score> scores() const override {
    const Attachment found = attachment(task_->validation(), parsing_.trees, task_->punctuation());
    return {{"uas", "UAS", found.unlabelled(), "%"}, {"las", "LAS", found.labelled(), "%"}};
  }

 private:
  const ParsingTask* task_;
  Parsing parsing_;
};

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

std::shared_ptr<const Task> make_parsing_task(const DataSpec& spec) {
  const auto& [path, punctuation] = spec.added.of<TreebankData>();
  if (path.empty())
    return std::make_shared<ParsingTask>(made_treebank(spec.data_seed, 0, kMadeTraining),
                                         made_treebank(spec.data_seed, kMadeTraining, kMadeValidation),
                                         "treebank", punctuation);
  std::vector<DependencyTree> train = read_conllu(path), valid;
  if (!spec.valid_path.empty()) valid = read_conllu(spec.valid_path);
  return std::make_shared<ParsingTask>(std::move(train), std::move(valid), path, punctuation);
}

}  // namespace

ParseState::ParseState(int32_t words)
    : words_(words),
      stack_{0},
      heads_(static_cast<size_t>(words) + 1, kNothing),
      labels_(heads_.size(), kNothing),
      left_(heads_.size()),
      right_(heads_.size()) {
  if (words < 1) fail("parse", "a sentence of {} words: expected at least one", words);
}

bool ParseState::can(Move move) const {
  switch (move) {
    case Move::Shift:
      return next_ <= words_;
    case Move::Left:
      return stack_.size() > 2;
    case Move::Right:
      return stack_.size() > 2 || (stack_.size() == 2 && next_ > words_);
  }
  return false;
}

void ParseState::apply(Move move, int32_t label) {
  if (!can(move))
    fail("parse", "move {} is not possible with {} on the stack and {} to read: expected another",
         static_cast<int>(move), stack_.size(), words_ - next_ + 1);
  if (move == Move::Shift) {
    stack_.push_back(next_++);
    return;
  }
  const int32_t top = stack_.back(), below = stack_[stack_.size() - 2];
  stack_.pop_back();
  if (move == Move::Right) return attach(top, below, label);
  stack_.back() = top;
  attach(below, top, label);
}

// Adds children of one side from the inside out: the newest is the outermost.
void ParseState::attach(int32_t child, int32_t head, int32_t label) {
  heads_[static_cast<size_t>(child)] = head;
  labels_[static_cast<size_t>(child)] = label;
  Outermost& side = (child < head ? left_ : right_)[static_cast<size_t>(head)];
  side.child[1] = side.child[0];
  side.child[0] = child;
}

int32_t ParseState::stack(size_t below_top) const {
  return below_top < stack_.size() ? stack_[stack_.size() - 1 - below_top] : kNothing;
}

int32_t ParseState::buffer(size_t ahead) const {
  const auto left = static_cast<size_t>(words_ - next_ + 1);
  return ahead < left ? next_ + static_cast<int32_t>(ahead) : kNothing;
}

int32_t ParseState::child(const std::vector<Outermost>& side, int32_t word, size_t inwards) {
  return word < 0 ? kNothing : side[static_cast<size_t>(word)].child[inwards];
}

std::optional<std::vector<Move>> static_oracle(std::span<const int32_t> heads) {
  ParseState state(static_cast<int32_t>(heads.size()));
  const auto head_of = [&](int32_t word) { return word > 0 ? heads[static_cast<size_t>(word) - 1] : -1; };
  std::vector<int32_t> missing(heads.size() + 1, 0);  // children that are still to be attached
  for (const int32_t head : heads) ++missing[static_cast<size_t>(head)];
  const auto complete = [&](int32_t word) { return missing[static_cast<size_t>(word)] == 0; };
  std::vector<Move> moves;
  while (!state.finished()) {
    const int32_t s1 = state.stack(0), s2 = state.stack(1);
    Move move = Move::Shift;
    if (s2 > 0 && head_of(s2) == s1 && complete(s2))
      move = Move::Left;
    else if (s2 >= 0 && head_of(s1) == s2 && complete(s1))
      move = Move::Right;
    if (!state.can(move)) return std::nullopt;
    if (move != Move::Shift) --missing[static_cast<size_t>(move == Move::Left ? s1 : s2)];
    state.apply(move);
    moves.push_back(move);
  }
  return moves;
}

const std::string& tag_of(const TreeWord& word) { return word.upos == "_" ? word.xpos : word.upos; }

int32_t ParseVocabulary::add(std::string name) {
  names_.push_back(std::move(name));
  return size() - 1;
}

ParseVocabulary::ParseVocabulary(std::span<const DependencyTree> training, const std::string& name) {
  std::map<std::string, int32_t> counts;
  std::map<std::string, Label> labels;
  for (const DependencyTree& tree : training)
    for (const TreeWord& word : tree.words) {
      ++counts[word.form];
      tags_.emplace(tag_of(word), 0);
      Label& label = labels[word.label];
      (word.head == 0 ? label.of_root : label.of_word) = true;
    }
  no_word_ = add("-");
  unknown_word_ = add("?");
  root_word_ = add("ROOT");
  for (const auto& [form, count] : counts)
    if (count >= kOftenEnough) words_.emplace(form, add(form));
  no_tag_ = add("-");
  unknown_tag_ = add("?");
  root_tag_ = add("ROOT");
  for (auto& [tag, row] : tags_) row = add(tag);
  no_label_ = add("-");
  first_label_ = size();
  for (auto& [text, label] : labels) {
    label.name = text;
    add(text);
    labels_.push_back(label);
  }
  if (labels_.empty() || labels_.size() > kMaxLabels)
    fail({"data {}", name}, "{} different labels in the training trees: expected 1 to {}", labels_.size(),
         kMaxLabels);
  // Training on sentences of one word has only root labels; longer ones must be parsed nevertheless.
  if (std::ranges::none_of(labels_, &Label::of_word))
    for (Label& label : labels_) label.of_word = true;
}

EncodedSentence ParseVocabulary::encode(const DependencyTree& tree) const {
  EncodedSentence out{{root_word_}, {root_tag_}};
  for (const TreeWord& word : tree.words) {
    const auto form = words_.find(word.form);
    const auto tag = tags_.find(tag_of(word));
    out.words.push_back(form == words_.end() ? unknown_word_ : form->second);
    out.tags.push_back(tag == tags_.end() ? unknown_tag_ : tag->second);
  }
  return out;
}

int32_t ParseVocabulary::find_label(const std::string& name) const {
  const auto at = std::ranges::lower_bound(labels_, name, {}, &Label::name);
  return at != labels_.end() && at->name == name ? static_cast<int32_t>(at - labels_.begin()) : -1;
}

std::string ParseVocabulary::transition_name(int32_t transition) const {
  if (transition < 0 || transition >= transitions()) return "?";
  if (transition == 0) return "shift";
  return fmt::format("{} {}", move_of(transition) == Move::Left ? "left" : "right",
                     label(label_of(transition)));
}

bool ParseVocabulary::allowed(const ParseState& state, int32_t transition) const {
  const Move move = move_of(transition);
  if (!state.can(move) || move == Move::Shift) return state.can(move);
  const Label& label = labels_[static_cast<size_t>(label_of(transition))];
  return move == Move::Right && state.stack(1) == 0 ? label.of_root : label.of_word;
}

ParseFeatures ParseVocabulary::features(const ParseState& state, const EncodedSentence& sentence) const {
  const std::array<int32_t, kParseWords> words = words_read(state);
  ParseFeatures out{};
  for (size_t i = 0; i < words.size(); ++i) {
    const bool there = words[i] >= 0;
    const size_t place = there ? static_cast<size_t>(words[i]) : 0;
    out[i] = there ? sentence.words[place] : no_word_;
    out[kParseWords + i] = there ? sentence.tags[place] : no_tag_;
    if (i < 2 * kNear) continue;  // words of stack and buffer have no label yet
    const int32_t label = there ? state.label(words[i]) : -1;
    out[2 * kParseWords + i - 2 * kNear] = label < 0 ? no_label_ : first_label_ + label;
  }
  return out;
}

DependencyParser::Logits DependencyParser::logits_of(Store& store, const ModelConfig& model) {
  if (model.architecture != Architecture::Parser || model.sequence != kParseFeatures)
    fail("parse", "the model is no parser of {} features: expected one", kParseFeatures);
  Tape tape(store);
  const ValueId logits = record_transition_logits(tape, model, kParsed);
  return {tape.value(logits).name, seal(tape, {.backward = false, .reuse_bytes = true})};
}

DependencyParser::DependencyParser(Store& store, const ModelConfig& model, const ParseVocabulary& vocabulary)
    : vocabulary_(&vocabulary), logits_(logits_of(store, model)) {
  if (model.classes != vocabulary.transitions() || model.vocabulary != vocabulary.size())
    fail("parse", "a model of {} symbols and {} transitions for {} and {}: expected that of the same trees",
         model.vocabulary, model.classes, vocabulary.size(), vocabulary.transitions());
}

int32_t DependencyParser::best(const ParseState& state, std::span<const float> logits) const {
  int32_t best = -1;
  for (int32_t t = 0; t < vocabulary_->transitions(); ++t) {
    if (!vocabulary_->allowed(state, t)) continue;
    if (best < 0 || logits[static_cast<size_t>(t)] > logits[static_cast<size_t>(best)]) best = t;
  }
  return best;
}

std::vector<DependencyTree> DependencyParser::parse(std::span<const DependencyTree> sentences,
                                                    const std::function<bool(size_t)>& progress) {
  Parsing parsing{{sentences.begin(), sentences.end()}};
  go_on(parsing, progress);
  return std::move(parsing.trees);
}

void DependencyParser::go_on(Parsing& parsing, const std::function<bool(size_t)>& progress) {
  auto& [out, rows, next, done] = parsing;
  const std::span<int32_t> tokens = logits_.program.tokens("tokens");
  std::ranges::fill(tokens, 0);
  while (!parsing.complete()) {
    for (; next < out.size() && rows.size() < static_cast<size_t>(kParsed); ++next)
      rows.push_back(
          {next, vocabulary_->encode(out[next]), ParseState(static_cast<int32_t>(out[next].words.size()))});
    for (size_t r = 0; r < rows.size(); ++r) {
      const ParseFeatures features = vocabulary_->features(rows[r].state, rows[r].sentence);
      std::ranges::copy(features, tokens.begin() + static_cast<std::ptrdiff_t>(r * features.size()));
    }
    logits_.program.replay({});
    const std::vector<float> logits = logits_.program.read(logits_.name);
    const auto classes = static_cast<size_t>(vocabulary_->transitions());
    for (size_t r = 0; r < rows.size(); ++r) {
      const int32_t chosen = best(rows[r].state, std::span(logits).subspan(r * classes, classes));
      rows[r].state.apply(ParseVocabulary::move_of(chosen), ParseVocabulary::label_of(chosen));
      if (rows[r].state.finished()) write_tree(rows[r].state, *vocabulary_, out[rows[r].place]);
    }
    done += std::erase_if(rows, [](const Parsing::Row& row) { return row.state.finished(); });
    if (progress && !progress(done)) break;
  }
}

std::unique_ptr<Scoring> ParsingTask::scoring() const { return std::make_unique<TreebankScoring>(*this); }
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

ParsingTask::ParsingTask(std::vector<DependencyTree> train, std::vector<DependencyTree> valid,
                         std::string name, bool punctuation)
    : Task("transition"),
      name_(std::move(name)),
      validation_(valid.empty() && train.size() > 1 ? held_out(train, std::max<size_t>(1, train.size() / 10))
                                                    : std::move(valid)),
      vocabulary_(train, name_),
      punctuation_(punctuation),
      train_(states_in(train)),
      valid_(states_in(validation_)) {
  if (train_.targets.empty() || valid_.targets.empty())
    fail({"data {}", name_}, "{} and {} projective trees to learn and to validate: expected some of each",
         train.size() - train_.left_out, validation_.size() - valid_.left_out);
  unigram_.assign(static_cast<size_t>(vocabulary_.transitions()), 0.0);
  for (const int32_t target : train_.targets)
    unigram_[static_cast<size_t>(target)] += 1.0 / static_cast<double>(train_.targets.size());
  hash_ = hash_bytes(conllu_text(validation_), hash_bytes(conllu_text(train), hash_bytes("treebank")));
}

ParsingTask::States ParsingTask::states_in(std::span<const DependencyTree> trees) const {
  States states;
  states.trees = trees.size();
  for (const DependencyTree& tree : trees) add_states(tree, states);
  return states;
}

void ParsingTask::add_states(const DependencyTree& tree, States& to) const {
  const std::vector<int32_t> heads = heads_of(tree);
  const std::optional<std::vector<Move>> moves = static_oracle(heads);
  if (!moves) {
    ++to.left_out;
    return;
  }
  const EncodedSentence sentence = vocabulary_.encode(tree);
  ParseState state(static_cast<int32_t>(heads.size()));
  for (const Move move : *moves) {
    int32_t label = -1;
    if (move != Move::Shift) {
      const int32_t child = state.stack(move == Move::Left ? 1 : 0);
      label = vocabulary_.find_label(tree.words[static_cast<size_t>(child) - 1].label);
    }
    const bool known = move == Move::Shift || label >= 0;
    to.features.push_back(vocabulary_.features(state, sentence));
    to.targets.push_back(known ? ParseVocabulary::transition(move, label) : -1);
    state.apply(move, label);
  }
}

void ParsingTask::require_context(int32_t T) const {
  if (T != kParseFeatures)
    fail({"data {}", name_}, "rows of {}: expected {}, the features of a state", T, kParseFeatures);
}

BatchShape ParsingTask::shape(uint64_t, uint64_t, Split, int32_t B, int32_t T) const {
  require_context(T);
  return {.rows = B, .length = T, .one_target = true};
}

int32_t ParsingTask::validation_batches(int32_t B, int32_t) const {
  return batches_of(valid_.targets.size(), B);
}

void ParsingTask::fill(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T,
                       const BatchView& to) const {
  require_context(T);
  const States& states = states_of(split);
  const size_t rows = static_cast<size_t>(B);
  if (to.targets.size() != rows || to.tokens.size() != rows * kParseFeatures)
    fail({"data {}", name_}, "room for {} targets: expected that of this batch's shape()", to.targets.size());
  for (size_t r = 0; r < rows; ++r) {
    const size_t at = example_of(seed, step, split, B, r, states.targets.size());
    const bool there = at < states.targets.size();  // the last batch of a split may be short
    to.targets[r] = there ? states.targets[at] : -1;
    const ParseFeatures& features = states.features[there ? at : 0];
    std::ranges::copy(features, to.tokens.begin() + static_cast<std::ptrdiff_t>(r * features.size()));
  }
}

std::string ParsingTask::decode(std::span<const int32_t> tokens) const {
  constexpr size_t kStack[] = {2, 1, 0}, kBuffer[] = {3, 4, 5};
  std::string text;
  if (tokens.size() < kParseFeatures) return text;
  const auto word = [&](size_t place) {
    const int32_t row = tokens[place];
    return (row >= 0 && row < vocabulary_.size() ? vocabulary_.name(row) : "?") + " ";
  };
  for (const size_t place : kStack) text += word(place);
  text += "| ";
  for (const size_t place : kBuffer) text += word(place);
  text.pop_back();
  return text;
}

std::string ParsingTask::note() const {
  if (left_out(Split::Train) == 0) return {};
  return fmt::format("{} of {} trees are not projective and are left out of training", left_out(Split::Train),
                     trees(Split::Train));
}

constinit const TaskKind kTreebankKind{
    .name = "treebank",
    .make = make_parsing_task,
    .learners = "parser",
    .unit = "transition",
    .made_up = "made-up treebank",
    .file = "data.treebank",
    .path = [](const DataSpec& spec) -> const std::string& { return spec.added.of<TreebankData>().path; },
    .seeded = true,
    .takes_validation = true,
    .flag_help = "dependency trees in CoNLL-U: a parser",
    .preset = "parser"};

namespace experiments {
constinit const EndNumber kUasNumber{"uas",
                                     "UAS",
                                     "The share of words with the right head, in held-out trees.",
                                     nullptr,
                                     [](const RunNumbers& run) { return run.score_of("uas"); },
                                     1,
                                     0};
}  // namespace experiments

}  // namespace normscope

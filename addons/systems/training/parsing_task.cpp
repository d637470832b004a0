#include "addons/systems/training/parsing_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "addons/systems/training/conllu.h"
#include "engine/core/error.h"
#include "training/data/batch_draws.h"
#include "training/data/task.h"

namespace normscope {
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

namespace {

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

const std::string& treebank_path(const DataSpec& spec) { return spec.added.of<TreebankData>().path; }

}  // namespace

constinit const TaskKind kTreebankKind{.name = "treebank",
                                       .make = make_parsing_task,
                                       .learners = "parser",
                                       .unit = "transition",
                                       .made_up = "made-up treebank",
                                       .file = "data.treebank",
                                       .path = treebank_path,
                                       .seeded = true,
                                       .takes_validation = true,
                                       .flag_help = "dependency trees in CoNLL-U: a parser",
                                       .preset = "parser"};

}  // namespace normscope

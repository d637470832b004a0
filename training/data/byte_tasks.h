// Tasks of encoders that read bytes: classification and masked symbols.
//
// Sentence classification: from a labelled file, with a line label<TAB>text for each sentence, or from a made-up set.
//
// Made-up sets consist of sentences of the built-in phrase grammar of at most 62 letters, which the corpus of the
// same seed does not have: 5,000 to learn and 1,000 to validate. "word-order" has two classes: right, or swapped,
// where two neighbouring words, drawn at random, have changed places and punctuation has not. "mood" has five classes
// of equal size: a sentence has from two fewer to two more adjectives of praise than of blame.
//
// A row is FIRST and the text's bytes, T at most. The class is predicted at the first position only, from the state of
// FIRST, as BERT predicts from [CLS]. Labels are numbered in alphabetical order. Training lines are drawn at random;
// validation lines come in the order of the file. Texts shorter than T are padded, and no position attends to padding.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "training/data/task.h"
#include "training/data/text_source.h"

namespace normscope {

// Masked language modelling for encoders (Devlin et al. 2019, section 3.1) on the bytes of a text.
//
// A row is FIRST followed by T-1 bytes of the text. The model predicts 15 % of these: 80 % of them are replaced by
// MASK, 10 % by a byte drawn from the text, 10 % stay as they are; each row has at least one target. Targets are -1
// elsewhere. Rows are bytes so that every text and every labelled file shares one vocabulary: weights
// learned on one can be used on another. The masks of a validation batch depend on (seed, step) alone.

class BatchDraws;

inline constexpr int32_t kByteMask = 256, kByteFirst = 257, kBytePad = 258, kByteSymbols = 259;

/// Hides tokens of a row in the shares given above and fills in its targets. Only tokens that `may_ask` accepts become
/// targets; `another` draws a token of the text. A negative mark replaces nothing.
void hide_words(BatchDraws& draws, std::span<int32_t> tokens, std::span<int32_t> targets, int32_t mark,
                const std::function<bool(int32_t)>& may_ask, const std::function<int32_t()>& another);

/// Uses the built-in corpus (spec.name "corpus") or spec.text_path. Throws Error as TextSource does.
std::shared_ptr<const Task> make_masked_task(const DataSpec& spec);

/// Spells the bytes, MASK as "_", the other special symbols as nothing, broken UTF-8 as U+FFFD.
std::string decode_bytes(std::span<const int32_t> tokens);

class LabelsTask final : public Task {
 public:
  /// Validation: `valid`; without it, the last fifth of `train`. Throws Error for fewer than two labels and for a
  /// label that occurs in validation only.
  LabelsTask(std::vector<TsvRow> train, std::vector<TsvRow> valid, std::string name, int32_t context);

  int32_t vocabulary() const override;
  TaskForm form() const override { return TaskForm::Classify; }
  int32_t classes() const override { return static_cast<int32_t>(labels_.size()); }
  BatchShape shape(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T) const override;
  void fill(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T,
            const BatchView& to) const override;
  int32_t validation_batches(int32_t B, int32_t T) const override;
  void require_context(int32_t T) const override;
  std::string decode(std::span<const int32_t> tokens) const override;
  std::string class_name(int32_t label) const override {
    return label >= 0 && label < classes() ? labels_[static_cast<size_t>(label)] : "?";
  }

  const std::vector<std::string>& labels() const { return labels_; }
  /// A warning where all validation lines have one class.
  std::string note() const override;

 private:
  struct Line {
    std::string text;
    int32_t label = 0;
  };
  const std::vector<Line>& lines_of(Split split) const { return split == Split::Train ? train_ : valid_; }
  int32_t label_of(const std::string& label) const;

  std::string name_;
  std::vector<std::string> labels_;
  std::vector<Line> train_, valid_;
  bool holds_out_;  // validates on the last fifth of its one file, which is often sorted by class
};

}  // namespace normscope

// Sentence classification for encoders: from a labelled file, with a line label<TAB>text for each
// sentence, or from a made-up set.
//
// Made-up sets consist of sentences of the built-in phrase grammar of at most 62 letters, which the corpus of the
// same seed does not have: 5,000 to learn and 1,000 to validate. "word-order" has two classes: right, or swapped,
// where two neighbouring words, drawn at random, have changed places and marks have not. "mood" has five classes of
// equal size: a sentence has from two fewer to two more adjectives of praise than of blame.
//
// A row is FIRST and the text's bytes (masked_task.h says why bytes), cut at T. The class is predicted at the first
// position only, from the state of FIRST, as BERT predicts from [CLS]. Labels are numbered in alphabetical order.
// Training lines are drawn at random; validation lines come in the order of the file. Texts shorter than T are
// padded, and no position attends to padding.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "training/data/task.h"
#include "training/data/tsv.h"

namespace normscope {

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
  /// Says so where all validation lines have one class.
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
  bool holds_out_;  // validates on the end of the file, which is sorted by class as often as not
};

}  // namespace normscope

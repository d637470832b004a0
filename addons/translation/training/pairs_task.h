// Translation from a file of sentence pairs, source<TAB>target, in rows of their own length.
//
// A source row is its pieces and END; the decoder reads BEGIN y1 .. yn and predicts y1 .. yn END. A pair belongs to
// the smallest of a few bucket lengths that holds both rows. A batch comes from one bucket and holds about B*T
// positions, so there are as many shapes (and programs) as buckets. Every pair occurs once an epoch; order and
// grouping are a pure function of (seed, epoch). Pairs longer than T are left out and counted. Rows that fill up a
// last batch have length 0.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "addons/translation/training/tokenizer.h"
#include "training/data/task.h"
#include "training/data/text_source.h"

namespace normscope {

/// The data of a run with data.name "pairs".
struct PairsData {
  std::string path;           ///< source<TAB>target, one pair a line
  int32_t vocabulary = 8000;  ///< pieces of both languages together
  bool operator==(const PairsData&) const = default;
};

class PairsTask final : public Task {
 public:
  /// Validation pairs: `valid`; without it, the last twentieth (at most 2000) of `train`.
  PairsTask(std::vector<TsvRow> train, std::vector<TsvRow> valid, Tokenizer tokenizer, std::string name,
            int32_t context);

  int32_t vocabulary() const override { return tokenizer_.vocabulary(); }
  TaskForm form() const override { return TaskForm::Translate; }
  int32_t begin() const override { return Tokenizer::kBegin; }
  int32_t end() const override { return Tokenizer::kEnd; }
  BatchShape shape(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T) const override;
  void fill(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T,
            const BatchView& to) const override;
  int32_t validation_batches(int32_t B, int32_t T) const override;
  void require_context(int32_t T) const override;
  std::string decode(std::span<const int32_t> tokens) const override { return tokenizer_.decode(tokens); }
  void save_tokenizer(const std::string& path) const override { tokenizer_.save(path); }

  const Tokenizer& tokenizer() const { return tokenizer_; }
  const std::vector<TsvRow>& validation() const { return validation_; }  ///< as text, for BLEU
  size_t pairs() const { return train_.size(); }
  size_t left_out() const { return left_out_; }  ///< training pairs longer than the context
  /// The number of batches of one pass over the training pairs.
  int32_t epoch_batches(int32_t B, int32_t T) const;

 private:
  struct Pair {
    std::vector<int32_t> source, target;  // without BEGIN, with END
    int32_t length() const { return static_cast<int32_t>(std::max(source.size(), target.size())); }
  };
  struct Place {  // a batch: rows first, first + 1, ... of a bucket
    int32_t bucket = 0;
    size_t first = 0;
  };
  struct Plan {
    uint64_t seed = 0, epoch = 0;
    Split split = Split::Train;
    int32_t B = 0, T = 0;
    std::vector<std::vector<int32_t>> rows;  // by bucket: indices into the pairs
    std::vector<Place> batches;
  };

  const std::vector<Pair>& pairs_of(Split split) const { return split == Split::Train ? train_ : valid_; }
  Pair pair_of(const TsvRow& row) const;
  void count_unigram();
  std::shared_ptr<const Plan> plan(uint64_t seed, uint64_t epoch, Split split, int32_t B, int32_t T) const;
  std::shared_ptr<const Plan> make_plan(uint64_t seed, uint64_t epoch, Split split, int32_t B,
                                        int32_t T) const;
  struct PlannedBatch {
    std::shared_ptr<const Plan> plan;
    Place place;
  };
  PlannedBatch find(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T) const;

  Tokenizer tokenizer_;
  std::string name_;
  int32_t context_;
  std::vector<TsvRow> validation_;
  std::vector<Pair> train_, valid_;
  size_t left_out_ = 0;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Plan> plans_[2];  // the last of each split
};

/// Lists the bucket lengths for rows of at most T: 8, 12, 16, 24, 32, 48, ... and T.
std::vector<int32_t> bucket_lengths(int32_t T);

}  // namespace normscope

// What a run learns: batches of tokens and targets, and the lines that belong under its loss curve.
//
// Promises: a batch is a pure function of (seed, step, split, B, T), so runs that share a seed see the same
// data whatever else differs, and any step can be replayed; batch() allocates nothing. Called by the trainer,
// by the sampled text and by the plots.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/data/text_source.h"

namespace normscope {

// Tokens and targets of one batch, (B,T) row-major. A target of -1 counts for nothing.
struct Batch {
  int32_t B = 0, T = 0;
  std::vector<int32_t> tokens, targets;
  std::vector<float> weights;  // of each row's loss, (B,T); empty = all ones

  Batch() = default;
  Batch(int32_t rows, int32_t positions);
};

struct DataSpec {
  std::string name = "corpus";  // corpus | text | copy | reverse | sort
  std::string text_path;        // for name == "text"
  uint64_t data_seed = 1;       // of the generated corpus
  int32_t context = 64;         // the T that the data must be long enough for

  bool operator==(const DataSpec&) const = default;
};

class Task {
 public:
  virtual ~Task() = default;

  virtual int32_t vocabulary() const = 0;
  // Fills B*T tokens and targets. Throws Error only if the data cannot give windows of T + 1 symbols, or if
  // the spans have another size than B*T.
  virtual void batch(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T,
                     std::span<int32_t> tokens, std::span<int32_t> targets) const = 0;
  // Throws Error if the data is too short to be split and drawn from in windows of T + 1 symbols.
  virtual void require_context(int32_t T) const = 0;

  // Probability of each symbol among the targets, and its entropy: nats per symbol, the loss of a model that
  // knows frequencies only.
  virtual std::span<const double> unigram() const = 0;
  double unigram_entropy() const;
  // Nats per symbol that no model can go below on average; nothing where it is not known.
  virtual std::optional<double> entropy_rate() const = 0;

  virtual std::string decode(std::span<const int32_t> tokens) const = 0;
  virtual uint64_t hash() const = 0;     // of the data: another hash, another text
  virtual std::string unit() const = 0;  // what one token is: "letter", "character", "symbol"
};

// Throws Error for an unknown name and for a text that cannot be used.
std::shared_ptr<const Task> make_task(const DataSpec& spec);

// The same from a text in memory (a file that was dropped on the window, a test).
std::shared_ptr<const Task> make_text_task(TextSource source, int32_t context);

// Mean of -ln p(target) under the task's unigram distribution over exactly the training targets of the steps
// first_step <= step < last_step, in nats: what a run that is stuck at letter frequencies must show on them.
double unigram_cross_entropy(const Task& task, uint64_t seed, uint64_t first_step, uint64_t last_step,
                             int32_t B, int32_t T);

}  // namespace normscope

// See evaluate.h.
#include "train/evaluate.h"

#include <algorithm>
#include <cmath>

#include "core/philox.h"
#include "model/transformer.h"
#include "tape/seal.h"

namespace normscope {
namespace {

Program forward_program(Store& store, const ModelConfig& model, int32_t batch, int32_t sequence) {
  Tape tape(store);
  const ModelValues values = record_transformer(
      tape, model, {.batch = batch, .sequence = sequence, .training = false, .probes = false});
  return seal(tape, {.loss = values.loss, .backward = false, .optimizer = Optimizer::None});
}

// The symbols that are given: all up to the first whose successor is to be predicted.
std::vector<int32_t> prompt_of(const Task& task, uint64_t seed, int32_t sequence) {
  Batch batch(1, sequence);
  task.batch(seed, 1, Split::Validation, 1, sequence, batch.tokens, batch.targets);
  const auto first = std::find_if(batch.targets.begin(), batch.targets.end(), [](int32_t target) { return target >= 0; });
  const auto length = std::min<std::ptrdiff_t>(first - batch.targets.begin() + 1, sequence);
  return {batch.tokens.begin(), batch.tokens.begin() + length};
}

// No more positions than the line needs: the cost of a symbol grows with them.
int32_t window_of(const ModelConfig& model, size_t prompt, int32_t line_length) {
  return std::min(model.sequence, static_cast<int32_t>(prompt) + line_length);
}

}  // namespace

Validator::Validator(Store& store, const ModelConfig& model, const Task& task, uint64_t seed, int32_t batch)
    : program_(forward_program(store, model, batch, model.sequence)) {
  for (int32_t i = 0; i < kBatches; ++i) {
    Batch& drawn = batches_.emplace_back(batch, model.sequence);
    task.batch(seed, static_cast<uint64_t>(i + 1), Split::Validation, batch, model.sequence, drawn.tokens, drawn.targets);
  }
}

double Validator::measure() {
  double sum = 0;
  for (const Batch& batch : batches_) {
    std::copy(batch.tokens.begin(), batch.tokens.end(), program_.tokens("tokens").begin());
    std::copy(batch.targets.begin(), batch.targets.end(), program_.tokens("targets").begin());
    program_.replay({});
    sum += program_.loss();
  }
  return sum / static_cast<double>(batches_.size());
}

Writer::Writer(Store& store, const ModelConfig& model, const Task& task, uint64_t seed, int32_t line_length)
    : seed_(seed),
      line_length_(line_length),
      prompt_(prompt_of(task, seed, model.sequence)),
      program_(forward_program(store, model, 1, window_of(model, prompt_.size(), line_length))) {
  prompt_length_ = static_cast<int32_t>(prompt_.size());
  for (int32_t& target : program_.tokens("targets")) target = -1;
  restart();
}

void Writer::restart() { line_ = prompt_; }

bool Writer::advance() {
  if (static_cast<int32_t>(line_.size()) - prompt_length_ >= line_length_) restart();
  // The window starts with the line and, once full, holds its newest part: left-aligned, what follows is masked by
  // causality.
  const auto window = program_.tokens("tokens");
  const size_t shown = std::min(line_.size(), window.size());
  std::copy(line_.end() - static_cast<std::ptrdiff_t>(shown), line_.end(), window.begin());
  std::fill(window.begin() + static_cast<std::ptrdiff_t>(shown), window.end(), 0);
  program_.replay({});
  line_.push_back(draw(static_cast<int32_t>(shown) - 1));
  return static_cast<int32_t>(line_.size()) - prompt_length_ >= line_length_;
}

// Inverse of the cumulative distribution softmax(logits[row]) at the symbol's random number. Logits that are not
// finite give some symbol of the vocabulary: nothing here may fail on a broken model.
int32_t Writer::draw(int32_t row) {
  const std::vector<float> logits = program_.read("logits");
  const size_t vocabulary = logits.size() / program_.tokens("tokens").size();
  const float* at = logits.data() + static_cast<size_t>(row) * vocabulary;
  const double largest = *std::max_element(at, at + vocabulary);
  std::vector<double> cumulative(vocabulary);
  double sum = 0;
  for (size_t v = 0; v < vocabulary; ++v) cumulative[v] = sum += std::exp(static_cast<double>(at[v]) - largest);
  const uint64_t place = line_.size() - static_cast<size_t>(prompt_length_);
  const uint32_t word = random_word(place, site_of("sample"), 0, Purpose::Sample, seed_);
  const double wanted = (static_cast<double>(word) + 0.5) * 0x1p-32 * sum;
  for (size_t v = 0; v < vocabulary; ++v)
    if (wanted < cumulative[v]) return static_cast<int32_t>(v);
  return static_cast<int32_t>(vocabulary) - 1;
}

std::string Writer::text(const Task& task) const {
  const size_t hidden = prompt_length_ > 1 ? 0 : 1;  // a single symbol is no question worth showing
  return task.decode(std::span(line_).subspan(hidden));
}

}  // namespace normscope

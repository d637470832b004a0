#include "training/run/evaluate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/core/philox.h"
#include "engine/tape/seal.h"
#include "training/measure/look.h"
#include "training/run/network.h"

namespace normscope {
namespace {

// The given symbols: all up to the first one whose successor is to be predicted.
std::vector<int32_t> prompt_of(const Task& task, uint64_t seed, int32_t sequence) {
  const Batch batch = task.draw(seed, 1, Split::Validation, 1, sequence);
  const auto first = std::ranges::find_if(batch.targets, [](int32_t target) { return target >= 0; });
  const auto length = std::min<std::ptrdiff_t>(first - batch.targets.begin() + 1, batch.T);
  return {batch.tokens.begin(), batch.tokens.begin() + length};
}

// No more positions than the line needs: the cost of a symbol grows with them.
int32_t window_of(const ModelConfig& model, size_t prompt, int32_t line_length) {
  return std::min(model.sequence, static_cast<int32_t>(prompt) + line_length);
}

// The first row of a batch that is not empty, as a batch of its own.
Batch front_row(const Batch& batch) {
  Batch row = batch;
  const auto rows = static_cast<size_t>(batch.B);
  row.B = 1;
  for (auto* part :
       {&row.tokens, &row.targets, &row.source, &row.key_lengths, &row.target_lengths, &row.types})
    part->resize(part->size() / rows);
  return row;
}

// Gives each row's source, with its length, to the next row.
Batch with_exchanged_sources(Batch batch) {
  const auto one = [&](std::vector<int32_t>& part) {
    const auto row = static_cast<std::ptrdiff_t>(part.size()) / batch.B;
    std::rotate(part.begin(), part.begin() + row, part.end());
  };
  one(batch.source);
  one(batch.key_lengths);
  return batch;
}

constexpr int32_t kSourceBatches = 4;  // enough to see a difference of a tenth of a nat

/// A row of the validation split, the middle one by length where rows differ in length.
Batch validation_row(const Task& task, uint64_t seed, int32_t sequence) {
  const auto middle = static_cast<uint64_t>(task.validation_batches(1, sequence) / 2 + 1);
  return front_row(task.draw(seed, middle, Split::Validation, 1, sequence));
}

}  // namespace

Batch measured_row(const Task& task, int32_t sequence) {
  constexpr uint64_t kSeed = 1;  // not the run's: another seed gives another network, but the same sequence
  return validation_row(task, kSeed, sequence);
}

Program evaluation_program(Store& store, const ModelConfig& model, const BatchShape& shape,
                           const std::vector<std::string>& left_out, std::vector<LayerMemory>* memories) {
  Tape tape(store);
  RecordOptions options = record_options(shape, false, memories ? model.memory : 0);
  options.left_out = left_out;
  ModelValues values = record_model(tape, model, options);
  if (options.memory > 0) *memories = std::move(values.memories);
  return seal(tape, {.loss = values.loss,
                     .backward = false,
                     .reuse_bytes = options.memory == 0,
                     .keep_probabilities = false});
}

Validator::Validator(Store& store, const ModelConfig& model, const Task& task, uint64_t seed, int32_t batch,
                     const std::vector<std::string>& left_out, int32_t most)
    : classes_(model.classes), accuracy_(std::numeric_limits<double>::quiet_NaN()) {
  const int32_t count = std::min(most, task.validation_batches(batch, model.sequence));
  for (int32_t i = 1; i <= count; ++i) {
    const auto step = static_cast<uint64_t>(i);
    ValidationBatch& drawn = batches_.emplace_back(
        ValidationBatch{task.draw(seed, step, Split::Validation, batch, model.sequence), nullptr, 0,
                        task.goes_on(step, Split::Validation, batch, model.sequence)});
    const BatchShape shape = shape_of(drawn.batch);
    auto program = programs_.find(shape);
    if (program == programs_.end())
      program = programs_.emplace(shape, evaluation_program(store, model, shape, left_out, &memories_)).first;
    drawn.program = &program->second;
    drawn.targets = std::ranges::count_if(drawn.batch.targets, [](int32_t t) { return t >= 0; });
  }
}

double Validator::measure() { return mean_loss(false); }
double Validator::measure_exchanged() { return mean_loss(true); }

double Validator::mean_loss(bool exchanged) {
  double sum = 0;
  int64_t targets = 0, correct = 0;
  SegmentMemory memory;
  for (ValidationBatch& drawn : batches_) {
    if (drawn.targets == 0) continue;  // a mean over nothing is undefined
    put(exchanged ? with_exchanged_sources(drawn.batch) : drawn.batch, *drawn.program);
    memory.fill(*drawn.program, memories_, drawn.goes_on);
    drawn.program->replay({});
    memory.take(*drawn.program, memories_);
    sum += drawn.program->loss() * static_cast<double>(drawn.targets);
    targets += drawn.targets;
    if (classes_ > 0) correct += right(drawn);
  }
  if (classes_ > 0 && !exchanged) accuracy_ = static_cast<double>(correct) / static_cast<double>(targets);
  return sum / static_cast<double>(targets);
}

double source_use(Store& store, const ModelConfig& model, const Task& task, uint64_t seed, int32_t batch) {
  if (task.form() != TaskForm::Translate || batch < 2) return std::numeric_limits<double>::quiet_NaN();
  Validator validator(store, model, task, seed, batch, {}, kSourceBatches);
  return validator.measure_exchanged() - validator.measure();
}

int64_t Validator::right(const ValidationBatch& drawn) const {
  const std::vector<float> logits = drawn.program->read("logits");
  int64_t count = 0;
  for (size_t r = 0; r < drawn.batch.targets.size(); ++r) {
    if (drawn.batch.targets[r] < 0) continue;
    const auto classes = static_cast<size_t>(classes_);
    count += place_of_largest(std::span(logits).subspan(r * classes, classes)) == drawn.batch.targets[r];
  }
  return count;
}

// Inverts the cumulative distribution at the symbol's random number.
int32_t drawn_symbol(std::span<const float> logits, const Draws& draws, uint64_t place) {
  if (draws.temperature <= 0) return place_of_largest(logits);
  const double largest = *std::ranges::max_element(logits);
  std::vector<double> cumulative;
  double sum = 0;
  for (const float logit : logits)
    cumulative.push_back(sum += std::exp((static_cast<double>(logit) - largest) / draws.temperature));
  const uint32_t word = random_word(place, site_of("sample"), 0, Purpose::Sample, draws.seed);
  const double wanted = (static_cast<double>(word) + 0.5) * 0x1p-32 * sum;
  const auto drawn = std::ranges::find_if(cumulative, [&](double upto) { return wanted < upto; });
  return static_cast<int32_t>(std::min(drawn, cumulative.end() - 1) - cumulative.begin());
}

Writer::Writer(Store& store, const ModelConfig& model, const Task& task, uint64_t seed, int32_t line_length)
    : seed_(seed), form_(task.form()), end_(task.end()), line_length_(line_length) {
  if (form_ == TaskForm::NextSymbol) {
    prompt_ = prompt_of(task, seed, model.sequence);
    program_.emplace(evaluation_program(store, model, {1, window_of(model, prompt_.size(), line_length)}));
    for (int32_t& target : program_->tokens("targets")) target = -1;
  } else {
    row_ = validation_row(task, seed, model.sequence);
    if (form_ == TaskForm::Translate)
      prompt_ = {task.begin()};
    else
      prompt_ = row_.tokens;
    program_.emplace(evaluation_program(store, model, shape_of(row_)));
    put(row_, *program_);
  }
  prompt_length_ = static_cast<int32_t>(prompt_.size());
  restart();
}

void Writer::restart() { line_ = prompt_; }

bool Writer::advance() {
  if (form_ == TaskForm::Translate) return advance_translation();
  if (form_ != TaskForm::NextSymbol) return fill_in();
  if (static_cast<int32_t>(line_.size()) - prompt_length_ >= line_length_) restart();
  // The window starts with the line and, once full, holds its newest part. It is left-aligned: causality masks what
  // follows.
  const auto window = program_->tokens("tokens");
  const size_t shown = std::min(line_.size(), window.size());
  std::copy(line_.end() - static_cast<std::ptrdiff_t>(shown), line_.end(), window.begin());
  std::fill(window.begin() + static_cast<std::ptrdiff_t>(shown), window.end(), 0);
  program_->replay({});
  line_.push_back(draw(static_cast<int32_t>(shown) - 1));
  return static_cast<int32_t>(line_.size()) - prompt_length_ >= line_length_;
}

int32_t Writer::draw(int32_t row) {
  const std::vector<float> logits = program_->read("logits");
  const size_t vocabulary = logits.size() / program_->tokens("tokens").size();
  return drawn_symbol(std::span(logits).subspan(static_cast<size_t>(row) * vocabulary, vocabulary),
                      {.temperature = 1, .seed = seed_}, line_.size() - static_cast<size_t>(prompt_length_));
}

bool Writer::advance_translation() {
  const auto window = program_->tokens("tokens");
  const auto ended = [&] {
    return line_.back() == end_ || line_.size() > window.size() ||
           static_cast<int32_t>(line_.size()) > line_length_;
  };
  if (ended()) restart();
  std::fill(std::copy(line_.begin(), line_.end(), window.begin()), window.end(), 0);
  program_->replay({});
  line_.push_back(most_probable(static_cast<int32_t>(line_.size()) - 1));
  return ended();
}

// Takes one pass: the predicted symbols take their places, or only the class of a row is shown.
bool Writer::fill_in() {
  program_->replay({});
  if (row_.targets.size() == 1) {
    line_ = {most_probable(0)};
    return true;
  }
  line_ = row_.tokens;
  for (size_t t = 0; t < line_.size(); ++t)
    if (row_.targets[t] >= 0) line_[t] = most_probable(static_cast<int32_t>(t));
  return true;
}

int32_t Writer::most_probable(int32_t row) const {
  const std::vector<float> logits = program_->read("logits");
  const size_t outcomes = logits.size() / row_.targets.size();
  return place_of_largest(std::span(logits).subspan(static_cast<size_t>(row) * outcomes, outcomes));
}

std::string Writer::text(const Task& task) const {
  if (form_ == TaskForm::Translate) return task.decode(line_) + " \u2190 " + task.decode(row_.source);
  if (form_ == TaskForm::Classify) return task.class_name(line_.front()) + " \u2190 " + task.question(row_);
  if (form_ == TaskForm::Masked) return task.decode(line_);
  const size_t hidden = prompt_length_ > 1 ? 0 : 1;  // a single symbol is not a question worth showing
  return task.decode(std::span(line_).subspan(hidden));
}

}  // namespace normscope

// See measured_sequence.h.
#include "training/run/measured_sequence.h"

#include "engine/model/record_model.h"
#include "engine/tape/seal.h"
#include "training/run/evaluate.h"
#include "training/run/network.h"

namespace normscope {

Batch measured_row(const Task& task, int32_t sequence) {
  constexpr uint64_t kSeed = 1;  // not the run's: another seed gives another network, but the same sequence
  return validation_row(task, kSeed, sequence);
}

MeasuredSequence::Recorded MeasuredSequence::record(Store& store, const ModelConfig& model,
                                                    const Batch& row) {
  Tape tape(store);
  RecordOptions options = record_options(shape_of(row), false);
  options.probes = true;  // they bring the length of a padded target row with them
  ModelValues values = record_model(tape, model, options);
  Program program = seal(tape, {.loss = values.loss, .backward = false});
  put(row, program);
  return {std::move(values), std::move(program)};
}

MeasuredSequence::MeasuredSequence(Store& store, const ModelConfig& model, const Batch& row)
    : MeasuredSequence(record(store, model, row), model) {}

MeasuredSequence::MeasuredSequence(Recorded recorded, const ModelConfig& model)
    : program_(std::move(recorded.program)), live_(program_, recorded.values, model) {}

void MeasuredSequence::measure(std::span<double> out) {
  program_.replay({});
  live_.measure(out);
}

}  // namespace normscope

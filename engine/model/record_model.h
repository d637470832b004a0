// Records any model of a ModelConfig: code that trains, validates or measures a run need not know its architecture.
#pragma once

#include "engine/model/transformer.h"

namespace normscope {

inline ModelValues record_model(Tape& tape, const ModelConfig& config, const RecordOptions& options) {
  return row_of(config.architecture).record(tape, config, options);
}

}  // namespace normscope

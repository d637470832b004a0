// `record_model` records any model of a ModelConfig: code that trains, validates or measures a run need not know its
// architecture.
#pragma once

#include "engine/model/transformer.h"

namespace normscope {

/// It calls record_transformer, record_convolutions or record_parser.
ModelValues record_model(Tape& tape, const ModelConfig& config, const RecordOptions& options);

}  // namespace normscope

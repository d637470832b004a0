// Any model of a ModelConfig, on a tape: what trains, validates or measures a run asks here and need not know which
// architecture it has.
#pragma once

#include "engine/model/transformer.h"

namespace normscope {

/// record_transformer, record_convolutions or record_parser.
ModelValues record_model(Tape& tape, const ModelConfig& config, const RecordOptions& options);

}  // namespace normscope

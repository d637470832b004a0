// What every recorder of a model is built from: a parameter with its start, a norm of any kind, an activation.
// Called by model/transformer.cpp and model/parser.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "engine/core/initial_values.h"
#include "engine/model/model_config.h"
#include "engine/tape/tape.h"

namespace normscope {

/// Declares it in the tape's Store (`layer` 0: outside the layers) and puts it on the tape.
ValueId record_parameter(Tape& tape, const std::string& name, Shape shape, Init init, int32_t layer,
                         bool trainable = true);

/// The norm of x (..,D) with the parameters that its kind has: NAME.gain from 1, NAME.bias from 0, NAME.alpha from
/// config.dyt_alpha. x itself for kind None. With heads > 1 each head's part of a row is a row of its own.
ValueId record_norm(Tape& tape, const ModelConfig& config, const std::string& name, NormKind kind, ValueId x,
                    int32_t layer, int32_t heads = 1);

/// config.activation of x.
ValueId record_activation(Tape& tape, const ModelConfig& config, const std::string& name, ValueId x);

}  // namespace normscope

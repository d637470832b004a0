// A passage is the one text that `inside_of` measures, as the batch that asks a model for its symbols.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/model/model_config.h"
#include "training/data/task.h"

namespace normscope {

/// Throws Error unless the model is a decoder or an encoder that reads symbols, `require_language` also
/// where it says classes, and `require_tokens` unless the model has these symbols and as many positions.
void require_stack(const ModelConfig& model);
void require_language(const ModelConfig& model);
void require_tokens(const ModelConfig& model, std::span<const int32_t> tokens);

/// Asks a decoder for the next symbol, and an encoder for each symbol where it stands. `types` are the kinds of the
/// symbols; empty: all are of one. Throws Error as require_language and require_tokens do.
Batch passage_batch(const ModelConfig& model, std::vector<int32_t> tokens, std::vector<int32_t> types = {});

}  // namespace normscope

// A passage is the text that `inside_of` measures, as a batch with its targets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/model/model_config.h"
#include "training/data/task.h"

namespace normscope {

/// Throws Error unless the model is a decoder or an encoder that reads symbols, `require_language` also if its output
/// is a class, and `require_tokens` unless the model has these symbols and enough positions.
void require_stack(const ModelConfig& model);
void require_language(const ModelConfig& model);
void require_tokens(const ModelConfig& model, std::span<const int32_t> tokens);

/// The targets are the next symbols for a decoder, the symbols themselves for an encoder. `types` are the kinds of the
/// symbols; empty: all have one kind. Throws Error as require_language and require_tokens do.
Batch passage_batch(const ModelConfig& model, std::vector<int32_t> tokens, std::vector<int32_t> types = {});

}  // namespace normscope

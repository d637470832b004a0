#include "addons/published/training/passage.h"

#include <utility>

#include "addons/published/training/token_task.h"
#include "engine/core/error.h"
#include "training/spec/spec_fields.h"

namespace normscope {

void require_stack(const ModelConfig& model) {
  const bool one = model.architecture == Architecture::Decoder || model.architecture == Architecture::Encoder;
  if (!one || model.gaussian_input)
    fail("inside", "the model reads no single text of symbols: expected a decoder or an encoder");
}

void require_language(const ModelConfig& model) {
  require_stack(model);
  if (model.classes > 0) fail("inside", "the model says a class and no symbols: expected a language model");
}

void require_tokens(const ModelConfig& model, std::span<const int32_t> tokens) {
  if (tokens.empty()) fail("inside", "the text is empty: expected at least one symbol");
  if (tokens.size() > static_cast<size_t>(model.sequence))
    fail("inside", "the text has {} symbols, and the model {} positions: expected at most as many",
         tokens.size(), model.sequence);
  for (const int32_t token : tokens)
    if (token < 0 || token >= model.vocabulary)
      fail("inside", "token {} is beyond the model's table of symbols: expected 0 to {}", token,
           model.vocabulary - 1);
}

Batch passage_batch(const ModelConfig& model, std::vector<int32_t> tokens, std::vector<int32_t> types) {
  require_language(model);
  require_tokens(model, tokens);
  Batch batch(1, static_cast<int32_t>(tokens.size()));
  batch.tokens = batch.targets = std::move(tokens);
  batch.types = std::move(types);
  if (model.architecture == Architecture::Decoder) {
    batch.targets.erase(batch.targets.begin());
    batch.targets.push_back(-1);
  }
  return batch;
}

// The setting of a passage.

namespace {

constexpr char kPassage[] = "passage";

}  // namespace

void add_passage_setting(std::vector<Field>& fields) {
  Field field = source<of_data<&PassageData::text>, kPassage, true>(
      {"data.passage", "passage", "",
       "A text to learn from, spelled out, in the tokens of a published model (data.tokenizer)."});
  field.file = false;
  insert_behind(fields, "data.text", {field});
  add_help(fields, "data.name", "Or a passage, in a published model's tokens.");
  add_help(fields, "data.tokenizer",
           "For a text or passage, the folder of a published model whose tokenizer cuts it.");
  add_help(fields, "train.init_from", "It may also be the folder of a published model.");
}

}  // namespace normscope

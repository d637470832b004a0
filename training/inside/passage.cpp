#include "training/inside/passage.h"
#include "engine/core/error.h"
namespace normscope {
Batch passage_batch(const ModelConfig& model, std::vector<int32_t> tokens) {
  for (const int32_t id : tokens)
    if (id >= model.vocabulary)
      fail("text", "token {} is beyond the model's table of symbols: expected 0 to {}", id,
           model.vocabulary - 1);
  Batch batch(1, static_cast<int32_t>(tokens.size()));
  batch.tokens = batch.targets = std::move(tokens);
  if (model.architecture == Architecture::Decoder) {
    batch.targets.erase(batch.targets.begin());
    batch.targets.push_back(-1);
  }
  return batch;
}
}  // namespace normscope

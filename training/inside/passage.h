#pragma once
#include "engine/model/model_config.h"
#include "training/data/task.h"
namespace normscope {
Batch passage_batch(const ModelConfig& model, std::vector<int32_t> tokens);
}

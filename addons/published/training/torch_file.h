// The tensors of a file that torch.save wrote, such as pytorch_model.bin: a zip archive of a pickle and the numbers of
// each storage. A pickle is a program. This reader runs none of it: it knows the few instructions that put tensors
// together, and refuses a pickle that asks for anything else, naming it. An object of another class is only its
// attributes, so that a model that was saved whole (torch.save(model)) has its parameters, and the class is never
// looked for. Before version 1.6 there was no archive: the pickles and the numbers follow each other. A tensor that is a
// view of others' numbers, as a transposed matrix is, is copied row by row.
//
// Promises: as gguf.h's.
#pragma once

#include <span>
#include <string>

#include "addons/published/training/gguf.h"

namespace normscope::published {

/// The tensors lie in `bytes`, which must outlive them; `name` stands for the path in errors. Throws Error.
WeightTensors tensors_of_torch(std::span<const uint8_t> bytes, const std::string& name);

/// What the file says of its model, as the text of a config.json: nanoGPT's model_args, or the config of a model that was
/// saved whole. Empty: it says nothing. Throws Error.
std::string config_of_torch(std::span<const uint8_t> bytes, const std::string& name);

/// Whether this is a regular file that is called and begins as a checkpoint of PyTorch does.
bool is_torch_file(const std::string& path);

}  // namespace normscope::published

// The tensors of a file that torch.save wrote, pytorch_model.bin: a zip archive of a pickle and the numbers of each
// storage. A pickle is a program. This reader runs none of it: it knows the few instructions that put tensors
// together, and refuses a pickle that asks for anything else, naming it. Before version 1.6 there was no archive: the
// pickles and the numbers follow each other. A tensor that is a view of others' numbers, as a transposed matrix is, is
// copied row by row.
//
// Promises: as gguf.h's.
#pragma once

#include <span>
#include <string>

#include "addons/published/training/gguf.h"

namespace normscope::published {

/// The tensors lie in `bytes`, which must outlive them; `name` stands for the path in errors. Throws Error.
WeightTensors tensors_of_torch(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace normscope::published

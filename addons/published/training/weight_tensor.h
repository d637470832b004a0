// A tensor of a published model's files: numbers one by one, as in safetensors, or in blocks of few bits that share a scale,
// as in GGUF. Numbers become floats a stretch at a time, so that a whole tensor never takes memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"
#include "training/io/safetensors.h"

namespace normscope::published {

struct NumberType {
  std::string_view name;
  size_t numbers, bytes;                                        ///< of a block
  void (*read)(const uint8_t* from, size_t blocks, float* to);  ///< null: they are no floats
};

const NumberType& number_type(TensorType type);
/// By the number that GGUF has for it; null: it is not read here.
const NumberType* gguf_type(uint32_t number);
Message gguf_types();  ///< "F32, F16, …"

struct WeightTensor {
  std::string file;
  const NumberType* type = nullptr;
  TensorShape shape;
  std::span<const uint8_t> bytes;

  size_t size() const { return bytes.size() / type->bytes * type->numbers; }
  /// So many numbers from one on; `room` is where they are put.
  std::span<const float> numbers(size_t first, size_t count, std::vector<float>& room) const;
};

}  // namespace normscope::published

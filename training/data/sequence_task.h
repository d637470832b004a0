// The sequence tasks are copy, reverse and sort as language modelling.
//
// A row is  x1 .. xn SEP y1 .. yn  with n = T/2 symbols drawn uniformly from 32 and y = x copied, reversed or sorted.
// The model reads the row shifted by one; targets on the input part are -1, so the loss is on y alone. An odd T
// leaves one position at the end, which is ignored too.
#pragma once

#include <cstdint>
#include <memory>

#include "training/data/task.h"

namespace normscope {

inline constexpr int32_t kSequenceSymbols = 32;
inline constexpr int32_t kSeparator = kSequenceSymbols;  ///< the symbol after the last one

enum class SequenceRule : uint8_t { Copy, Reverse, Sort };

std::shared_ptr<const Task> make_sequence_task(SequenceRule rule, int32_t context);

}  // namespace normscope

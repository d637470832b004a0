// See error.h.
#pragma once

#include "engine/core/error.h"

namespace normscope {

/// Says that memory could not be had, before anything was done with it.
struct MemoryError : Error {
  using Error::Error;
};

}  // namespace normscope

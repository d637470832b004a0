#include "engine/core/shape.h"

#include "engine/core/error.h"

namespace normscope {

void refuse_rank(size_t dimensions) { fail("shape", "{} dimensions: expected at most four", dimensions); }

void require_shape(std::string_view where, std::string_view name, const Shape& shape) {
  constexpr int64_t kMax = int64_t{1} << 40;
  int64_t size = 1;
  for (int i = 0; i < shape.rank; ++i) {
    if (shape[i] < 1) fail(where, "{} {}: expected dimensions of at least 1", name, to_string(shape));
    if (shape[i] > kMax / size) fail(where, "{} {}: expected at most 2^40 numbers", name, to_string(shape));
    size *= shape[i];
  }
  if (shape.rank == 0) fail(where, "{} has no dimensions: expected one to four", name);
}

}  // namespace normscope

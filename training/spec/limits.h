// The upper limits of a run, wherever its numbers come from; docs/files.md says the same.
#pragma once

#include <cstddef>
#include <cstdint>

namespace normscope {

struct RunSpec;

/// The longest budget, and the last step that a run can have.
inline constexpr int32_t kMostSteps = 10'000'000;
/// The last step that an edit or a milestone may name; `kMostEdits` is how many edits a run may have.
inline constexpr int32_t kLastEdit = 100'000'000;
inline constexpr size_t kMostEdits = 100'000;
/// The most bytes in the value of a field: a path, a name, a list of steps.
inline constexpr size_t kLongestText = 4096;

/// Roughly the bytes that training takes: see require_bytes in core/machine.h.
int64_t estimated_bytes(const RunSpec& spec);

}  // namespace normscope

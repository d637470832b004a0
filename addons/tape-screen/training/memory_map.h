// The memory of a Program as address by time: every buffer from the instruction that first writes it to the last that
// reads it, and what sharing saves over giving every tensor its own place. Called by normscope tape --memory.
#pragma once

#include "engine/tape/program.h"

namespace normscope {

enum class BufferKind : uint8_t { Weight, Moments, Batch, Workspace, Activation, Saved, Gradient };
const char* to_string(BufferKind kind);  ///< "weight", "moments", ...

/// A tensor, or a block without parts (moments, workspace).
struct Buffer {
  BufferKind kind = BufferKind::Activation;
  std::string name;       ///< its value's; `kind` says "gradient of"
  ValueId value = kNone;  ///< kNone: a block
  int32_t layer = 0;
  size_t address = 0, bytes = 0;          ///< counted from the beginning of the map
  int32_t first = 0, last = 0;            ///< instructions, both included
  std::vector<int32_t> writers, readers;  ///< instructions; adding to a gradient is writing
};

/// A block of the plan: "weights", "moments", "batch", "workspace", "activations", "gradients".
struct MemorySegment {
  std::string name;
  size_t address = 0, bytes = 0;
  size_t apart = 0;  ///< bytes if every tensor had its own place
};

struct MemoryMap {
  std::vector<Buffer> buffers;  ///< by address, then by first instruction
  std::vector<MemorySegment> segments;
  int32_t instructions = 0;
  size_t planned = 0, apart = 0;  ///< bytes: as planned; if every tensor had its own place
  size_t most = 0;                ///< most bytes of buffers that are alive at once,
  int32_t most_at = 0;            ///< and the first instruction where they are
};

/// The memory map of a sealed program. A kernel counts as reader of what its op declares (ops/rules.h). Weights,
/// moments and workspace exist throughout; a batch input from the beginning to its last reader.
MemoryMap memory_map(const ProgramData& program);

/// Writes a line for each buffer, then the segments and totals.
std::string to_string(const MemoryMap& map);

}  // namespace normscope

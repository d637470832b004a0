// Phase two: a `Program` is the compiled Tape, made by seal(): a flat array of plain instructions over fixed memory.
// Phase three: replay() runs it once. A replay allocates nothing, locks nothing and throws nothing. Every
// intermediate and its gradient stays readable until the next replay, unless SealOptions.reuse_bytes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/tape/backend.h"
#include "engine/tape/step_inputs.h"
#include "engine/tape/tape.h"

namespace normscope {

enum class Phase : uint8_t { Forward, Backward, Update };
const char* to_string(Phase phase);  ///< "forward"

/// How a backward instruction writes one input's gradient. Note [assign or add]: the first writer in
/// execution order assigns, later writers add; seal decides that once, so nothing is ever zeroed.
enum class Write : uint8_t { Skip, Assign, Add };

/// A node and the phase that runs it. Probes and updates have no node and fill the same members themselves.
struct Instruction : Node {
  Phase phase = Phase::Forward;
  int32_t node = -1;              ///< its node; -1 for clip and optimizer
  std::vector<Write> write = {};  ///< backward: one for each forward input
  bool of_gradient = false;       ///< probe: reads the gradient of in[0]
  int32_t stat = -1;              ///< first of its numbers in the stats block
};

/// Names one number of the stats block.
struct StatInfo {
  std::string name;  ///< "loss", "L03.attn.wq.grad_norm", "L03.attn.out.mean_square", "clip.factor"
  int32_t layer = 0;
};

/// Where everything is. Offsets are in floats; every tensor starts on a 64-byte line.
struct MemoryPlan {
  std::vector<size_t> value_offset;     ///< by ValueId: in the input block, the Store or the activation block
  std::vector<size_t> gradient_offset;  ///< by ValueId; kNoOffset when it has none
  /// By ValueId: whether later tensors use its place again; empty = none does.
  std::vector<bool> value_reused, gradient_reused;
  /// Activations and gradients may lie where the backend's other programs have theirs.
  bool shared = false;
  size_t inputs = 0, activations = 0, gradients = 0, workspace = 0;  ///< sizes in floats
};
inline constexpr size_t kNoOffset = ~size_t{0};

struct ProgramData {
  std::vector<ValueInfo> values;
  std::vector<Node> nodes;
  std::vector<Instruction> instructions;
  ValueId loss = kNone;  ///< whose gradients are taken: its own gradient is one, and no instruction writes it
  std::vector<StatInfo> stats;
  std::vector<int32_t> parameter_order;  ///< trainable parameters with a gradient, as in the stats block
  int32_t grad_norm_stat = -1, update_norm_stat = -1,
          weight_norm_stat = -1;  ///< first of one number for each parameter
  int32_t loss_stat = -1, clip_stat = -1, total_grad_norm_stat = -1;
  MemoryPlan plan;
  Store* store = nullptr;
};

class Program {
 public:
  Program(ProgramData data, Backend& backend);
  Program(Program&&) noexcept = default;
  Program& operator=(Program&&) noexcept = default;

  const ProgramData& data() const { return *data_; }
  /// The host memory of a batch input, by name: fill it before replay. Throw for an unknown name or the wrong type.
  std::span<int32_t> tokens(std::string_view name);
  std::span<float> floats(std::string_view name);
  /// The stats block of the last replay, as data().stats names it.
  std::span<const double> stats() const;
  double stat(std::string_view name) const;  ///< by name; throws for an unknown one
  double loss() const { return stats()[static_cast<size_t>(data_->loss_stat)]; }
  /// Copies a value, or its gradient, of the last replay.
  std::vector<float> read(std::string_view name, bool gradient = false) const;
  /// Copies host.size() numbers of a value, from `first` on (of the first sequences of a batch, say); it allocates
  /// nothing.
  void read_part(ValueId value, std::span<float> host, size_t first = 0) const;
  /// Does one forward, backward and update. Inputs of the batch must have been filled.
  void replay(const StepInputs& inputs) noexcept;
  /// Afterwards no gradient can be read until the next replay; where the backend can, their memory is free meanwhile.
  void drop_gradients() { executable_->drop_gradients(); }
  Executable& executable() { return *executable_; }  ///< for tools that look inside (tests/cuda/shadow.h)

 private:
  /// Where a value or gradient lies that kept its memory.
  struct Buffer {
    const float* at;
    size_t size;
  };
  Buffer kept(std::string_view name, bool gradient) const;

  std::unique_ptr<ProgramData> data_;  // stable address: the executable refers to it
  std::unique_ptr<Executable> executable_;
};

}  // namespace normscope

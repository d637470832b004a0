// Phase two: a `Program` is the compiled Tape, made by seal(): a flat array of plain instructions over fixed memory.
// Phase three: replay() runs it once. It allocates nothing, throws nothing once the step's inputs are found to be whole,
// and waits for nobody but another replay of the same backend. Every intermediate and its gradient stays readable until
// the next replay, unless SealOptions.reuse_bytes.
#pragma once

#include <concepts>
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

/// A node and the phase that runs it. Probes and updates come from no node and fill the same members themselves.
struct Instruction : Node {
  Phase phase = Phase::Forward;
  int32_t node = -1;              ///< index of the node; -1: none (probes, all of the update phase)
  std::vector<Write> write = {};  ///< backward: one for each forward input
  bool of_gradient = false;       ///< probe: reads the gradient of in[0]
  int32_t stat = -1;              ///< first of the instruction's numbers in the stats block; -1: none
};

/// Names one number of the stats block.
struct StatInfo {
  std::string name;  ///< "loss", "L03.attn.wq.grad_norm", "L03.attn.out.mean_square", "clip.factor"
  int32_t layer = 0;
};

/// Where every tensor lies, by ValueId. Offsets are in floats; every tensor starts on a 64-byte line.
struct MemoryPlan {
  std::vector<size_t> value_offset;     ///< in the input, Store or activation block; kNoOffset: not stored
  std::vector<size_t> gradient_offset;  ///< kNoOffset: no gradient
  /// Whether later tensors may overwrite it within a replay; empty: no tensor is overwritten.
  std::vector<bool> value_reused, gradient_reused;
  /// Activations and gradients may share their memory with the backend's other programs.
  bool shared = false;
  size_t inputs = 0, activations = 0, gradients = 0, workspace = 0;  ///< sizes in floats
};
inline constexpr size_t kNoOffset = ~size_t{0};

struct ProgramData {
  std::vector<ValueInfo> values;
  std::vector<Node> nodes;
  std::vector<Instruction> instructions;
  ValueId loss = kNone;  ///< what backward differentiates: its gradient is one, and no instruction writes it
  std::vector<StatInfo> stats;
  std::vector<int32_t> parameter_order;  ///< trainable parameters with a gradient, as in the stats block
  int32_t grad_norm_stat = -1, update_norm_stat = -1,
          weight_norm_stat = -1;        ///< first of as many numbers as parameter_order has
  bool updates = false, clips = false;  ///< it ends in an update, before which it clips
  int32_t loss_stat = -1, clip_stat = -1, total_grad_norm_stat = -1;
  MemoryPlan plan;
  std::shared_ptr<Store> store;
  uint32_t tape = 0;  ///< the number of the tape that it was sealed from
};

/// Gives the inputs of its step t = 1, 2, ...
template <typename T>
concept StepRule = requires(const T& rule, uint32_t t) {
  { rule.step(t) } -> std::same_as<StepInputs>;
};

class Program {
 public:
  Program(ProgramData data, Backend& backend);
  Program(Program&&) noexcept = default;
  Program& operator=(Program&& other) noexcept;

  const ProgramData& data() const {
    if (!data_) refuse_moved();
    return *data_;
  }
  /// The host memory of a batch input, by name: fill it before replay. Throws for an unknown name or the wrong type.
  std::span<int32_t> tokens(std::string_view name);
  std::span<float> floats(std::string_view name);
  /// The stats block of the last replay, as data().stats names it.
  std::span<const double> stats() const;
  double stat(std::string_view name) const;  ///< by name; throws for an unknown one
  double loss() const;                       ///< throws where none was sealed
  /// For a batch of fewer rows than were sealed: gives the first n rows of the loss the weight 1 and the others 0. These
  /// must hold finite numbers and change nothing. Throws unless the weights of the loss are an input with n or more rows.
  void fill_rows(int64_t n);
  /// The rows that counted in the loss of the last replay: those with a target and a weight. Throws for a loss that is
  /// no mean over rows.
  int64_t counted_rows() const;
  /// Copies a value, or its gradient, of the last replay.
  std::vector<float> read(std::string_view name, bool gradient = false) const;
  /// Copies host.size() numbers of a value from index `first` on (the first sequences of a batch, say), and allocates
  /// nothing. Leaves `host` as it is where the value is not stored or was overwritten; throws beyond the value's end.
  void read_part(ValueId value, std::span<float> host, size_t first = 0) const;
  /// Does one forward, backward and update. Inputs of the batch must have been filled. Throws for an update without a
  /// rate, a clip that was not sealed and dropout without its scale.
  void replay(const StepInputs& inputs);
  /// Makes the next step of the Store by a rule such as Adam{.lr = 1e-3f}, whose step(t) gives the inputs of step t.
  /// Counts the step (Store::steps), which replay(StepInputs) does not. Throws where nothing is updated.
  template <StepRule Rule>
  void replay(const Rule& rule) {
    const uint32_t t = next_step();
    replay(rule.step(t));
    count_steps(t);
  }
  /// Frees the memory of gradients where the backend can: none can be read until the next replay.
  void drop_gradients() { running().drop_gradients(); }
  Executable& executable() { return running(); }  ///< to run single instructions (tests/cuda/shadow.h)

 private:
  /// The memory of a value or gradient that no later tensor overwrote.
  struct Buffer {
    const float* at;
    size_t size;
  };
  Buffer kept(std::string_view name, bool gradient) const;
  const Node& mean_over_rows() const;
  Executable& running() const {
    data();
    return *executable_;
  }
  [[noreturn]] static void refuse_moved();
  void check(const StepInputs& inputs) const;
  uint32_t next_step() const;
  void count_steps(uint32_t steps);

  std::unique_ptr<ProgramData> data_;  // stable address: the executable refers to it
  std::unique_ptr<Executable> executable_;
};

}  // namespace normscope

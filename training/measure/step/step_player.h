// Executes one training step of a run one instruction at a time on a copy, with a Store and a program of
// its own, so that the run never notices. Every tensor keeps its memory, whatever the run's plan. Called by normscope
// tape --values and --check; made by Run::play_next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/tape/program.h"
#include "engine/tape/seal.h"
#include "engine/tape/store.h"

namespace normscope {

/// Names a tensor of the step: a value or its gradient.
struct TensorId {
  ValueId value = kNone;
  bool gradient = false;
  friend bool operator==(const TensorId&, const TensorId&) = default;
};

/// A number that is not finite and the instruction that wrote it, or a number whose square is not
/// finite and the instruction that measured it.
struct NotFinite {
  size_t instruction = 0;
  TensorId tensor;
  int64_t element = 0;
};

class StepPlayer {
 public:
  using Recorder = std::function<ValueId(Tape&)>;  ///< records the model, returns the loss

  /// `store` is the player's own, as before the step; `inputs` are the step's. The batch is zero until program() is
  /// filled. `options` has the run's update and clip; loss and memory are set here. Throws Error as seal does.
  StepPlayer(Store store, const Recorder& record, SealOptions options, const StepInputs& inputs);
  StepPlayer(const StepPlayer&) = delete;
  StepPlayer& operator=(const StepPlayer&) = delete;

  Program& program() { return *program_; }
  const ProgramData& data() const { return program_->data(); }
  const StepInputs& inputs() const { return inputs_; }

  size_t size() const { return data().instructions.size(); }
  size_t position() const { return position_; }  ///< number of executed instructions
  /// Executes up to `position`; begins anew when it lies before the present one: the state is as if a step had been
  /// played exactly so far, to the bit. Throws Error beyond size().
  void seek(size_t position);

  /// These list what an instruction reads (see backward_reads) and writes, in the order of its listing.
  std::vector<TensorId> reads(size_t instruction) const;
  std::vector<TensorId> writes(size_t instruction) const;
  std::string name(TensorId tensor) const;  ///< "L01.ffn.sum", "gradient of L01.ffn.sum"
  Shape shape(TensorId tensor) const;
  /// Whether the tensor has its value of this step by now: parameters and batch always, others once written.
  bool is_there(TensorId tensor) const;

  /// These copy. They throw Error for a tensor without memory, or of the other type.
  std::vector<float> read(TensorId tensor) const;
  std::vector<int32_t> read_integers(ValueId value) const;

  /// Plays from the beginning and stops behind the first instruction that writes a number which is
  /// not finite; it plays to the end when there is none.
  std::optional<NotFinite> seek_not_finite();

 private:
  void restore_parameters();
  const float* address(TensorId tensor) const;
  std::optional<NotFinite> not_finite_of(size_t instruction) const;
  std::vector<TensorId> squared(size_t instruction) const;

  Store before_, store_;  ///< as the step finds them; as it leaves them
  StepInputs inputs_;
  std::optional<Program> program_;
  Executable* executable_ = nullptr;  ///< of program_
  std::vector<size_t> value_from_,
      gradient_from_;  ///< by ValueId: the number of executed instructions from which it exists
  size_t position_ = 0;
  bool updated_ = false;  ///< the parameters differ from before_
};

}  // namespace normscope

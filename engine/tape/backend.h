// The seam between the tape and a machine: one small abstract class, two implementations (cpu/, cuda/).
// Kernels are not virtual: lowering resolves them to tables of function pointers once per Program.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/tape/step_inputs.h"
#include "engine/tape/tape.h"

namespace normscope {

struct ProgramData;

/// A zero-filled, 64-byte aligned block in the backend's memory.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual size_t floats() const = 0;
  /// The address that kernels use: on the CPU an ordinary pointer.
  virtual float* data() const = 0;
};

/// The addresses of a Program's values and their gradients in the backend's memory.
class Addresses {
 public:
  virtual ~Addresses() = default;
  virtual float* value(ValueId id) const = 0;  ///< nullptr when the value has no memory
  virtual float* gradient(ValueId id) const = 0;
};

/// A Program's instructions bound to one backend's kernels and memory.
class Executable : public Addresses {
 public:
  virtual float* input(size_t offset) = 0;            ///< host memory of the batch block
  virtual std::span<const double> stats() const = 0;  ///< host memory of the stats block
  virtual void read(const float* device, std::span<float> host) const = 0;
  virtual void replay(const StepInputs&) noexcept = 0;
  /// Whether no other program has used its memory since it was replayed (MemoryPlan::shared).
  virtual bool keeps_results() const { return true; }
  /// Frees the memory of gradients, where a backend can, until the next replay writes them.
  virtual void drop_gradients() {}
  /// Runs only the instructions [first, end) of the program, for tools that examine single instructions (shadow).
  virtual void run(size_t first, size_t end, const StepInputs&) noexcept = 0;
  /// Overwrites memory at a backend address; it is the counterpart of read().
  virtual void write(float* device, std::span<const float> host) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  /// Another handle on the same threads and memory or the same device, which live as long as any of them. A backend
  /// that does not say how is lent: it outlives its stores and programs.
  virtual std::shared_ptr<Backend> share() { return {std::shared_ptr<Backend>(), this}; }
  virtual std::string_view name() const = 0;
  /// Whether the backend's memory is the host's: reading a tensor never waits for a copy, and no device can lose it.
  virtual bool on_host() const { return false; }
  virtual bool supports(OpKind op) const = 0;
  /// Whether every instruction ends before the next instruction of the program begins.
  virtual bool in_order() const { return true; }
  /// Whether backward computes attention's probabilities again, so that forward need not store them unless somebody
  /// reads them.
  virtual bool recomputes_probabilities() const { return false; }
  virtual std::unique_ptr<Memory> allocate(size_t floats) = 0;
  virtual void upload(Memory& to, size_t offset, std::span<const float> from) = 0;
  virtual void download(const Memory& from, size_t offset, std::span<float> to) = 0;
  virtual std::unique_ptr<Executable> lower(ProgramData& program) = 0;
  /// Waits for all work that was started. Throws DeviceError at this and every later call once the device has failed.
  virtual void wait() = 0;
  /// The text of the error of wait(); empty while the device works. After an error a replay yields NaN in every stat.
  virtual std::string error() const { return {}; }
};

}  // namespace normscope

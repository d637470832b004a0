// The seam between the tape and a machine: one small abstract class, two implementations (cpu/, cuda/).
// Kernels are not virtual: lowering resolves them to tables of function pointers once per Program.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// Where the values of a Program lie.
class Addresses {
 public:
  virtual ~Addresses() = default;
  virtual float* value(ValueId id) const = 0;  ///< backend address, nullptr when it has none
  virtual float* gradient(ValueId id) const = 0;
};

/// A Program's instructions bound to one backend's kernels and memory.
class Executable : public Addresses {
 public:
  virtual float* input(size_t offset) = 0;            ///< host memory of the batch block
  virtual std::span<const double> stats() const = 0;  ///< host memory of the stats block
  virtual void read(const float* device, std::span<float> host) const = 0;
  virtual void replay(const StepInputs&) noexcept = 0;
  /// For tools that look at single instructions (shadow): runs [first, end) of the program's instructions alone.
  virtual void run(size_t first, size_t end, const StepInputs&) noexcept = 0;
  /// Overwrites memory at a backend address; the counterpart of read().
  virtual void write(float* device, std::span<const float> host) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// Its memory is the host's: to read a tensor costs no copy that waits, and no tensor can be lost with a device.
  virtual bool on_host() const { return false; }
  virtual bool supports(OpKind op) const = 0;
  /// Every instruction ends before the next one begins, as they stand in the program.
  virtual bool in_order() const { return true; }
  /// Attention's probabilities need no memory where nobody looks at them: backward computes them again.
  virtual bool recomputes_probabilities() const { return false; }
  virtual std::unique_ptr<Memory> allocate(size_t floats) = 0;
  virtual void upload(Memory& to, size_t offset, std::span<const float> from) = 0;
  virtual void download(const Memory& from, size_t offset, std::span<float> to) = 0;
  virtual std::unique_ptr<Executable> lower(ProgramData& program) = 0;
  /// Waits for everything that was started. Throws DeviceError when the device has failed, from then on always.
  virtual void wait() = 0;
  /// What wait() would throw, in words; empty while all is well. After an error a replay yields NaN in every stat.
  virtual std::string error() const { return {}; }
};

}  // namespace normscope

// The machine is where the runs of a command train: the backend that --backend names, or the CPU after a device failed.
#pragma once

#include <memory>
#include <string>

#include "app/cli/options.h"
#include "training/spec/backend_choice.h"

namespace normscope::cli {

/// Throws CommandError: Exit::Usage for an option without its backend, Exit::Device where there is no
/// CUDA.
BackendChoice backend_of(const BackendOptions& options);

class Machine {
 public:
  /// Throws CommandError as backend_of() does.
  Machine(const BackendOptions& options, int32_t threads);
  Backend& backend() { return device_ ? *device_ : *cpu_; }
  Backend& cpu() { return *cpu_; }
  bool on_device() const { return device_ != nullptr; }
  /// Says on stderr why everything goes on on the CPU. Nothing may be on the device any more.
  void leave_device(const std::string& why);

 private:
  std::unique_ptr<Backend> cpu_, device_;
};

}  // namespace normscope::cli

#include "app/cli/machine.h"
#include "app/cli/terminal.h"

namespace normscope::cli {

BackendChoice backend_of(const BackendOptions& options) {
  const BackendChoice choice{options.backend == "cuda", options.tf32};
  if (choice.tf32 && !choice.cuda) throw CommandError(Exit::Usage, "--tf32: expected --backend cuda with it");
  if (!choice.cuda) return choice;
  if (const std::string reason = cuda_unavailable(); !reason.empty())
    throw CommandError(Exit::Device, "--backend cuda: " + reason);
  return choice;
}

Machine::Machine(const BackendOptions& options, int32_t threads) {
  const BackendChoice choice = backend_of(options);
  cpu_ = make_cpu_backend(threads);
  if (choice.cuda) device_ = with_exit(Exit::Device, [&] { return make_backend(choice, threads); });
}

void Machine::leave_device(const std::string& why) {
  complain(why + ": going on on the CPU");
  device_.reset();
}

}  // namespace normscope::cli

// normscope average writes the mean weights of saved states as a run that goes on.

#include "addons/translation/training/translator.h"
#include "app/commands/commands.h"
#include "engine/cpu/backend_cpu.h"
#include "training/session/analysis.h"

namespace normscope::commands {
using namespace cli;
namespace {

struct AverageOptions {
  std::vector<std::string> files;
  std::string out;
};

Exit average(const AverageOptions& options) {
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  const RunSpec spec = with_exit(Exit::Input, [&] { return Run::saved_spec(options.files.back()); });
  const std::shared_ptr<const Task> task = task_of(spec);
  // The run that is written goes on from the last state; only the weights become the mean.
  const auto run = with_exit(Exit::Input, [&] { return Run::load(options.files.back(), task, *backend); });
  std::vector<NamedFile> inputs = files_of(spec);
  for (const std::string& file : options.files) inputs.push_back({"average", file});
  check_outputs({{"--out", options.out}}, inputs);
  with_exit(Exit::Input, [&] { average_weights(options.files, run->store()); });
  with_exit(Exit::Internal, [&] { run->save(options.out); });
  say("{}: mean weights of {} states, step {}, validation loss {:.4f}\n", options.out, options.files.size(),
      run->steps_done(), loss_without(*run, {}));
  return Exit::Ok;
}

}  // namespace

void add_average(CLI::App& app, Command& command) {
  const auto [sub, options] = add_command(app, command, "average",
                                          "The mean weights of saved states, as a run that goes on", average);
  add_value(sub, "runs", options.files, "FILE", "saved states of one model")->required();
  add_value(sub, "--out", options.out, "FILE", "the run to write")->required();
}

}  // namespace normscope::commands

// What the commands that run experiments share: where results are kept, and the bars that tell how far they
// are.
#pragma once

#include <optional>
#include <string>

#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "app/experiments/runner.h"

namespace normscope::cli {

/// The folder of --store: `asked`, of "none" no folder, of "" one in the user's cache. Where nothing can be
/// kept there, that is said and the runs are trained all the same.
std::string results_folder(const std::string& asked, bool reads_only = false);

/// All of them without --shard. Throws CommandError(usage).
experiments::Shard shard_of(const StoreOptions& options);

/// "…: not a result that can be read, trained again", a line a file.
void complain_of(const std::vector<std::string>& damaged);

/// Both phases of experiments::train as progress bars; false: interrupted.
class Bars {
 public:
  bool operator()(const experiments::Progress& at);
  void finish();

 private:
  std::optional<Progress> bar_;
  bool looking_ = false;
  int64_t total_ = 0;
};

}  // namespace normscope::cli

// What the commands that run experiments share: where results are kept, and the bars that tell how far they
// are.
#pragma once

#include <optional>
#include <string>

#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "training/experiments/runner.h"

namespace normscope::cli {

/// The folder of --store: `asked`, of "none" no folder, of "" one in the user's cache, which alone has a limit. Where
/// nothing can be kept there, that is said and the runs are trained all the same. What only reads makes no folder.
experiments::StorePlace results_folder(const std::string& asked, bool reads_only = false);

/// All of them without --shard. Throws CommandError(usage).
experiments::Shard shard_of(const StoreOptions& options);

/// Throws CommandError(internal) where a folder that was asked for lacks what was trained. The cache was not: there
/// the line that Bars says is all.
void require_kept(const experiments::ResultStore& store);

/// What an interrupted command says, by what the store kept of it.
std::string interrupted_text(const experiments::ResultStore& store);

/// Both phases of experiments::train as progress bars; false: interrupted. That the store cannot keep something is said
/// at once, one time: whoever trains for days can make room.
class Bars {
 public:
  bool operator()(const experiments::Progress& at);
  void clear();  ///< the bar
  /// The same, and says what became of the store: a line a damaged file, and how many results made room.
  void finish(const experiments::ResultStore& store);

 private:
  void tell_unkept(const std::string& why);

  std::optional<Progress> bar_;
  bool told_ = false;
  bool looking_ = false;
  int64_t total_ = 0;
};

}  // namespace normscope::cli

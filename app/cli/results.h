// The results are what the commands that run experiments share: where results are kept, and the bars that show
// progress.
#pragma once

#include <optional>
#include <string>

#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "training/experiments/study.h"

namespace normscope::cli {

/// The folder of --store: `asked`, no folder for "none", and for "" a folder in the user's cache,
/// which is the only one with a size limit. Where nothing can be kept there, it says so and the runs are trained all
/// the same. With `reads_only` it makes no folder.
experiments::StorePlace results_folder(const std::string& asked, bool reads_only = false);

/// The whole without --shard. Throws CommandError(usage).
experiments::Shard shard_of(const StoreOptions& options);

/// Throws CommandError(internal) where a requested folder lacks what was trained. Nobody asked for the
/// cache, so there the line that Bars prints is enough.
void require_kept(const experiments::ResultStore& store);

/// What an interrupted command says, by what the store kept of it.
std::string interrupted_text(const experiments::ResultStore& store);

/// Both phases of experiments::train as progress bars; false: interrupted. They say at once, and only once,
/// that the store cannot keep something, so that whoever trains for days can make room.
class Bars {
 public:
  bool operator()(const experiments::Progress& at);
  void clear();  ///< clears the bar
  /// Clears the bar too, and says what became of the store: a line per damaged file, and how many results were
  /// removed to make room.
  void finish(const experiments::ResultStore& store);

 private:
  void tell_unkept(const std::string& why);

  std::optional<Progress> bar_;
  bool told_ = false;
  bool looking_ = false;
  int64_t total_ = 0;
};

}  // namespace normscope::cli

#include "app/cli/results.h"

#include "app/shell/settings.h"
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"

namespace normscope::cli {

std::string results_folder(const std::string& asked, bool reads_only) {
  if (asked == "none") return "";
  if (!asked.empty()) {  // said before anything is trained
    make_folder(asked, Access::Shared, "results");
    if (!reads_only) AtomicFile(asked + "/probe", "results");
    return asked;
  }
  try {
    const std::string cache = cache_folder();
    if (cache.empty()) throw Error("[results] there is no folder for a cache");
    const std::string folder = cache + "/results";
    make_folder(folder, Access::Shared, "results");
    if (!reads_only) AtomicFile(folder + "/probe", "results");
    return folder;
  } catch (const Error& error) {
    complain(fmt::format("{}; no run is kept", error.what()));
    return "";
  }
}

experiments::Shard shard_of(const StoreOptions& options) {
  if (options.shard.empty()) return {};
  return with_exit(Exit::Usage, [&] { return experiments::shard_from(options.shard); });
}

void complain_of(const std::vector<std::string>& damaged) {
  for (const std::string& path : damaged) complain(path + ": not a result that can be read, trained again");
}

bool Bars::operator()(const experiments::Progress& at) {
  if (!bar_ || at.looking != looking_ || at.total != total_) {
    if (bar_) bar_->finish();
    looking_ = at.looking;
    total_ = at.total;
    bar_.emplace(at.looking ? "looking through the store" : "training", at.total);
  }
  if (at.total > 0) bar_->update(at.done, at.note);
  return !InterruptGuard::interrupted();
}

void Bars::finish() {
  if (bar_) bar_->finish();
}

}  // namespace normscope::cli

#include "app/cli/results.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <utility>

#include "engine/core/error.h"
#include "training/io/input_value.h"
#include "training/io/output_file.h"

namespace normscope::cli {

namespace {

/// Makes the folder and checks that files can be made there, before anything is trained. A folder that is
/// only read stays as it is; a missing one holds nothing.
void prepare(const experiments::StorePlace& place) {
  if (!place.reads_only) {
    make_folder(place.folder, Access::Shared, "results");
    AtomicFile(place.folder + "/probe", "results");
    return;
  }
  struct stat info {};
  if (stat(place.folder.c_str(), &info) == 0 ? !S_ISDIR(info.st_mode) : errno != ENOENT)
    fail("results", "{} is no folder", place.folder);
}

}  // namespace

experiments::StorePlace results_folder(const std::string& asked, bool reads_only) {
  if (asked == "none") return {};
  if (!asked.empty()) {
    experiments::StorePlace place(asked, 0, reads_only);
    prepare(place);
    std::error_code unknown;
    if (reads_only && !std::filesystem::exists(asked, unknown))
      complain(Message("{} is not there: no run is kept in it", asked));
    return place;
  }
  try {
    experiments::StorePlace place = experiments::results_in_cache(reads_only);
    if (place.folder.empty()) throw Error("[results] there is no folder for a cache");
    prepare(place);
    return place;
  } catch (const Error& error) {
    complain(Message("{}; no run is kept", error.message));
    return {};
  }
}

experiments::Shard shard_of(const StoreOptions& options) {
  if (options.shard.empty()) return {};
  const std::string_view text = options.shard;
  const size_t slash = std::min(text.find('/'), text.size());
  experiments::Shard shard;
  const auto number = [](std::string_view part, int32_t& to) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), to);
    return error == std::errc() && end == part.data() + part.size();
  };
  return with_exit(Exit::Usage, [&] {
    if (slash == text.size() || !number(text.substr(0, slash), shard.index) ||
        !number(text.substr(slash + 1), shard.count) || shard.count < 1)
      fail("--shard", "{} is no shard: expected I/N with I from 0 to N - 1, as 0/8", shown_text(text));
    if (shard.index < 0 || shard.index >= shard.count)
      fail("--shard", "{} is out of range: expected 0/{} to {}/{}", shown_text(text), shard.count,
           shard.count - 1, shard.count);
    return shard;
  });
}

void require_kept(const experiments::ResultStore& store) {
  if (store.unkept_count() == 0 || store.place().budget != 0) return;
  throw CommandError(
      Exit::Internal,
      fmt::format("{} lacks results of this command; the same command trains them again", store.folder()));
}

std::string interrupted_text(const experiments::ResultStore& store) {
  if (store.folder().empty()) return "interrupted";
  return store.unkept_count() == 0
             ? "interrupted; the same command goes on from here"
             : "interrupted; the same command goes on from here and trains again what could not be kept";
}

bool Bars::operator()(const experiments::Progress& at) {
  if (!bar_ || at.looking != looking_ || at.total != total_) {
    if (bar_) bar_->finish();
    looking_ = at.looking;
    total_ = at.total;
    bar_.emplace(at.looking ? "looking through the store" : "training", at.total);
  }
  tell_unkept(at.unkept);
  if (at.total > 0) bar_->update(at.done, at.note);
  return !InterruptGuard::interrupted();
}

void Bars::clear() {
  if (bar_) bar_->finish();
}

void Bars::finish(const experiments::ResultStore& store) {
  clear();
  tell_unkept(store.unkept());
  for (const std::string& path : store.damaged())
    complain(path + (store.place().reads_only ? ": not a result that can be read"
                                              : ": not a result that can be read, trained again"));
  if (store.let_go() > 0)
    complain(
        Message("{} made room in {}, which keeps {}, as unused for longest; a folder that --store names "
                "keeps everything",
                store.let_go() == 1 ? "1 result" : Message("{} results", store.let_go()), store.folder(),
                Message("{:.1f} GiB", static_cast<double>(store.place().budget) / (1 << 30))));
}

void Bars::tell_unkept(const std::string& why) {
  if (why.empty() || std::exchange(told_, true)) return;
  clear();
  complain(Message("{}; what cannot be kept there is in the output of this command alone", why));
}

}  // namespace normscope::cli

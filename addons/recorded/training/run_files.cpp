#include "addons/recorded/training/run_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "addons/recorded/training/number_files.h"
#include "training/files/file_kind.h"

namespace normscope::records {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 3;
constexpr size_t kMaxLooked = 5000;  // entries of all folders
constexpr size_t kNamedRuns = 5;
constexpr std::string_view kEvents = "events.out.tfevents", kCheckpoint = "checkpoint-";

using Files = std::vector<fs::path>;

bool is_events(const fs::path& path) { return path.filename().string().starts_with(kEvents); }

/// What a folder contains.
struct Entries {
  Files files, folders;
};
Entries entries_of(const fs::path& folder, size_t& left) {
  Entries found;
  std::error_code failure;
  fs::directory_iterator at(folder, failure), end;
  for (; !failure && at != end && left > 0; at.increment(failure), --left) {
    std::error_code none;
    if (at->is_directory(none))
      found.folders.push_back(at->path());
    else if (at->is_regular_file(none))
      found.files.push_back(at->path());
  }
  std::ranges::sort(found.files);
  std::ranges::sort(found.folders);
  return found;
}

/// The runs whose files lie in one folder, of the first kind that there is.
std::vector<Files> runs_among(const Files& files) {
  Files events;
  std::ranges::copy_if(files, std::back_inserter(events), is_events);
  if (!events.empty()) return {events};
  for (const auto& [name, ending] :
       {std::pair("", ".wandb"), {"trainer_state.json", ""}, {"metrics.csv", ""}, {"", ".jsonl"}}) {
    std::vector<Files> runs;
    for (const fs::path& file : files)
      if (*name ? file.filename() == name : file.extension() == ending) runs.push_back({file});
    if (!runs.empty()) return runs;
  }
  return {};
}

/// The number of "checkpoint-500"; -1 for any other folder.
int64_t checkpoint_of(const fs::path& file) {
  const std::string name = file.parent_path().filename().string();
  int64_t number = -1;
  if (name.starts_with(kCheckpoint))
    std::from_chars(name.data() + kCheckpoint.size(), name.data() + name.size(), number);
  return number;
}

/// Each checkpoint of a training has the numbers of those before.
void keep_last_checkpoint(std::vector<Files>& runs) {
  const auto number = [](const Files& run) { return checkpoint_of(run.front()); };
  if (runs.empty() || std::ranges::any_of(runs, [&](const Files& run) { return number(run) < 0; })) return;
  runs = {*std::ranges::max_element(runs, {}, number)};
}

/// The runs in a folder, or in the nearest folders below that have any.
std::vector<Files> runs_below(const fs::path& folder) {
  std::set<fs::path> seen;  // "latest-run" is a link to another
  size_t left = kMaxLooked;
  Files level{folder};
  for (int depth = 0; depth <= kDeepest && !level.empty(); ++depth) {
    std::vector<Files> runs;
    Files below;
    for (const fs::path& each : level) {
      std::error_code failure;
      if (!seen.insert(fs::canonical(each, failure)).second || failure) continue;
      if (const auto numbers = folder_of_numbers(each)) {
        runs.push_back({*numbers});
        continue;
      }
      const Entries entries = entries_of(each, left);
      std::ranges::move(runs_among(entries.files), std::back_inserter(runs));
      std::ranges::copy(entries.folders, std::back_inserter(below));
    }
    keep_last_checkpoint(runs);
    if (!runs.empty()) return runs;
    level = std::move(below);
  }
  return {};
}

/// When something of a run was last written.
fs::file_time_type time_of(const Files& run) {
  fs::file_time_type newest = fs::file_time_type::min();
  for (const fs::path& file : run)
    if (std::error_code none; fs::exists(file, none))
      newest = std::max(newest, fs::last_write_time(file, none));
  return newest;
}

/// What is given to open a run alone.
std::string path_of(const Files& run) {
  const fs::path& first = run.front();
  std::error_code none;
  if (!fs::is_directory(first, none)) return (is_events(first) ? first.parent_path() : first).string();
  const fs::path folder = first.parent_path();
  return (folder.filename() == "plots" ? folder.parent_path() : folder).string();
}

std::vector<std::string> texts_of(const Files& files) {
  std::vector<std::string> texts;
  for (const fs::path& file : files) texts.push_back(file.string());
  return texts;
}

}  // namespace

std::vector<std::string> files_of_run(const std::string& path) {
  std::error_code none;
  if (!fs::is_directory(path, none)) {
    const auto numbers = folder_of_number(path);
    return {numbers ? numbers->string() : path};
  }
  std::vector<Files> runs = runs_below(path);
  if (runs.empty())
    throw Error(
        "{}: is a folder without a run: expected events.out.tfevents…, run-….wandb, trainer_state.json, "
        "metrics.csv, .jsonl, or MLflow's or DVCLive's files in it",
        path);
  if (runs.size() > 1) {
    std::ranges::stable_sort(runs, std::greater{}, time_of);
    std::string named;
    for (size_t i = 0; i < std::min(runs.size(), kNamedRuns); ++i)
      named += (i > 0 ? ", " : "") + path_of(runs[i]);
    throw Error("{}: is a folder with {} runs: expected one of them, the newest first: {}{}", path,
                runs.size(), named, runs.size() > kNamedRuns ? ", …" : "");
  }
  return texts_of(runs.front());
}

std::vector<std::string> files_of_run_folder(const std::string& folder) noexcept try {
  const std::vector<Files> runs = runs_below(folder);
  return runs.size() == 1 ? texts_of(runs.front()) : std::vector<std::string>{};
} catch (...) {
  return {};
}

std::vector<std::string> joined_files(const std::vector<std::string>& paths) {
  std::map<fs::path, int> events;  // by folder
  for (const std::string& path : paths)
    if (is_events(path)) ++events[fs::path(path).parent_path()];
  std::vector<std::string> joined;
  for (const std::string& path : paths) {
    const fs::path folder = fs::path(path).parent_path();
    if (!is_events(path) || events[folder] == 1)
      joined.push_back(path);
    else if (const std::string whole = folder.empty() ? "." : folder.string();
             std::ranges::find(joined, whole) == joined.end())
      joined.push_back(whole);
  }
  return joined;
}

}  // namespace normscope::records

namespace normscope {

std::optional<FileLook> look_at_run_folder(const std::string& folder) {
  if (records::files_of_run_folder(folder).empty()) return std::nullopt;
  return FileLook{FileKind::Recorded, "A training's folder: its run is compared with those that are shown."};
}

}  // namespace normscope

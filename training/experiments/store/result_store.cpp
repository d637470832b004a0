#include "training/experiments/store/result_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <set>

#include "engine/core/error.h"
#include "training/data/task_kind.h"
#include "training/data/text_source.h"
#include "training/experiments/store/numbers.h"
#include "training/experiments/store/result_files.h"
#include "training/experiments/store/shards.h"
#include "training/files/places.h"
#include "training/io/atomic_file.h"
#include "training/io/input_kinds.h"
#include "training/io/safetensors.h"
#include "training/run/run_record.h"
#include "training/spec/unused_settings.h"

namespace normscope::experiments {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr int32_t kPutsUntilTrim = 256;  // for writers beside the runner, such as reruns of a window

/// Makes a result that was just used the last to be dropped.
void touch(const std::string& name) {
  std::error_code ignored;
  fs::last_write_time(name, fs::file_time_type::clock::now(), ignored);
}

/// Whether a file, named as result_name() does, holds a result of this measurement.
bool is_of(std::string_view name, std::string_view measurement) {
  std::string part = fmt::format("-{}", measurement);
  std::replace(part.begin(), part.end(), ' ', '-');
  return name.substr(std::min(name.find('-'), name.size())) == part;
}

/// Locks the folder itself, so that nothing is written to it; null where that is impossible. The lock ends
/// with the process, however that ends.
std::shared_ptr<const void> locked(const std::string& folder, int how) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return nullptr;
  std::shared_ptr<const int> lock(new int(file), [](const int* held) {
    close(*held);
    delete held;
  });
  return flock(file, how) == 0 ? lock : nullptr;
}

/// The line of numbers_of() in a key; empty without one.
std::string numbers_in(const std::string& key) {
  const size_t at = key.rfind("numbers ");
  return at == key.npos ? "" : key.substr(at, key.find('\n', at) - at);
}

/// Holds for files that count by the hash of their content wherever they are.
bool counts_by_hash(const RunSpec& spec, std::string_view key) {
  const TaskKind& kind = kind_of(spec.data);
  return kind.by_content && (key == kind.file || key == "data.valid" || key == "data.tokenizer");
}

/// The run's key with defaults for settings that the run does not read, which make no other run of it.
/// An edit may make a run read another setting: with edits every setting counts.
std::string read_settings(const Experiment& experiment) {
  std::string key = RunIdentity{experiment.spec, experiment.edits, {}}.key();
  if (!experiment.edits.empty()) return key;
  static const RunSpec standard;
  for (const Field& field : spec_fields()) {
    if (!counts_by_hash(experiment.spec, field.key) && unused_reason(experiment.spec, field.key).empty())
      continue;
    const std::string begin = fmt::format("\n{}=", field.key);
    const size_t at = key.find(begin);
    if (at == key.npos) continue;
    const size_t value = at + begin.size();
    key.replace(value, key.find('\n', value) - value, field.get(standard));
  }
  return key;
}

}  // namespace

std::string key_of(const Experiment& experiment, uint64_t data_hash, Backend& backend,
                   const std::string& start) {
  return read_settings(experiment) + fmt::format("data {:016x}\n{}\n", data_hash, numbers_of(backend)) +
         (start.empty() ? "" : fmt::format("from {:016x}\n", hash_bytes(start)));
}

struct ResultStore::Shared {
  std::atomic<int32_t> puts{0};
  std::mutex mutex;
  std::set<std::string> damaged;
  std::set<std::string> used;  ///< names of groups that this process used
  std::string unkept;
  std::set<std::string> unkept_keys;
  int32_t let_go = 0;

  void use(const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    const std::lock_guard lock(mutex);
    used.insert(name.substr(0, name.find('.')));
  }
};

StorePlace results_in_cache(bool reads_only) {
  const std::string cache = cache_folder();
  return cache.empty() ? StorePlace() : StorePlace(cache + "/results", kCacheBudget, reads_only);
}

ResultStore::ResultStore(StorePlace place) : place_(std::move(place)), shared_(std::make_shared<Shared>()) {
  if (!place_.reads_only) make_folder(folder(), Access::Shared, "results");
}

std::string ResultStore::path(const std::string& key, std::string_view measurement,
                              std::string_view ending) const {
  return folder().empty() ? std::string() : folder() + "/" + result_name(key, measurement, ending);
}

std::optional<InputValue> ResultStore::read(const std::string& name, const std::string& key,
                                            std::string_view measurement) {
  if (folder().empty()) return std::nullopt;
  try {
    const auto text = read_input_file_if_there(name, input::kResult);
    if (!text) return std::nullopt;
    const InputValue json = parse_result(*text, name);
    if (json.at("key").text(kLongestKey) == key &&
        json.at("measurement").text(kLongestMeasurement) == measurement) {
      shared_->use(name);
      if (!place_.reads_only) touch(name);
      return json.at("result");
    }
  } catch (const Error&) {
  }
  note_damaged(name);
  return std::nullopt;
}

void ResultStore::note_damaged(const std::string& path) {
  const std::lock_guard lock(shared_->mutex);
  shared_->damaged.insert(path);
}

bool ResultStore::opens(const std::string& state) {
  std::error_code failure;
  if (!fs::exists(state, failure)) return false;
  try {
    SafetensorsFile::load(state);
    return true;
  } catch (const Error&) {
    note_damaged(state);
    return false;
  }
}

void ResultStore::attempt(const std::string& key, const std::function<void()>& write) {
  try {
    write();
    const std::lock_guard lock(shared_->mutex);
    shared_->unkept_keys.erase(key);
  } catch (const DeviceError&) {
    throw;
  } catch (const Error& error) {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->unkept.empty()) shared_->unkept = error.what();
    shared_->unkept_keys.insert(key);
  }
}

void ResultStore::write(const std::string& name, const std::string& key, std::string_view measurement,
                        const Json& result) {
  if (folder().empty() || place_.reads_only) return;
  const Json whole{{"format", kResultFormat}, {"key", key}, {"measurement", measurement}, {"result", result}};
  const std::string text = whole.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (text.size() > input::kResult.limit) return;  // the text could not be read again
  shared_->use(name);
  write_file(name, text, "results");
  if (++shared_->puts % kPutsUntilTrim == 0) trim();
}

std::optional<InputValue> ResultStore::find(const std::string& key, std::string_view measurement) {
  return read(path(key, measurement, kDone), key, measurement);
}
void ResultStore::put(const std::string& key, std::string_view measurement, const Json& result) {
  write(path(key, measurement, kDone), key, measurement, result);
}
std::optional<InputValue> ResultStore::find_partial(const std::string& key, std::string_view measurement) {
  return read(path(key, measurement, kPartial), key, measurement);
}
void ResultStore::put_partial(const std::string& key, std::string_view measurement, const Json& result) {
  write(path(key, measurement, kPartial), key, measurement, result);
}
std::string ResultStore::state_path(const std::string& key, std::string_view measurement) const {
  return path(key, measurement, kState);
}
std::string ResultStore::partial_state_path(const std::string& key, std::string_view measurement) const {
  return path(key, measurement, kPartialState);
}

void ResultStore::drop_partial(const std::string& key, std::string_view measurement) {
  if (folder().empty() || place_.reads_only) return;
  std::error_code ignored;
  fs::remove(path(key, measurement, kPartial), ignored);
  fs::remove(path(key, measurement, kPartialState), ignored);
}

std::vector<std::string> ResultStore::damaged() const {
  const std::lock_guard lock(shared_->mutex);
  return {shared_->damaged.begin(), shared_->damaged.end()};
}
std::string ResultStore::unkept() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->unkept;
}
int32_t ResultStore::unkept_count() const {
  const std::lock_guard lock(shared_->mutex);
  return static_cast<int32_t>(shared_->unkept_keys.size());
}
int32_t ResultStore::let_go() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->let_go;
}

std::shared_ptr<const void> ResultStore::hold() const {
  return place_.budget == 0 || folder().empty() ? nullptr : locked(folder(), LOCK_SH);
}

void ResultStore::trim() {
  if (place_.budget == 0 || place_.reads_only || folder().empty()) return;
  if (size_of(results_by_name(folder())) <= place_.budget) return;
  const auto alone = locked(folder(), LOCK_EX | LOCK_NB);
  if (!alone) return;  // the process that holds it trims at its end
  ResultGroups groups = results_by_name(folder());
  std::erase_if(groups, [](const auto& group) { return !is_own(group.first, group.second); });
  std::vector<const ResultGroups::value_type*> oldest_first;
  for (const auto& group : groups) oldest_first.push_back(&group);
  std::sort(oldest_first.begin(), oldest_first.end(),
            [](const auto* a, const auto* b) { return a->second.used < b->second.used; });
  if (!oldest_first.empty()) oldest_first.pop_back();
  uint64_t size = size_of(groups);
  const std::lock_guard lock(shared_->mutex);
  for (const auto* group : oldest_first) {
    if (size <= place_.budget) return;
    if (shared_->used.contains(group->first)) continue;
    remove_files(group->second);
    size -= group->second.size;
    ++shared_->let_go;
  }
}

namespace {

/// The key of a result; nothing where the file is no result.
std::optional<std::string> key_in(const std::string& file) {
  try {
    const auto text = read_input_file_if_there(file, input::kResult);
    if (text) return parse_result(*text, file).at("key").text(kLongestKey);
  } catch (const Error&) {
  }
  return std::nullopt;
}

void copy_whole(const std::string& from, const std::string& to) {
  write_file(to, read_input_file(from, input::kAny), "merge");
}

/// Copies one result of a folder into another, unless that has it whole: the state first, because the
/// result promises it.
void merge_group(const std::string& into, const std::string& name, const std::string& from,
                 const ResultFiles& group, std::set<std::string>& numbers, Merged& merged) {
  const bool finished = group.has(kDone);
  const std::string_view ending = finished ? kDone : kPartial, state = finished ? kState : kPartialState;
  const std::string source = from + "/" + name, target = into + "/" + name;
  if (!finished && !group.has(kPartial)) return;  // the group is a state alone, left by a killed process
  const auto key = key_in(source + std::string(ending));
  if (!key) {
    merged.damaged.push_back(source + std::string(ending));
    return;
  }
  if (const std::string line = numbers_in(*key); !line.empty()) numbers.insert(line);
  const bool with_state = group.has(state);
  const bool known = key_in(target + std::string(kDone)) == key ||
                     (!finished && key_in(target + std::string(kPartial)) == key);
  const bool counts = !is_of(name, kShardMark);
  if (known && (!finished || !with_state || fs::exists(target + std::string(kState)))) {
    merged.known += counts;
    return;
  }
  if (with_state) copy_whole(source + std::string(state), target + std::string(state));
  copy_whole(source + std::string(ending), target + std::string(ending));
  merged.taken += counts;
  if (!finished) return;
  std::error_code ignored;
  fs::remove(target + std::string(kPartial), ignored);
  fs::remove(target + std::string(kPartialState), ignored);
}

}  // namespace

std::vector<InputValue> results_in(const std::string& folder, std::string_view measurement) {
  std::vector<InputValue> results;
  for (const auto& [name, group] : results_by_name(folder)) {
    if (!is_of(name, measurement)) continue;
    const std::string file = folder + "/" + name + std::string(kDone);
    try {
      const auto text = read_input_file_if_there(file, input::kResult);
      if (text) results.push_back(parse_result(*text, file).at("result"));
    } catch (const Error&) {
    }
  }
  return results;
}

Merged merge(const std::string& into, const std::vector<std::string>& folders) {
  refuse_overlaps(folders);
  make_folder(into, Access::Shared, "merge");
  Merged merged;
  std::set<std::string> numbers;
  for (const std::string& folder : folders) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) fail("merge", "{} is no folder: expected one of results", folder);
    for (const auto& [name, group] : results_by_name(folder))
      merge_group(into, name, folder, group, numbers, merged);
  }
  merged.numbers.assign(numbers.begin(), numbers.end());
  return merged;
}

}  // namespace normscope::experiments

#include "app/experiments/result_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <set>

#include "app/experiments/numbers.h"
#include "app/experiments/shards.h"
#include "app/files/input_kinds.h"
#include "engine/core/error.h"
#include "engine/data/text_source.h"
#include "engine/io/atomic_file.h"
#include "engine/lab/run_cache.h"
#include "engine/spec/unused_settings.h"

namespace normscope::experiments {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kFormat = "normscope result 1";
constexpr std::string_view kDone = ".json", kState = ".safetensors", kPartial = ".partial.json",
                           kPartialState = ".partial.safetensors";
constexpr int32_t kPutsUntilTrim = 256;
constexpr size_t kLongestKey = 900'000, kLongestName = 64;

/// The hash is the file's name only, the whole key stands in the file.
std::string file_name(const std::string& key, std::string_view measurement, std::string_view ending) {
  std::string name = fmt::format("{:016x}-{}", hash_bytes(key), measurement);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name + std::string(ending);
}

/// A result that was just used is the last to go.
void touch(const std::string& name) {
  std::error_code ignored;
  fs::last_write_time(name, fs::file_time_type::clock::now(), ignored);
}

/// Whether a file, named as file_name() does, holds a result of this measurement.
bool is_of(std::string_view name, std::string_view measurement) {
  std::string part = fmt::format("-{}", measurement);
  std::replace(part.begin(), part.end(), ' ', '-');
  return name.substr(std::min(name.find('-'), name.size())) == part;
}

/// Throws Error for what is no result.
InputValue parse(const std::string& text, const std::string& name) {
  InputValue json = InputValue::parse(text, name);
  if (json.at("format").text(kLongestKey) != kFormat) json.at("format").refuse(kFormat);
  return json;
}

bool is_ours(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.size() > 17 && name[16] == '-' && (name.ends_with(kDone) || name.ends_with(kState)) &&
         name.find_first_not_of("0123456789abcdef") == 16;
}

/// The files of one result: finished or interrupted, with state or without.
struct Group {
  std::vector<fs::path> files;
  uint64_t size = 0;
  fs::file_time_type used = fs::file_time_type::min();
  bool has(std::string_view ending) const {
    return std::any_of(files.begin(), files.end(), [&](const fs::path& file) {
      const std::string name = file.filename().string();
      return name.substr(name.find('.')) == ending;
    });
  }
};

/// By what stands before the first dot of a name.
std::map<std::string, Group> groups_in(const std::string& folder) {
  std::map<std::string, Group> groups;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // another process is at work here too
    if (!at->is_regular_file(gone) || !is_ours(at->path())) continue;
    const uint64_t size = at->file_size(gone);
    const fs::file_time_type used = at->last_write_time(gone);
    if (gone) continue;
    const std::string name = at->path().filename().string();
    Group& group = groups[name.substr(0, name.find('.'))];
    group.files.push_back(at->path());
    group.size += size;
    group.used = std::max(group.used, used);
  }
  return groups;
}

/// Results before the states that they promise.
void remove_group(const Group& group) {
  std::error_code ignored;
  for (const bool json : {true, false})
    for (const fs::path& file : group.files)
      if (file.string().ends_with(kDone) == json) fs::remove(file, ignored);
}

/// The line of numbers_of() in a key; empty without one.
std::string numbers_in(const std::string& key) {
  const size_t at = key.rfind("numbers ");
  return at == key.npos ? "" : key.substr(at, key.find('\n', at) - at);
}

/// Files of sentence pairs count by the hash of what they hold, wherever they lie.
bool counts_by_hash(const RunSpec& spec, std::string_view key) {
  return spec.data.name == "pairs" && (key == "data.pairs" || key == "data.valid" || key == "data.tokenizer");
}

/// run_key() in which what the run does not read has its default, so that it makes no other run of it. An edit may
/// make a run read what it did not: with edits everything counts.
std::string read_settings(const Experiment& experiment) {
  std::string key = run_key(experiment.spec, experiment.edits);
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

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json list_json(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number_json(value));
  return list;
}

double number_from(const InputValue& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.number(-1e300, 1e300);
}

struct ResultStore::Shared {
  std::atomic<int32_t> puts{0};
  std::mutex mutex;
  std::set<std::string> damaged;
};

ResultStore::ResultStore(std::string folder, uint64_t budget)
    : folder_(std::move(folder)), budget_(budget), shared_(std::make_shared<Shared>()) {
  if (folder_.empty()) return;
  make_folder(folder_, Access::Shared, "results");
  trim();
}

std::string ResultStore::path(const std::string& key, std::string_view measurement,
                              std::string_view ending) const {
  return folder_.empty() ? std::string() : folder_ + "/" + file_name(key, measurement, ending);
}

std::optional<InputValue> ResultStore::read(const std::string& name, const std::string& key,
                                            std::string_view measurement) {
  if (folder_.empty()) return std::nullopt;
  try {
    const auto text = read_input_file_if_there(name, input::kResult);
    if (!text) return std::nullopt;
    const InputValue json = parse(*text, name);
    if (json.at("key").text(kLongestKey) == key && json.at("measurement").text(kLongestName) == measurement) {
      touch(name);
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

void ResultStore::write(const std::string& name, const std::string& key, std::string_view measurement,
                        const Json& result) {
  if (folder_.empty()) return;
  const Json whole{{"format", kFormat}, {"key", key}, {"measurement", measurement}, {"result", result}};
  const std::string text = whole.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (text.size() > input::kResult.limit) return;  // it could not be read again
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
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove(path(key, measurement, kPartial), ignored);
  fs::remove(path(key, measurement, kPartialState), ignored);
}

std::vector<std::string> ResultStore::damaged() const {
  const std::lock_guard lock(shared_->mutex);
  return {shared_->damaged.begin(), shared_->damaged.end()};
}

void ResultStore::trim() {
  std::vector<Group> groups;
  uint64_t sum = 0;
  for (auto& [name, group] : groups_in(folder_)) {
    sum += group.size;
    groups.push_back(std::move(group));
  }
  std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.used < b.used; });
  for (const Group& group : groups) {
    if (sum <= budget_) return;
    remove_group(group);
    sum -= group.size;
  }
}

namespace {

/// The key of a result; nothing where the file is none.
std::optional<std::string> key_in(const std::string& file) {
  try {
    const auto text = read_input_file_if_there(file, input::kResult);
    if (text) return parse(*text, file).at("key").text(kLongestKey);
  } catch (const Error&) {
  }
  return std::nullopt;
}

void copy_whole(const std::string& from, const std::string& to) {
  write_file(to, read_input_file(from, input::kAny), "merge");
}

/// One result of a folder into another, unless it has it whole: the state first, as the result promises it.
void merge_group(const std::string& into, const std::string& name, const std::string& from,
                 const Group& group, std::set<std::string>& numbers, Merged& merged) {
  const bool finished = group.has(kDone);
  const std::string_view ending = finished ? kDone : kPartial, state = finished ? kState : kPartialState;
  const std::string source = from + "/" + name, target = into + "/" + name;
  if (!finished && !group.has(kPartial)) return;  // a state alone, left by a killed process
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
  for (const auto& [name, group] : groups_in(folder)) {
    if (!is_of(name, measurement)) continue;
    const std::string file = folder + "/" + name + std::string(kDone);
    try {
      const auto text = read_input_file_if_there(file, input::kResult);
      if (text) results.push_back(parse(*text, file).at("result"));
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
    for (const auto& [name, group] : groups_in(folder))
      merge_group(into, name, folder, group, numbers, merged);
  }
  merged.numbers.assign(numbers.begin(), numbers.end());
  return merged;
}

}  // namespace normscope::experiments

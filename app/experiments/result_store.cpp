#include "app/experiments/result_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <mutex>
#include <set>

#include "app/experiments/numbers.h"
#include "app/files/input_kinds.h"
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "engine/lab/run_cache.h"

namespace normscope::experiments {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kFormat = "normscope result 1";
constexpr std::string_view kDone = ".json", kPartial = ".partial.json", kState = ".safetensors";
constexpr size_t kLongestKey = 900'000, kLongestName = 64;

/// FNV-1a: the file's name only, the whole key stands in the file.
uint64_t hash_of(std::string_view key) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string file_name(const std::string& key, std::string_view measurement, std::string_view ending) {
  std::string name = fmt::format("{:016x}-{}", hash_of(key), measurement);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name + std::string(ending);
}

/// A result that was just used is the last to go.
void touch(const std::string& name) {
  std::error_code ignored;
  fs::last_write_time(name, fs::file_time_type::clock::now(), ignored);
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

struct Found {
  fs::path path;
  uint64_t size;
  fs::file_time_type used;
};

std::vector<Found> files_in(const std::string& folder) {
  std::vector<Found> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_regular_file(error) || !is_ours(entry.path())) continue;
    const uint64_t size = entry.file_size(error);
    if (!error) files.push_back({entry.path(), size, entry.last_write_time(error)});
  }
  return files;
}

}  // namespace

std::string key_of(const Experiment& experiment, uint64_t data_hash, Backend& backend) {
  return run_key(experiment.spec, experiment.edits) +
         fmt::format("data {:016x}\n{}\n", data_hash, numbers_of(backend));
}

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

double number_from(const InputValue& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.number(-1e300, 1e300);
}

struct ResultStore::Shared {
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
  const std::lock_guard lock(shared_->mutex);
  shared_->damaged.insert(name);
  return std::nullopt;
}

void ResultStore::write(const std::string& name, const std::string& key, std::string_view measurement,
                        const Json& result) {
  if (folder_.empty()) return;
  const Json whole{{"format", kFormat}, {"key", key}, {"measurement", measurement}, {"result", result}};
  write_file(name, whole.dump(1, ' ', false, Json::error_handler_t::replace) + "\n", "results");
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

void ResultStore::drop_partial(const std::string& key, std::string_view measurement, bool keep_state) {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove(path(key, measurement, kPartial), ignored);
  if (!keep_state) fs::remove(path(key, measurement, kState), ignored);
}

std::vector<std::string> ResultStore::damaged() const {
  const std::lock_guard lock(shared_->mutex);
  return {shared_->damaged.begin(), shared_->damaged.end()};
}

void ResultStore::trim() {
  std::vector<Found> files = files_in(folder_);
  uint64_t sum = 0;
  for (const Found& file : files) sum += file.size;
  std::sort(files.begin(), files.end(), [](const Found& a, const Found& b) { return a.used < b.used; });
  for (const Found& file : files) {
    if (sum <= budget_) return;
    std::error_code error;
    fs::remove(file.path, error);
    if (!error) sum -= file.size;
  }
}

Merged merge(const std::string& into, const std::vector<std::string>& folders) {
  make_folder(into, Access::Shared, "merge");
  Merged merged;
  std::set<std::string> machines;
  for (const std::string& folder : folders) {
    if (!fs::is_directory(folder)) fail("merge", "{} is no folder: expected one of results", folder);
    for (const Found& file : files_in(folder)) {
      const std::string name = file.path.filename().string();
      if (name.ends_with(kState)) continue;  // goes with its result
      try {
        const std::string text = read_input_file(file.path.string(), input::kResult);
        const InputValue json = parse(text, file.path.string());
        const std::string key = json.at("key").text(kLongestKey);
        const size_t numbers = key.rfind("numbers ");
        if (numbers != key.npos) {  // "numbers 1 CPU avx3 5f0c…": backend and instruction set
          const std::string words = key.substr(numbers, key.find('\n', numbers) - numbers);
          const size_t first = words.find(' ', 8), last = words.rfind(' ');
          if (first < last) machines.insert(words.substr(first + 1, last - first - 1));
        }
        const bool known = fs::exists(into + "/" + name);
        ++(known ? merged.known : merged.taken);
        if (known) continue;
        const std::string stem = name.substr(0, name.find('.'));
        const std::string state = folder + "/" + stem + std::string(kState);
        if (fs::exists(state))
          fs::copy_file(state, into + "/" + stem + std::string(kState), fs::copy_options::skip_existing);
        write_file(into + "/" + name, text, "merge");
      } catch (const Error& error) {
        merged.damaged.push_back(file.path.string());
      } catch (const fs::filesystem_error& error) {
        fail("merge", "{}", error.what());
      }
    }
  }
  merged.machines.assign(machines.begin(), machines.end());
  return merged;
}

}  // namespace normscope::experiments

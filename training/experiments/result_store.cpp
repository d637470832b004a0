#include "training/experiments/result_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "engine/cpu/isa.h"
#include "engine/io/output_file.h"
#include "engine/io/safetensors.h"
#include "engine/tape/store.h"
#include "training/data/task.h"
#include "training/data/text_source.h"
#include "training/files/places.h"
#include "training/io/input_kinds.h"
#include "training/run/identity.h"
#include "training/run/run.h"

namespace normscope::experiments {
namespace {

RunSpec small_run(const char* preset, std::initializer_list<std::pair<const char*, const char*>> fields) {
  RunSpec spec = preset_run(preset);
  for (const auto& [key, value] :
       {std::pair("model.layers", "2"), std::pair("model.d_model", "16"),
        std::pair("model.feed_forward", "40"), std::pair("model.heads", "2"),
        std::pair("model.sequence", "24"), std::pair("train.batch", "4"), std::pair("train.warmup", "5")})
    set_field(spec, key, value);
  for (const auto& [key, value] : fields) set_field(spec, key, value);
  complete(spec);
  return spec;
}

/// FNV-1a over whole words.
class Hash {
 public:
  void add(uint64_t word) { hash_ = (hash_ ^ word) * 0x100000001b3u; }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325u;
};

void add_block(const Store& store, Store::Block block, Hash& hash) {
  std::vector<float> numbers(store.size());
  store.backend().download(store.block(block), 0, numbers);
  for (const float number : numbers) hash.add(std::bit_cast<uint32_t>(number));
}

uint64_t checksum_of_all(Backend& backend) {
  Hash hash;
  for (const RunSpec& spec : checksum_runs()) hash.add(checksum(spec, 3, backend));
  return hash.value();
}

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kResultFormat = "normscope result 1";
/// The endings of a result's file, of the checkpoint that a result may need, and of the file of who trains it now.
constexpr std::string_view kDone = ".json", kState = ".safetensors", kAtWork = ".at-work";
constexpr size_t kLongestKey = 900'000, kLongestMeasurement = 64;
constexpr int32_t kPutsUntilTrim = 256;  // for writers beside the runner, such as reruns of a window

/// Names a file by the hash of the key; the file has the whole key.
std::string result_name(const std::string& key, std::string_view measurement, std::string_view ending) {
  std::string name = fmt::format("{:016x}-{}", hash_bytes(key), measurement);
  std::ranges::replace(name, ' ', '-');
  return name + std::string(ending);
}

InputValue parse_result(const std::string& text, const std::string& name) {
  InputValue json = InputValue::parse(text, name);
  if (json.at("format").text(kLongestKey) != kResultFormat) json.at("format").refuse(kResultFormat);
  return json;
}

struct ResultFiles {
  bool done = false, state = false;  ///< which are there
  uint64_t size = 0;
  fs::file_time_type used = fs::file_time_type::min();
};

/// The results of a folder by their names, as result_name() gives them, without ending.
std::map<std::string, ResultFiles> results_in(const std::string& folder) {
  std::map<std::string, ResultFiles> results;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // another process may work here too
    const std::string file = at->path().filename().string(), name = file.substr(0, file.find('.'));
    const std::string_view ending = std::string_view(file).substr(name.size());
    const bool named_so = name.size() > 17 && name[16] == '-' &&
                          name.find_first_not_of("0123456789abcdef") == 16 &&
                          (ending == kDone || ending == kState);
    if (!named_so || !at->is_regular_file(gone)) continue;
    const uint64_t size = at->file_size(gone);
    const fs::file_time_type used = at->last_write_time(gone);
    if (gone) continue;
    ResultFiles& files = results[name];
    (ending == kDone ? files.done : files.state) = true;
    files.size += size;
    files.used = std::max(files.used, used);
  }
  return results;
}

/// Makes a result that was just used the last to be dropped.
void touch(const std::string& name) {
  std::error_code ignored;
  fs::last_write_time(name, fs::file_time_type::clock::now(), ignored);
}

}  // namespace

std::vector<RunSpec> checksum_runs() {
  return {small_run("post", {{"model.dropout_residual", "0.1"}, {"train.label_smoothing", "0.1"}}),
          small_run("pre", {{"model.activation", "gelu"}, {"train.clip", "1"}}),
          small_run("admin", {{"model.norm", "rms"}}),
          small_run("pre", {{"train.optimizer", "sgd"}, {"train.lr", "0.1"}, {"model.tied", "false"}})};
}

uint64_t checksum(const RunSpec& spec, int32_t steps, Backend& backend) {
  Run run(spec, make_task(spec.data), backend);
  run.measure_live(false);
  Hash hash;
  for (int32_t step = 0; step < steps; ++step) {
    run.step();
    hash.add(std::bit_cast<uint64_t>(run.last_loss()));
  }
  for (const Store::Block block : {Store::Block::Value, Store::Block::M, Store::Block::V})
    add_block(run.store(), block, hash);
  return hash.value();
}

std::string numbers_of(Backend& backend) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const std::string machine = arithmetic_of(backend);
  const std::lock_guard lock(mutex);
  std::string& numbers = known[machine];
  // The checksum tells how precise a device computes.
  const std::string_view name = backend.name().substr(0, backend.name().find(' '));
  if (numbers.empty())
    numbers = fmt::format("numbers {} {} {} {:016x}", kNumbersVersion, name, cpu::choose_isa(),
                          checksum_of_all(backend));
  return numbers;
}

std::string key_of(const StudyRun& run, uint64_t data_hash, Backend& backend, const std::string& start) {
  return settings_read(run.spec, run.edits) +
         fmt::format("data {:016x}\n{}\n", data_hash, numbers_of(backend)) +
         (start.empty() ? "" : fmt::format("from {:016x}\n", hash_bytes(start)));
}

std::string StudyRun::key() const {
  return settings_text(spec, edits) + (from ? "from\n" + from->key() : "");
}

struct ResultStore::SharedState {
  std::atomic<int32_t> puts{0};
  std::mutex mutex;
  std::set<std::string> damaged;
  Message unkept;
  std::set<std::string> unkept_keys;
  int32_t let_go = 0;
};

StorePlace results_in_cache(bool reads_only) {
  const std::string cache = cache_folder();
  return cache.empty() ? StorePlace() : StorePlace(cache + "/results", kCacheBudget, reads_only);
}

ResultStore::ResultStore(StorePlace place)
    : place_(std::move(place)), shared_(std::make_shared<SharedState>()) {
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
    if (shared_->unkept.empty()) shared_->unkept = error.message;
    shared_->unkept_keys.insert(key);
  }
}

void ResultStore::write(const std::string& name, const std::string& key, std::string_view measurement,
                        const Json& result) {
  if (folder().empty() || place_.reads_only) return;
  const Json whole{{"format", kResultFormat}, {"key", key}, {"measurement", measurement}, {"result", result}};
  const std::string text = whole.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (text.size() > input::kResult.limit) return;  // the text could not be read again
  write_file(name, text, "results");
  if (++shared_->puts % kPutsUntilTrim == 0) trim();
}

std::optional<InputValue> ResultStore::find(const std::string& key, std::string_view measurement) {
  return read(path(key, measurement, kDone), key, measurement);
}
void ResultStore::put(const std::string& key, std::string_view measurement, const Json& result) {
  write(path(key, measurement, kDone), key, measurement, result);
}
std::string ResultStore::reservation_path(const std::string& key, std::string_view measurement) const {
  return place_.reads_only ? std::string() : path(key, measurement, kAtWork);
}

std::string ResultStore::state_path(const std::string& key, std::string_view measurement) const {
  return path(key, measurement, kState);
}
std::vector<std::string> ResultStore::damaged() const {
  const std::lock_guard lock(shared_->mutex);
  return {shared_->damaged.begin(), shared_->damaged.end()};
}
Message ResultStore::unkept() const {
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

void ResultStore::trim() {
  if (place_.budget == 0 || place_.reads_only || folder().empty()) return;
  using Result = std::pair<std::string, ResultFiles>;
  uint64_t size = 0;
  std::vector<Result> oldest_first;
  for (const auto& [name, files] : results_in(folder())) {
    size += files.size;
    oldest_first.emplace_back(name, files);
  }
  std::ranges::sort(oldest_first, {}, [](const Result& result) { return result.second.used; });
  const std::lock_guard lock(shared_->mutex);
  for (size_t i = 0; i + 1 < oldest_first.size() && size > place_.budget; ++i) {
    std::error_code ignored;
    const std::string path = folder() + "/" + oldest_first[i].first;
    for (const std::string_view ending : {kDone, kState}) fs::remove(path + std::string(ending), ignored);
    size -= oldest_first[i].second.size;
    ++shared_->let_go;
  }
}

}  // namespace normscope::experiments

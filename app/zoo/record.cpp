#include "app/zoo/record.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <mutex>
#include <set>

#include "app/files/input_kinds.h"
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "engine/spec/limits.h"
#include "engine/spec/spec.h"

namespace normscope::zoo {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "normscope zoo 1";
constexpr std::string_view kVerdicts[] = {"learns", "stuck", "diverges", "not finite", "undecided", "failed"};
constexpr std::string_view kDone = ".json", kPartial = ".partial.json", kState = ".safetensors";

double number_from(const InputValue& json) { return json.is_null() ? kUnknown : json.number(-1e300, 1e300); }

/// FNV-1a: the file's name only, the whole key stands in the file.
uint64_t hash_of(const std::string& key) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

struct RecordStore::Shared {
  std::mutex mutex;
  std::set<std::string> damaged;
};

const char* to_string(Verdict verdict) { return kVerdicts[static_cast<size_t>(verdict)].data(); }

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json to_json(const Record& r) {
  Json json = {{"verdict", to_string(r.verdict)},
               {"steps", r.steps},
               {"since", r.since},
               {"loss", number_json(r.loss)},
               {"unigram", number_json(r.level)},
               {"beta2", number_json(r.beta2)},
               {"gradient_first", number_json(r.gradient_first)},
               {"gradient_last", number_json(r.gradient_last)}};
  if (!r.what.empty()) json["what"] = r.what;
  if (!r.beta2_reason.empty()) json["beta2_reason"] = r.beta2_reason;
  json["opening"] = Json::array();
  for (const float loss : r.opening) json["opening"].push_back(number_json(static_cast<double>(loss)));
  return json;
}

Record record_from(const InputValue& json) {
  constexpr size_t kLongest = 4096, kMostOpening = 10'000;
  Record r;
  r.verdict = static_cast<Verdict>(json.at("verdict").choice(kVerdicts));
  r.steps = json.at("steps").whole(0, kMostSteps);
  r.since = json.at("since").whole(-1, kMostSteps);
  r.loss = number_from(json.at("loss"));
  r.level = number_from(json.at("unigram"));
  r.beta2 = number_from(json.at("beta2"));
  r.gradient_first = number_from(json.at("gradient_first"));
  r.gradient_last = number_from(json.at("gradient_last"));
  if (const auto what = json.find("what")) r.what = what->text(kLongest);
  if (const auto reason = json.find("beta2_reason")) r.beta2_reason = reason->text(kLongest);
  for (const InputValue& loss : json.at("opening").list(0, kMostOpening))
    r.opening.push_back(static_cast<float>(number_from(loss)));
  return r;
}

RecordStore::RecordStore(std::string folder)
    : folder_(std::move(folder)), shared_(std::make_shared<Shared>()) {
  if (folder_.empty()) return;
  make_folder(folder_, Access::shared, "zoo");
}

std::string RecordStore::path(const std::string& key, std::string_view ending) const {
  return fmt::format("{}/{:016x}{}", folder_, hash_of(key), ending);
}

std::optional<Record> RecordStore::read(const std::string& key, std::string_view ending) {
  if (folder_.empty()) return std::nullopt;
  const std::string name = path(key, ending);
  try {
    const auto text = read_input_file_if_there(name, input::kZooRecord);
    if (!text) return std::nullopt;
    const InputValue json = InputValue::parse(*text, name);
    constexpr size_t kLongestKey = 900'000;
    if (json.at("format").text(kLongestKey) == kFormat && json.at("key").text(kLongestKey) == key)
      return record_from(json.at("record"));
  } catch (const Error&) {
  }
  const std::lock_guard lock(shared_->mutex);
  shared_->damaged.insert(name);
  return std::nullopt;
}

void RecordStore::write(const std::string& key, std::string_view ending, const Record& record) const {
  if (folder_.empty()) return;
  const std::string text = Json{{"format", kFormat}, {"key", key}, {"record", to_json(record)}}.dump(
                               1, ' ', false, Json::error_handler_t::replace) +
                           "\n";
  write_file(path(key, ending), text, "zoo");
}

std::optional<Record> RecordStore::find(const std::string& key) { return read(key, kDone); }
void RecordStore::put(const std::string& key, const Record& record) { write(key, kDone, record); }
std::optional<Record> RecordStore::find_partial(const std::string& key) { return read(key, kPartial); }
void RecordStore::put_partial(const std::string& key, const Record& record) { write(key, kPartial, record); }

std::string RecordStore::state_path(const std::string& key) const {
  return folder_.empty() ? std::string() : path(key, kState);
}

void RecordStore::drop_partial(const std::string& key) {
  if (folder_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(path(key, kPartial), ignored);
  std::filesystem::remove(path(key, kState), ignored);
}

std::vector<std::string> RecordStore::damaged() const {
  const std::lock_guard lock(shared_->mutex);
  return {shared_->damaged.begin(), shared_->damaged.end()};
}

}  // namespace normscope::zoo

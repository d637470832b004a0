#include "training/experiments/store/result_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/error.h"
#include "training/data/text_source.h"
#include "training/io/input_file.h"
#include "training/io/input_kinds.h"
#include "training/io/safetensors.h"
#include "training/run/checkpoint.h"

namespace normscope::experiments {
namespace {

namespace fs = std::filesystem;

/// Whether a name is one of result_name(); only the content says whose file it is.
bool is_named_so(const std::string& name) {
  const std::string_view ending = std::string_view(name).substr(std::min(name.find('.'), name.size()));
  return name.size() > 17 && name[16] == '-' && name.find_first_not_of("0123456789abcdef") == 16 &&
         (ending == kDone || ending == kState || ending == kPartial || ending == kPartialState);
}

/// Recognises a state of an interrupted run that this program saved. Its process may have ended
/// before it wrote the result that would tell.
bool is_interrupted_state(const fs::path& file) {
  if (!file.string().ends_with(kPartialState)) return false;
  try {
    read_identity(SafetensorsFile::load_header(file.string()));
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string result_name(const std::string& key, std::string_view measurement, std::string_view ending) {
  std::string name = fmt::format("{:016x}-{}", hash_bytes(key), measurement);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name + std::string(ending);
}

InputValue parse_result(const std::string& text, const std::string& name) {
  InputValue json = InputValue::parse(text, name);
  if (json.at("format").text(kLongestKey) != kResultFormat) json.at("format").refuse(kResultFormat);
  return json;
}

bool ResultFiles::has(std::string_view ending) const {
  return std::any_of(files.begin(), files.end(), [&](const fs::path& file) {
    const std::string name = file.filename().string();
    return name.substr(name.find('.')) == ending;
  });
}

ResultGroups results_by_name(const std::string& folder) {
  ResultGroups groups;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // another process may work here too
    const std::string name = at->path().filename().string();
    if (!is_named_so(name) || !at->is_regular_file(gone)) continue;
    const uint64_t size = at->file_size(gone);
    const fs::file_time_type used = at->last_write_time(gone);
    if (gone) continue;
    ResultFiles& group = groups[name.substr(0, name.find('.'))];
    group.files.push_back(at->path());
    group.size += size;
    group.used = std::max(group.used, used);
  }
  return groups;
}

bool is_own(const std::string& name, const ResultFiles& group) {
  if (!group.has(kDone) && !group.has(kPartial))
    return std::all_of(group.files.begin(), group.files.end(), is_interrupted_state);
  bool own = false;
  for (const fs::path& file : group.files) {
    if (!file.string().ends_with(kDone)) continue;
    try {
      const auto text = read_input_file_if_there(file.string(), input::kResult);
      if (!text) continue;  // the result was dropped meanwhile
      const InputValue json = parse_result(*text, file.string());
      own = result_name(json.at("key").text(kLongestKey), json.at("measurement").text(kLongestMeasurement),
                        "") == name;
    } catch (const Error&) {
      own = false;
    }
    if (!own) return false;
  }
  return own;
}

uint64_t size_of(const ResultGroups& groups) {
  uint64_t size = 0;
  for (const auto& [name, group] : groups) size += group.size;
  return size;
}

void remove_files(const ResultFiles& group) {
  std::error_code ignored;
  for (const bool json : {true, false})
    for (const fs::path& file : group.files)
      if (file.string().ends_with(kDone) == json) fs::remove(file, ignored);
}

}  // namespace normscope::experiments

// Result files are the files of stored results in a folder: their names, which of them belong together, and which are
// really ours. Only result_store.cpp knows them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "training/io/input_value.h"

namespace normscope::experiments {

inline constexpr const char* kResultFormat = "normscope result 1";
/// Ends a finished result, `kState` the state that it promises; the other two end those of an interrupted run.
inline constexpr std::string_view kDone = ".json", kState = ".safetensors", kPartial = ".partial.json",
                                  kPartialState = ".partial.safetensors";
inline constexpr size_t kLongestKey = 900'000, kLongestMeasurement = 64;

/// Names a file by the hash of the key; the file has the whole key.
std::string result_name(const std::string& key, std::string_view measurement, std::string_view ending);

/// Throws Error unless the text is a result.
InputValue parse_result(const std::string& text, const std::string& name);

/// The files of one result: finished or interrupted, with state or without.
struct ResultFiles {
  std::vector<std::filesystem::path> files;
  uint64_t size = 0;
  std::filesystem::file_time_type used = std::filesystem::file_time_type::min();
  bool has(std::string_view ending) const;
};
/// By the part of a name before its first dot.
using ResultGroups = std::map<std::string, ResultFiles>;

/// Lists files with a result's name, whoever wrote them.
ResultGroups results_by_name(const std::string& folder);
/// Whether every result of a group says that it is one, of a key that makes this name: another file with
/// such a name is somebody else's. A state is known by the result beside it, or, of an interrupted run, by its content.
bool is_own(const std::string& name, const ResultFiles& group);
uint64_t size_of(const ResultGroups& groups);
/// Removes results before the states that they promise.
void remove_files(const ResultFiles& group);

}  // namespace normscope::experiments

// Result files are the files of stored results in a folder: their names, and which of them belong together. Only
// result_store.cpp knows them.
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
/// Ends a result, `kState` the state that it promises.
inline constexpr std::string_view kDone = ".json", kState = ".safetensors";
inline constexpr size_t kLongestKey = 900'000, kLongestMeasurement = 64;

/// Names a file by the hash of the key; the file has the whole key.
std::string result_name(const std::string& key, std::string_view measurement, std::string_view ending);

/// Throws Error unless the text is a result.
InputValue parse_result(const std::string& text, const std::string& name);

/// The files of one result, with state or without.
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
/// Removes results before the states that they promise.
void remove_files(const ResultFiles& group);

}  // namespace normscope::experiments

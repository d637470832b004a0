// The files of stored results in a folder, as result_store.cpp, and nobody else, knows them: how they are called, which
// belong together, and which of them are really ours.
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
/// Endings: of a finished result, of the state that it promises, and of both for an interrupted run.
inline constexpr std::string_view kDone = ".json", kState = ".safetensors", kPartial = ".partial.json",
                                  kPartialState = ".partial.safetensors";
inline constexpr size_t kLongestKey = 900'000, kLongestMeasurement = 64;

/// The hash is the file's name only, the whole key stands in the file.
std::string result_name(const std::string& key, std::string_view measurement, std::string_view ending);

/// Throws Error for what is no result.
InputValue parse_result(const std::string& text, const std::string& name);

/// The files of one result: finished or interrupted, with state or without.
struct ResultFiles {
  std::vector<std::filesystem::path> files;
  uint64_t size = 0;
  std::filesystem::file_time_type used = std::filesystem::file_time_type::min();
  bool has(std::string_view ending) const;
};
/// By what stands before the first dot of a name.
using ResultGroups = std::map<std::string, ResultFiles>;

/// What is called as results are, whoever wrote it.
ResultGroups results_by_name(const std::string& folder);
/// Whether every result of a group says that it is one, of a key that makes this name: what is only called alike is
/// somebody else's. A state is known by the result beside it; that of an interrupted run without one by what it holds.
bool is_own(const std::string& name, const ResultFiles& group);
uint64_t size_of(const ResultGroups& groups);
/// Results before the states that they promise.
void remove_files(const ResultFiles& group);

}  // namespace normscope::experiments

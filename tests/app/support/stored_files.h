// The stored files are stores of results for tests: one whose disk is full, and what a folder holds.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>

namespace normscope::test {

/// Links every file name of `like` in the store to a device that is always full.
inline void make_full_store(const std::string& like, const std::string& store) {
  std::filesystem::create_directories(store);
  for (const auto& file : std::filesystem::directory_iterator(like))
    std::filesystem::create_symlink("/dev/full", store + "/" + file.path().filename().string());
}

/// What a folder holds, with sizes and times, which a command that only looks must not change.
inline std::map<std::string, std::pair<uintmax_t, std::filesystem::file_time_type>> listing(
    const std::string& folder) {
  std::map<std::string, std::pair<uintmax_t, std::filesystem::file_time_type>> files;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    files[file.path().filename().string()] = {file.file_size(), file.last_write_time()};
  return files;
}

}  // namespace normscope::test

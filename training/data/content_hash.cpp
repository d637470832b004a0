#include "training/data/content_hash.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>

#include "training/data/text_source.h"
#include "training/io/input_kinds.h"

namespace normscope {
namespace {

namespace fs = std::filesystem;

uint64_t hash_of(const std::string& file) {
  // Mapped, as whoever reads the file next finds its pages in memory.
  const InputFile in(file, input::kAny);
  if (in.size() == 0) return hash_bytes({});
  const auto bytes = in.map();
  return hash_bytes({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

struct KnownHash {
  uint64_t size = 0, hash = 0;
  fs::file_time_type changed{};
};

/// The hash of a file that is known, or that is read now. A clock of files may stand still between two changes: a file
/// that changed just now is not remembered.
uint64_t known_hash(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, KnownHash> known;
  constexpr auto kUnsure = std::chrono::seconds(2);
  const KnownHash now{fs::file_size(file), 0, fs::last_write_time(file)};
  const std::lock_guard lock(mutex);
  const auto at = known.find(file);
  if (at != known.end() && at->second.size == now.size && at->second.changed == now.changed)
    return at->second.hash;
  const uint64_t hash = hash_of(file);
  if (fs::file_time_type::clock::now() - now.changed > kUnsure)
    known.insert_or_assign(file, KnownHash{now.size, hash, now.changed});
  return hash;
}

}  // namespace

std::string content_hash(const std::string& path) {
  try {
    if (path.empty()) return "";
    if (!fs::is_directory(path)) return fmt::format("{:016x}", known_hash(path));
    constexpr size_t kMost = 1000;
    std::string error;
    std::string all;
    for (const std::string& file : files_in(path, kMost, error)) {
      if (!fs::is_regular_file(file)) continue;
      all += fmt::format("{} {:016x}\n", fs::path(file).filename().string(), known_hash(file));
    }
    return fmt::format("{:016x}", hash_bytes(all));
  } catch (const std::exception&) {  // whoever reads the file says what is wrong with it
    return "";
  }
}

}  // namespace normscope

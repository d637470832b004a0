// The only way to read the bytes of a file: every reader opens its file here.
//
// Promises: only regular files are read (a folder, pipe, socket or device is refused by name, and opening one never
// waits). A file above its kind's limit is refused before it is read, or while it is read where it grows. The time is
// linear in the size. Errors are one line that names kind and path. The readers interpret the bytes, and each can also
// read them from memory. docs/files.md lists the limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"

namespace normscope {

struct InputKind {
  std::string_view name;      ///< "text": messages begin with [text PATH]; empty: with PATH
  std::string_view expected;  ///< "a UTF-8 text file"
  uint64_t limit;             ///< bytes
  std::string_view advice{};  ///< what to do about a file that is too large
};

namespace input {
inline constexpr InputKind kSafetensors{"safetensors", "a safetensors file", uint64_t{1} << 40};
}

/// An open file that passed the checks above.
class InputFile {
 public:
  /// Throws Error.
  InputFile(const std::string& path, const InputKind& kind);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  uint64_t size() const { return size_; }
  /// Reads the next `count` bytes. Throws Error when there are fewer.
  void read(void* to, size_t count);
  /// Reads at most `count` bytes, as many as come at once. 0 at the end, which others may extend later.
  size_t read_some(char* to, size_t count);
  /// Sets the offset of the next read, which may lie past the end.
  void go_to(uint64_t offset);
  /// The whole file as the system keeps it in memory: pages are read on access and may be dropped again. The map
  /// outlives this object.
  std::shared_ptr<const std::span<const uint8_t>> map() const;
  /// Gives the whole pages within a part of such a map back to the system; they are read again on access.
  static void forget(std::span<const uint8_t> part);
  /// All that is left. Throws Error when that is more than the limit.
  std::string rest();

 private:
  [[noreturn]] void too_large(uint64_t size) const;

  Message where_;
  InputKind kind_;
  int file_ = -1;
  uint64_t size_ = 0;
};

/// The whole file. Throws Error.
std::string read_input_file(const std::string& path, const InputKind& kind);
/// The same; nothing where the file does not exist.
std::optional<std::string> read_input_file_if_there(const std::string& path, const InputKind& kind);

/// "a folder", "a pipe": the kind of a file that is not regular.
const char* kind_of_file(uint32_t mode);

/// Lists the paths in a folder, sorted; at most `most`, and none where it cannot be read (`error` then says why).
std::vector<std::string> files_in(const std::string& folder, size_t most, std::string& error);

/// Renames an unreadable file to PATH.bad or PATH.bad-N, the first of these names that is free. Returns the new name,
/// or `path` when it cannot be renamed.
std::string stash(const std::string& path);

}  // namespace normscope

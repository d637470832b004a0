// Writing a file so that a reader sees the old one or the new one, never half of either.
//
// Promises: bytes go to a temporary file in the same folder; commit() flushes them to the disk and renames it
// over the target; without commit(), or after an error, the target is untouched and the temporary file is
// gone. A symbolic link stays one, its target is replaced. Called by SafetensorsWriter and whatever else
// saves state.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace normscope {

class AtomicFile {
 public:
  // `what` begins the error messages ("safetensors"). Throws Error if the target is not a regular file or the
  // folder cannot be written to.
  AtomicFile(const std::string& path, std::string what);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, size_t size);  // throws Error, for example when the disk is full
  void commit();

 private:
  void close_and_remove() noexcept;

  std::string where_, target_, temporary_;
  std::FILE* file_ = nullptr;
};

}  // namespace normscope

// Temporary file, flush, rename. See atomic_file.h.
#include "engine/io/atomic_file.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "engine/core/error.h"

#ifdef _WIN32
#include <io.h>
#include <process.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace normscope {
namespace {

namespace fs = std::filesystem;

int flush_to_disk(std::FILE* file) {
  if (std::fflush(file) != 0) return -1;
#ifdef _WIN32
  return _commit(_fileno(file));
#else
  return fsync(fileno(file));
#endif
}

// Makes the rename itself last through a power cut. Not every file system can; then there is nothing to do
// about it.
void flush_folder([[maybe_unused]] const fs::path& folder) {
#ifndef _WIN32
  const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
#endif
}

long process_id() {
#ifdef _WIN32
  return _getpid();
#else
  return getpid();
#endif
}

std::string temporary_name(const std::string& target) {
  static std::atomic<unsigned> count{0};
  return fmt::format("{}.{}-{}.tmp", target, process_id(), count++);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path, std::string what) : where_(std::move(what) + " " + path) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(path, error);
  target_ = error || path.empty() ? path : resolved.string();
  const fs::file_status status = fs::status(target_, error);
  if (fs::exists(status) && !fs::is_regular_file(status))
    fail(where_, "cannot be written: not a regular file");
  temporary_ = temporary_name(target_);
  file_ = path.empty() ? nullptr : std::fopen(temporary_.c_str(), "wbx");
  if (file_ == nullptr) {
    fail(where_, "cannot be written: {}", path.empty() ? "the path is empty" : std::strerror(errno));
  }
}

AtomicFile::~AtomicFile() { close_and_remove(); }

void AtomicFile::write(const void* bytes, size_t size) {
  if (size != 0 && std::fwrite(bytes, 1, size, file_) != size) {
    const int reason = errno;
    close_and_remove();
    fail(where_, "cannot be written: {}", std::strerror(reason));
  }
}

void AtomicFile::commit() {
  int reason = flush_to_disk(file_) == 0 ? 0 : errno;
  if (std::fclose(std::exchange(file_, nullptr)) != 0 && reason == 0) reason = errno;
  std::error_code error(reason, std::generic_category());
  if (!error) fs::rename(temporary_, target_, error);
  if (error) {
    close_and_remove();
    fail(where_, "cannot be written: {}", error.message());
  }
  temporary_.clear();
  flush_folder(fs::path(target_).parent_path());
}

void AtomicFile::close_and_remove() noexcept {
  if (file_ != nullptr) std::fclose(std::exchange(file_, nullptr));
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
  temporary_.clear();
}

}  // namespace normscope

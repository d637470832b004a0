#include "training/io/line_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/core/error.h"

namespace normscope {
namespace {

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// Finds half a line that a killed process left; it is ended, so that the next line stands alone.
bool ends_within_a_line(int file) {
  char last = '\n';
  const off_t size = lseek(file, 0, SEEK_END);
  return size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

LineFile::LineFile(const std::string& path, std::string what, bool go_on) : where_("{} {}", what, path) {
  const OutputPath output = output_path(path, where_);
  if (output.direct) {
    file_ = open_direct(output, where_);
    return;
  }
  const int flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (go_on ? 0 : O_TRUNC);
  file_ = open(output.target.c_str(), flags, 0666);
  if (file_ < 0) fail(where_, "cannot be written: {}", std::strerror(errno));
  if (go_on && ends_within_a_line(file_)) line("");
}

LineFile::~LineFile() {
  if (file_ >= 0) close(file_);
}

LineFile::LineFile(LineFile&& other) noexcept
    : where_(std::move(other.where_)),
      error_(std::move(other.error_)),
      file_(std::exchange(other.file_, -1)) {}

LineFile& LineFile::operator=(LineFile&& other) noexcept {
  std::swap(where_, other.where_);
  std::swap(error_, other.error_);
  std::swap(file_, other.file_);
  return *this;
}

void LineFile::line(std::string_view text) {
  if (file_ < 0 || !error_.empty()) return;
  struct stat before {};
  const bool regular = fstat(file_, &before) == 0 && S_ISREG(before.st_mode);
  if (write_all(file_, std::string(text) + '\n')) return;
  error_ = Message("[{}] {}", where_, Message("cannot be written: {}", std::strerror(errno)));
  if (regular && ftruncate(file_, before.st_size) != 0) return;  // half a line stays
}

}  // namespace normscope

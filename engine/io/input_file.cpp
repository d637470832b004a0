#include "engine/io/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace normscope {
namespace {

constexpr size_t kPart = size_t{1} << 20;  // bytes of one read; memory grows with what the file really holds

Message where_of(const std::string& path, const InputKind& kind) {
  if (kind.name.empty()) return path;
  return kind.name == "text" ? Message("text {}", path) : Message("{} {}", kind.name, path);
}

// Names files with lines without brackets, as FILE:LINE: does elsewhere.
[[noreturn]] void refuse(const Message& where, const InputKind& kind, const Message& what) {
  if (kind.name.empty()) throw Error("{}: {}", where, what);
  fail(where, what);
}

Message size_text(uint64_t bytes) {
  constexpr struct {
    uint64_t unit;
    const char* name;
  } kUnits[] = {{1'000'000'000, "GB"}, {1'000'000, "MB"}, {1'000, "kB"}};
  for (const auto& [unit, name] : kUnits)
    if (bytes >= unit)
      return bytes % unit == 0
                 ? Message("{} {}", bytes / unit, name)
                 : Message("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(unit), name);
  return Message("{} bytes", bytes);
}

}  // namespace

const char* kind_of_file(uint32_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

InputFile::InputFile(const std::string& path, const InputKind& kind)
    : where_(where_of(path, kind)), kind_(kind) {
  struct stat status {};
  // The file is looked at before it is opened, as opening a device may do something. O_NONBLOCK is for a file that
  // replaced it in between.
  const auto look = [&](int failed) {
    const int reason = errno;
    if (failed && (reason == ENOENT || reason == ENOTDIR))
      refuse(where_, kind_, "no such file: check the path");
    if (failed) refuse(where_, kind_, {"cannot be read ({}): check its permissions", std::strerror(reason)});
    if (!S_ISREG(status.st_mode))
      refuse(where_, kind_,
             {"is {}, not a regular file: expected {}", kind_of_file(status.st_mode), kind_.expected});
  };
  if (path.find('\0') != path.npos) refuse(where_, kind_, "no such file: check the path");
  look(::stat(path.c_str(), &status));
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file_ < 0) look(-1);
  try {
    look(::fstat(file_, &status));
    size_ = static_cast<uint64_t>(status.st_size);
    if (size_ > kind_.limit) too_large(size_);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

InputFile::~InputFile() { ::close(file_); }

void InputFile::too_large(uint64_t size) const {
  const Message what("is too large ({}): expected at most {}", size_text(size), size_text(kind_.limit));
  refuse(where_, kind_, kind_.advice.empty() ? what : Message("{}, {}", what, kind_.advice));
}

size_t InputFile::read_some(char* to, size_t count) {
  for (;;) {
    const ssize_t got = ::read(file_, to, std::min(count, kPart));
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) refuse(where_, kind_, {"cannot be read ({})", std::strerror(errno)});
  }
}

void InputFile::go_to(uint64_t offset) {
  if (::lseek(file_, static_cast<off_t>(offset), SEEK_SET) < 0)
    refuse(where_, kind_, {"cannot be read ({})", std::strerror(errno)});
}

void InputFile::read(void* to, size_t count) {
  for (size_t done = 0; done < count;) {
    const size_t got = read_some(static_cast<char*>(to) + done, count - done);
    if (got == 0) refuse(where_, kind_, {"is truncated: it ends {} bytes early", count - done});
    done += got;
  }
}

std::shared_ptr<const std::span<const uint8_t>> InputFile::map() const {
  using Pages = std::span<const uint8_t>;
  if (size_ == 0) return std::make_shared<const Pages>();
  void* at = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file_, 0);
  if (at == MAP_FAILED) refuse(where_, kind_, {"cannot be read ({})", std::strerror(errno)});
  return {new Pages(static_cast<const uint8_t*>(at), size_), [](const Pages* pages) {
            ::munmap(const_cast<uint8_t*>(pages->data()), pages->size());
            delete pages;
          }};
}

void InputFile::forget(std::span<const uint8_t> part) {
#ifdef MADV_DONTNEED
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page,
             end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
#else
  (void)part;
#endif
}

// Reads to the file's end and not to its size: the files of /proc have none, and others may grow.
std::string InputFile::rest() {
  std::string bytes;
  bytes.reserve(static_cast<size_t>(std::min<uint64_t>(size_ + 1, kind_.limit + 1)));
  for (;;) {
    const size_t before = bytes.size();
    bytes.resize(std::max(std::min(bytes.capacity(), before + kPart), before + 4096));
    const size_t got = read_some(bytes.data() + before, bytes.size() - before);
    bytes.resize(before + got);
    if (got == 0) return bytes;
    if (bytes.size() > kind_.limit) too_large(bytes.size());
  }
}

std::string read_input_file(const std::string& path, const InputKind& kind) {
  return InputFile(path, kind).rest();
}

std::optional<std::string> read_input_file_if_there(const std::string& path, const InputKind& kind) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return std::nullopt;
  return read_input_file(path, kind);
}

std::vector<std::string> files_in(const std::string& folder, size_t most, std::string& error) {
  std::vector<std::string> paths;
  std::error_code failure;
  std::filesystem::directory_iterator at(folder, failure), end;
  while (!failure && at != end && paths.size() < most) {
    paths.push_back(at->path().string());
    at.increment(failure);  // a range-based for would throw here
  }
  error = failure ? failure.message() : "";
  std::ranges::sort(paths);
  return paths;
}

std::string stash(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int kMax = 1000;
  for (int i = 1; i <= kMax; ++i) {
    const std::string to = i == 1 ? path + ".bad" : fmt::format("{}.bad-{}", path, i);
    std::error_code error;
    if (fs::symlink_status(to, error).type() != fs::file_type::not_found) continue;
    fs::rename(path, to, error);
    return error ? path : to;
  }
  return path;
}

}  // namespace normscope

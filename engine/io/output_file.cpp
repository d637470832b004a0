#include "engine/io/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

namespace normscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".normscope-", kSuffix = ".tmp";
constexpr size_t kDigits = 32;
constexpr std::time_t kStale = 60;  // seconds; between the making of a file and its lock another process may
                                    // look

// Makes the rename itself survive a power cut. Not every file system can; then nothing can be done about it.
void flush_folder(const fs::path& folder) {
  const fs::path named = folder.empty() ? fs::path(".") : folder;
  const int descriptor = open(named.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

// Uses only random bits: a process id repeats in containers, and the target's name may already have
// the greatest length.
std::string temporary_name(const fs::path& folder) {
  std::random_device random;  // the system's own, which nobody can predict
  std::string name(kPrefix);
  for (size_t i = 0; i < kDigits / 8; ++i) name += fmt::format("{:08x}", random());
  return (folder / (name + std::string(kSuffix))).string();
}

bool is_temporary_name(const std::string& name) {
  if (name.size() != kPrefix.size() + kDigits + kSuffix.size() || !name.starts_with(kPrefix) ||
      !name.ends_with(kSuffix))
    return false;
  return std::all_of(name.begin() + kPrefix.size(), name.end() - kSuffix.size(),
                     [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// Tries the lock, which a temporary file has as long as its writer lives, however that ends.
bool is_stale(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  struct stat info {};
  const bool ours = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
                    info.st_mtime < std::time(nullptr) - kStale;
  const bool stale = ours && flock(file, LOCK_EX | LOCK_NB) == 0;
  close(file);
  return stale;
}

void clean_once(const std::string& folder) {
  static std::mutex mutex;
  static std::set<std::string> cleaned;
  {
    const std::lock_guard lock(mutex);
    if (!cleaned.insert(folder).second) return;
  }
  remove_stale_temporaries(folder);
}

// Keeps the mode and, where possible, the group of the file that is replaced.
void keep_mode(int file, const char* replaced) {
  struct stat was {
  }, is{};
  if (stat(replaced, &was) != 0 || fstat(file, &is) != 0) return;
  mode_t mode = was.st_mode & 0777;
  if (was.st_gid != is.st_gid && fchown(file, static_cast<uid_t>(-1), was.st_gid) != 0)
    mode &= ~static_cast<mode_t>(070);  // another group must not get rights that were not meant for it
  fchmod(file, mode);
}

std::function<void(const std::string&)>& written_listener() {
  static std::function<void(const std::string&)> listener;
  return listener;
}

// The number of an open stream that a path names; -1: none. A file behind the stream would be written
// from its beginning if it were opened anew.
int stream_of(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* end = path.data() + path.size();
    const auto [at, error] = std::from_chars(path.data() + folder.size(), end, number);
    if (error == std::errc{} && at == end) return number;
  }
  return -1;
}

// Opens a pipe without waiting for ever for its reader, who may start a moment later; then ENXIO.
int open_device(const std::string& path) {
  constexpr auto kPause = std::chrono::milliseconds(20);
  constexpr int kTries = 100;
  int file = -1;
  for (int i = 0; i < kTries; ++i) {
    file = open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0 || errno != ENXIO) break;
    std::this_thread::sleep_for(kPause);
  }
  if (file >= 0) fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
  return file;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// The one name of a file that need not be there; empty where there is none: too long, or the folder is gone.
// weakly_canonical alone leaves a path relative whose first part is missing.
fs::path whole_path(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path whole = error ? fs::path() : fs::weakly_canonical(absolute, error);
  return error ? fs::path() : whole;
}

// Finds half a line that a killed process left; it is ended, so that the next line stands alone.
bool ends_within_a_line(int file) {
  char last = '\n';
  const off_t size = lseek(file, 0, SEEK_END);
  return size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

}  // namespace

void listen_to_written_files(std::function<void(const std::string& path)> listener) {
  written_listener() = std::move(listener);
}

void remove_stale_temporaries(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end;
       at.increment(error))
    if (is_temporary_name(at->path().filename().string()) && is_stale(at->path())) unlink(at->path().c_str());
}

AtomicFile::AtomicFile(const std::string& path, std::string what, Access access)
    : where_("{} {}", what, path), path_(output_path(path, where_)) {
  if (!path_.direct) open_temporary(access);
}

AtomicFile::~AtomicFile() { close_and_remove(); }

void AtomicFile::open_temporary(Access access) {
  const fs::path folder = fs::path(path_.target).parent_path();
  clean_once(folder.string());
  temporary_ = temporary_name(folder);
  const int file = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        access == Access::Own || path_.exists ? 0600 : 0666);
  if (file < 0) {
    const int reason = errno;
    temporary_.clear();
    fail(where_, "cannot be written: {}", std::strerror(reason));
  }
  flock(file, LOCK_EX | LOCK_NB);
  if (path_.exists) keep_mode(file, path_.target.c_str());
  file_ = fdopen(file, "wb");
  if (file_ == nullptr) {
    close(file);
    give_up(ENOMEM);
  }
}

void AtomicFile::write(const void* bytes, size_t size) {
  if (file_ == nullptr) file_ = fdopen(open_direct(path_, where_), "wb");
  if (size != 0 && std::fwrite(bytes, 1, size, file_) != size) give_up(errno);
}

void AtomicFile::commit() {
  if (file_ == nullptr) return;  // nothing was written to the device
  int reason = std::fflush(file_) == 0 && (path_.direct || fsync(fileno(file_)) == 0) ? 0 : errno;
  // Renamed while it is still locked: no other process takes it for a stale file in between.
  if (!path_.direct && reason == 0 && std::rename(temporary_.c_str(), path_.target.c_str()) != 0)
    reason = errno;
  if (reason == 0) temporary_.clear();
  if (std::fclose(std::exchange(file_, nullptr)) != 0 && reason == 0) reason = errno;
  if (reason != 0) give_up(reason);
  if (path_.direct) return;
  flush_folder(fs::path(path_.target).parent_path());
  if (written_listener()) written_listener()(path_.target);
}

void AtomicFile::give_up(int reason) {
  close_and_remove();
  fail(where_, "cannot be written: {}", std::strerror(reason));
}

void AtomicFile::close_and_remove() noexcept {
  if (file_ != nullptr) std::fclose(std::exchange(file_, nullptr));
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
}

void write_file(const std::string& path, std::string_view bytes, std::string what, Access access) {
  AtomicFile file(path, std::move(what), access);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

OutputPath output_path(const std::string& path, const Message& where) {
  if (path.empty()) fail(where, "cannot be written: the path is empty");
  const std::string lexical = fs::path(path).lexically_normal().generic_string();
  if (const int stream = stream_of(lexical); stream >= 0) return {lexical, false, true, stream};
  std::error_code error;
  const bool is_link = fs::is_symlink(fs::symlink_status(path, error));
  const fs::file_status status = fs::status(path, error);  // ELOOP and the like
  if (status.type() == fs::file_type::none) fail(where, "cannot be written: {}", error.message());
  if (is_link && !fs::exists(status))
    fail(where, "cannot be written: a link to {}, which is not there",
         fs::read_symlink(path, error).string());
  if (fs::is_directory(status) || path.back() == '/')
    fail(where, "cannot be written: not a regular file but a folder");
  const fs::path resolved = fs::weakly_canonical(path, error);
  OutputPath output{error ? path : resolved.string(), fs::is_regular_file(status), false, -1};
  output.direct = fs::exists(status) && !output.exists;
  if (fs::exists(status) && access(output.target.c_str(), W_OK) != 0)
    fail(where, "cannot be written: {}", std::strerror(errno));
  return output;
}

int open_direct(const OutputPath& path, const Message& where) {
  std::fflush(path.stream == STDERR_FILENO ? stderr : stdout);  // earlier output comes first
  const int file = path.stream >= 0 ? fcntl(path.stream, F_DUPFD_CLOEXEC, 3) : open_device(path.target);
  if (file < 0 && errno == ENXIO) fail(where, "cannot be written: nobody reads this pipe");
  if (file < 0) fail(where, "cannot be written: {}", std::strerror(errno));
  return file;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  const fs::file_status at = fs::status(a, error), bt = fs::status(b, error);
  const auto other = [](const fs::file_status& is) { return fs::exists(is) && !fs::is_regular_file(is); };
  if (other(at) || other(bt)) return false;
  if (fs::exists(at) && fs::exists(bt)) return fs::equivalent(a, b, error);
  const fs::path whole = whole_path(a);
  return !whole.empty() && whole == whole_path(b);
}

void make_folder(const std::string& folder, Access access, const Message& where) {
  if (folder.empty()) return;
  std::error_code error;
  if (fs::is_directory(folder, error)) return;
  const fs::path above = fs::path(folder).parent_path();
  if (above != folder) make_folder(above.string(), access, where);
  if (mkdir(folder.c_str(), access == Access::Own ? 0700 : 0777) == 0 || errno == EEXIST) return;
  fail(where, "{} cannot be made: {}", folder, std::strerror(errno));
}

LineFile::LineFile(const std::string& path, std::string what, Start start) : where_("{} {}", what, path) {
  const OutputPath output = output_path(path, where_);
  if (output.direct) {
    file_ = open_direct(output, where_);
    return;
  }
  const int flags =
      O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (start == Start::Anew ? O_TRUNC : 0);
  file_ = open(output.target.c_str(), flags, 0666);
  if (file_ < 0) fail(where_, "cannot be written: {}", std::strerror(errno));
  if (start == Start::NextLine && ends_within_a_line(file_)) line("");
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

void LineFile::append(std::string_view bytes) {
  if (file_ < 0 || !error_.empty()) return;
  struct stat before {};
  const bool regular = fstat(file_, &before) == 0 && S_ISREG(before.st_mode);
  if (write_all(file_, bytes)) return;
  error_ = Message("[{}] {}", where_, Message("cannot be written: {}", std::strerror(errno)));
  if (regular && ftruncate(file_, before.st_size) != 0) return;  // half of it stays
}

}  // namespace normscope

#include "training/io/output_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "engine/core/error.h"

namespace normscope {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

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
  const int file = path.stream >= 0 ? fcntl(path.stream, F_DUPFD_CLOEXEC, 3)
                                    : open(path.target.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (file < 0) fail(where, "cannot be written: {}", std::strerror(errno));
  return file;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  const fs::file_status at = fs::status(a, error), bt = fs::status(b, error);
  if (fs::exists(at) && fs::exists(bt)) return fs::is_regular_file(at) && fs::equivalent(a, b, error);
  if (fs::exists(at) || fs::exists(bt)) return false;
  return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
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

}  // namespace normscope

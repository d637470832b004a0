// `Folder` is a folder that is removed with the test, `read_all` what a file holds; `write_text` writes a file.
// `Variable` sets a variable of the environment while it lives.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

namespace normscope::test {

inline std::string read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// What `cp -rn` does: takes the stored results of one folder into another.
inline void take_results(const std::filesystem::path& from, const std::filesystem::path& to) {
  using std::filesystem::copy_options;
  std::filesystem::copy(from, to, copy_options::recursive | copy_options::skip_existing);
}

struct Folder {
  Folder()
      : path(std::filesystem::temp_directory_path() /
             ("normscope-test-" + std::to_string(::getpid()) + "-" + std::to_string(made++))) {
    std::filesystem::remove_all(path);  // left by a killed process with the same number
    std::filesystem::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return (path / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    write_text(file(name), content);
    return file(name);
  }
  /// The number of its entries.
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
  }

  const std::filesystem::path path;

 private:
  static inline std::atomic<int> made{0};
};

/// Gives a variable of the environment another value while it lives, or takes it away.
class Variable {
 public:
  explicit Variable(const char* name, const std::optional<std::string>& value = {}) : name_(name) {
    if (const char* found = std::getenv(name)) before_ = found;
    set(value);
  }
  ~Variable() { set(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    value ? setenv(name_, value->c_str(), 1) : unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

/// A folder that exports go to while it lives.
struct Pictures : Folder {
  const Variable place{"XDG_PICTURES_DIR", file("")};
};

}  // namespace normscope::test

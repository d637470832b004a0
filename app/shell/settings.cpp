#include "app/shell/settings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "engine/io/output_file.h"
#include "training/files/config_file.h"
#include "training/io/input_kinds.h"
#include "training/io/input_value.h"
#include "training/io/toml.h"

namespace normscope::shell {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKeptSessions = 3,
                 kRecent = 8;  // closed sessions; those that crashed stay until they were offered
constexpr std::string_view kBeginning = ".beginning-";  // of a folder that has no number yet
constexpr std::time_t kBeginningSeconds = 60;

// Holds the lock of a folder whose window is gone for as long as this object lives. Meanwhile no other
// window can remove the folder and give its number to a new one.
class GoneFolder {
 public:
  explicit GoneFolder(const fs::path& folder) : file_(open((folder / "lock").c_str(), O_RDWR | O_CLOEXEC)) {
    if (file_ < 0) return;
    struct stat held {
    }, named{};
    free_ = flock(file_, LOCK_EX | LOCK_NB) == 0 && fstat(file_, &held) == 0 &&
            stat((folder / "lock").c_str(), &named) == 0 && held.st_ino == named.st_ino &&
            held.st_dev == named.st_dev;  // and no other folder took the name since it was opened
  }
  ~GoneFolder() { let_go(); }
  GoneFolder(const GoneFolder&) = delete;
  GoneFolder& operator=(const GoneFolder&) = delete;
  bool is_taken() const { return file_ >= 0 && !free_; }  // its window lives, or another one looks at it
  bool is_ours() const { return free_; }
  void let_go() {
    if (file_ >= 0) close(file_);
    file_ = -1;
  }

 private:
  int file_;
  bool free_ = false;
};

// Takes a folder's number away in one moment. What remains where the removal is cut short is later
// removed like the folder of a window that was killed as it began. Windows moves no folder in which a file is open.
void remove_at_once(const fs::path& folder, [[maybe_unused]] GoneFolder& gone) {
  std::error_code error;
#ifdef _WIN32
  gone.let_go();
#endif
  const fs::path aside = folder.parent_path() / (std::string(kBeginning) + folder.filename().string());
  fs::rename(folder, aside, error);
  if (!error) fs::remove_all(aside, error);
}

// Whether a folder was made long ago: between its making and its lock another window may look.
bool is_old(const fs::path& folder) {
  struct stat info {};
  return stat(folder.c_str(), &info) == 0 && info.st_mtime < std::time(nullptr) - kBeginningSeconds;
}

// Writes an empty file as a mark. If that fails, the session is offered once more.
void mark(const fs::path& path) {
  try {
    write_file(path.string(), "", "autosave", Access::Own);
  } catch (const Error&) {
  }
}

// Orders sessions by their beginning, whatever the clock says.
int64_t number_of(const fs::path& folder) {
  constexpr int64_t kLargest = int64_t{1} << 60;
  const std::string name = folder.filename().string();
  int64_t number = 0;
  const auto [at, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc{} && number > 0 && number < kLargest ? number : 0;
}

bool has_only_lock(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename() != "lock" && entry.path().filename() != "closed") return false;
  return !error;
}

fs::path sessions_folder(const std::string& state_folder) { return fs::path(state_folder) / "sessions"; }

// Recognises a session that could not be restored.
bool is_stashed(const fs::path& folder) { return folder.extension().string().starts_with(".bad"); }

/// Reads one table. It remembers the first impossible value, whose default holds.
class SettingsTable {
 public:
  SettingsTable(const toml::table& table, const std::string& name) : table_(table), name_(name) {}
  const Message& complaint() const { return complaint_; }

  template <typename T>
  void number(std::string_view key, T& to, double low, double high) {
    read(key, Message("a number from {} to {}", low, high), [&](const toml::node& node) {
      const auto value = node.value<double>();
      if (!value || !(*value >= low && *value <= high)) return false;
      to = static_cast<T>(*value);
      return true;
    });
  }
  void flag(std::string_view key, bool& to) {
    read(key, "true or false", [&](const toml::node& node) {
      const auto value = node.value_exact<bool>();
      if (!value) return false;
      to = *value;
      return true;
    });
  }
  /// Sets true for the second word.
  void either(std::string_view key, bool& to, std::string_view no, std::string_view yes) {
    read(key, Message("\"{}\" or \"{}\"", no, yes), [&](const toml::node& node) {
      const auto word = node.value_exact<std::string_view>();
      if (!word || (*word != no && *word != yes)) return false;
      to = *word == yes;
      return true;
    });
  }
  template <typename Take>
  void read(std::string_view key, const Message& expected, Take take) {
    const toml::node* node = table_.get(key);
    if (!node || take(*node) || !complaint_.empty()) return;
    const auto text = node->value_exact<std::string>();
    const auto whole = node->value_exact<int64_t>();  // a double cannot hold every large one
    const auto real = node->value_exact<double>();
    const std::string shown = text    ? shown_text(*text)
                              : whole ? std::to_string(*whole)
                              : real  ? fmt::format("{}", *real)
                                      : "another kind of value";
    complaint_ = Message("{}:{}: {}", name_, node->source().begin.line,
                         Message("{} is {}: expected {}", key, shown, expected));
  }

 private:
  const toml::table& table_;
  const std::string& name_;
  Message complaint_;
};

/// Reads the positions of the gaps between the Lab's panels; 0: the default position.
void read_splits(SettingsTable& table, lab::Splits& into) {
  table.read("splits", Message("a list of {} numbers", into.size()), [&](const toml::node& node) {
    const toml::array* splits = node.as_array();
    if (!splits || splits->size() != into.size()) return false;
    bool all = true;
    for (size_t i = 0; i < into.size(); ++i) {
      const double at = (*splits)[i].value<double>().value_or(-1);
      if (at > 0 && at < 1)
        into[i] = static_cast<float>(at);
      else
        all = all && at == 0;
    }
    return all;
  });
}

}  // namespace

Settings parse_settings(std::string_view text, const std::string& name, Message& complaint) {
  Settings s;
  toml::table root;
  try {
    root = parse_toml(text, name);
  } catch (const Error& error) {
    complaint = error.message;
    return s;
  }
  SettingsTable table(root, name);
  table.either("theme", s.dark, "light", "dark");
  table.number("scale", s.scale, 0.75, 2.5);
  table.read("reduced_motion", "true, false or \"system\"", [&](const toml::node& node) {
    s.reduced_motion = node.value_exact<bool>();  // "system": as the desktop has it
    return s.reduced_motion || node.value_exact<std::string_view>() == "system";
  });
  table.number("width", s.width, 320, 16384);
  table.number("height", s.height, 240, 16384);
  table.either("backend", s.backend.cuda, "cpu", "cuda");
  table.flag("tf32", s.backend.tf32);
  s.backend.tf32 = s.backend.tf32 && s.backend.cuda;
  table.flag("lesson_offered", s.lesson_offered);
  table.flag("welcomed", s.welcomed);
  table.flag("more_measurements", s.more_measurements);
  table.read("language", "a text of at most 16 letters, as \"de\"", [&](const toml::node& node) {
    const auto language = node.value_exact<std::string>();
    const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '-'; };
    if (!language || language->size() > 16 || !std::ranges::all_of(*language, fits)) return false;
    s.language = *language;
    return true;
  });
  read_splits(table, s.splits);
  table.read("recent", Message("a list of at most {} names of files", kRecent), [&](const toml::node& node) {
    const toml::array* recent = node.as_array();
    if (!recent || recent->size() > kRecent) return false;
    for (const toml::node& entry : *recent) {
      const auto file = entry.value_exact<std::string>();
      if (!file || file->empty()) return false;
      s.recent.push_back(*file);
    }
    return true;
  });
  complaint = table.complaint();
  return s;
}

ReadSettings read_settings(const std::string& path) {
  ReadSettings read;
  Message complaint;
  try {
    const auto text = read_input_file_if_there(path, input::kSettings);
    if (!text) return read;
    read.settings = parse_settings(*text, path, complaint);
  } catch (const Error& error) {
    complaint = error.message;
  }
  read.existed = true;
  if (!complaint.empty()) read.notice = Message("{}; kept as {}, the default holds", complaint, stash(path));
  return read;
}

void write_settings(const std::string& path, const Settings& s) {
  make_folder(fs::path(path).parent_path().string(), Access::Own, "settings");
  std::vector<std::string> recent;
  for (const std::string& file : s.recent) recent.push_back(toml_string(file));
  const std::string text = fmt::format(
      "# What the normscope window remembers.\ntheme = \"{}\"\nscale = {:.2f}\nreduced_motion = {}\nwidth = "
      "{}\n"
      "height = {}\nbackend = \"{}\"\ntf32 = {}\nlesson_offered = {}\nwelcomed = {}\n"
      "more_measurements = {}\n"
      "language = \"{}\"\nsplits = [{:.4f}]\nrecent = [{}]\n",
      s.dark ? "dark" : "light", s.scale,
      !s.reduced_motion   ? "\"system\""
      : *s.reduced_motion ? "true"
                          : "false",
      s.width, s.height, s.backend.cuda ? "cuda" : "cpu", s.backend.tf32, s.lesson_offered, s.welcomed,
      s.more_measurements, s.language, fmt::join(s.splits, ", "), fmt::join(recent, ", "));
  write_file(path, text, "settings", Access::Own);
}

AutosaveFolder::AutosaveFolder(const std::string& state_folder) {
  const fs::path sessions = sessions_folder(state_folder);
  make_folder(sessions.string(), Access::Own, "autosave");
  int64_t number = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(sessions, error))
    number = std::max(number, number_of(entry.path()));
  std::string aside = (sessions / (std::string(kBeginning) + "XXXXXX")).string();
#ifdef _WIN32
  // A folder in which a file is open keeps its name there. One without a lock is not a window's, and is left alone.
  do {
    aside = path_ = (sessions / fmt::format("{:06}", ++number)).string();
  } while (!fs::create_directory(path_, error) && !error);
  if (error) fail("autosave", "{} cannot be made: {}", path_, error.message());
#else
  // The folder is locked before it has a name that another window looks at, which would take it for one that is gone.
  if (!mkdtemp(aside.data())) fail("autosave", "{} cannot be made: {}", aside, std::strerror(errno));
#endif
  lock_ = open((fs::path(aside) / "lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  // Another window may hold the lock for the moment in which it looks, so this one waits.
  if (lock_ < 0 || flock(lock_, LOCK_EX) != 0) fail("autosave", "{} cannot be locked", aside);
  while (
      path_
          .empty()) {  // another window may begin at the same moment: its folder is not empty and not replaced
    const std::string path = (sessions / fmt::format("{:06}", ++number)).string();
    fs::rename(aside, path, error);
    if (error != std::errc::directory_not_empty && error != std::errc::file_exists &&
        error != std::errc::not_a_directory)
      path_ = path;
  }
  if (error) fail("autosave", "{} cannot be made: {}", path_, error.message());
}

AutosaveFolder::~AutosaveFolder() {
  if (lock_ >= 0) close(lock_);
}

void AutosaveFolder::close_cleanly() { mark(fs::path(path_) / "closed"); }

std::vector<EndedSession> ended_sessions(const std::string& state_folder) {
  std::vector<EndedSession> ended;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(sessions_folder(state_folder), error)) {
    const fs::path& folder = entry.path();
    if (!entry.is_directory(error) || is_stashed(folder)) continue;
    const bool beginning = folder.filename().string().starts_with(kBeginning);
    if (beginning && !is_old(folder)) continue;  // its window is about to lock it
    GoneFolder gone(folder);
    if (gone.is_taken()) continue;
    if (beginning) {
      fs::remove_all(folder, error);  // left by a window that was killed as it began
      continue;
    }
    if (fs::exists(folder / kSessionFile, error))
      ended.push_back({folder.string(), !fs::exists(folder / "closed", error)});
    else if (gone.is_ours() && has_only_lock(folder))
      remove_at_once(folder, gone);  // left by a window that never trained a step
  }
  std::ranges::sort(ended, [](const EndedSession& a, const EndedSession& b) {
    return number_of(a.path) > number_of(b.path);
  });
  size_t closed = 0;
  std::erase_if(ended, [&](const EndedSession& session) {
    const bool old = !session.crashed && ++closed > kKeptSessions;
    if (old) fs::remove_all(session.path, error);
    return old;
  });
  return ended;
}

void decline(const EndedSession& session) { mark(fs::path(session.path) / "closed"); }

}  // namespace normscope::shell

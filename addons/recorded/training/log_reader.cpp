// See log_reader.h.
#include "addons/recorded/training/log_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "addons/recorded/training/event_file.h"
#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "training/files/file_kind.h"
#include "training/io/input_file.h"

namespace normscope::records {
namespace {

constexpr size_t kNamedFaults = 10;
constexpr size_t kPart = size_t{1} << 20;
constexpr size_t kKept = 4096;  // bytes of a followed file's beginning and end, to know it again

/// Differs for another file that took this name.
std::pair<uint64_t, uint64_t> identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {static_cast<uint64_t>(status.st_dev), static_cast<uint64_t>(status.st_ino)};
}

}  // namespace

LogReader::LogReader(std::string path, NameMapping mapping)
    : path_(std::move(path)), mapping_(std::move(mapping)) {}

void LogReader::take(std::string_view bytes) {
  for (size_t begin = 0; begin < bytes.size();) {
    const size_t end = bytes.find('\n', begin);
    const std::string_view part = bytes.substr(begin, end == bytes.npos ? bytes.npos : end - begin);
    if (skipping_ || waiting_.size() + part.size() > kLongestLine) {
      if (!skipping_) {
        ++read_.lines;
        broken({"is longer than {} bytes", kLongestLine});
        too_long_ = true;
      }
      waiting_.clear();
      skipping_ = end == bytes.npos;
    } else if (end == bytes.npos) {
      waiting_.append(part);
    } else if (waiting_.empty()) {
      line(part);
    } else {
      waiting_.append(part);
      line(waiting_);
      waiting_.clear();
    }
    if (end == bytes.npos) return;
    begin = end + 1;
  }
}

void LogReader::finish() {
  if (!waiting_.empty()) line(waiting_);
  waiting_.clear();
}

void LogReader::take_events(std::string_view file) {
  read_events(file, path_, read_, [this](const LogStep& step) {
    run_of("", 0).add(step);
    ++steps_;
  });
}

void LogReader::line(std::string_view text) {
  ++read_.lines;
  try {
    understand(text);
  } catch (const Error& error) {
    broken(without_where(error.message));
  }
}

void LogReader::understand(std::string_view text) {
  const LineKind kind = read_line(text, read_.lines, step_, about_);
  if (kind == LineKind::Blank) return;
  if (kind == LineKind::Step) {
    run_of(step_.run, step_.seed).add(step_);
    ++steps_;
  } else {
    for (const Message& fault : about_.faults) note(without_where(fault));
    if (about_.is_header)
      head(about_);
    else
      run_of(about_.label.run, about_.label.seed).add(about_);
  }
  ++understood_;
}

void LogReader::broken(const Message& what) {
  ++read_.broken;
  note(what);
}

void LogReader::note(const Message& what) {
  if (read_.faults.size() < kNamedFaults) read_.faults.push_back({"line {}: {}", read_.lines, what});
}

// Allows a second header in a log that goes on after a pause: it holds for runs that begin after it, and the
// clock of the others begins anew.
void LogReader::head(const LogAbout& header) {
  Message first;
  size_t unknown = 0;
  for (const auto& [theirs, ours] : header.names) try {
      NameRule rule = name_rule(theirs, ours);
      if (mapping_.rules.size() < kMostNameRules) mapping_.rules.push_back(std::move(rule));
    } catch (const Error& error) {
      if (unknown++ == 0) first = error.message;
    }
  if (unknown > 0) note({"{} of {} names left out: {}", unknown, header.names.size(), first});
  for (const auto& builder : runs_) builder->begin_clock();
  header_ = header;
}

RunBuilder& LogReader::run_of(std::string_view run, uint64_t seed) {
  if (seed == 0) seed = header_.label.seed;
  if (run.empty()) run = header_.label.run;
  const auto is_it = [&](const auto& b) { return b->label().seed == seed && b->label().run == run; };
  if (newest_ && newest_->label().seed == seed && newest_->label().run == run) return *newest_;
  const auto found = std::ranges::find_if(runs_, is_it);
  if (found != runs_.end()) return *(newest_ = found->get());
  if (runs_.size() >= kMostRuns) throw Error("begins one run more than {}", kMostRuns);
  const size_t budget = std::clamp(kLogBudget / (runs_.size() + 1), kLeastRunBudget, kHistoryBudget);
  for (const auto& builder : runs_) builder->set_budget(budget);
  runs_.push_back(std::make_unique<RunBuilder>(LogLabel{std::string(run), seed}, header_, mapping_, budget));
  return *(newest_ = runs_.back().get());
}

RecordedFile LogReader::file() const {
  RecordedFile file{read_, {}};
  const std::string stem = std::filesystem::path(path_).stem().string();
  for (const auto& builder : runs_) {
    file.runs.push_back(builder->run(path_, stem, runs_.size() == 1));
    file.runs.back().read = read_;
  }
  return file;
}

std::vector<LogName> LogReader::names() const {
  return runs_.empty() ? std::vector<LogName>{} : runs_.front()->names();
}

Message LogReader::fault() const {
  if (has_step()) return "";
  const Message none =
      understood_ > 0 ? Message("{} lines and none is of a step: expected a log that has begun", read_.lines)
                      : "is no log: expected a JSON object with a step on each line (docs/log-format.md)";
  return read_.faults.empty() ? Message("{}: {}", path_, none)
                              : Message("{}: {}; {}", path_, none, read_.faults.front());
}

bool is_events(InputFile& in) {
  char head[64];
  const size_t got = in.read_some(head, sizeof head);
  in.go_to(0);
  return is_event_file({head, got});
}

void read_log(InputFile& in, LogReader& reader) {
  if (is_events(in)) {
    const auto bytes = in.map();
    return reader.take_events({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  }
  std::string part(kPart, '\0');
  // A file that does not begin as a log may be of any length and without any line.
  for (size_t got = 1; got > 0 && !reader.hopeless();) {
    got = in.read_some(part.data(), part.size());
    reader.take(std::string_view(part).substr(0, got));
  }
  reader.finish();
  if (const Message fault = reader.fault(); !fault.empty()) throw Error(fault);
}

std::vector<LogName> names_in(const std::string& path, const std::string& mapping) {
  LogReader reader(path, mapping.empty() ? NameMapping{} : read_name_mapping(mapping));
  InputFile in(path, input::kLog);
  read_log(in, reader);
  return reader.names();
}

LogFollower::LogFollower(std::string path, NameMapping mapping)
    : path_(std::move(path)),
      mapping_(std::move(mapping)),
      reader_(std::make_unique<LogReader>(path_, mapping_)) {}

// Does not compare sizes alone: a job started again under the same name may have written more already than
// was read of the one before. The beginning tells runs apart that end alike (in null), the end tells apart those that
// began alike, and the file's identity those that were forked in between.
bool LogFollower::goes_on(InputFile& in) const {
  const auto holds = [&in](uint64_t at, const std::string& bytes) {
    std::string now(bytes.size(), '\0');
    in.go_to(at);
    size_t done = 0;
    while (const size_t got = in.read_some(now.data() + done, now.size() - done)) done += got;
    return now == bytes;
  };
  return in.size() >= read_ && holds(0, head_) && holds(read_ - end_.size(), end_);
}

void LogFollower::keep(std::string_view bytes) {
  if (head_.size() < kKept) head_ += bytes.substr(0, kKept - head_.size());
  end_ += bytes.substr(bytes.size() - std::min(bytes.size(), kKept));
  end_.erase(0, end_.size() - std::min(end_.size(), kKept));
  read_ += bytes.size();
}

void LogFollower::begin_anew() {
  reader_ = std::make_unique<LogReader>(path_, mapping_);
  read_ = 0;
  head_.clear();
  end_.clear();
}

bool LogFollower::poll(const std::atomic<bool>* stop) {
  const auto identity =
      identity_of(path_);  // before it is opened: a file that replaces it later is noticed next time
  InputFile in(path_, input::kLog);
  bool news = false;
  const bool same = goes_on(in);
  if (read_ > 0 && (!same || identity != identity_)) {
    replaced_ = replaced_ || !same;  // a copy of it that has grown is no other run
    begin_anew();
    news = true;
  }
  identity_ = identity;
  in.go_to(read_);
  std::string part(kPart, '\0');
  while (const size_t got = in.read_some(part.data(), part.size())) {
    reader_->take(std::string_view(part).substr(0, got));
    keep(std::string_view(part).substr(0, got));
    news = true;
    if (stop && *stop) break;
  }
  return news;
}

RecordedFile LogFollower::file() const {
  RecordedFile file = reader_->file();
  if (replaced_)
    for (Recording& run : file.runs) run.missing.push_back(kReplaced);
  return file;
}

namespace {

constexpr auto kBetween = std::chrono::milliseconds(400);  // between two looks at a file that may grow

}  // namespace

/// What the thread and the screen share.
struct FollowedFile::Reading {
  explicit Reading(std::string file) : path(std::move(file)), log(path) {}

  /// Looks at the file once; true when something is new. Throws nothing. A failed look keeps what was read
  /// before, beside the error.
  bool look() {
    FollowedNow next;
    bool news = false;
    try {
      if (read ? whole : is_read_whole(path)) {
        whole = true;
        const uint64_t now = std::filesystem::file_size(path);
        news = !read || now != bytes;
        bytes = now;
        if (news) next.file = read_recorded(path);
      } else {
        news = log.poll(&stopped) || !read || failed;
        if (news) next.file = log.file();
        if (news && next.file.runs.empty() && next.file.broken > 0 && !next.file.faults.empty())
          next.error = Message("{}: {}", path, next.file.faults.front());
      }
      read = true;
      failed = false;
    } catch (...) {
      next.file = known->file;
      next.error = describe_exception("reading " + path);
      news = !failed || next.error != known->error;
      failed = true;
    }
    if (!news) return false;
    const std::lock_guard lock(mutex);
    next.version = known->version + 1;
    known = std::make_shared<const FollowedNow>(std::move(next));
    return true;
  }

  void follow(const std::function<void()>& wake) {
    std::unique_lock lock(mutex);
    while (!stopped) {
      lock.unlock();
      if (look()) wake();
      lock.lock();
      changed.wait_for(lock, kBetween, [this] { return stopped.load(); });
    }
  }

  const std::string path;
  LogFollower log;  // used by the reading thread only
  // Used by the reading thread only: it was read once; it is read whole; the newest look failed.
  bool read = false, whole = false, failed = false;
  uint64_t bytes = 0;  // of a file that is read whole, when it was read
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> stopped{false};  // the reader of a long log checks it between two parts
  std::shared_ptr<const FollowedNow> known = std::make_shared<const FollowedNow>();
  std::jthread thread;
};

FollowedFile::FollowedFile(std::string path, std::function<void()> wake)
    : reading_(std::make_shared<Reading>(std::move(path))) {
  if (wake)
    reading_->thread = start_thread(
        "compare", [reading = reading_.get(), wake = std::move(wake)] { reading->follow(wake); });
}

FollowedFile::~FollowedFile() {
  {
    const std::lock_guard lock(reading_->mutex);
    reading_->stopped = true;
  }
  reading_->changed.notify_all();
  if (reading_->thread.joinable()) reading_->thread.join();
}

const std::string& FollowedFile::path() const { return reading_->path; }

std::shared_ptr<const FollowedNow> FollowedFile::now() {
  if (!reading_->thread.joinable()) reading_->look();
  const std::lock_guard lock(reading_->mutex);
  return reading_->known;
}

}  // namespace normscope::records

namespace normscope {

namespace records {
namespace {

// Where JSON begins and its first line ends; empty where no object begins it.
std::string_view first_line(std::string_view head) {
  const size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == head.npos || head[begin] != '{') return {};
  return head.substr(begin, head.find('\n', begin) - begin);
}

// What follows a name of the outermost object. It reads brackets and quotes only: a line of a log may be
// longer than the head, and Python writes NaN and Infinity, which are no JSON.
std::optional<std::string_view> value_of(std::string_view line, std::string_view name) {
  int depth = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '{' || line[at] == '[') ++depth;
    if (line[at] == '}' || line[at] == ']') --depth;
    if (line[at] != '"') continue;
    const size_t begin = ++at;
    while (at < line.size() && line[at] != '"') at += line[at] == '\\' ? 2 : 1;
    const size_t colon = line.find_first_not_of(" \t", at + 1);
    if (depth != 1 || colon == line.npos || line[colon] != ':' || line.substr(begin, at - begin) != name)
      continue;
    return line.substr(std::min(line.find_first_not_of(" \t", colon + 1), line.size()));
  }
  return {};
}

bool is_log(std::string_view head) {
  const std::string_view line = first_line(head);
  const std::optional<std::string_view> format = value_of(line, "format");
  return (format && format->starts_with("\"normscope log")) || value_of(line, "step");
}

}  // namespace
}  // namespace records

std::optional<FileLook> look_at_log(std::string_view head) {
  if (!records::is_log(head) && !records::is_event_file(head)) return std::nullopt;
  return FileLook{FileKind::Recorded, "A training log: its runs are compared with those that are shown."};
}

}  // namespace normscope

#include "addons/recorded/training/log_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <numeric>

#include "addons/recorded/training/number_files.h"
#include "addons/recorded/training/run_files.h"
#include "addons/recorded/training/table_file.h"
#include "engine/core/boundary.h"
#include "training/files/file_kind.h"
#include "training/io/input_kinds.h"
#include "training/run/checkpoint.h"

namespace normscope::records {
namespace {

constexpr size_t kNamedFaults = 10, kNamedOthers = 12, kMaxPassed = 10;
constexpr size_t kMaxEpochs = 10'000;
constexpr size_t kPart = size_t{1} << 20;
constexpr size_t kHead = kPart;  // what a training prints before its first step is shorter
constexpr size_t kKept = 4096;   // bytes of a followed file's beginning and end, to know it again

/// Device and inode, which differ if another file takes this name.
std::pair<uint64_t, uint64_t> identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {static_cast<uint64_t>(status.st_dev), static_cast<uint64_t>(status.st_ino)};
}

constexpr auto kBetween = std::chrono::milliseconds(400);  // between two looks at a file that may grow

/// Reads all of a text that is a whole number.
std::optional<size_t> number_of(std::string_view text) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The number I of "beta2.I.I"; in a stack of attention and feed-forward networks "L03.attn" has one too.
std::optional<size_t> place_of(const LogStat& stat) {
  std::string_view name = stat.name;
  if (stat.field == &kOwnShare) {
    if (!name.starts_with("beta2.")) return std::nullopt;
    name.remove_prefix(6);
    const size_t dot = name.find('.');
    if (dot == name.npos || name.substr(0, dot) != name.substr(dot + 1)) return std::nullopt;
    return number_of(name.substr(0, dot));
  }
  const bool attention = name.ends_with(".attn");
  if (!name.starts_with('L') || (!attention && !name.ends_with(".ffn"))) return std::nullopt;
  const auto layer = number_of(name.substr(1, name.find('.') - 1));
  if (!layer || *layer == 0) return std::nullopt;
  return 2 * *layer - (attention ? 1 : 0);
}

constexpr int32_t kMaxWidenings = 200;
constexpr int32_t kMaxSetBacks = 1000;
constexpr size_t kMaxValidations = kDenseSteps;

std::string key_of(const LogStat& stat) { return fmt::format("{}/{}", stat.field->field, stat.name); }

/// Moves a history into a wider one; its additional numbers count as not measured in earlier steps.
void move_over(const History& from, History& to) {
  const FrameBlock block = from.frames(std::numeric_limits<int32_t>::max(), from.bytes() + 1);
  std::vector<int32_t> places(from.layout().size());
  std::iota(places.begin(), places.end(), 0);
  to.restore_frames(spread(block, places, to.layout().size()));
  to.take_over(from);
}

/// The specification of the settings, if all of them are ours.
std::optional<RunSpec> spec_of(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::map<std::string, std::string, std::less<>> values;
  for (const auto& [key, value] : settings) values[key] = value;
  for (const Field& field : spec_fields())
    if (!values.contains(field.key)) return std::nullopt;
  const bool wired =
      std::ranges::any_of(settings, [](const auto& setting) { return setting.first.starts_with("wiring."); });
  if (values["model.placement"] == to_string(Placement::Custom) && !wired) return std::nullopt;
  try {
    RunSpec spec;
    for (const auto& [key, value] : settings) set_field(spec, key, value);
    return spec;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void take(std::string& to, const std::string& from) {
  if (!from.empty()) to = from;
}

void take(double& to, double from) {
  if (!std::isnan(from)) to = from;
}

/// "a", "b" and "c", without control characters.
Message shown_names(const std::set<std::string, std::less<>>& names) {
  std::string shown;
  for (const std::string& name : names) {
    if (name == *names.rbegin() && !shown.empty()) return Message("{} and {}", shown, shown_text(name));
    shown += (shown.empty() ? "" : ", ") + shown_text(name);
  }
  return shown;
}

/// The name of a run that has none: its file's, or its folder's where all files are called alike.
std::string name_by_place(const std::string& file) {
  std::filesystem::path path = std::filesystem::absolute(file).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string name = path.filename().string();
  if (std::error_code none; std::filesystem::is_directory(path, none)) return name;
  const bool alike =
      name.starts_with("events.out.tfevents") || name == "trainer_state.json" || name == "metrics.csv";
  return alike ? path.parent_path().filename().string() : path.stem().string();
}

/// 8 bytes of length, then a JSON object; a log begins with the object itself.
bool is_safetensors(InputFile& in) {
  char head[9] = {};
  if (in.size() < sizeof head) return false;
  in.read(head, sizeof head);
  in.go_to(0);
  return head[8] == '{' && head[0] != '{' && head[0] != ' ' && head[0] != '\n';
}

Recording saved_run(const std::string& path) {
  SeedRecord saved{read_checkpoint(SafetensorsFile::load(path))};
  RunSpec spec = saved.spec();
  Recording run;
  run.path = path;
  run.maker = "normscope";
  run.name = spec.name.empty() ? default_name(spec) : spec.name;
  for (auto& [key, value] : field_values(spec)) run.settings.emplace_back(key, value);
  run.placement = run.settings.empty() ? "" : find_field("model.placement")->get(spec);
  run.edits = saved.edits;
  for (const StatInfo& stat : saved.history->layout()) run.layers = std::max(run.layers, stat.layer);
  run.data = saved.data;
  run.origin = saved.origin;
  saved.said = to_string(judge(verdict_of(*saved.history), saved.history->loss().values,
                               {.guessing = guessing_loss(spec.model)}));
  saved.measured[kTokensPerStep] = units_of_step(spec);
  if (saved.history->layout().empty())
    run.missing.push_back(
        "gradient sizes and hidden states: this file does not name its numbers; resume the run and save it again");
  run.spec = std::move(spec);
  run.seeds.push_back(std::move(saved));
  return run;
}

}  // namespace

LogReader::LogReader(std::string path, NameMapping mapping)
    : path_(std::move(path)),
      mapping_(std::move(mapping)),
      given_rules_(mapping_.rules.size()),
      step_(mapping_) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();  // of a folder
}

void LogReader::take(std::string_view bytes) {
  if (known_) return read_on(bytes);
  const std::string_view part = bytes.substr(0, kHead - head_.size());
  head_ += part;
  if (format_) read_on(part);
  if (head_.size() == kHead || says_format(head_, mapping_)) know_format();
  if (part.size() < bytes.size()) take(bytes.substr(part.size()));
}

void LogReader::know_format() {
  guess_format();
  known_ = true;
  head_ = {};
}

/// Reads anew what was read for another format.
void LogReader::guess_format() {
  if (head_.starts_with("\x1f\x8b"))
    throw Error("{}: is compressed: expected what gunzip makes of it", path_);
  if (std::exchange(guessed_, head_.size()) == head_.size()) return;
  const LogFormat format = format_of(head_, mapping_);
  if (std::exchange(format_, format) == format) return;
  runs_.clear();
  newest_ = nullptr;
  header_ = {};
  mapping_.rules.resize(given_rules_);
  waiting_.clear();
  skipping_ = too_long_ = false;
  read_ = {};
  passed_.clear();
  understood_ = steps_ = 0;
  foreign_ = foreign_reader(format, head_, LogFile{path_, read_, mapping_});
  read_on(head_);
}

void LogReader::read_on(std::string_view bytes) {
  if (foreign_) return foreign_->take(bytes);
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
  if (!known_) know_format();
  if (foreign_) foreign_->finish();
  if (!waiting_.empty()) line(waiting_);
  waiting_.clear();
  settle();
}

void LogReader::next_file() {
  finish();
  if (foreign_) foreign_->next_file();
}

void LogReader::settle() {
  if (!known_ && (format_ || !is_undecided(head_))) guess_format();
  if (!foreign_) return;
  const auto anew = [this] {
    runs_.clear();
    newest_ = nullptr;
    steps_ = 0;
  };
  foreign_->give(anew, [this](const LogStep& step) {
    run_of("", 0).add(step);
    ++steps_;
  });
  if (has_step()) run_of("", 0).add(foreign_->about());
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
    for (const auto& [field, why] : step_.passed) pass_over(field, without_where(why));
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

void LogReader::note(const Message& what) { read_.note({"line {}: {}", read_.lines, what}); }

void LogReader::pass_over(std::string_view field, const Message& why) {
  auto at = std::ranges::find(passed_, field, &PassedField::name);
  if (at == passed_.end()) {
    if (passed_.size() == kMaxPassed) return;
    at = passed_.insert(at, {std::string(field), read_.lines, 0, why});
  }
  ++at->times;
}

LinesRead LogReader::read() const {
  LinesRead read = read_;
  for (const PassedField& passed : passed_)
    read.faults.push_back(
        passed.times == 1
            ? Message("line {}: {}; it is passed over", passed.line, passed.why)
            : Message("line {}: {}; it is passed over {} times", passed.line, passed.why, passed.times));
  return read;
}

// A resumed log has a second header: it applies to runs that begin after it, and restarts the clock of the others.
void LogReader::head(const LogAbout& header) {
  Message first;
  size_t unknown = 0;
  for (const auto& [theirs, ours] : header.names) try {
      NameRule rule = name_rule(theirs, ours);
      if (mapping_.rules.size() < kMaxNameRules) mapping_.rules.push_back(std::move(rule));
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
  if (runs_.size() >= kMaxRuns) throw Error("begins one run more than {}", kMaxRuns);
  const size_t budget = std::clamp(kLogBudget / (runs_.size() + 1), kMinRunBudget, kHistoryBudget);
  for (const auto& builder : runs_) builder->set_budget(budget);
  runs_.push_back(std::make_unique<RunBuilder>(LogLabel{std::string(run), seed}, header_, mapping_, budget));
  return *(newest_ = runs_.back().get());
}

RecordedFile LogReader::file() const {
  RecordedFile file{read(), {}};
  const std::string stem = name_by_place(path_);
  for (const auto& builder : runs_) {
    file.runs.push_back(builder->run(path_, stem, runs_.size() == 1));
    file.runs.back().read = file;
  }
  return file;
}

std::vector<LogName> LogReader::names() const {
  return runs_.empty() ? std::vector<LogName>{} : runs_.front()->names();
}

Message LogReader::fault() const {
  if (has_step()) return "";
  if (foreign_) {
    const Message none("[{}] {}", Message("events {}", path_),
                       Message("has no scalar: expected losses or gradient sizes by step"));
    return read_.faults.empty() ? none : Message("{}; {}", none, read_.faults.front());
  }
  const Message none =
      understood_ > 0 ? Message("{} lines and none is of a step: expected a log that has begun", read_.lines)
                      : "is no log: expected a JSON object with a step on each line (docs/log-format.md)";
  return read_.faults.empty() ? Message("{}: {}", path_, none)
                              : Message("{}: {}; {}", path_, none, read_.faults.front());
}

namespace {

void read_into(InputFile& in, LogReader& reader) {
  std::string part(kPart, '\0');
  // A file that does not begin as a log may be of any length and without any line.
  for (size_t got = 1; got > 0 && !reader.hopeless();) {
    got = in.read_some(part.data(), part.size());
    reader.take(std::string_view(part).substr(0, got));
  }
}

void finish(LogReader& reader) {
  reader.finish();
  if (const Message fault = reader.fault(); !fault.empty()) throw Error(fault);
}

void read_files(const std::vector<std::string>& files, LogReader& reader) {
  for (size_t i = 0; i < files.size(); ++i) {
    if (i > 0) reader.next_file();
    if (std::error_code none; std::filesystem::is_directory(files[i], none)) {
      reader.take(lines_of_numbers(files[i]));
      continue;
    }
    InputFile in(files[i], input::kLog);
    read_into(in, reader);
  }
  finish(reader);
}

}  // namespace

void read_log(InputFile& in, LogReader& reader) {
  read_into(in, reader);
  finish(reader);
}

std::vector<LogName> names_in(const std::string& path, const std::string& mapping) {
  LogReader reader(path, mapping.empty() ? NameMapping{} : read_name_mapping(mapping));
  read_files(files_of_run(path), reader);
  return reader.names();
}

LogFollower::LogFollower(std::string path, NameMapping mapping)
    : path_(std::move(path)),
      mapping_(std::move(mapping)),
      reader_(std::make_unique<LogReader>(path_, mapping_)) {}

// Comparing sizes is not enough: a job restarted under the same name may already have written more than was read. The
// beginning distinguishes runs with equal ends (of null), the end runs with equal beginnings, and the file's identity
// runs that were forked in between.
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
  files_.clear();
}

void LogFollower::begin_file(const std::string& file) {
  if (!files_.empty()) reader_->next_file();
  files_.push_back(file);
  identity_ = {};
  read_ = 0;
  head_.clear();
  end_.clear();
}

/// Reads on in the newest file. False where that is another one than before, so that all has to be read anew.
bool LogFollower::poll_file(bool& news, const std::atomic<bool>* stop) {
  const auto identity = identity_of(files_.back());  // before it is opened, so that a later file is noticed
  InputFile in(files_.back(), input::kLog);
  const bool same = goes_on(in);
  if (read_ > 0 && (!same || identity != identity_)) {
    replaced_ = replaced_ || !same;  // a copy of it that has grown is no other run
    return false;
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
  return true;
}

bool LogFollower::poll(const std::atomic<bool>* stop) {
  const std::vector<std::string> files = files_of_run(path_);
  bool news = false;
  const auto anew = [&] {
    begin_anew();
    begin_file(files.front());
    news = true;
  };
  if (std::error_code none; std::filesystem::is_directory(files.front(), none)) {
    if (const uint64_t state = state_of_numbers(files.front()); std::exchange(numbers_, state) == state)
      return false;
    anew();
    reader_->take(lines_of_numbers(files.front()));
    reader_->settle();
    return true;
  }
  if (std::ranges::mismatch(files, files_).in2 != files_.end()) anew();
  if (files_.empty()) begin_file(files.front());
  while (true) {
    if (!poll_file(news, stop)) {
      anew();
      continue;
    }
    if (files_.size() == files.size() || (stop && *stop)) break;
    begin_file(files[files_.size()]);
  }
  reader_->settle();
  return news;
}

RecordedFile LogFollower::file() const {
  RecordedFile file = reader_->file();
  if (replaced_)
    for (Recording& run : file.runs) {
      run.took_place = true;
      run.missing.push_back("the run before: another one took its place in this file");
    }
  return file;
}

/// Shared by the thread and the screen.
struct FollowedFile::Reading {
  explicit Reading(std::string file) : path(std::move(file)), log(path) {}

  /// Looks at the file once; true when something is new. Throws nothing. After a failed look the earlier content
  /// stays, with the error.
  bool look() {
    FollowedNow next;
    bool news = false;
    try {
      if (read ? whole : is_saved_run(path)) {
        whole = true;
        const std::pair now(std::filesystem::file_size(path), std::filesystem::last_write_time(path));
        news = !read || failed || now != seen;
        if (news) next.file = read_recorded(path);
        seen = now;
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
  // Of a file that is read whole: its size and time.
  std::pair<uintmax_t, std::filesystem::file_time_type> seen{};
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

/// False where a number that the shares need is missing.
bool OlderShares::gather(const LogStep& step) {
  size_t shares = 0;
  sums_.clear();
  for (const LogStat& stat : step.stats) {
    if (stat.field != &kBranchVariance && stat.field != &kInputVariance && stat.field != &kOwnShare) continue;
    const auto place = place_of(stat);
    if (stat.field == &kOwnShare && !place) return false;
    if (!place || *place == 0) continue;
    if (*place > kMaxSublayers) return false;
    if (sums_.size() < *place) sums_.resize(*place);
    Sum& sum = sums_[*place - 1];
    shares += stat.field == &kOwnShare;
    (stat.field == &kOwnShare         ? sum.own
     : stat.field == &kBranchVariance ? sum.branch
                                      : sum.input) = stat.value;
  }
  return shares > 0 && shares == sums_.size();
}

void OlderShares::name_row() {
  const size_t row = names_.size() + 1;
  std::vector<std::string>& names = names_.emplace_back();
  for (size_t column = 0; column < row; ++column) names.push_back(fmt::format("beta2.{}.{}", row, column));
  names.push_back(fmt::format("beta2.{}.sum", row));
}

std::span<const LogStat> OlderShares::of(const LogStep& step) {
  found_.clear();
  if (!gather(step)) return {};
  shares_.assign(1, 1.0);
  for (size_t i = 0; i < sums_.size(); ++i) {
    if (names_.size() <= i) name_row();
    const auto own = static_cast<double>(sums_[i].own), branch = static_cast<double>(sums_[i].branch);
    const double kept = own > 0 ? static_cast<double>(sums_[i].input) * own / branch : std::nan("");
    double sum = own;
    for (size_t j = 0; j < shares_.size(); ++j) {
      sum += shares_[j] *= kept;
      found_.push_back({&kOwnShare, names_[i][j], static_cast<float>(shares_[j])});
    }
    found_.push_back({&kOwnShare, names_[i].back(), static_cast<float>(sum)});
    shares_.push_back(own);
  }
  return found_;
}

RunBuilder::RunBuilder(LogLabel label, const LogAbout& header, const NameMapping& mapping,
                       size_t budget_bytes)
    : label_(std::move(label)),
      about_(header),
      mapping_(mapping),
      budget_(budget_bytes),
      history_(std::make_shared<History>(std::vector<StatInfo>{}, budget_bytes)) {
  if (about_.placement.empty()) about_.placement = setting("model.placement");
}

void RunBuilder::set_budget(size_t bytes) {
  budget_ = bytes;
  history_->set_budget(bytes);
}

int32_t RunBuilder::find(const LogStat& stat, size_t place) {
  if (place < order_.size() && order_[place] >= 0) {
    const Column& before = columns_[static_cast<size_t>(order_[place])];
    if (before.field == stat.field && before.name == stat.name) return order_[place];
  }
  const auto found = places_.find(key_of(stat));
  const int32_t column = found == places_.end() ? -1 : found->second;
  if (place >= order_.size()) order_.resize(place + 1, -1);
  order_[place] = column;
  return column;
}

void RunBuilder::learn(const LogStat& stat, size_t place) {
  if (widenings_ >= kMaxWidenings || columns_.size() >= kMaxColumns) {
    ++left_out_;
    return;
  }
  const NameOf of = stat.field == &kMeanSquare ? NameOf::Output : NameOf::Parameter;
  order_[place] = static_cast<int32_t>(columns_.size());
  places_[key_of(stat)] = order_[place];
  columns_.push_back({stat.field, std::string(stat.name), resolve(stat.name, of, mapping_)});
  numbers_.push_back(0);
}

/// Puts the numbers of a line into their columns, in addition to those that its step already has.
void RunBuilder::gather(const LogStep& line, int32_t step) {
  const size_t before = columns_.size();
  if (step != last_step_) std::fill(numbers_.begin(), numbers_.end(), NAN);
  size_t place = 0;
  const auto take = [&](const LogStat& stat) {
    if (find(stat, place) < 0) learn(stat, place);
    if (order_[place] >= 0) numbers_[static_cast<size_t>(order_[place])] = static_cast<double>(stat.value);
    ++place;
  };
  for (const LogStat& stat : line.stats) take(stat);
  for (const LogStat& stat : older_shares_.of(line)) take(stat);
  if (columns_.size() > before) widen();
}

void RunBuilder::widen() {
  ++widenings_;
  auto wider = std::make_shared<History>(layout(), budget_);
  move_over(*history_, *wider);
  history_ = std::move(wider);
}

void RunBuilder::set_back(int32_t step) {
  if (set_backs_ == kMaxSetBacks)
    throw Error("step {} after step {}: the run was set back more than {} times", step, last_step_,
                kMaxSetBacks);
  if (set_backs_++ == 0) {
    first_back_from_ = last_step_;
    first_back_to_ = step;
  }
  history_->truncate(step - 1);
}

void RunBuilder::add_validation(int32_t step, double loss) {
  if (validations_ >= kMaxValidations) return;
  history_->append_validation(step, loss);
  ++validations_;
}

// A line with a name of a step that is less sure than one before is of the same step. Where a later epoch begins below
// the step before, the steps are counted within the epochs; how many an epoch has is known as well as the lines tell.
int32_t RunBuilder::counted(const LogStep& line) {
  if (line.step_rank > step_rank_ && step_rank_ <= kDeclaredSteps.size()) return last_step_;
  step_rank_ = std::min(step_rank_, line.step_rank);
  const int32_t before = std::exchange(said_step_, line.step);
  if (line.epoch && std::isfinite(*line.epoch)) {
    if (*line.epoch > epoch_ && line.step <= before && epochs_.size() < kMaxEpochs &&
        last_step_ <= kLastLogStep - between_)
      epochs_[*line.epoch] = last_step_ + between_ - line.step;
    epoch_ = *line.epoch;
  }
  if (line.step > before && before >= 0) between_ = line.step - before;
  const auto epoch = epochs_.upper_bound(epoch_);
  return line.step + (epoch == epochs_.begin() ? 0 : std::prev(epoch)->second);
}

// A validation that comes late is added alone: the run went on meanwhile.
void RunBuilder::add(const LogStep& line) {
  const bool late = line.validation && !line.loss && !line.rate && line.stats.empty();
  if (late && line.step < said_step_)
    return add_validation(line.step + last_step_ - said_step_, *line.validation);
  const int32_t step = counted(line);
  if (step < last_step_) set_back(step);
  gather(line, step);
  if (step != last_step_) {
    loss_.reset();
    rate_ = NAN;
  }
  last_step_ = step;
  if (line.loss) loss_ = line.loss;
  rate_ = line.rate.value_or(rate_);
  history_->append(step, loss_, rate_, numbers_);
  if (line.validation) add_validation(step, *line.validation);
  has_loss_ = has_loss_ || line.loss;
  has_rate_ = has_rate_ || line.rate;
  if (!has_loss_)
    for (const std::string_view name : line.others)
      if (others_.size() < kNamedOthers && !others_.contains(name)) others_.emplace(name);
  measure_time(step, line.seconds.value_or(NAN));
}

// Counts only lines whose clock advanced: a resumed recording may count seconds from 0, and a clock may be set back.
void RunBuilder::measure_time(int32_t step, double now) {
  if (std::isnan(now)) return;
  if (timed_step_ >= 0 && step > timed_step_ && now >= timed_at_) {
    timed_steps_ += step - timed_step_;
    timed_seconds_ += now - timed_at_;
  }
  timed_step_ = step;
  timed_at_ = now;
}

// The stats are named "L03.attn.wq.grad_norm" where the name is known and not taken; otherwise by their own name. A
// layer's output is its last sum where no norm follows it, as in Pre-LN.
std::vector<StatInfo> RunBuilder::layout() const {
  const bool pre = about_.placement == "pre";
  const auto has = [&](Stack stack) {
    return std::ranges::any_of(
        columns_, [&](const Column& c) { return c.tensor.layer > 0 && c.tensor.stack == stack; });
  };
  const bool both = has(Stack::Encoder) && has(Stack::Decoder);
  std::vector<StatInfo> stats;
  std::unordered_map<std::string, int> taken;
  for (const Column& column : columns_) {
    TensorName tensor = column.tensor;
    if (tensor.output && !tensor.ours && pre) tensor.part = "ffn.sum";
    std::string name = column.name;
    if (tensor.known()) name = engine_name(tensor, both);
    const std::string suffix = suffix_in_log(*column.field, name.find(".head.") != name.npos);
    name += suffix;
    if (taken[name]++ > 0) name = fmt::format("{}{}", column.name, suffix);
    stats.push_back({std::move(name), tensor.layer});
  }
  return stats;
}

void RunBuilder::add(const LogAbout& result) {
  take(about_.name, result.name);
  take(about_.verdict, result.verdict);
  if (!result.data.unknown()) about_.data = result.data;
  take(about_.unigram, result.unigram);
  take(about_.seconds_per_step, result.seconds_per_step);
  if (!result.settings.empty()) about_.settings = result.settings;
  if (!result.edits.empty()) about_.edits = result.edits;
  if (about_.placement.empty()) about_.placement = setting("model.placement");
}

std::string RunBuilder::setting(std::string_view key) const {
  for (const auto& [name, value] : about_.settings)
    if (name == key) return value;
  return "";
}

void RunBuilder::describe(Recording& run) const {
  run.maker = about_.maker;
  const std::string& name = label_.run;
  run.log_letter = name.size() == 1 && name[0] >= 'A' && name[0] <= 'D' ? name : "";
  run.settings = about_.settings;
  run.spec = spec_of(about_.settings);
  run.edits = about_.edits;
  run.placement = about_.placement;
  run.data = about_.data;
  if (run.spec && run.data.unit.empty()) run.data.unit = unit_of(run.spec->data);
  SeedRecord& seed = run.seeds.emplace_back();
  seed.origin.seed = label_.seed;
  seed.history = history_;
  seed.said = about_.verdict;
  double tokens = about_.tokens_per_step, seconds = about_.seconds_per_step;
  if (run.spec && std::isnan(tokens)) tokens = units_of_step(*run.spec);
  if (std::isnan(seconds) && timed_seconds_ > 0) seconds = timed_seconds_ / timed_steps_;
  seed.measured = {{kUnigram, about_.unigram}, {kTokensPerStep, tokens}, {kSecondsPerStep, seconds}};
}

Recording RunBuilder::run(const std::string& path, const std::string& stem, bool alone) const {
  Recording run;
  run.path = path;
  describe(run);
  run.name = about_.name.empty() ? stem : about_.name;
  if (about_.name.empty() && !alone && !label_.run.empty()) run.name += " " + label_.run;  // seeds share it
  bool encoder = false, decoder = false;
  for (const Column& column : columns_) {
    run.layers = std::max(run.layers, column.tensor.layer);
    encoder = encoder || (column.tensor.layer > 0 && column.tensor.stack == Stack::Encoder);
    decoder = decoder || (column.tensor.layer > 0 && column.tensor.stack == Stack::Decoder);
  }
  run.missing = missing(encoder && decoder);
  return run;
}

std::vector<LogName> RunBuilder::names() const {
  const std::vector<StatInfo>& stats = history_->layout();
  std::vector<LogName> names;
  for (size_t i = 0; i < columns_.size(); ++i)
    names.push_back({columns_[i].field, columns_[i].name, columns_[i].tensor, stats[i].name});
  return names;
}

std::vector<Message> RunBuilder::missing(bool both) const {
  std::vector<Message> all;
  if (!has_loss_ && others_.empty()) all.push_back("loss: not in this log");
  if (!has_loss_ && !others_.empty())
    all.push_back(Message("loss: under no name that is known; this log has {}", shown_names(others_)));
  if (!has_rate_) all.push_back("learning rate: not in this log");
  if (!epochs_.empty())
    all.push_back("the number of an update is counted on: this log counts its steps within each epoch");
  if (set_backs_ > 0)
    all.push_back(set_backs_ == 1
                      ? Message("some lines do not count: steps went back once, from {} to {}",
                                first_back_from_, first_back_to_)
                      : Message("some lines do not count: steps went back {} times, first from {} to {}",
                                set_backs_, first_back_from_, first_back_to_));
  for (const Number* field : numbers()) {
    const auto of_field = [&](const Column& c) { return c.field == field && c.name != kWholeModel; };
    if (field->missed && std::ranges::none_of(columns_, of_field))
      all.push_back(Message("{}: not in this log", Message(field->missed)));
  }
  const auto foreign_output = [](const Column& c) { return c.tensor.output && !c.tensor.ours; };
  if (std::ranges::any_of(columns_, foreign_output) && about_.placement != "pre")
    all.push_back(about_.placement.empty()
                      ? "hidden states before the last norm of a layer: the log does not say its placement"
                      : "hidden states before the last norm of a layer: the log has those behind it");
  std::string first;
  int64_t unknown = 0;
  for (const Column& column : columns_) {
    if (column.tensor.known() || unknown++ > 0) continue;
    first = column.name;
  }
  if (unknown > 0)
    all.push_back(
        Message("{} of {} names are not known, the first is {}: a mapping file can say what they are",
                unknown, columns_.size(), shown_text(first)));
  if (left_out_ > 0)
    all.push_back(
        Message("{} numbers under names that came after the first {}: left out", left_out_, columns_.size()));
  if (both && std::ranges::any_of(columns_, [](const Column& c) {
        return c.tensor.layer > 0 && c.tensor.known() && c.tensor.stack == Stack::Only;
      }))
    all.push_back("layers that are neither the encoder's nor the decoder's by name stand without a prefix");
  return all;
}

double SeedRecord::number(const std::string& name) const {
  const auto known = measured.find(name);
  return known == measured.end() ? NAN : known->second;
}

Message LinesRead::fault() const {
  const Message first = faults.empty() ? Message() : faults.front();
  if (broken == 0) return first;
  return Message("{} of {} lines cannot be read and are left out; {}", broken, lines, first);
}

void LinesRead::note(const Message& fault) {
  if (faults.size() < kNamedFaults) faults.push_back(fault);
}

bool is_saved_run(const std::string& path) {
  if (std::error_code none; std::filesystem::is_directory(path, none)) return false;
  InputFile in(path, input::kLog);
  return path.ends_with(".safetensors") || is_safetensors(in);
}

RecordedFile read_recorded(const std::string& path, const std::string& mapping) {
  NameMapping names = mapping.empty() ? NameMapping{} : read_name_mapping(mapping);
  if (!is_saved_run(path)) {
    LogReader reader(path, std::move(names));
    read_files(files_of_run(path), reader);
    return reader.file();
  }
  RecordedFile file;
  file.runs.push_back(saved_run(path));
  return file;
}

}  // namespace normscope::records

namespace normscope {

std::optional<FileLook> look_at_log(std::string_view head) {
  const records::LogFormat format = records::format_of(head);
  const bool by_its_signs = format != records::LogFormat::History || records::has_history(head);
  if (records::is_of_numbers(head)) return FileLook{FileKind::Numbers, "Rows of numbers, not a text."};
  if (format == records::LogFormat::Unknown || !by_its_signs) return std::nullopt;
  return FileLook{FileKind::Recorded, "A training log: its runs are compared with those that are shown."};
}

}  // namespace normscope

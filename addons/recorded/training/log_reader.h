// Reads a log: bytes in, runs out, in memory that does not grow with the file. It skips broken lines, counts them and
// names the first. Of a partly broken header, it uses the rest.
//
// Called by read_recorded, and by LogFollower, which follows a run while it trains.
#pragma once

#include <atomic>
#include <set>

#include "addons/recorded/training/foreign_file.h"
#include "addons/recorded/training/tensor_names.h"

namespace normscope {

class InputFile;

}  // namespace normscope

namespace normscope::records {

// One run of a log as it is read: steps go into a History, and it keeps the content of other lines about the run.
//
// Promises: memory is bounded by the budget, the dense series and kMaxColumns names. A name that appears late widens
// the history, and earlier frames have NaN there. A further line of a step adds to it; an earlier step sets the run
// back. Where two lines have the same number, the later one counts.

/// Derives the shares of all branches in the state after each residual sum. A line has each sub-layer's own share of
/// its sum; older shares shrink from sum to sum (Liu et al. 2020, section 4.1). With sum I adding branch b_I to x_I,
///     beta2.I.I = Var(b_I) / Var(x_I + b_I)                  as recorded
///     beta2.I.J = beta2.(I-1).J  Var(x_I) / Var(x_I + b_I)   J < I; J = 0: the embedding, which is all of x_1
/// It is the engine's own measure (measure/step_metrics.h) where the stream has no norm, and where it has one, as far
/// as it scales all tokens and features alike.
class OlderShares {
 public:
  /// "beta2.I.J", J < I, and "beta2.I.sum"; nothing where the line already has them, lacks a number that they need, or
  /// has more than kMaxSublayers. Valid until the next call.
  std::span<const LogStat> of(const LogStep& step);

  static constexpr size_t kMaxSublayers = 96;

 private:
  /// A residual sum of the line.
  struct Sum {
    float own = NAN, branch = NAN, input = NAN;
  };
  bool gather(const LogStep& step);
  void name_row();

  std::vector<Sum> sums_;
  std::vector<double> shares_;  ///< of the state after a sum, from the embedding on
  std::vector<LogStat> found_;
  std::deque<std::vector<std::string>> names_;  ///< by row: from the embedding on, and of the sum
};

/// A tensor's name in a log, and the name of its stat here.
struct LogName {
  const Number* field = nullptr;
  std::string theirs;
  TensorName tensor;
  std::string stat;  ///< "L03.attn.wq.grad_norm"; for an unknown name, their name and the suffix
};

class RunBuilder {
 public:
  /// `header`: the log's line about all its runs. The mapping must outlive this.
  RunBuilder(LogLabel label, const LogAbout& header, const NameMapping& mapping, size_t budget_bytes);

  /// Throws Error, without a location, where steps went back too often.
  void add(const LogStep& step);
  /// Adds a result line.
  void add(const LogAbout& result);
  void set_budget(size_t bytes);
  /// Restarts the clock: a resumed recording may count its seconds from 0.
  void begin_clock() { timed_step_ = -1; }
  const LogLabel& label() const { return label_; }
  /// The recorded run. `path` and `stem` are its file's; `alone`: the only run there. Its history goes on growing.
  Recording run(const std::string& path, const std::string& stem, bool alone) const;

  std::vector<LogName> names() const;  ///< in order of appearance

  static constexpr size_t kMaxColumns = 20'000;

 private:
  struct Column {
    const Number* field;
    std::string name;  ///< theirs
    TensorName tensor;
  };
  /// The column of a number, -1 where the layout has none (yet).
  int32_t find(const LogStat& stat, size_t place);
  void learn(const LogStat& stat, size_t place);
  void gather(const LogStep& line, int32_t step);
  int32_t counted(const LogStep& line);
  void set_back(int32_t step);
  void add_validation(int32_t step, double loss);
  void measure_time(int32_t step, double now);
  void widen();
  std::vector<StatInfo> layout() const;
  std::string setting(std::string_view key) const;
  void describe(Recording& run) const;
  std::vector<Message> missing(bool both) const;

  LogLabel label_;
  LogAbout about_;
  const NameMapping& mapping_;
  size_t budget_;
  std::shared_ptr<History> history_;
  std::vector<Column> columns_;
  std::unordered_map<std::string, int32_t> places_;  ///< field and name -> column
  std::vector<int32_t> order_;   ///< columns of the last line's numbers, tried first: lines are alike
  std::vector<double> numbers_;  ///< of a step, by column
  std::optional<double> loss_;   ///< of the last step, as `rate_`
  double rate_ = NAN;
  OlderShares older_shares_;
  int32_t last_step_ = -1, widenings_ = 0, set_backs_ = 0;
  size_t step_rank_ = kStepRanks;  ///< the surest so far
  /// Of steps that are counted within their epochs: what the epoch, from here on, adds to the lines' own.
  std::map<double, int32_t> epochs_;
  double epoch_ = NAN;  ///< of the last line that has one
  int32_t said_step_ = -1,
          between_ = 1;  ///< the last line's own step, and how much it was higher than the one before
  std::set<std::string, std::less<>> others_;        ///< names of numbers, as long as there is no loss
  int32_t first_back_from_ = 0, first_back_to_ = 0;  ///< steps
  int64_t left_out_ = 0;                             ///< numbers whose names came after kMaxColumns others
  size_t validations_ = 0;
  bool has_loss_ = false, has_rate_ = false;
  int32_t timed_step_ = -1;  ///< the last one with `seconds`; -1: none since the clock began
  double timed_at_ = 0;
  int64_t timed_steps_ = 0;  ///< between neighbouring lines of one clock, with their `timed_seconds_`
  double timed_seconds_ = 0;
};

inline constexpr size_t kMaxRuns = 1000;                ///< of one log
inline constexpr size_t kLogBudget = size_t{96} << 20;  ///< frames of all runs of one log together
inline constexpr size_t kMinRunBudget = size_t{64} << 10;
class LogReader;
/// Reads the whole of an open file. Throws Error when it is not a log, or has no step.
void read_log(InputFile& in, LogReader& reader);

class LogReader {
 public:
  /// `path` names the runs; the mapping's rules come before those of the log's own header.
  explicit LogReader(std::string path, NameMapping mapping = {});
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  /// Reads more bytes of the file: lines, or what another program writes (foreign_file.h). A last line without a line
  /// break waits for its rest. Throws Error for more numbers than can be held.
  void take(std::string_view bytes);
  /// Reads the waiting bytes as a line, because the file ends there.
  void finish();
  /// The run goes on in another file, whose bytes follow.
  void next_file();
  /// Moves the steps of another tracker's file into the runs; there they may come in any order.
  void settle();

  /// The runs so far. take() extends their histories, or replaces them by wider ones.
  RecordedFile file() const;
  /// The names of the first run.
  std::vector<LogName> names() const;
  bool has_step() const { return steps_ > 0; }
  /// Whether a line was too long and no line so far was a log's.
  bool hopeless() const { return understood_ == 0 && too_long_; }
  /// Why this is not a log with a step in it; empty when it is.
  Message fault() const;

 private:
  void know_format();
  void guess_format();
  void read_on(std::string_view bytes);
  void line(std::string_view text);
  void understand(std::string_view text);
  void head(const LogAbout& header);
  RunBuilder& run_of(std::string_view run, uint64_t seed);
  void broken(const Message& what);
  void note(const Message& what);  ///< names a fault of a line that still counts
  void pass_over(std::string_view field, const Message& why);
  LinesRead read() const;

  std::string path_;
  NameMapping mapping_;
  size_t given_rules_;  ///< of the mapping; the header's come behind them
  LogAbout header_;
  LogStep step_;
  LogAbout about_;
  std::vector<std::unique_ptr<RunBuilder>> runs_;
  RunBuilder* newest_ = nullptr;     ///< the run of the line before
  size_t guessed_ = 0;               ///< bytes of `head_` by which `format_` was told
  std::string head_;                 ///< the file's first bytes, until `known_`
  std::optional<LogFormat> format_;  ///< read so; a guess until `known_`, as a growing file may tell it late
  bool known_ = false;
  std::string waiting_;    ///< the beginning of a line
  bool skipping_ = false;  ///< within a line that is too long
  bool too_long_ = false;  ///< whether a line was
  LinesRead read_;
  /// A field that some lines have and that cannot be read there.
  struct PassedField {
    std::string name;
    int64_t line = 0, times = 0;  ///< its first line
    Message why;
  };
  std::vector<PassedField> passed_;
  std::unique_ptr<ForeignReader> foreign_;  ///< of another tracker's file
  int64_t understood_ = 0, steps_ = 0;
};

/// Lists the names that a log's first run uses. Throws Error as read_recorded does.
std::vector<LogName> names_in(const std::string& path, const std::string& mapping = "");

/// A log, or the files of a folder, that still grow: each poll reads what they have gained. It never joins two logs: a log that replaced the file
/// or its content is read from its beginning.
class LogFollower {
 public:
  explicit LogFollower(std::string path, NameMapping mapping = {});

  /// True when something is new. Throws Error when the file cannot be read; the next poll tries again. It
  /// looks at `stop` after each MiB, and leaves the rest to the next poll.
  bool poll(const std::atomic<bool>* stop = nullptr);
  /// No runs before the first step. Where the file was replaced, each run says so (`took_place`).
  RecordedFile file() const;

 private:
  /// Whether the bytes read before are still there: the first and the last are compared.
  bool goes_on(InputFile& in) const;
  void keep(std::string_view bytes);
  void begin_anew();
  void begin_file(const std::string& file);
  bool poll_file(bool& news, const std::atomic<bool>* stop);

  std::string path_;
  NameMapping mapping_;
  std::unique_ptr<LogReader> reader_;
  std::vector<std::string> files_;          ///< read so far; the last one may grow
  std::pair<uint64_t, uint64_t> identity_;  ///< device and inode
  uint64_t read_ = 0;                       ///< its bytes
  std::string head_, end_;                  ///< the first bytes read, and the last
  uint64_t numbers_ = 0;                    ///< state_of_numbers()
  bool replaced_ = false;
};

/// The content of a file so far.
struct FollowedNow {
  uint64_t version = 0;  ///< grows with every change
  RecordedFile file{};   ///< no runs before the first step
  Message error{};       ///< why it cannot be read, one line; empty: it can
};

/// Reads a log or a saved run on a thread of its own: the file as it is, and its growth while it is written.
/// The content grows by itself (histories are shared), and `version` says when to look again.
class FollowedFile {
 public:
  /// The thread calls `wake` when something is new. Without `wake` (no window sleeps) there is no thread, and now()
  /// reads.
  FollowedFile(std::string path, std::function<void()> wake);
  ~FollowedFile();
  FollowedFile(const FollowedFile&) = delete;
  FollowedFile& operator=(const FollowedFile&) = delete;

  const std::string& path() const;
  /// Never null; version 0 before the first reading.
  std::shared_ptr<const FollowedNow> now();

 private:
  struct Reading;
  std::shared_ptr<Reading> reading_;
};

}  // namespace normscope::records

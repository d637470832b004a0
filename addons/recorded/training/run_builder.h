// One run of a log as it is read: it puts steps into a History, and keeps what other lines say of the
// run.
//
// Promises: memory is bounded by the budget, the dense series and kMostColumns names. A name that appears late widens
// the history, and earlier frames have NaN there. A further line of a step adds to it; an earlier step sets the run
// back. Where two lines say the same number, the later one counts.
// Called by log_reader.cpp.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "addons/recorded/training/log_line.h"
#include "addons/recorded/training/recorded_run.h"
#include "addons/recorded/training/tensor_names.h"
#include "training/measure/history.h"

namespace normscope::records {

/// Derives from what a line says of each residual sum who made the state behind it. The line has each
/// sub-layer's own share of its sum; what is older shrinks from sum to sum (Liu et al. 2020, section 4.1). With sum I
/// adding branch b_I to x_I,
///     beta2.I.I = Var(b_I) / Var(x_I + b_I)                  as recorded
///     beta2.I.J = beta2.(I-1).J  Var(x_I) / Var(x_I + b_I)   J < I; J = 0: the embedding, which is all of x_1
/// It is the engine's own measure (measure/step_metrics.h) where no norm stands on the stream, and where one does, as
/// far as it scales all tokens and features alike.
class OlderShares {
 public:
  /// "beta2.I.J", J < I, and "beta2.I.sum"; nothing where the line has such numbers itself, lacks one of those
  /// that are needed, or is of more than kMostSublayers. Valid until the next call.
  std::span<const LogStat> of(const LogStep& step);

  static constexpr size_t kMostSublayers = 96;

 private:
  /// A residual sum of the line.
  struct Sum {
    float own = NAN, branch = NAN, input = NAN;
  };
  bool gather(const LogStep& step);
  void name_row();

  std::vector<Sum> sums_;
  std::vector<double> shares_;  ///< of the state behind a sum, from the embedding on
  std::vector<LogStat> found_;
  std::deque<std::vector<std::string>> names_;  ///< by row: from the embedding on, and of the sum
};

/// A name that a log uses, and the stat that it becomes.
struct LogName {
  int32_t field = 0;  ///< of kLogFields
  std::string theirs;
  TensorName tensor;
  std::string stat;  ///< "L03.attn.wq.grad_norm"; for an unknown name, their name and the suffix
};

class RunBuilder {
 public:
  /// `header` is what the log says of all its runs. The mapping must outlive this.
  RunBuilder(LogLabel label, const LogAbout& header, const NameMapping& mapping, size_t budget_bytes);

  /// Throws Error without a place for a step that cannot follow.
  void add(const LogStep& step);
  /// Adds a result line.
  void add(const LogAbout& result);
  void set_budget(size_t bytes);
  /// Says that the seconds of the next line count from another beginning.
  void begin_clock() { timed_step_ = -1; }

  const LogLabel& label() const { return label_; }
  /// The recorded run. `path` and `stem` are its file's; `alone`: the only run there. Its history goes on
  /// growing.
  Recording run(const std::string& path, const std::string& stem, bool alone) const;

  std::vector<LogName> names() const;  ///< in order of appearance

  static constexpr size_t kMostColumns = 20'000;

 private:
  struct Column {
    int32_t field;
    std::string name;  ///< theirs
    TensorName tensor;
  };
  /// The column of a number, -1 where the layout has none (yet).
  int32_t find(const LogStat& stat, size_t place);
  void learn(const LogStat& stat, size_t place);
  void gather(const LogStep& step);
  void set_back(int32_t step);
  void add_validation(const LogStep& step);
  void measure_time(const LogStep& step);
  void widen();
  std::vector<StatInfo> layout() const;
  std::string setting(std::string_view key) const;
  void describe(Recording& run) const;
  std::vector<std::string> missing(bool both) const;

  LogLabel label_;
  LogAbout about_;
  const NameMapping& mapping_;
  size_t budget_;
  std::shared_ptr<History> history_;
  std::vector<Column> columns_;
  std::unordered_map<std::string, int32_t> places_;  ///< field and name -> column
  std::vector<int32_t> order_;   ///< of the numbers of the line before, as most lines are alike
  std::vector<double> numbers_;  ///< of a step, by column
  std::optional<double> loss_;   ///< of the last step, as `rate_`
  double rate_ = NAN;
  OlderShares older_shares_;
  int32_t last_step_ = -1, widenings_ = 0, set_backs_ = 0;
  int32_t first_back_from_ = 0, first_back_to_ = 0;  ///< steps
  int64_t left_out_ = 0;                             ///< numbers whose names came after kMostColumns others
  size_t validations_ = 0;
  bool has_loss_ = false, has_rate_ = false;
  int32_t timed_step_ = -1;  ///< the last one with `seconds`; -1: none since the clock began
  double timed_at_ = 0;
  int32_t timed_steps_ = 0;  ///< between neighbouring lines of one clock, with their `timed_seconds_`
  double timed_seconds_ = 0;
};

}  // namespace normscope::records

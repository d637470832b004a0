// From the numbers of runs to a grid of cells, each over its seeds, with verdict, metric and the share
// of the best cell's progress; and the border where learning begins. Every number that table, files, picture and
// screen show comes from here. The writers, the command, the screen and the tests call it.
#pragma once

#include "addons/sweep/app/sweep_plan.h"
#include "app/grid/axis.h"
#include "engine/core/error.h"
#include "training/experiments/run_numbers.h"
#include "training/measure/theory/theory.h"

namespace normscope::sweep {

using experiments::RunNumbers, experiments::kUnknown;

/// One setting over its seeds: how many runs learn, since when and how well.
struct Cell {
  size_t column = 0, row = 0;
  size_t data = 0;                              ///< index in Grid::data of the data that it reads
  std::vector<std::optional<RunNumbers>> runs;  ///< by seed
  Message refused;                              ///< why it cannot be trained, where its verdict is Failed
  theory::AtStart predicted;                    ///< of its network at initialisation

  int32_t known = 0;                     ///< runs that exist
  Verdicts verdicts;                     ///< of the known seeds
  std::optional<Verdict::Kind> verdict;  ///< that they share, see Verdicts::shared()
  double level = kUnknown;               ///< letter frequencies of its data, nats
  /// Mean, range and standard deviation (of a sample) of the finite losses, in nats; NaN where no run has a finite one.
  double mean = kUnknown, low = kUnknown, high = kUnknown, deviation = kUnknown;
  /// Geometric means over the seeds: zero where one seed's number is zero.
  double gradient = kUnknown, ratio = kUnknown;         ///< layer 1; layer 1 over the last one
  double beta2 = kUnknown;                              ///< mean over the seeds
  double score = kUnknown, score_deviation = kUnknown;  ///< mean and standard deviation of RunNumbers::score
  double measured = kUnknown;                           ///< mean of RunNumbers::asked
  /// Fills in everything from `known` on, from `runs`.
  void summarise();

  int32_t count(Verdict::Kind kind) const { return verdicts.count(kind); }
  int32_t since() const { return verdicts.since(); }
  bool waits() const { return known == 0; }
  bool differs() const { return known > 0 && !verdict; }
  bool failed() const { return verdict == Verdict::Failed; }
  const char* sign() const;   ///< in files: the word of the verdict, "disagree" or "waiting"
  const char* mark() const;   ///< "↘", "—", "↗", "?", "…"
  std::string tally() const;  ///< "learns", "learns 2 of 3", "stuck", "–" without runs
  /// The cell in words: "since 109", "1 of 3 learn", "stuck", "L03.attn output at step 23".
  std::string words() const;
};
std::string power(double value);             ///< "1.8e-04"
std::string verdict_text(const Cell& cell);  ///< "learns from 46"; of several seeds "stuck (1 seed)"
std::string loss_text(const Cell& cell);     ///< "0.914 ± 0.012", "–"
std::string score_text(const Cell& cell);    ///< "97.4 ± 0.3", "2.31 ± 0.02", "–"

struct Grid {
  Plan plan;
  std::vector<Cell> cells;     ///< row by row, columns x rows of them
  std::vector<DataSpec> data;  ///< the different data that the trainable cells read
  double level = kUnknown;     ///< letter frequencies, nats, of the first known cell; NaN where data differ
  double best = kUnknown;      ///< lowest mean loss of a cell, nats; NaN where data differ
  int64_t known = 0;           ///< runs whose results are known
  bool complete = true;        ///< every run is known or cannot be trained
  const Cell& at(size_t column, size_t row) const { return cells[row * plan.columns() + column]; }
  bool one_data() const { return data.size() < 2; }  ///< else the losses of its cells do not compare
  std::string unit() const;                     ///< a symbol of its data: "letter"; empty where they differ
  std::string text_of(const Cell& cell) const;  ///< "learning rate 0.003, warm-up 50"
};
/// A prediction for every cell, row by row, from the settings alone: nothing is trained.
std::vector<theory::AtStart> predictions_of(const Plan& plan, const std::vector<StudyRun>& runs);
/// Takes the numbers of each run. The counts of runs are the same however few numbers there are yet.
Grid grid_of(const Plan& plan, const std::vector<StudyRun>& runs,
             const std::vector<std::optional<RunNumbers>>& numbers,
             const std::vector<theory::AtStart>& predictions = {});

/// (letter frequencies - loss) / (letter frequencies - the best cell's loss): 1 for the best cell. It
/// is NaN without a finite loss, and where cells read different data.
double share_learned(const Grid& grid, const Cell& cell);
double share_learned(const Grid& grid, const RunNumbers& run);

/// No border runs along a cell that is unknown or cannot be trained.
grid::Side side_of(const Cell& cell);
std::vector<grid::Segment> border_of(const Grid& grid);

inline bool is_predicted(Metric metric) {
  return metric == Metric::PredictedCosine || metric == Metric::PredictedGradient;
}
struct MetricInfo {
  const char *name, *said, *unit;
  bool log = false;                   ///< coloured by its logarithm
  double (*value)(const Cell& cell);  ///< NaN where there is none
  const std::string& title() const;   ///< "final loss"
};
const MetricInfo& info(Metric metric);
/// Names the number too, where the metric is Measured.
std::string title_of(const Grid& grid, Metric metric);
std::vector<std::string_view> metric_names();  ///< of a sweep
Metric metric_from(std::string_view name);     ///< throws Error
inline double value_of(const Cell& cell, Metric metric) { return info(metric).value(cell); }
std::string number_text(double value, Metric metric);     ///< "1.86", "1.8e-04"
std::string value_text(const Cell& cell, Metric metric);  ///< "–" where nothing is predicted or measured
std::string brief_text(const Cell& cell, Metric metric);  ///< the value with two digits: "1.8e4"

/// Maps values onto the range of colours.
struct ColourScale {
  Metric metric = Metric::Loss;
  /// Values at colour 0 and 1; of the loss: letter frequencies and best cell.
  double low = kUnknown, high = kUnknown;
  /// 0..1, clamped, or NaN where there is no value.
  double colour(double value) const;
};
ColourScale scale_of(const Grid& grid, Metric metric);

}  // namespace normscope::sweep

// OverSeeds summarises one setting over its seeds: how many runs learn, since when and how well. Tables of many
// runs show it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "training/experiments/record.h"
#include "training/experiments/table.h"

namespace normscope::experiments {

struct OverSeeds {
  std::vector<std::optional<Record>> runs;  ///< by seed
  int32_t known = 0;                        ///< runs that exist
  int32_t count(Verdict verdict) const;
  int32_t since() const;        ///< median first step off the plateau of the runs that learn; 0: none does
  std::string verdict() const;  ///< "learns", "learns 2 of 3", "stuck", "–" without runs
  /// `mean`, range and standard deviation (of a sample) are over the runs with a finite loss, in nats; NaN without such
  /// a run.
  double mean = kUnknown, low = kUnknown, high = kUnknown, deviation = kUnknown;
  /// `gradient` and `ratio` are geometric means over the seeds, and zero where one seed's number is zero.
  double gradient = kUnknown, ratio = kUnknown;         ///< layer 1; layer 1 over the last one
  double beta2 = kUnknown;                              ///< mean over the seeds
  double score = kUnknown, score_deviation = kUnknown;  ///< mean and standard deviation of Record::score
  double measured = kUnknown;                           ///< mean of Record::measured
  /// Fills in everything above from `runs`.
  void summarise();
};

/// Writes counts, means and the list of runs, one for each seed, as a table's JSON has them.
nlohmann::json to_json(const OverSeeds& arm);
/// `run_columns` and `run_row` describe a run as CSV and JSON have it.
std::vector<Column> run_columns();
TableRow run_row(size_t seed, const Record& record);
/// Puts the columns or cells of two tables side by side.
template <typename List>
List joined(List first, const List& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::string power(double value);                 ///< "1.8e-04"
std::string verdict_text(const OverSeeds& arm);  ///< "learns from 46"; of several seeds "stuck (1 seed)"
std::string loss_text(const OverSeeds& arm);     ///< "0.914 ± 0.012", "–"
std::string score_text(const OverSeeds& arm);    ///< "97.4 ± 0.3", "2.31 ± 0.02", "–"

}  // namespace normscope::experiments

// Searches over any model: the caller supplies the log-probabilities of the next symbol.
//
// A hypothesis, its end symbol included, has this score (as in fairseq; Xiong et al. 2020 use a beam of 5):
//   sum log p / length^penalty
// A sentence is done when it has as many finished hypotheses as the beam is wide, or at its longest length, where
// unfinished hypotheses count as they are. With beam 1 this is greedy search. Called by text/translator.h and by tests.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace normscope {

struct BeamOptions {
  int32_t beam = 5;
  double length_penalty = 1.0;  ///< 0: the most probable row; larger favours long rows
};

struct Hypothesis {
  std::vector<int32_t> symbols;  ///< without the begin symbol, with the end symbol if it was reached
  double log_probability = 0;
  double score(double length_penalty) const;
};

/// One row of a query: hypothesis number `row` of a sentence and its symbols so far.
struct BeamRow {
  int32_t sentence = 0, row = 0;  ///< row < beam
  const std::vector<int32_t>* symbols = nullptr;
};

/// Returns log-probabilities (rows.size(), vocabulary) of the next symbol of each row.
using NextSymbols = std::function<std::span<const float>(std::span<const BeamRow> rows)>;

/// The best hypothesis of each sentence, of at most longest[s] symbols. Ties go to the smaller
/// symbol.
std::vector<Hypothesis> beam_search(std::span<const int32_t> longest, int32_t vocabulary, int32_t end,
                                    const BeamOptions& options, const NextSymbols& next);

}  // namespace normscope

// Translates rows of symbols with an encoder-decoder by beam search. It runs the encoder once a batch, then the
// decoder over the symbols so far, and multiplies only their last position by the output matrix. It has its own
// programs over the run's Store and does not change it. Called by the command line.
#pragma once

#include <functional>
#include <utility>

#include "engine/model/model_config.h"
#include "engine/tape/program.h"

namespace normscope {

// Beam search over any model: the caller supplies the log-probabilities of the next symbol.
//
// A hypothesis, its end symbol included, has this score (as in fairseq; Xiong et al. 2020 use a beam of 5):
//   sum log p / length^penalty
// A sentence is done when it has as many finished hypotheses as the beam is wide, or at its longest length, where
// unfinished hypotheses count as they are. With beam 1 this is greedy search.

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

/// The best hypothesis of each sentence, of at most longest[s] symbols. Ties: earlier hypothesis, smaller symbol.
std::vector<Hypothesis> beam_search(std::span<const int32_t> longest, int32_t vocabulary, int32_t end,
                                    const BeamOptions& options, const NextSymbols& next);

class Translator {
 public:
  /// `begin` starts a target row, `end` ends it (-1: rows are as long as their sources).
  Translator(Store& store, const ModelConfig& model, int32_t begin, int32_t end, BeamOptions options = {});

  /// Keeps the order of the sources, each of at most model.sequence symbols; longer ones are cut. `progress` gets the
  /// number of finished translations and says whether to go on; translations not made are empty.
  std::vector<std::vector<int32_t>> translate(std::span<const std::vector<int32_t>> sources,
                                              const std::function<bool(size_t)>& progress = {});

 private:
  struct Part {
    std::string output;
    Program program;
  };
  static Part part_of(const Tape& tape, ValueId output);
  Part& encoder(int32_t source_length);
  Part& decoder(int32_t source_length, int32_t length);
  void batch(std::span<const std::vector<int32_t>> sources, std::span<const size_t> chosen,
             int32_t source_length, std::vector<std::vector<int32_t>>& out);
  std::span<const float> next(std::span<const BeamRow> rows, int32_t source_length);

  Store* store_;
  ModelConfig model_;
  int32_t begin_, end_;
  BeamOptions options_;
  int32_t rows_ = 0;  // rows of the decoder's programs: sentences x beam
  std::map<int32_t, Part> encoders_;
  std::map<std::pair<int32_t, int32_t>, Part> decoders_;
  std::optional<Part> output_;
  std::vector<float> encoded_;    // (rows, source_length, D)
  std::vector<int32_t> lengths_;  // (rows)
  std::vector<float> hidden_, probabilities_;
};

/// Writes the means of the weights of several saved runs into the Store (checkpoint averaging).
/// Throws Error when a file lacks a weight, has it in another shape, or has one that the Store lacks.
void average_weights(std::span<const std::string> paths, Store& store);

}  // namespace normscope

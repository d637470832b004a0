// Measures what a step's batch tells apart: of every layer how much differs between the tokens that its feed-forward
// network reads, whose difference that is, and how much of the loss's answer differs. All of it is read on the host
// behind a replay, so that no bit of the run changes. Called by Run where the other measurements of a step are taken.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/tape/program.h"
#include "engine/tape/tape.h"
#include "training/measure/spectrum.h"

namespace normscope {

/// The tokens of one stack that count: of a padded batch the unpadded ones.
struct CountedTokens {
  std::vector<size_t> rows;  ///< their places among all B T
  std::vector<size_t>
      symbol;          ///< which of the batch's different symbols each is, from 0; empty: the input has none
  size_t symbols = 0;  ///< how many different ones
};

/// What differs between tokens: their rows about their mean.
class Differing {
 public:
  /// Takes the rows (B T, width) that count.
  void take(const float* all, size_t width, const CountedTokens& tokens);
  const std::vector<double>& mean() const { return mean_; }  ///< (width)
  double square() const;                                     ///< the sum of all squares
  /// The share of square() that lies between symbols, by the means of each symbol's rows; NaN where nothing differs.
  /// Rows without any order give (symbols - 1) / (rows - 1) in the mean, and rows that their symbol fixes give 1.
  double between(const CountedTokens& tokens);
  double directions();  ///< the participation ratio (spectrum.h); NaN where nothing differs

 private:
  size_t width_ = 0;
  std::vector<double> mean_, sums_, counts_;
  std::vector<float> rows_;
  EffectiveRankRoom room_;
};

/// The values of a recorded step whose gradients are read here, d_t of every layer, so that a program keeps them
/// (SealOptions::kept_gradients).
std::vector<ValueId> heard_values(const Tape& tape);

/// Measures these numbers, each with its name in layout(). Over the tokens t of the batch that count, of each stack
/// alone, a bar is a mean over tokens, x_t is what W1 of a layer reads, h_t what W2 reads, and d_t the gradient of the
/// loss at W2's output. Ours, except the last.
/// "L01.ffn.sight": the root mean square of x_t - mean x, over tokens and features.
/// "L01.ffn.identity": the share of sum |x_t - mean x|^2 that the symbol at t fixes (Differing::between).
/// "L01.ffn.directions": in how many directions x_t - mean x spreads (participation ratio).
/// "L01.ffn.hearing": the root of sum |d_t - mean d|^2.
/// "L01.ffn.w2.telling": the size of the part of W2's gradient that tells tokens apart, the Frobenius norm of
///   sum_t (h_t - mean h) (d_t - mean d)'  =  dL/dW2 - n mean h mean d'
/// as padding has no gradient. The difference loses digits as the gradient's common part grows: where that is 10^4
/// times as large, three are left.
/// "readout.sight", "readout.identity": the same two of what the output layer reads; of two stacks "dec.readout".
///
/// A number is NaN, not measured, where the batch has a single token or nothing differs, where its tensor is not kept,
/// and a share where the input has no symbols.
class TokenMeasurements {
 public:
  explicit TokenMeasurements(const ProgramData& step);
  const std::vector<StatInfo>& layout() const { return layout_; }
  /// Fills one number for each entry of the layout from a program that was just replayed; it may be of another shape
  /// than the constructor's.
  void measure(Program& step, std::span<double> out);

 private:
  /// The tensors of one layer, or of the readout, which has an input alone.
  struct Place {
    std::string name;  ///< "enc.L01.ffn", "readout"
    int32_t layer = 0;
    ValueId input = kNone;                                   ///< of W1
    ValueId hidden = kNone, matrix = kNone, output = kNone;  ///< of W2
    std::string_view stack() const;                          ///< "enc."
  };
  static std::vector<Place> places_of(const ProgramData& step);
  const float* value(Program& step, ValueId value, bool gradient, std::vector<float>& room) const;
  void count(Program& step, std::string_view stack);
  double* number_input(Program& step, const Place& place, double* number);
  double* number_gradients(Program& step, const Place& place, double* number);

  std::vector<StatInfo> layout_;
  std::map<const ProgramData*, std::vector<Place>> places_;  ///< of each program
  CountedTokens tokens_;                                     ///< of the stack that is measured
  Differing differing_, answers_;
  std::vector<double> sums_;         ///< of W2's input
  std::vector<float> room_, other_;  ///< of tensors on a device
};

}  // namespace normscope

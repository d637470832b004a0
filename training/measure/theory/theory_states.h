// `States` is the mean-field theory of states on text behind theory.h: mean squares and covariances of token states
// at initialisation, from layer to layer. Derived in docs/theory.md. Internal to measure/theory*.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/model/model_config.h"

namespace normscope::theory {

/// Tells two places of a batch: of one sequence, at one place of two sequences, at two places of two
/// sequences.
enum PairPlace : size_t { kSequence, kColumn, kApart, kPairPlaces };
/// Has a number by place, and then for one symbol (0) or two (1).
template <typename T>
using Pairs = std::array<std::array<T, 2>, kPairPlaces>;

/// Attention that weighs all keys that a query sees alike, T of them or, causal, 1..t for query t.
struct EvenAttention {
  double own_key =
      0;  ///< mean over queries of the sum of squared weights: a query's own key is one of so many
  double common_key = 0;  ///< the same of two queries: how much of their keys they share
  double others = 0;      ///< weight with which a key hears the gradients of the queries beside its own
};
EvenAttention even_attention(int32_t tokens, bool causal);

/// What keeps a derivation from a model whose attention, feed-forward network, embedding or dropout
/// is another than all of them assume; null: nothing.
const char* objection_to_parts(const ModelConfig& config);

Placement placement_of_stack(const ModelConfig& config, bool decoder);
/// The states of a Post-LN or Pre-LN stack at a depth: mean square, covariances by kind of pair, and the part
/// that is the token's own symbol.
class States {
 public:
  /// How often two places hold the same symbol; a Gaussian input has no symbols.
  States(const ModelConfig& config, bool decoder, double same_token);
  /// Averages over the positions that a query sees: no position weighs more by its distance.
  void attend();
  /// Becomes the correlation of the hidden units.
  void feed_forward(Pairs<double>& hidden);

  double cosine(size_t place, size_t other) const;
  double cosine_in_sequence() const { return mean(kSequence) / square_; }
  double last_sum() const { return last_sum_; }         ///< mean square of the newest residual sum
  double own_symbol() const { return own_ / square_; }  ///< share of the mean square

 private:
  double mean(PairPlace place) const {
    return same_token_ * covariance_[place][0] + (1 - same_token_) * covariance_[place][1];
  }
  void divide(double by);

  bool post_;
  double gain_, same_token_, own_key_ = 0, common_key_ = 0;
  double square_ = 1, last_sum_ = 1, own_ = 1;
  Pairs<double> covariance_{};
};

}  // namespace normscope::theory

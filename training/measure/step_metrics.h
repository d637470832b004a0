// Live measurements need more than one tensor at a time. They read the tensors of a program after a replay: at every
// step on one fixed sequence (measured_row of run/evaluate.h), where they join the stats in the run's History, and on
// a whole batch on request. Of a padded sequence only the unpadded positions count.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/cpu/measure_rows.h"
#include "engine/model/transformer.h"
#include "engine/ops/ops.h"
#include "engine/ops/rules.h"
#include "engine/tape/program.h"
#include "training/measure/spectrum.h"

namespace normscope {

// The work of a norm on one number, apart from its statistics: the curve of DyT and Derf, and AdaNorm's factor.

/// The curve of a kind without statistics, over u = alpha x + shift: tanh u (DyT), erf u (Derf).
template <class S>
S norm_curve(NormKind kind, S u) {
  return has_shift(kind) ? std::erf(u) : std::tanh(u);
}

/// The derivative of norm_curve() by u.
inline double norm_curve_slope(NormKind kind, double u) {
  if (has_shift(kind)) return 2 / std::sqrt(std::numbers::pi) * std::exp(-u * u);
  const double t = std::tanh(u);
  return 1 - t * t;
}

/// The factor of y = z / sigma apart from a gain, held constant in the backward pass: AdaNorm's C (1 - k y).
template <class S>
S held_factor(S scale, S slope, S z, S inverse_sigma) {
  return scale * (1 - slope * z * inverse_sigma);
}

/// A matrix (from, to) that all positions share, or one after the other for each.
struct StreamWeights {
  std::span<const float> numbers;
  size_t to = 1;
  bool shared = true;
  float at(size_t position, size_t from, size_t size, size_t into) const {
    return numbers[(shared ? 0 : position * size * to) + from * to + into];
  }
};

/// The shares of every component of a state, of the input and of each branch, through several streams. All weights of a
/// position are numbers, so a component in a stream is the component itself times a coefficient of that position.
class StreamShares {
 public:
  /// Allocates all memory; the other functions allocate nothing.
  void reserve(size_t components, size_t streams, size_t positions);
  /// Puts the input into all of n streams.
  void start(size_t streams, size_t positions);
  /// Carries all components on and writes the newest, number `own`:
  ///   u_j  <-  sum over i of carry_ij u_i,    u_j of the newest  =  write_j
  void pass(size_t own, const StreamWeights& carry, const StreamWeights& write);
  /// Gives the coefficients of a component in the state that is read, one for each position: sum over i of read_i u_i.
  void read(size_t component, const StreamWeights& weights, std::span<float> out) const;

 private:
  size_t streams_ = 1, positions_ = 0;
  std::vector<std::vector<float>> coefficients_;  ///< of each component: positions x streams
};

/// A token counts as dominating when its state is this many times as long as the median state. Ours.
inline constexpr double kDominates = 10;

/// Measures these numbers, each with its name in layout():
/// "beta2.I.J", J = 0..I: residual dependency (Liu et al. 2020, section 4.1), the share of component J in the state
/// x_I after sub-layer I, dimensionless:
///   Var(c_IJ) / Var(x_I)
/// J = 0 is the embedding, J >= 1 the branch of sub-layer J. Every later norm carries the components with its own
/// statistics, gains and skip scales, so that exactly (see Decomposition)
///   sum_J c_IJ + c_Ibias = x_I
/// Variances are over all tokens and features measured. Of ResiDual's two streams the normalised one is the state. Of
/// several streams the state is the input of the next sub-layer, and c_IJ is the branch times its weight in it.
/// "beta2.I.sum": sum over J >= 0 (the bias left out). One when branches are uncorrelated, as at initialisation.
/// "NAME.longest": the length |x| of the longest state after sub-layer NAME over the median length. From kDominates on,
/// this one token dominates the shares above and every variance.
/// "NAME.token_share": the own share by token, Var(c_II) / Var(x_I) over the features of a token alone, median over the
/// tokens. Ours; where all states are equally long, it is near beta2.I.I.
/// "NAME.token_cosine": mean cosine between different tokens' states after sub-layer NAME (Noci et al. 2022); 1: all
/// tokens point the same way.
/// "NAME.layer_cosine": mean over tokens of the cosine between the sub-layer's input and output.
/// "NAME.attention_entropy": mean over heads and queries of -sum_k p log p, nats (attention sub-layers only), and
/// "NAME.head.1.entropy" and so on of each head.
/// "NAME.largest_logit": the largest score that goes into the softmax, with its sign, over heads, queries and the keys
/// they see (its growth: Wortsman et al. 2023, arXiv 2309.14322, section 3.1.1), "NAME.head.1.logit" of each head.
/// "NAME.first_mass": mean over heads and queries of the probability of the first key, which attention sinks hold (Xiao
/// et al. 2023, arXiv 2309.17453), "NAME.head.1.first_mass" of each head. The first query counts, too: where attention
/// is causal, it has nothing else to see.
/// "NAME.branch.variance", "NAME.input.variance": variance over tokens and features of the branch as added and of the
/// skip path, scales included: v_i and the denominator of Liu et al., section 4.
/// "NAME.extreme": the largest |x| over the median |x| of all numbers of the state after the sub-layer, and
/// "NAME.extreme_position", from 1, the largest number's position in its sequence (massive activations: Sun et al.
/// 2024, arXiv 2402.17762). NaN where the median is zero.
/// "NAME.effective_rank": of the states after the sub-layer, the rows Y of a sequence, mean over sequences:
///   tr(Y Y')^2 / |Y Y'|^2
/// the participation ratio of the eigenvalues of Y Y': 1 where all rows lie on one line (rank collapse: Dong et al.
/// 2021, arXiv 2103.03404), T where T rows are orthogonal and equally long. Roy and Vetterli's effective rank (2007)
/// takes the entropy of singular values instead, which costs a decomposition.
/// "NAME.WORD": the factor of a form of residual streams (ResidualRow::factor), by the form's word.
/// "NAME.read.1" and so on: of several streams, the mean over tokens of each stream's weight when they are read after
/// the sub-layer; over depth, of the embedding and of each branch so far.
/// "NAME.skip.mean", "NAME.branch.mean": mean over features of a learned scale, if any: of the residual stream
/// (Admin's ω, NormFormer's λ) or of the branch (ReZero's α, FixUp's s).
class LiveMeasurements {
 public:
  /// Measures the first `sequences` of the batch.
  LiveMeasurements(const Program& program, const ModelValues& model, const ModelConfig& config,
                   int32_t sequences = 1);
  const std::vector<StatInfo>& layout() const { return layout_; }
  /// Fills one number for each entry of the layout from the last replay. It allocates nothing.
  void measure(std::span<double> out);
  /// The largest |sum of components - state| of the last measure(), over its standard deviation (the identity of A.5).
  double residual() const { return residual_; }
  /// From now on measure() fills token_shares(): of each sub-layer, in the order of the model, the shares by token as
  /// "NAME.token_share" takes them, (J, token) row-major, J = 0..I.
  void keep_token_shares() { token_shares_.resize(sublayers_.size()); }
  const std::vector<std::vector<float>>& token_shares() const { return token_shares_; }

  /// Follows a direction (tokens, D) of the state behind the last sub-layer down to the embedding, with the statistics
  /// of every norm as the last replay left them: the adjoint of the carrying of components. `at` is called with each
  /// sub-layer's place in the model, from the last one, and with the direction d_I at its branch, so that exactly
  ///   <direction, state>  =  sum over I of <d_I, branch_I>  +  <d_0, embedding>  +  the part of the norms' biases
  /// where d_0 is left in `direction`. It returns false for several streams and for two stacks.
  using BranchReader = std::function<void(size_t place, std::span<const float> direction)>;
  bool follow_down(std::vector<float>& direction, const BranchReader& at);
  /// Takes a direction of `output` back to `input`; false unless nothing or one norm lies between them.
  bool follow_norm(ValueId output, ValueId input, std::vector<float>& direction);
  /// Carries a small change (tokens, D) of `product` into the state after a sub-layer: through a norm behind it, if any,
  /// the branch's scale, and the norm on the stream. LayerNorm and RMSNorm are linear at their input here; of norms with
  /// a curve or a factor what they multiply by is held. False for several streams, and if more lies between.
  bool carry_branch(size_t place, ValueId product, std::vector<float>& direction);

 private:
  /// A norm on the stream, through which components are carried.
  struct Norm {
    NormKind kind = NormKind::None;
    ValueId input = kNone, gain = kNone, bias = kNone, mean = kNone, inverse_sigma = kNone, alpha = kNone,
            shift = kNone;
    float scale = 1, slope = 0;  // AdaNorm
    float gain_offset = 0;       // missing from the stored gain
  };
  struct Sublayer : SublayerValues {
    Norm enter, stream;
    std::string_view factor_word = {};  ///< with a factor: the word of its form
    AttentionScores scores;
    bool starts_layer = false;
    ValueId skip = kNone, branch_scale = kNone;
    ValueId lengths = kNone;  ///< input with the number of unpadded positions
    float skip_constant = 1, branch_constant = 1;
    bool scales_skip = false, scales_branch = false;
    int32_t first_number = 0;  ///< place of its plain numbers in layout()
    bool starts_stack = false;
    int32_t index_in_stack = 0;
    bool adds_bottom() const { return bottom != kNone; }  ///< the layer's input joins the sum (B2T)
  };

  void describe(const ModelValues& model, const ModelConfig& config);
  static void describe_sum(Sublayer& s, const Node& sum);
  static Norm norm_of(const Node& node, ValueId from);
  void make_room_for_streams(size_t positions);
  void lay_out();
  const Shape& shape(ValueId value) const {
    return program_->data().values[static_cast<size_t>(value)].shape;
  }
  void load(ValueId value, std::vector<float>& host, size_t count) const;
  void load_scale(ValueId value, float constant, std::vector<float>& host) const;
  void load_scales(const Sublayer& s);
  void measure_sublayer(const Sublayer& s, std::span<double> out);
  void carry_components(const Sublayer& s);
  void check_total();
  int64_t streams_of(const Sublayer& s) const;  ///< 0: one, that is the state itself
  void number_reads(const Sublayer& s, double* number) const;
  void carry_streams(const Sublayer& s);
  StreamWeights weights_of(ValueId value, size_t to, std::vector<float>& host) const;
  cpu::CarryMap map_of(const Norm& norm);
  const float* element_factors(const Norm& norm);
  std::optional<Norm> norm_between(ValueId output, ValueId input) const;
  void move_through(const Norm& norm, std::vector<float>& direction);
  void transpose(const cpu::CarryMap& map, std::vector<float>& direction) const;
  void carry_older(const Norm& norm, cpu::CarryMap map, size_t count);
  void keep_layer_input(size_t count);
  void add_layer_input(const Sublayer& s, size_t count);
  void make_room_for_heads(int32_t sequences);
  void lay_out_heads(const Sublayer& s, int32_t layer);
  void number_extreme(double* number);
  void number_tokens(size_t place, double* number);
  double* number_heads(const Sublayer& s, double* number);
  double score(const AttentionScores& x, size_t sequence, size_t head, size_t query, size_t key) const;
  double largest_score(const Sublayer& s, size_t sequence, size_t head, const float* p, size_t counted) const;
  size_t counted_tokens(const Sublayer& s, size_t sequences) const;

  const Program* program_;
  size_t rows_ = 0, width_ = 0, tokens_per_sequence_ = 0;
  std::vector<Sublayer> sublayers_;
  std::vector<StatInfo> layout_;
  std::vector<std::vector<float>> components_;         ///< of the current stack: embedding, then branches
  std::vector<std::vector<float>> layer_components_;   ///< where a sum adds the layer's input: the components
                                                       ///< of that input, its bias component last
  std::vector<cpu::Moments> shares_;                   ///< of each component carried so far
  std::vector<std::vector<cpu::Moments>> row_shares_;  ///< the same of each row
  std::vector<std::vector<float>> token_shares_;       ///< empty: not requested
  std::vector<float> total_;                           ///< sum of all components
  std::vector<float> bias_component_, x_, branch_, y_, gain_, bias_, mean_, inverse_sigma_, skip_,
      branch_scale_, p_;
  std::vector<float> direction_, factor_, lengths_, own_shares_;
  EffectiveRankRoom rank_room_;
  std::vector<float> queries_, keys_, position_, distances_;  ///< of the attention being measured
  StreamShares streams_;
  std::vector<float> read_, carry_, write_;  ///< weights of several streams
  double residual_ = 0;
};

}  // namespace normscope

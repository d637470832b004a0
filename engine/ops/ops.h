// The API of the engine on one page: what can be recorded on a tape. Each function checks shapes, appends one
// node and returns its output value; nothing is computed. Forward and backward stand in ops/<op>_cpu.cpp (and
// .cu).
//
// An op is four facts: shape rule and what it saves (ops/<op>.cpp), forward, backward (ops/<op>_cpu.cpp).
// Adding one touches: <op>.cpp, <op>_cpu.cpp, <op>.cu, this page, ops.def, tests/engine/op_cases.cpp.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// out (B,T,D) = scale * table[tokens] + positions[t].  tokens (B,T) i32, table (V,D), positions (>=T,D) or
/// kNone.
ValueId embedding(Tape&, const std::string& name, ValueId tokens, ValueId table, ValueId positions,
                  float scale);

/// out (..,N) = x (..,K) W (K,N) + b (N).  With transposed: W is (N,K), out = x W^T.  b may be kNone.
ValueId linear(Tape&, const std::string& name, ValueId x, ValueId weight, ValueId bias,
               bool transposed = false);

/// Multi-head attention (Vaswani et al. 2017, eq. 1): per head h, out_h = softmax(q_h k_h^T / sqrt(D/H)) v_h.
/// q (B,Tq,D), k and v (B,Tk,D), out (B,Tq,D); heads are contiguous slices of D. key_lengths (B) i32 or
/// kNone: keys at or beyond it are masked. causal: query t sees keys <= t. saved[0] = probabilities
/// (B,H,Tq,Tk), before dropout. A row with no visible key gives zero output. dropout_site 0 = no attention
/// dropout.
struct AttentionSpec {
  int32_t heads = 1;
  bool causal = false;
  uint32_t dropout_site = 0;
};
ValueId attention(Tape&, const std::string& name, ValueId q, ValueId k, ValueId v, ValueId key_lengths,
                  AttentionSpec);

/// The norm family over the last dimension; see NormKind. gain (D) and bias (D) as the kind has them, else
/// kNone. saved[0] = mean (R) (zero for Rms), saved[1] = 1/sigma (R). Two-pass variance. With heads > 1 each
/// of that many equal parts of a row is a row of its own (R = heads rows, gain and bias (D/heads), shared).
/// DyT: out = gain tanh(alpha x) + bias, alpha (1); saved[0] = 0, saved[1] = what the row was multiplied by
/// on the whole, root of (sum tanh(alpha x)^2 / sum x^2), which can be read beside the 1/sigma of the others.
struct NormExtras {
  ValueId alpha = kNone;             ///< DyT
  float scale = 1.0f, slope = 0.1f;  ///< AdaNorm's C and k
};
ValueId layer_norm(Tape&, const std::string& name, NormKind kind, ValueId x, ValueId gain, ValueId bias,
                   float eps, int32_t heads = 1, const NormExtras& extras = {});

ValueId relu(Tape&, const std::string& name, ValueId x);

/// The tanh form: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))  (Hendrycks and Gimpel 2016).
ValueId gelu(Tape&, const std::string& name, ValueId x);

/// out = skip * x + branch * f: the residual sum of a sub-layer. Each scale is a constant, or a learned
/// parameter of shape (1) or (D) (then the constant is ignored).
struct ResidualScale {
  float constant = 1.0f;
  ValueId learned = kNone;
};
ValueId add(Tape&, const std::string& name, ValueId x, ValueId f, ResidualScale skip = {},
            ResidualScale branch = {});

/// out = c gain x + shift over rows (D). gain and shift hold one number for each of as many equal parts of a
/// row (1: the same everywhere; H: one a head), or are kNone: 1 and 0.
ValueId affine(Tape&, const std::string& name, ValueId x, float constant, ValueId gain, ValueId shift);

/// out = x * keep * StepInputs.dropout[kind].scale, keep by Philox at site_of(name): never stored,
/// regenerated backward.
ValueId dropout(Tape&, const std::string& name, ValueId x, DropoutKind kind);

/// out (1) = sum_r w_r CE(logits_r, target_r) / sum_r w_r over rows with target >= 0; with label smoothing e:
/// CE = (1-e) (-log p_target) + e mean_v(-log p_v). logits (..,V), targets i32 with as many elements as rows,
/// weights f32 likewise or kNone. saved[0] = log-sum-exp (R), saved[1] = normalised row weight w_r / sum w
/// (R).
ValueId softmax_xent(Tape&, const std::string& name, ValueId logits, ValueId targets, ValueId weights);

/// out (B,T,D) = at every position the mean of x (B,T,D) over the positions of its row that count: those
/// before lengths (B) i32, or all without (kNone). A row of length 0 gives zeros.
ValueId mean_pool(Tape&, const std::string& name, ValueId x, ValueId lengths);

}  // namespace normscope

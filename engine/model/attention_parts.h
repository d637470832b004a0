// `AttentionParts` are what an attention is put together from: queries, keys and values with their norms, how they know
// their places, and the attention of the heads itself. Called by transformer.cpp.
#pragma once

#include "engine/core/philox.h"
#include "engine/model/model_parts.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/relative_attention.h"
#include "engine/ops/concat/concat.h"
#include "engine/ops/qk_clip/qk_clip.h"
#include "engine/ops/repeat_heads/repeat_heads.h"
#include "engine/ops/rotary/rotary.h"

namespace normscope {

class AttentionParts : protected ModelParts {
 public:
  using ModelParts::ModelParts;

 protected:
  /// Declares the tables by which attention knows places.
  void declare_places() {
    if (config_.positions == Positions::Relative)
      distances_ = parameter("distances", {config_.sequence + config_.memory, config_.d_model},
                             {Init::Kind::Sinusoid, 0.0}, false);
    if (config_.positions != Positions::Rotary) return;
    const int32_t T = config_.sequence, dh = head_width(config_);
    const auto table = [&](const char* name, bool local) {
      return parameter(name, {T, rotary_numbers(config_.rotary, dh)},
                       rotary_table(config_.rotary, dh, T, local), false);
    };
    turns_ = table("rotary", false);
    if (config_.rotary.local_base > 0) turns_of_windows_ = table("rotary.local", true);
  }

  ValueId heads_of(const std::string& n, ValueId q, ValueId k, ValueId v, ValueId key_lengths, bool causal) {
    const uint32_t site =
        options_.training && config_.dropout_attention > 0 ? site_of(n + ".heads") : uint32_t{0};
    if (config_.positions == Positions::Relative) return relative_heads(n, q, k, v, site);
    return attention(tape_, n + ".heads", q, k, v, key_lengths,
                     {.heads = config_.heads,
                      .causal = causal,
                      .dropout_site = site,
                      .window = causal && has_window(config_, layer_) ? config_.attention.window : 0,
                      .cap = config_.attention.cap,
                      .scale = config_.attention.scale});
  }

  ValueId queries_of(const std::string& n, const Inner& inner, ValueId x) {
    const int32_t heads = config_.heads;
    return norm(n + ".q_norm", inner.query,
                project(n, "q", x, heads * head_width(config_), gains_.query, inner),
                inner.across_heads ? 1 : heads);
  }
  ValueId keys_of(const std::string& n, const Inner& inner, ValueId x) {
    const int32_t heads = kv_heads(config_);
    return norm(n + ".k_norm", inner.key, project(n, "k", x, heads * head_width(config_), gains_.key, inner),
                inner.across_heads ? 1 : heads);
  }
  ValueId values_of(const std::string& n, const Wiring& wiring, ValueId x) {
    const int32_t heads = kv_heads(config_);
    return norm(
        n + ".v_norm", wiring.inner.value,
        project(n, "v", x, heads * head_width(config_), gains_.value * wiring.init_gain, wiring.inner),
        wiring.inner.values_across_heads ? 1 : heads);
  }

  /// Turns the heads of queries or keys by their places. Between two texts places mean nothing.
  ValueId turned(const std::string& name, ValueId x, int32_t heads, bool self) {
    if (config_.positions != Positions::Rotary || !self) return x;
    const bool local = has_window(config_, layer_) && turns_of_windows_ != kNone;
    return rotary(tape_, name, x, local ? turns_of_windows_ : turns_, {heads, config_.rotary.pairing});
  }

  /// Gives every head of queries keys of its own, as each scales them for itself.
  ValueId for_all_heads(const std::string& name, ValueId x) {
    const int32_t heads = kv_heads(config_), times = config_.heads / heads;
    return times == 1 ? x : repeat_heads(tape_, name, x, heads, times);
  }

  /// Has scores (q + u) k + (q + v) W_R R of the distance (Dai et al. 2019, section 3.3). u and v are
  /// each layer's own and start at zero.
  ValueId relative_heads(const std::string& n, ValueId q, ValueId k, ValueId v, uint32_t dropout_site) {
    const int64_t D = config_.d_model;
    const auto plus = [&](const char* which, const char* bias) {
      return affine(tape_, n + which, q, 1.0f, kNone, parameter(n + bias, {D}, {Init::Kind::Zeros, 0.0}));
    };
    const ValueId w = matrix(n + ".wr", {D, D}, matrix_init(D, D, gains_.key));
    const RelativeAttentionInputs in{.content = plus(".content", ".content_bias"),
                                     .position = plus(".position", ".position_bias"),
                                     .keys = k,
                                     .values = v,
                                     .distances = linear(tape_, n + ".r", distances_, w, kNone),
                                     .memory_lengths = memory_lengths_};
    return relative_attention(tape_, n + ".heads", in, {config_.heads, dropout_site});
  }

  /// Has the largest logit of each head measured, and its matrices scaled behind the update.
  void clip_heads(const std::string& n, const Inner& inner, ValueId q, ValueId k, ValueId key_lengths,
                  bool causal) {
    const ValueId largest =
        largest_logit(tape_, n + ".batch_logit", q, k, key_lengths,
                      {.heads = config_.heads,
                       .causal = causal,
                       .window = causal && has_window(config_, layer_) ? config_.attention.window : 0,
                       .scale = config_.attention.scale});
    const auto bias = [&](const char* suffix) {
      return !inner.shifts && has_bias_of(suffix) ? tape_.parameter(n + ".b" + suffix) : kNone;
    };
    qk_clip(tape_, n + ".qk_clip", largest,
            {.wq = tape_.parameter(n + ".wq"),
             .wk = tape_.parameter(n + ".wk"),
             .bq = bias("q"),
             .bk = bias("k")},
            {.heads = config_.heads, .shared = kv_heads(config_) < config_.heads});
  }

  /// Takes queries from x, keys and values from `source` (x in self-attention), and earlier ones from
  /// `past`.
  ValueId attention_block(const std::string& n, const Wiring& wiring, ValueId x, ValueId source,
                          ValueId key_lengths, bool causal, ValueId past = kNone) {
    const Inner& inner = wiring.inner;
    const bool self = source == x;
    const ValueId in = shift(n + ".shift_in", inner, x), from = self ? in : source;
    ValueId q = turned(n + ".q_turned", queries_of(n, inner, in), config_.heads, self);
    ValueId k = turned(n + ".k_turned", keys_of(n, inner, from), kv_heads(config_), self);
    ValueId v = values_of(n, wiring, from);
    if (past != kNone) {
      twin_ = kOfMemory;
      const ValueId of = shift(n + ".shift_in", inner, past), past_k = keys_of(n, inner, of),
                    past_v = values_of(n, wiring, of);
      twin_.clear();
      k = concat(tape_, n + ".keys", past_k, k);
      v = concat(tape_, n + ".values", past_v, v);
    }
    if (inner.sphere) {
      k = for_all_heads(n + ".k_repeated", k);
      v = for_all_heads(n + ".v_repeated", v);
      q = rescaled(n + ".qk", inner, q, root_of_width());
      k = affine(tape_, n + ".k_scaled", k, 1.0f, tape_.parameter(n + ".qk_scale"), kNone);
    }
    if (options_.qk_clip && clips(config_, inner)) clip_heads(n, inner, q, k, key_lengths, causal);
    ValueId heads = heads_of(n, q, k, v, key_lengths, causal);
    if (inner.head_scale)
      heads = affine(tape_, n + ".scaled", heads, 1.0f,
                     parameter(n + ".head_scale", {config_.heads}, {Init::Kind::Constant, 1.0}), kNone);
    heads = norm(n + ".output", inner.output, heads);
    if (!config_.output_projection) return heads;
    return project(n, "o", shift(n + ".shift_out", inner, heads), config_.d_model,
                   gains_.output * wiring.init_gain, inner);
  }

  ValueId memory_lengths_ = kNone;  ///< of relative positions: how much of the memory counts

 private:
  ValueId distances_ = kNone;                         ///< the table of relative positions
  ValueId turns_ = kNone, turns_of_windows_ = kNone;  ///< the tables of rotary positions
};

}  // namespace normscope

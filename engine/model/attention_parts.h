// `AttentionParts` are what an attention is put together from: queries, keys and values with their norms, how they know
// their places, and the attention of the heads itself. Called by transformer.cpp.
#pragma once

#include "engine/core/philox.h"
#include "engine/model/model_parts.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/relative_attention.h"
#include "engine/ops/repeat_heads/repeat_heads.h"
#include "engine/ops/rotary/rotary.h"

namespace normscope {

class AttentionParts : protected ModelParts {
 public:
  using ModelParts::ModelParts;

 protected:
  /// `declare_places` declares the tables by which attention knows places.
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
        heads);
  }

  /// `turned` turns the heads of queries or keys by their places. Between two texts places mean nothing.
  ValueId turned(const std::string& name, ValueId x, int32_t heads, bool self) {
    if (config_.positions != Positions::Rotary || !self) return x;
    const bool local = has_window(config_, layer_) && turns_of_windows_ != kNone;
    return rotary(tape_, name, x, local ? turns_of_windows_ : turns_, {heads, config_.rotary.pairing});
  }

  /// `for_all_heads` gives every head of queries keys, or values, of its own.
  ValueId for_all_heads(const std::string& name, ValueId x) {
    const int32_t heads = kv_heads(config_), times = config_.heads / heads;
    return times == 1 ? x : repeat_heads(tape_, name, x, heads, times);
  }

  /// `relative_heads` has scores (q + u) k + (q + v) W_R R of the distance (Dai et al. 2019, section 3.3). u and v are
  /// each layer's own and start at zero.
  ValueId relative_heads(const std::string& n, ValueId q, ValueId k, ValueId v, uint32_t dropout_site) {
    const int64_t D = config_.d_model;
    const auto plus = [&](const char* which, const char* bias) {
      return affine(tape_, n + which, q, 1.0f, kNone, parameter(n + bias, {D}, {Init::Kind::Zeros, 0.0}));
    };
    const ValueId w = parameter(n + ".wr", {D, D}, matrix_init(D, D, gains_.key));
    const RelativeAttentionInputs in{.content = plus(".content", ".content_bias"),
                                     .position = plus(".position", ".position_bias"),
                                     .keys = k,
                                     .values = v,
                                     .distances = linear(tape_, n + ".r", distances_, w, kNone),
                                     .memory_lengths = memory_lengths_};
    return relative_attention(tape_, n + ".heads", in, {config_.heads, dropout_site});
  }

  ValueId memory_lengths_ = kNone;  ///< of relative positions: how much of the memory counts

 private:
  ValueId distances_ = kNone;                         ///< the table of relative positions
  ValueId turns_ = kNone, turns_of_windows_ = kNone;  ///< the tables of rotary positions
};

}  // namespace normscope

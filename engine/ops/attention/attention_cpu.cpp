// attention on the CPU, a chunk per (b,h). In a head q and out are (Tq,dh), k and v (Tk,dh); keep are the factors of
// dropout (Tq,Tk):
//   S    =  q k^T
//   P    =  softmax(S / sqrt(dh))                // over the visible keys; saved
//   out  =  (P * keep) v
// Backward:
//   dP   =  (dout v^T) * keep
//   dS   =  P * (dP - sum over keys of P * dP) / sqrt(dh)
//   dq   =  dS k
//   dk   =  dS^T q
//   dv   =  (P * keep)^T dout
// Queries go in blocks, so that a block of scores fits the worker's scratch at any length.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/attention/attention_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/export.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/attention_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

Head head_of(const Call& call, int64_t chunk) {
  const auto spec = call.attributes.as<AttentionSpec>();
  const int64_t b = chunk / spec.heads, h = chunk % spec.heads;
  Head x;
  x.tq = call.in[0].shape[1];
  x.tk = call.in[1].shape[1];
  x.d = call.in[0].shape[2];
  x.dh = x.d / spec.heads;
  x.q_at = b * x.tq * x.d + h * x.dh;
  x.k_at = b * x.tk * x.d + h * x.dh;
  x.p_at = chunk * x.tq * x.tk;
  x.keys = call.in[3] ? larger(0, smaller(x.tk, call.in[3].i32()[b])) : x.tk;
  x.columns = x.tk;
  x.before = 0;
  x.causal = spec.causal;
  x.scale = static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x.dh)));
  x.site = spec.dropout_site;
  return x;
}

/// next_head counts the floats from this head's slice to that of the next chunk's head, in a tensor of t rows.
int64_t next_head(const Call& call, const Head& x, int64_t chunk, int64_t t) {
  return x.dh + ((chunk + 1) % call.attributes.as<AttentionSpec>().heads == 0 ? (t - 1) * x.d : 0);
}

void forward(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const Head x = head_of(call, chunk);
  float *panel = scratch.p, *p = panel + kPanelFloats, *block = p + kBlockFloats + 16;
  const float *q = call.in[0].p + x.q_at, *k = call.in[1].p + x.k_at, *v = call.in[2].p + x.k_at;
  const int64_t rows = query_block(x.tq, x.tk);
  for (int64_t q0 = 0; q0 < x.tq; q0 += rows) {
    const int64_t m = smaller(rows, x.tq - q0), q1 = q0 + m;
    fetch(q + q0 * x.d, m, x.d, x.dh);
    if (q0 == 0) fetch(v, x.keys, x.d, x.dh);
    multiply(x.causal ? Band::ColumnsUpToRow : Band::All, q0, m, x.keys, x.dh, {q + q0 * x.d, x.d, 1},
             {k, 1, x.d}, p, x.tk, false, panel);
    if (q1 == x.tq) fetch(k + next_head(call, x, chunk, x.tk), x.tk, x.d, x.dh);
    in_groups(m, [&](int64_t i, auto rows)
                     HWY_ATTR { softmax_rows<rows()>(rows_from<rows()>(x, p, q0, i), x.tk, x.scale); });
    if (call.saved[0]) store_probabilities(p, m * x.tk, call.saved[0].p + x.p_at + q0 * x.tk);
    const float* kept = p;
    if (x.site != 0) {
      float* factors = draw_factors(step, x, q0, q1, block, kept_bits(call, x, q0, rows));
      multiply_by_factors(p, factors, m * x.tk, factors);
      kept = factors;
    }
    multiply(x.causal ? Band::InnerUpToRow : Band::All, q0, m, x.dh, x.keys, {kept, x.tk, 1}, {v, x.d, 1},
             call.out.p + x.q_at + q0 * x.d, x.d, false, panel);
  }
  hwy::FlushStream();  // visible to whoever takes the next stage
}

/// Whether dq, dk, dv are added to what is there. With several blocks of queries and one tensor under two of them,
/// an assignment in a later block would wipe out an earlier block's sum: then the slices start from zero.
struct WriteModes {
  bool add[3];
};
WriteModes write_modes(const Call& call, const Head& x, bool several_blocks) {
  WriteModes modes;
  for (int i = 0; i < 3; ++i) modes.add[i] = call.write[i] == Write::Add;
  const float *dq = call.din[0].p, *dk = call.din[1].p, *dv = call.din[2].p;
  const bool shared = (dq && (dq == dk || dq == dv)) || (dk && dk == dv);
  if (!several_blocks || !shared) return modes;
  for (int i = 0; i < 3; ++i) {
    if (call.write[i] != Write::Assign) continue;
    float* to = call.din[i].p + (i == 0 ? x.q_at : x.k_at);
    for (int64_t t = 0; t < (i == 0 ? x.tq : x.tk); ++t)
      for (int64_t j = 0; j < x.dh; ++j) to[t * x.d + j] = 0.0f;
    modes.add[i] = true;
  }
  return modes;
}

void backward(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const Head x = head_of(call, chunk);
  float *panel = scratch.p, *g = panel + kPanelFloats, *block = g + kBlockFloats + 16;
  const float *q = call.in[0].p + x.q_at, *k = call.in[1].p + x.k_at, *v = call.in[2].p + x.k_at;
  const int64_t rows = query_block(x.tq, x.tk);
  const WriteModes modes = write_modes(call, x, rows < x.tq);
  const auto band = [&](Band causal) HWY_ATTR { return x.causal ? causal : Band::All; };
  for (int64_t q0 = 0; q0 < x.tq; q0 += rows) {
    const int64_t m = smaller(rows, x.tq - q0);
    const bool later = q0 > 0;
    const float* p = call.saved[0].p + x.p_at + q0 * x.tk;
    const float* dout = call.dout.p + x.q_at + q0 * x.d;
    for (int64_t i = 0; i < m; ++i) fetch(p + i * x.tk, 1, x.tk, x.visible(q0 + i));
    fetch(q + q0 * x.d, m, x.d, x.dh);
    if (!later) fetch(k, x.keys, x.d, x.dh);
    multiply(band(Band::ColumnsUpToRow), q0, m, x.keys, x.dh, {dout, x.d, 1}, {v, 1, x.d}, g, x.tk, false,
             panel);
    const float* kept = p;
    if (x.site != 0) {
      float* factors = block;
      factors_of(kept_bits(call, x, q0, rows), m * x.tk,
                 step.dropout[static_cast<int>(DropoutKind::Attention)].scale, factors);
      for (int64_t i = 0; i < m; ++i) {
        float* row = g + i * x.tk;
        multiply_by_factors(row, factors + i * x.tk, x.visible(q0 + i), row);
      }
      multiply_by_factors(p, factors, m * x.tk, factors);
      kept = factors;
    }
    // A causal tile reads at most a tile's height beyond the diagonal.
    const auto read = [&](int64_t row) HWY_ATTR {
      return x.keys < x.tk ? x.tk : smaller(x.tk, x.visible(q0 + row) + kTileRows);
    };
    in_groups(m, [&](int64_t i, auto rows) HWY_ATTR {
      softmax_backward_rows<rows()>(rows_from<rows()>(x, g, q0, i), p + i * x.tk, x.tk, read(i + rows() - 1),
                                    x.scale);
    });
    if (call.write[0] != Write::Skip)
      multiply(band(Band::InnerUpToRow), q0, m, x.dh, x.keys, {g, x.tk, 1}, {k, x.d, 1},
               call.din[0].p + x.q_at + q0 * x.d, x.d, modes.add[0], panel);
    if (q0 + m == x.tq) {
      fetch(v + next_head(call, x, chunk, x.tk), x.tk, x.d, x.dh);
      fetch(call.dout.p + x.q_at + next_head(call, x, chunk, x.tq), smaller(rows, x.tq), x.d, x.dh);
    }
    if (call.write[1] != Write::Skip)
      multiply(band(Band::InnerFromRow), -q0, x.tk, x.dh, m, {g, 1, x.tk}, {q + q0 * x.d, x.d, 1},
               call.din[1].p + x.k_at, x.d, modes.add[1] || later, panel);
    if (call.write[2] != Write::Skip)
      multiply(band(Band::InnerFromRow), -q0, x.tk, x.dh, m, {kept, 1, x.tk}, {dout, x.d, 1},
               call.din[2].p + x.k_at, x.d, modes.add[2] || later, panel);
  }
}

int64_t chunks_of(const Call& call) {
  check_key_count(call.in[1].shape[1], kBlockFloats);
  return call.in[0].shape[0] * call.attributes.as<AttentionSpec>().heads;
}

Stages attention_forward(const Call& call) {
  Stages stages;
  const int64_t tq = call.in[0].shape[1], tk = call.in[1].shape[1], rows = query_block(tq, tk);
  if (call.attributes.as<AttentionSpec>().dropout_site != 0)
    stages.kept_floats = static_cast<size_t>(chunks_of(call) * div_up(tq, rows) * mask_floats(rows * tk));
  stages.add(forward, chunks_of(call));
  return stages;
}

Stages attention_backward(const Call& call) {
  Stages stages;
  stages.add(backward, chunks_of(call));
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "engine/core/error.h"

namespace normscope::cpu {
void check_key_count(int64_t keys, int64_t most) {
  if (keys > most) fail("attention", "{} keys: expected at most {}", keys, most);
}
NORMSCOPE_KERNELS(attention)
}  // namespace normscope::cpu
#endif

// relative_attention on the CPU, a chunk per (b,h). In a head the queries c = q + u and e = q + v, where u and v are
// the biases of the paper, are (T,dh); keys k and values v are (M+T,dh); row r_i of the distances is for a key i
// positions back; keep are the factors of dropout:
//   S_ts   =  c_t k_s + e_t r_{t+M-s}
//   P      =  softmax(S / sqrt(dh))             // over s <= t + M; saved
//   out    =  (P * keep) v
// Backward, with dT the gradients dS by distance, dT_ti = dS_{t,t+M-i}:
//   dP     =  (dout v^T) * keep
//   dS     =  P * (dP - sum over keys of P * dP) / sqrt(dh)
//   dc     =  dS k
//   dk     =  dS^T c
//   dv     =  (P * keep)^T dout
//   de     =  dT r
//   dr     =  sum over b of dT^T e
// The products e r^T of a block of queries come out by distance, the largest first; row t of them, shifted to the left
// by as many columns as queries of the block follow it, lies by keys (the relative shift of Dai et al. 2019, appendix
// B). dT is dS shifted back. Keys of the memory that do not count are left of `first`: they are neither read nor seen.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/relative_attention/relative_attention_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/export.h"
#include "engine/ops/attention/attention_inl.h"
#include "engine/ops/relative_attention/relative_attention.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

enum Input { kContent, kKeys, kValues, kPosition, kDistances, kMemoryLengths };

/// A head whose keys begin with the first that counts: k_at is its row's, and columns are counted from it.
struct RelativeHead : Head {
  int64_t first;  // keys before it
  int64_t r_at;   // offset of the head in a row of distances
};

RelativeHead head_of(const Call& call, int64_t chunk) {
  const auto spec = call.attributes.as<RelativeAttentionSpec>();
  const int64_t b = chunk / spec.heads, h = chunk % spec.heads;
  RelativeHead x;
  x.tq = call.in[kContent].shape[1];
  x.tk = call.in[kKeys].shape[1];
  x.d = call.in[kContent].shape[2];
  x.dh = x.d / spec.heads;
  const int64_t memory = x.tk - x.tq;
  const Tensor& lengths = call.in[kMemoryLengths];
  x.before = lengths ? larger(0, smaller(memory, lengths.i32()[b])) : memory;
  x.first = memory - x.before;
  x.r_at = h * x.dh;
  x.q_at = b * x.tq * x.d + x.r_at;
  x.k_at = (b * x.tk + x.first) * x.d + x.r_at;
  x.p_at = chunk * x.tq * x.tk;
  x.keys = x.columns = x.tk - x.first;
  x.causal = true;
  x.scale = static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x.dh)));
  x.site = spec.dropout_site;
  return x;
}

/// Distances that a block of queries that ends before q1 looks at: the largest, and how many there are.
int64_t farthest(const RelativeHead& x, int64_t q1) { return x.before + q1 - 1; }
int64_t distances(const RelativeHead& x, int64_t q1) { return x.before + q1; }

/// Columns by which row i of a block of m queries is shifted.
int64_t shift_of(int64_t i, int64_t m) { return m - 1 - i; }

void zero(float* to, int64_t n) {
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(hn::Zero(DF()), to + i); });
}

/// add_positions adds the products with the distances, by keys:
///   scores_ts  +=  e_t r_{t+M-s}
/// Rows of `scores` and of `by_distance`, which is overwritten, have x.tk floats.
void add_positions(const Call& call, const RelativeHead& x, int64_t q0, int64_t m, float* scores,
                   float* by_distance, float* panel) {
  const int64_t q1 = q0 + m;
  const float* e = call.in[kPosition].p + x.q_at + q0 * x.d;
  const float* r = call.in[kDistances].p + x.r_at + farthest(x, q1) * x.d;
  multiply(Band::All, 0, m, distances(x, q1), x.dh, {e, x.d, 1}, {r, 1, -x.d}, by_distance, x.tk, false,
           panel);
  for (int64_t i = 0; i < m; ++i) {
    const float* from = by_distance + i * x.tk + shift_of(i, m);
    float* to = scores + i * x.tk;
    each_vector(x.visible(q0 + i),
                [&](int64_t j, auto lanes) HWY_ATTR { put(lanes, lanes.load(from + j), to + j, true); });
  }
}

void forward(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const RelativeHead x = head_of(call, chunk);
  float *panel = scratch.p, *p = panel + kPanelFloats, *block = p + kBlockFloats + 16;
  const float *c = call.in[kContent].p + x.q_at, *k = call.in[kKeys].p + x.k_at,
              *v = call.in[kValues].p + x.k_at;
  float* seen = p + x.first;
  const int64_t rows = query_block(x.tq, x.tk);
  for (int64_t q0 = 0; q0 < x.tq; q0 += rows) {
    const int64_t m = smaller(rows, x.tq - q0), q1 = q0 + m;
    multiply(Band::ColumnsUpToRow, q0 + x.before, m, x.columns, x.dh, {c + q0 * x.d, x.d, 1}, {k, 1, x.d},
             seen, x.tk, false, panel);
    add_positions(call, x, q0, m, seen, block, panel);
    in_groups(m, [&](int64_t i, auto group) HWY_ATTR {
      softmax_rows<group()>(rows_from<group()>(x, seen, q0, i), x.columns, x.scale);
    });
    for (int64_t i = 0; x.first > 0 && i < m; ++i) zero(p + i * x.tk, x.first);
    if (call.saved[0]) store_probabilities(p, m * x.tk, call.saved[0].p + x.p_at + q0 * x.tk);
    const float* kept = p;
    if (x.site != 0) {
      float* factors = draw_factors(step, x, q0, q1, block, kept_bits(call, x, q0, rows));
      multiply_by_factors(p, factors, m * x.tk, factors);
      kept = factors;
    }
    multiply(Band::InnerUpToRow, q0 + x.before, m, x.dh, x.columns, {kept + x.first, x.tk, 1}, {v, x.d, 1},
             call.out.p + x.q_at + q0 * x.d, x.d, false, panel);
  }
  hwy::FlushStream();  // visible to whoever takes the next stage
}

/// What a block of queries works with in the backward pass; rows of g and block have x.tk floats.
struct Block {
  int64_t q0, m;
  const float *p, *dout;
  float *g, *block, *panel;
  int64_t q1() const { return q0 + m; }
};

bool writes(const Call& call, int input) { return call.write[input] != Write::Skip; }

/// score_gradients computes dS of the block into g, and dv on the way, which needs the kept probabilities.
void score_gradients(const Call& call, const StepInputs& step, const RelativeHead& x, const Block& at,
                     int64_t rows, bool add_values) {
  const float* v = call.in[kValues].p + x.k_at;
  float* g = at.g + x.first;
  multiply(Band::ColumnsUpToRow, at.q0 + x.before, at.m, x.columns, x.dh, {at.dout, x.d, 1}, {v, 1, x.d}, g,
           x.tk, false, at.panel);
  const float* kept = at.p;
  if (x.site != 0) {
    factors_of(kept_bits(call, x, at.q0, rows), at.m * x.tk,
               step.dropout[static_cast<int>(DropoutKind::Attention)].scale, at.block);
    for (int64_t i = 0; i < at.m; ++i)
      multiply_by_factors(g + i * x.tk, at.block + i * x.tk + x.first, x.visible(at.q0 + i), g + i * x.tk);
    multiply_by_factors(at.p, at.block, at.m * x.tk, at.block);
    kept = at.block;
  }
  if (writes(call, kValues))
    multiply(Band::InnerFromRow, -at.q0 - x.before, x.columns, x.dh, at.m, {kept + x.first, 1, x.tk},
             {at.dout, x.d, 1}, call.din[kValues].p + x.k_at, x.d, add_values, at.panel);
  // A causal tile reads at most a tile's height beyond the diagonal.
  const auto read = [&](int64_t row)
                        HWY_ATTR { return smaller(x.columns, x.visible(at.q0 + row) + kTileRows); };
  in_groups(at.m, [&](int64_t i, auto group) HWY_ATTR {
    softmax_backward_rows<group()>(rows_from<group()>(x, g, at.q0, i), at.p + i * x.tk + x.first, x.tk,
                                   read(i + group() - 1), x.scale);
  });
}

/// position_gradients computes dT of the block into at.block, from it de and the block's part of dr, which it adds to
/// `partial` (tk,dh) by distance.
void position_gradients(const Call& call, const RelativeHead& x, const Block& at, float* partial) {
  const int64_t n = distances(x, at.q1()), last = farthest(x, at.q1());
  for (int64_t i = 0; i < at.m; ++i) {
    float* to = at.block + i * x.tk;
    const float* from = at.g + x.first + i * x.tk;
    const int64_t shift = shift_of(i, at.m);
    zero(to, shift);
    each_vector(n - shift,
                [&](int64_t j, auto lanes) HWY_ATTR { lanes.store(lanes.load(from + j), to + shift + j); });
  }
  const float *e = call.in[kPosition].p + x.q_at + at.q0 * x.d,
              *r = call.in[kDistances].p + x.r_at + last * x.d;
  if (writes(call, kPosition))
    multiply(Band::All, 0, at.m, x.dh, n, {at.block, x.tk, 1}, {r, -x.d, 1},
             call.din[kPosition].p + x.q_at + at.q0 * x.d, x.d, call.write[kPosition] == Write::Add,
             at.panel);
  if (writes(call, kDistances))
    multiply(Band::All, 0, n, x.dh, at.m, {at.block, 1, x.tk}, {e, x.d, 1}, partial + last * x.dh, -x.dh,
             true, at.panel);
}

/// Keys that do not count have no gradient.
void zero_uncounted(const Call& call, const RelativeHead& x, int input) {
  if (call.write[input] != Write::Assign) return;
  float* to = call.din[input].p + x.k_at - x.first * x.d;
  for (int64_t s = 0; s < x.first; ++s) zero(to + s * x.d, x.dh);
}

void backward(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const RelativeHead x = head_of(call, chunk);
  float *panel = scratch.p, *g = panel + kPanelFloats, *block = g + kBlockFloats + 16;
  const float *c = call.in[kContent].p + x.q_at, *k = call.in[kKeys].p + x.k_at;
  float* partial = writes(call, kDistances) ? call.workspace + chunk * x.tk * x.dh : nullptr;
  if (partial) zero(partial, x.tk * x.dh);
  for (const int input : {kKeys, kValues}) zero_uncounted(call, x, input);
  const int64_t rows = query_block(x.tq, x.tk);
  const auto adds = [&](int input, int64_t q0) { return call.write[input] == Write::Add || q0 > 0; };
  for (int64_t q0 = 0; q0 < x.tq; q0 += rows) {
    const int64_t m = smaller(rows, x.tq - q0);
    const Block at{q0,    m,    call.saved[0].p + x.p_at + q0 * x.tk, call.dout.p + x.q_at + q0 * x.d, g,
                   block, panel};
    score_gradients(call, step, x, at, rows, adds(kValues, q0));
    const float* ds = g + x.first;
    if (writes(call, kContent))
      multiply(Band::InnerUpToRow, q0 + x.before, m, x.dh, x.columns, {ds, x.tk, 1}, {k, x.d, 1},
               call.din[kContent].p + x.q_at + q0 * x.d, x.d, call.write[kContent] == Write::Add, panel);
    if (writes(call, kKeys))
      multiply(Band::InnerFromRow, -q0 - x.before, x.columns, x.dh, m, {ds, 1, x.tk}, {c + q0 * x.d, x.d, 1},
               call.din[kKeys].p + x.k_at, x.d, adds(kKeys, q0), panel);
    if (writes(call, kPosition) || writes(call, kDistances)) position_gradients(call, x, at, partial);
  }
}

/// sum_distances computes row `distance` of dr, the sum over b in order. No key is as far back as rows from tk on.
void sum_distances(const Call& call, const StepInputs&, int64_t distance, Scratch) noexcept {
  const int64_t batch = call.in[kContent].shape[0], tk = call.in[kKeys].shape[1],
                d = call.in[kContent].shape[2];
  const int64_t heads = call.attributes.as<RelativeAttentionSpec>().heads, dh = d / heads;
  const bool add = call.write[kDistances] == Write::Add;
  float* to = call.din[kDistances].p + distance * d;
  if (distance >= tk) {
    if (!add) zero(to, d);
    return;
  }
  for (int64_t h = 0; h < heads; ++h)
    reduce_rows(call.workspace + (h * tk + distance) * dh, batch, heads * tk * dh, dh, to + h * dh, add);
}

int64_t chunks_of(const Call& call) {
  check_key_count(call.in[kKeys].shape[1], kBlockFloats);
  return call.in[kContent].shape[0] * call.attributes.as<RelativeAttentionSpec>().heads;
}

Stages relative_attention_forward(const Call& call) {
  Stages stages;
  const int64_t tq = call.in[kContent].shape[1], tk = call.in[kKeys].shape[1], rows = query_block(tq, tk);
  if (call.attributes.as<RelativeAttentionSpec>().dropout_site != 0)
    stages.kept_floats = static_cast<size_t>(chunks_of(call) * div_up(tq, rows) * mask_floats(rows * tk));
  stages.add(forward, chunks_of(call));
  return stages;
}

Stages relative_attention_backward(const Call& call) {
  Stages stages;
  stages.add(backward, chunks_of(call));
  if (!writes(call, kDistances)) return stages;
  stages.workspace_floats =
      static_cast<size_t>(call.in[kContent].shape[0] * call.in[kKeys].shape[1] * call.in[kContent].shape[2]);
  stages.add(sum_distances, call.in[kDistances].shape[0]);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(relative_attention)
}  // namespace normscope::cpu
#endif

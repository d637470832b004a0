// embedding on the CPU, tokens (B,T), table (V,D), positions (>=T,D), out (B,T,D); joined, out is (B,T*D) with the
// same numbers:
//   out[b,t]       =  scale * table[tokens[b,t]] + positions[t]
//   dtable[v]      =  scale * sum of dout over the rows whose token is v
//   dpositions[t]  =  sum over b of dout[b,t]
// Backward is cut by columns (table) and by positions, so every sum runs in row order and needs no atomics.
// A token outside the table reads as a zero row and has no gradient.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/embedding/embedding_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/simd_inl.h"
#include "engine/ops/ops.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

// Counts the rows, one per token, whatever the shape of the output.
int64_t token_rows(const Call& call) { return call.in[0].shape.size(); }
int64_t row_width(const Call& call) { return call.in[1].shape.cols(); }

/// Looks up n rows of one number each, such as pixels, a vector of tokens at a time.
void narrow_rows(const Call& call, int64_t begin, int64_t n) {
  const DF d;
  const hn::RebindToSigned<DF> di;
  const hn::RebindToUnsigned<DF> du;
  const auto vocabulary = hn::Set(du, static_cast<uint32_t>(call.in[1].shape.rows()));
  const VF scale = hn::Set(d, call.attributes.as<EmbeddingSpec>().scale);
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    const auto token = hn::BitCast(du, lanes.load(call.in[0].p + begin + i));
    const auto known = hn::Lt(token, vocabulary);
    const VF row = hn::GatherIndex(d, call.in[1].p, hn::BitCast(di, hn::IfThenElseZero(known, token)));
    const VF out = hn::IfThenElseZero(hn::RebindMask(d, known), hn::MulAdd(scale, row, hn::Zero(d)));
    lanes.store(out, call.out.p + begin + i);
  });
}

Cut row_cut(const Call& call) { return cut(token_rows(call), kFlatChunk / row_width(call)); }

void forward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  const int64_t width = row_width(call), t = call.in[0].shape[1], vocabulary = call.in[1].shape.rows();
  const Cut c = row_cut(call);
  if (width == 1 && !call.in[2])
    return narrow_rows(call, c.begin(chunk), c.end(chunk, token_rows(call)) - c.begin(chunk));
  const VF scale = hn::Set(d, call.attributes.as<EmbeddingSpec>().scale);
  for (int64_t r = c.begin(chunk); r < c.end(chunk, token_rows(call)); ++r) {
    const int32_t token = call.in[0].i32()[r];
    const float* row = token >= 0 && token < vocabulary ? call.in[1].p + token * width : nullptr;
    const float* position = call.in[2] ? call.in[2].p + r % t * width : nullptr;
    float* out = call.out.p + r * width;
    each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
      const VF shift = position ? lanes.load(position + j) : hn::Zero(d);
      lanes.store(row ? hn::MulAdd(scale, lanes.load(row + j), shift) : shift, out + j);
    });
  }
}

constexpr int64_t kColumns = 16;  // of a table chunk: one cache line

void table_columns(const Call& call, int64_t j0) {
  const DF d;
  const int64_t width = row_width(call), rows = token_rows(call), vocabulary = call.in[1].shape.rows();
  const int64_t cols = smaller(kColumns, width - j0);
  float* table = call.din[1].p + j0;
  const float* dout = call.dout.p + j0;
  if (call.write[1] == Write::Assign)
    for (int64_t v = 0; v < vocabulary; ++v)
      for (int64_t j = 0; j < cols; ++j) table[v * width + j] = 0.0f;
  const VF scale = hn::Set(d, call.attributes.as<EmbeddingSpec>().scale);
  for (int64_t r = 0; r < rows; ++r) {
    const int32_t token = call.in[0].i32()[r];
    if (token < 0 || token >= vocabulary) continue;
    float* to = table + token * width;
    each_vector(cols, [&](int64_t j, auto lanes) HWY_ATTR {
      lanes.store(hn::MulAdd(scale, lanes.load(dout + r * width + j), lanes.load(to + j)), to + j);
    });
  }
}

Cut position_cut(const Call& call) { return cut(call.in[2].shape.rows(), kFlatChunk / 4 / row_width(call)); }

void position_rows(const Call& call, int64_t chunk) {
  const DF d;
  const int64_t width = row_width(call), batch = call.in[0].shape[0], t = call.in[0].shape[1];
  const Cut c = position_cut(call);
  const bool add = call.write[2] == Write::Add;
  for (int64_t i = c.begin(chunk); i < c.end(chunk, call.in[2].shape.rows()); ++i) {
    each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
      VF sum = hn::Zero(d);
      if (i < t)
        for (int64_t b = 0; b < batch; ++b)
          sum = hn::Add(sum, lanes.load(call.dout.p + (b * t + i) * width + j));
      put(lanes, sum, call.din[2].p + i * width + j, add);
    });
  }
}

int64_t table_chunks(const Call& call) {
  return call.write[1] == Write::Skip ? 0 : div_up(row_width(call), kColumns);
}

void backward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const int64_t tables = table_chunks(call);
  if (chunk < tables)
    table_columns(call, chunk * kColumns);
  else
    position_rows(call, chunk - tables);
}

Stages embedding_forward(const Call& call) { return one_stage(forward, row_cut(call).chunks); }

Stages embedding_backward(const Call& call) {
  const int64_t positions = call.write[2] == Write::Skip ? 0 : position_cut(call).chunks;
  return one_stage(backward, table_chunks(call) + positions);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(embedding)

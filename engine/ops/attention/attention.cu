// attention on CUDA. The kernels of attention_stored.cuh run where the probabilities are stored, and forward where the
// scores of a tile fit shared memory. Where the probabilities have no memory, the kernels of attention_fused.cu run
// backward, and forward over more keys than fit.
#include <algorithm>
#include <bit>

#include "engine/ops/attention/attention_stored.cuh"

namespace normscope::cuda {
namespace plain_attention {

Attention arguments_of(const Call& c) {
  Attention a = arguments<AttentionSpec>(c, kAttentionStage);
  const auto spec = c.attributes.as<AttentionSpec>();
  const double scale = spec.scale_of(a.width);
  a.key_lengths = c.in[3].i32();
  a.causal = spec.causal;
  if (spec.window > 0) a.window = std::min(a.Tk, spec.window);
  if (spec.window > 0 && !spec.causal) {  // as a causal head that sees window - 1 more keys
    a.causal = true;
    a.memory = std::min(spec.window, std::max(a.Tq, a.Tk)) - 1;
    a.window = 2 * a.memory + 1;
  }
  if (spec.alibi) a.power = static_cast<int>(std::bit_floor(static_cast<uint32_t>(a.heads)));
  a.scale = static_cast<float>(scale);
  a.cap = static_cast<float>(static_cast<double>(spec.cap) / scale);
  return a;
}

void forward(const Call& c, Context& context) {
  const Attention a = arguments_of(c);
  const int64_t heads = c.in[0].shape[0] * a.heads;
  if (!a.probabilities && !a.in_shared) return attend_in_passes(a, heads, context);
  by_width(a.width, [&](auto tile) {
    launch(context, attend<decltype(tile), false>, attention(heads, a.Tq, a.Tk), a);
  });
}

void gradients(const Attention& a, int64_t heads, Context& context) {
  if (!a.probabilities) return fused_gradients(a, heads, context);
  by_width(a.width, [&](auto tile) {
    if (a.dq || a.dk) launch(context, query_gradient<decltype(tile), false>, attention(heads, a.Tq, a.Tk), a);
    if (a.dk || a.dv) launch(context, key_gradient<decltype(tile)>, attention(heads, a.Tk, a.Tk), a);
  });
}

/// The gradients of keys or values, added up over the heads of a group in their order.
struct SumGroups {
  const float* own;
  float* to;
  uint32_t width, times;
  bool add;
  __device__ void operator()(uint32_t i) const {
    const float* part = own + i / width * width * times + i % width;
    float sum = part[0];
    for (uint32_t k = 1; k < times; ++k) sum += part[k * width];
    write_to(to + i, sum, add);
  }
};

size_t workspace_of_scores(const Call& c) {
  const Shape &q = c.in[0].shape, &k = c.in[1].shape;
  return attention_workspace(q[0] * c.attributes.as<AttentionSpec>().heads, q[1], k[1],
                             c.saved[0].p != nullptr);
}

void backward(const Call& c, Context& context) {
  Attention a = arguments_of(c);
  a.dscores = c.workspace;
  a.rows = reinterpret_cast<float2*>(c.workspace);
  const int64_t heads = c.in[0].shape[0] * a.heads, n = c.in[1].shape.size();
  if (a.times == 1) return gradients(a, heads, context);
  float* own = c.workspace + workspace_of_scores(c);  // dk and dv of each head, as wide as q
  a.add_k = a.add_v = false;
  if (a.dk) a.dk = own;
  if (a.dv) a.dv = own + n * a.times;
  gradients(a, heads, context);
  for (const int k : {1, 2})
    if (c.write[k] != Write::Skip)
      launch(context, for_each<SumGroups>, elementwise(n), n,
             SumGroups{own + (k - 1) * n * a.times, c.din[k].p, static_cast<uint32_t>(a.width),
                       static_cast<uint32_t>(a.times), c.write[k] == Write::Add});
}

size_t workspace(const Call& c, Context&) {
  if (c.phase == Phase::Forward) return 0;
  const Shape &q = c.in[0].shape, &k = c.in[1].shape;
  return workspace_of_scores(c) + (q[2] == k[2] ? 0 : static_cast<size_t>(2 * k.rows() * q[2]));
}

}  // namespace plain_attention

Kernels attention_kernels() {
  using namespace plain_attention;
  return {forward, backward, workspace};
}

}  // namespace normscope::cuda

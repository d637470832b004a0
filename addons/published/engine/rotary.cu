// rotary on CUDA, x and out (B,T,H*dh), table (P,2n). For pair i = (a,b) of a head at position t, with cos = table[t,i]
// and sin = table[t,n+i]:
//   out[a]  =  x[a] cos - x[b] sin
//   out[b]  =  x[b] cos + x[a] sin
//   dx[a]   =  dout[a] cos + dout[b] sin        // the transpose: sin with the other sign
//   dx[b]   =  dout[b] cos - dout[a] sin
// A head's numbers from 2n on stay what they are. A thread works on one number of the result.
#include "addons/published/engine/rotary.h"
#include "engine/cuda/device.cuh"

namespace normscope::cuda {
namespace rotary {

struct Turn {
  const float *from, *table;
  float *to, sign;  // of the sine: -1 backward
  uint32_t cols, width, pairs, positions;
  bool neighbours, add;

  __device__ void operator()(uint32_t i) const {
    const uint32_t j = i % width;  // heads divide a row
    if (j >= 2 * pairs) {
      write_to(to + i, from[i], add);
      return;
    }
    const float* row = table + i / cols % positions * 2 * pairs;
    const uint32_t pair = neighbours ? j / 2 : j % pairs, apart = neighbours ? 1 : pairs;
    const bool first = neighbours ? j % 2 == 0 : j < pairs;
    const float sine = sign * row[pairs + pair];
    const float turned = first ? -sine * from[i + apart] : sine * from[i - apart];
    write_to(to + i, from[i] * row[pair] + turned, add);
  }
};

void turn(const Call& c, Context& context, const float* from, float* to, float sign, bool add) {
  const auto spec = c.attributes.as<RotarySpec>();
  const int64_t n = c.in[0].shape.size();
  const auto cols = static_cast<uint32_t>(c.in[0].shape.cols());
  launch(context, for_each<Turn>, elementwise(n), n,
         Turn{from, c.in[1].p, to, sign, cols, cols / static_cast<uint32_t>(spec.heads),
              static_cast<uint32_t>(c.in[1].shape.cols() / 2), static_cast<uint32_t>(c.in[0].shape[1]),
              spec.pairing == RotaryPairing::Neighbours, add});
}

void forward(const Call& c, Context& context) { turn(c, context, c.in[0].p, c.out.p, 1.0f, false); }

void backward(const Call& c, Context& context) {
  turn(c, context, c.dout.p, c.din[0].p, -1.0f, c.write[0] == Write::Add);
}

}  // namespace rotary

Kernels rotary_kernels() {
  using namespace rotary;
  return {forward, backward};
}

}  // namespace normscope::cuda

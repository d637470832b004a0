// The ops on images and over a memory, in plain loops: see reference.h.
#pragma once

#include <algorithm>

#include "addons/systems/engine/image_ops.h"
#include "addons/systems/engine/relative_attention.h"
#include "reference/op_attention.h"

namespace normscope::reference {

/// Locates the pixel under offset (i,j) of window (r,q), in numbers from the image's begin; -1 outside.
inline int64_t pixel_under(const ImageWindow& w, int64_t r, int64_t q, int64_t i, int64_t j) {
  const int64_t y = r * w.stride - w.padding + i, x = q * w.stride - w.padding + j;
  return y < 0 || x < 0 || y >= w.height || x >= w.width ? -1 : (y * w.width + x) * w.channels;
}

/// Returns what window (r,q) of image b reads, (size x size x channels); a zero outside the image.
template <class S>
Array<S> patch_of(const Array<S>& x, const ImageWindow& w, int64_t b, int64_t r, int64_t q) {
  Array<S> patch;
  for (int64_t i = 0; i < w.size; ++i)
    for (int64_t j = 0; j < w.size; ++j)
      for (int64_t c = 0; c < w.channels; ++c) {
        const int64_t pixel = pixel_under(w, r, q, i, j);
        patch.push_back(pixel < 0 ? S(0.0) : x[at(b * w.numbers() + pixel + c)]);
      }
  return patch;
}

/// Computes O numbers of y for every window r, from weight (patch,O) and bias (O), which may be empty:
///   y_r  =  patch_r weight + bias
template <class S>
Array<S> conv2d(const Array<S>& x, const Array<S>& weight, const Array<S>& bias, const ImageWindow& w) {
  const int64_t images = static_cast<int64_t>(x.size()) / w.numbers();
  const int64_t O = static_cast<int64_t>(weight.size()) / w.patch();
  Array<S> y;
  for (int64_t b = 0; b < images; ++b)
    for (int64_t r = 0; r < w.windows(); ++r) {
      const Array<S> patch = patch_of(x, w, b, r / w.columns(), r % w.columns());
      for (int64_t o = 0; o < O; ++o) {
        S sum = bias.empty() ? S(0.0) : bias[at(o)];
        for (int64_t k = 0; k < w.patch(); ++k) sum += patch[at(k)] * weight[at(k * O + o)];
        y.push_back(sum);
      }
    }
  return y;
}

/// Tells where each output of max_pool comes from: the first of the largest, or the first NaN.
template <class S>
std::vector<size_t> largest_under(const Array<S>& x, const ImageWindow& w) {
  std::vector<size_t> from;
  for (int64_t b = 0; b < static_cast<int64_t>(x.size()) / w.numbers(); ++b)
    for (int64_t r = 0; r < w.windows(); ++r)
      for (int64_t c = 0; c < w.channels; ++c) {
        const auto place = [&](int64_t i, int64_t j) {
          return at(b * w.numbers() + pixel_under(w, r / w.columns(), r % w.columns(), i, j) + c);
        };
        size_t most = place(0, 0);
        for (int64_t k = 1; k < int64_t{w.size} * w.size; ++k) {
          const size_t here = place(k / w.size, k % w.size);
          const double v = value_of(x[here]), m = value_of(x[most]);
          if (v > m || (v != v && m == m)) most = here;
        }
        from.push_back(most);
      }
  return from;
}

template <class S>
Array<S> max_pool(const Array<S>& x, const ImageWindow& w) {
  Array<S> y;
  for (size_t from : largest_under(x, w)) y.push_back(x[from]);
  return y;
}

template <class S>
Outputs<S> forward(Op<OpKind::Conv2d>, const Call<S>& c) {
  return {conv2d<S>(c.numbers(0), c.numbers(1), c.numbers(2), c.attributes.template as<Conv2dSpec>().window)};
}

template <class S>
Outputs<S> forward(Op<OpKind::MaxPool>, const Call<S>& c) {
  return {max_pool<S>(c.numbers(0), c.attributes.template as<MaxPoolSpec>().window)};
}

/// A segment of Tq positions over Tk keys, the first Tk - Tq of which are a memory.
struct RelativeShape : AttentionShape {
  std::vector<int32_t> memory_lengths = {};  ///< (B), or empty: all of it counts

  int64_t memory() const { return Tk - Tq; }
  int64_t counted(int64_t b) const {
    return memory_lengths.empty() ? memory() : std::clamp<int64_t>(memory_lengths[at(b)], 0, memory());
  }
  bool visible(int64_t b, int64_t t, int64_t s) const {
    return s <= t + memory() && s >= memory() - counted(b);
  }
  /// Indexes the row of distances that is for query t and key s.
  size_t r(int64_t t, int64_t s, int64_t h, int64_t j) const {
    return at((t + memory() - s) * D + h * width() + j);
  }
};

/// Takes content and position (B,Tq,D), keys and values (B,Tk,D), and distances (P,D); it scores by
///   content(t) . k(s)  +  position(t) . distances(t - s)
template <class S>
AttentionResult<S> relative_attention(const Array<S>& content, const Array<S>& k, const Array<S>& v,
                                      const Array<S>& position, const Array<S>& distances,
                                      const RelativeShape& a) {
  return attend(v, a, [&](int64_t b, int64_t h, int64_t t, int64_t s, int64_t j) {
    return content[a.q(b, t, h, j)] * k[a.k(b, s, h, j)] +
           position[a.q(b, t, h, j)] * distances[a.r(t, s, h, j)];
  });
}

template <class S>
Outputs<S> forward(Op<OpKind::RelativeAttention>, const Call<S>& c) {
  const auto spec = c.attributes.template as<RelativeAttentionSpec>();
  const Shape& q = c.shape(0);
  RelativeShape a{{q[0], spec.heads, q[1], c.shape(1)[1], q[2]}, c.integers(5)};
  drop(a, c.step, spec.dropout_site);
  auto r = relative_attention<S>(c.numbers(0), c.numbers(1), c.numbers(2), c.numbers(3), c.numbers(4), a);
  return {r.out, r.probabilities};
}

}  // namespace normscope::reference

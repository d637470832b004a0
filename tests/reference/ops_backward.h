// Hand-written backward of engine/ops/reference.h in double. test_reference.cpp proves each against dual numbers to
// 1e-10. `dy` is the gradient of the output; every function returns the gradients of the inputs by name.
#pragma once

#include "reference/ops.h"

namespace normscope::reference {

using Values = Array<double>;

struct EmbeddingGradients {
  Values table, positions;
};
inline EmbeddingGradients embedding_backward(const std::vector<int32_t>& tokens, const Values& dy,
                                             double scale, int64_t V, int64_t P, int64_t T, int64_t D) {
  EmbeddingGradients g{Values(at(V * D), 0.0), Values(at(P * D), 0.0)};
  for (size_t r = 0; r < tokens.size(); ++r)
    for (int64_t j = 0; j < D; ++j) {
      const double d = dy[r * at(D) + at(j)];
      g.table[at(tokens[r] * D + j)] += scale * d;
      if (P > 0) g.positions[at(static_cast<int64_t>(r) % T * D + j)] += d;
    }
  return g;
}

struct LinearGradients {
  Values x, weight, bias;
};
inline LinearGradients linear_backward(const Values& x, const Values& w, const Values& dy, LinearShape s) {
  LinearGradients g{Values(x.size(), 0.0), Values(w.size(), 0.0), Values(at(s.N), 0.0)};
  for (int64_t m = 0; m < s.M; ++m)
    for (int64_t n = 0; n < s.N; ++n) {
      const double d = dy[at(m * s.N + n)];
      g.bias[at(n)] += d;
      for (int64_t k = 0; k < s.K; ++k) {
        g.x[at(m * s.K + k)] += d * w[s.weight(k, n)];
        g.weight[s.weight(k, n)] += d * x[at(m * s.K + k)];
      }
    }
  return g;
}

struct AttentionGradients {
  Values q, k, v;
};
/// With p = softmax(scores) and dp_s = keep_s <dout, v_s>: dscore_s = p_s (dp_s - sum_u p_u dp_u).
inline AttentionGradients attention_backward(const Values& q, const Values& k, const Values& v,
                                             const Values& probabilities, const Values& dy,
                                             const AttentionShape& a) {
  AttentionGradients g{Values(q.size(), 0.0), Values(k.size(), 0.0), Values(v.size(), 0.0)};
  Values dp(at(a.Tk));
  for (int64_t b = 0; b < a.B; ++b)
    for (int64_t h = 0; h < a.H; ++h)
      for (int64_t t = 0; t < a.Tq; ++t) {
        double mean = 0;
        for (int64_t s = 0; s < a.Tk; ++s) {
          if (!a.visible(b, t, s)) continue;
          const double p = probabilities[a.p(b, h, t, s)], kept = a.kept(a.p(b, h, t, s));
          double dot = 0;
          for (int64_t j = 0; j < a.width(); ++j) {
            dot += dy[a.q(b, t, h, j)] * v[a.k(b, s, h, j)];
            g.v[a.k(b, s, h, j)] += p * kept * dy[a.q(b, t, h, j)];
          }
          dp[at(s)] = kept * dot;
          mean += p * dp[at(s)];
        }
        for (int64_t s = 0; s < a.Tk; ++s) {
          if (!a.visible(b, t, s)) continue;
          const double d = probabilities[a.p(b, h, t, s)] * (dp[at(s)] - mean) * a.scale();
          for (int64_t j = 0; j < a.width(); ++j) {
            g.q[a.q(b, t, h, j)] += d * k[a.k(b, s, h, j)];
            g.k[a.k(b, s, h, j)] += d * q[a.q(b, t, h, j)];
          }
        }
      }
  return g;
}

struct RelativeGradients {
  Values content, k, v, position, distances;
};
/// As attention's, with every score's gradient handed on to both of its products.
inline RelativeGradients relative_attention_backward(const Values& content, const Values& k, const Values& v,
                                                     const Values& position, const Values& distances,
                                                     const Values& probabilities, const Values& dy,
                                                     const RelativeShape& a) {
  RelativeGradients g{Values(content.size(), 0.0), Values(k.size(), 0.0), Values(v.size(), 0.0),
                      Values(position.size(), 0.0), Values(distances.size(), 0.0)};
  Values dp(at(a.Tk));
  for (int64_t b = 0; b < a.B; ++b)
    for (int64_t h = 0; h < a.H; ++h)
      for (int64_t t = 0; t < a.Tq; ++t) {
        double mean = 0;
        for (int64_t s = 0; s < a.Tk; ++s) {
          if (!a.visible(b, t, s)) continue;
          const double p = probabilities[a.p(b, h, t, s)], kept = a.kept(a.p(b, h, t, s));
          double dot = 0;
          for (int64_t j = 0; j < a.width(); ++j) {
            dot += dy[a.q(b, t, h, j)] * v[a.k(b, s, h, j)];
            g.v[a.k(b, s, h, j)] += p * kept * dy[a.q(b, t, h, j)];
          }
          dp[at(s)] = kept * dot;
          mean += p * dp[at(s)];
        }
        for (int64_t s = 0; s < a.Tk; ++s) {
          if (!a.visible(b, t, s)) continue;
          const double d = probabilities[a.p(b, h, t, s)] * (dp[at(s)] - mean) * a.scale();
          for (int64_t j = 0; j < a.width(); ++j) {
            g.content[a.q(b, t, h, j)] += d * k[a.k(b, s, h, j)];
            g.k[a.k(b, s, h, j)] += d * content[a.q(b, t, h, j)];
            g.position[a.q(b, t, h, j)] += d * distances[a.r(t, s, h, j)];
            g.distances[a.r(t, s, h, j)] += d * position[a.q(b, t, h, j)];
          }
        }
      }
  return g;
}

struct ConcatGradients {
  Values a, b;
};
/// each: numbers of a row of a and of b.
inline ConcatGradients concat_backward(const Values& dy, size_t each_a, size_t each_b) {
  ConcatGradients g;
  for (size_t i = 0; i < dy.size(); ++i) (i % (each_a + each_b) < each_a ? g.a : g.b).push_back(dy[i]);
  return g;
}

struct NormGradients {
  Values x, gain, bias;
};
/// With c = g dy (AdaNorm: (1 - y/10) dy) and y normalised: dx = (c - mean(c) - y mean(c y)) / sigma; Rms and
/// a detached mean have no mean(c) term, a detached sigma no mean(c y) term.
inline NormGradients layer_norm_backward(NormKind kind, const Values& x, const Values& gain, const Values& dy,
                                         int64_t D, double eps, const AdaNumbers& ada = {}) {
  const bool adaptive = kind == NormKind::AdaNorm;
  const NormResult<double> f = layer_norm<double>(adaptive ? NormKind::Simple : kind, x, {}, {}, D, eps);
  const auto weight = [&](size_t i, size_t j) {
    return adaptive ? ada.scale * (1.0 - ada.slope * f.out[i]) : gain.empty() ? 1.0 : gain[j];
  };
  NormGradients g{Values(x.size()), Values(at(D), 0.0), Values(at(D), 0.0)};
  for (size_t row = 0; row < f.mean.size(); ++row) {
    double mean_c = 0, mean_cy = 0;
    for (size_t j = 0; j < at(D); ++j) {
      const size_t i = row * at(D) + j;
      const double c = dy[i] * weight(i, j);
      mean_c += c / static_cast<double>(D);
      mean_cy += c * f.out[i] / static_cast<double>(D);
      g.gain[j] += dy[i] * f.out[i];
      g.bias[j] += dy[i];
    }
    const bool detached = kind == NormKind::Detach;
    if (kind == NormKind::Rms || kind == NormKind::DetachMean || detached) mean_c = 0;
    if (kind == NormKind::DetachVariance || detached) mean_cy = 0;
    for (size_t j = 0; j < at(D); ++j) {
      const size_t i = row * at(D) + j;
      const double c = dy[i] * weight(i, j);
      g.x[i] = (c - mean_c - f.out[i] * mean_cy) * f.inverse_sigma[row];
    }
  }
  return g;
}

struct DytGradients {
  Values x, gain, bias;
  double alpha = 0;
};
/// t = tanh(alpha x): dx = g dy alpha (1-t²), dalpha = sum g dy (1-t²) x.
inline DytGradients dyt_backward(const Values& x, const Values& gain, double alpha, const Values& dy,
                                 int64_t D) {
  DytGradients g{Values(x.size()), Values(at(D), 0.0), Values(at(D), 0.0)};
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t j = i % at(D);
    const double t = std::tanh(alpha * x[i]), slope = dy[i] * gain[j] * (1 - t * t);
    g.gain[j] += dy[i] * t;
    g.bias[j] += dy[i];
    g.alpha += slope * x[i];
    g.x[i] = slope * alpha;
  }
  return g;
}

inline Values relu_backward(const Values& x, const Values& dy) {
  Values g(dy);
  for (size_t i = 0; i < g.size(); ++i)
    if (x[i] <= 0) g[i] = 0;
  return g;
}

inline Values gelu_backward(const Values& x, const Values& dy) {
  Values g(dy.size());
  for (size_t i = 0; i < g.size(); ++i) {
    const double e = x[i], t = std::tanh(kGeluScale * (e + kGeluCubic * e * e * e));
    const double inner = kGeluScale * (1 + 3 * kGeluCubic * e * e);
    g[i] = dy[i] * (0.5 * (1 + t) + 0.5 * e * (1 - t * t) * inner);
  }
  return g;
}

struct AddGradients {
  Values x, f, skip, branch;
};
inline AddGradients add_backward(const Values& x, const Values& f, const Values& skip, const Values& branch,
                                 double skip_constant, double branch_constant, const Values& dy, int64_t D) {
  AddGradients g{Values(x.size()), Values(f.size()), Values(skip.size(), 0.0), Values(branch.size(), 0.0)};
  for (size_t i = 0; i < x.size(); ++i) {
    g.x[i] = dy[i] * scale_at(skip, skip_constant, i, D);
    g.f[i] = dy[i] * scale_at(branch, branch_constant, i, D);
    if (!skip.empty()) g.skip[skip.size() == 1 ? 0 : i % at(D)] += dy[i] * x[i];
    if (!branch.empty()) g.branch[branch.size() == 1 ? 0 : i % at(D)] += dy[i] * f[i];
  }
  return g;
}

struct AffineGradients {
  Values x, gain, shift;
};
inline AffineGradients affine_backward(const Values& x, const Values& gain, size_t shifts, double constant,
                                       const Values& dy, int64_t D) {
  AffineGradients g{Values(x.size()), Values(gain.size(), 0.0), Values(shifts, 0.0)};
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t j = i % at(D);
    g.x[i] = constant * dy[i];
    if (!gain.empty()) {
      const size_t part = j * gain.size() / at(D);
      g.x[i] *= gain[part];
      g.gain[part] += constant * dy[i] * x[i];
    }
    if (shifts > 0) g.shift[j * shifts / at(D)] += dy[i];
  }
  return g;
}

inline Values dropout_backward(const std::vector<uint8_t>& keep, double keep_scale, const Values& dy) {
  return dropout<double>(dy, keep, keep_scale);
}

inline Values mean_pool_backward(const std::vector<int32_t>& lengths, const Values& dy, int64_t B, int64_t T,
                                 int64_t D) {
  Values g(dy.size(), 0.0);
  for (int64_t b = 0; b < B; ++b)
    for (int64_t j = 0; j < D; ++j) {
      const int64_t n = counted(lengths, b, T);
      double sum = 0;
      for (int64_t t = 0; t < T; ++t) sum += dy[at((b * T + t) * D + j)];
      for (int64_t s = 0; s < n; ++s) g[at((b * T + s) * D + j)] = sum / static_cast<double>(n);
    }
  return g;
}

struct Conv2dGradients {
  Values x, weight, bias;
};
inline Conv2dGradients conv2d_backward(const Values& x, const Values& weight, const Values& dy,
                                       const ImageWindow& w) {
  const int64_t images = static_cast<int64_t>(x.size()) / w.numbers();
  const int64_t O = static_cast<int64_t>(weight.size()) / w.patch();
  Conv2dGradients g{Values(x.size(), 0.0), Values(weight.size(), 0.0), Values(at(O), 0.0)};
  for (int64_t b = 0; b < images; ++b)
    for (int64_t r = 0; r < w.windows(); ++r) {
      const Values patch = patch_of(x, w, b, r / w.columns(), r % w.columns());
      for (int64_t o = 0; o < O; ++o) {
        const double d = dy[at((b * w.windows() + r) * O + o)];
        g.bias[at(o)] += d;
        for (int64_t k = 0; k < w.patch(); ++k) {
          g.weight[at(k * O + o)] += d * patch[at(k)];
          const int64_t tap = k / w.channels,
                        pixel = pixel_under(w, r / w.columns(), r % w.columns(), tap / w.size, tap % w.size);
          if (pixel >= 0) g.x[at(b * w.numbers() + pixel + k % w.channels)] += d * weight[at(k * O + o)];
        }
      }
    }
  return g;
}

inline Values max_pool_backward(const Values& x, const Values& dy, const ImageWindow& w) {
  Values g(x.size(), 0.0);
  const std::vector<size_t> from = largest_under(x, w);
  for (size_t i = 0; i < from.size(); ++i) g[from[i]] += dy[i];
  return g;
}

/// dlogit_v = dloss w_r (p_v - (1-e) [v = target] - e/V).
inline Values softmax_xent_backward(const Values& logits, const std::vector<int32_t>& targets,
                                    const Values& weight, double smoothing, double dloss) {
  const size_t R = targets.size(), V = logits.size() / R;
  const Values lse = softmax_xent<double>(logits, targets, weight, smoothing).log_sum_exp;
  Values g(logits.size(), 0.0);
  for (size_t r = 0; r < R; ++r) {
    if (targets[r] < 0) continue;
    for (size_t v = 0; v < V; ++v) {
      const double hit = v == at(targets[r]) ? 1 - smoothing : 0.0;
      g[r * V + v] = dloss * weight[r] *
                     (std::exp(logits[r * V + v] - lse[r]) - hit - smoothing / static_cast<double>(V));
    }
  }
  return g;
}

}  // namespace normscope::reference

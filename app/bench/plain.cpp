#include "app/bench/plain.h"

#include <cmath>
#include <cstring>

#include "app/bench/plain_parameters.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "app/bench/plain.cpp"
#include "hwy/foreach_target.h"
// highway.h follows foreach_target.h, because what follows is compiled once for each target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::bench::HWY_NAMESPACE {
namespace {

using Vector = float __attribute__((vector_size(64), aligned(4), may_alias));
constexpr int kLanes = 16;

/// `multiply`: C (rows,N) = [C +] A (rows,depth) B (depth,N), four rows at a time. A(i,k) = a[i*row + k*col].
template <int N, bool kAdd>
void multiply(int rows, int depth, const float* a, int row, int col, const float* b, float* c) {
  constexpr int kColumns = N % 64 == 0 ? 64 : N % 32 == 0 ? 32 : 16, kVectors = kColumns / kLanes;
  for (int j = 0; j < N; j += kColumns) {
    for (int i = 0; i < rows; i += 4) {
      Vector sum[4][kVectors] = {};
      for (int k = 0; k < depth; ++k)
        for (int v = 0; v < kVectors; ++v) {
          const Vector y = *reinterpret_cast<const Vector*>(b + k * N + j + v * kLanes);
          for (int r = 0; r < 4; ++r) sum[r][v] += a[(i + r) * row + k * col] * y;
        }
      for (int r = 0; r < 4; ++r)
        for (int v = 0; v < kVectors; ++v) {
          Vector& to = *reinterpret_cast<Vector*>(c + (i + r) * N + j + v * kLanes);
          to = kAdd ? to + sum[r][v] : sum[r][v];
        }
    }
  }
}

/// `exp_of` is e^x for x <= 0, to about 1e-7: 2^n by its bits times a polynomial, without a branch or a call.
inline float exp_of(float x) {
  const float scaled = x * 1.44269504f, clamped = scaled < -126.0f ? -126.0f : scaled;
  const int whole = static_cast<int>(clamped - 0.5f);
  const float y = (clamped - static_cast<float>(whole)) * 0.693147181f;
  const float series =
      1 + y * (1 + y * (0.5f + y * (1.0f / 6 + y * (1.0f / 24 + y * (1.0f / 120 + y * (1.0f / 720))))));
  return series * __builtin_bit_cast(float, (whole + 127) << 23);
}

/// `Linear` has K inputs and N outputs, and transposes its weight once a step.
template <int K, int N>
struct Linear {
  Parameter w, b;  // b may be empty
  float transposed[N * K];

  Linear(Cursor& from, bool bias) : w(from.take()), b(bias ? from.take() : Parameter{}) {}
  void transpose() {
    for (int k = 0; k < K; ++k)
      for (int n = 0; n < N; ++n) transposed[n * K + k] = w.value[k * N + n];
  }
  void forward(int rows, const float* x, float* y) const {
    multiply<N, false>(rows, K, x, K, 1, w.value, y);
    if (b.size == 0) return;
    for (int i = 0; i < rows; ++i)
      for (int n = 0; n < N; ++n) y[i * N + n] += b.value[n];
  }
  template <bool kAdd>
  void backward(int rows, const float* x, const float* dy, float* dx) {
    multiply<K, kAdd>(rows, N, dy, N, 1, transposed, dx);
    multiply<N, true>(K, rows, x, 1, K, dy, w.gradient);
    if (b.size == 0) return;
    for (int i = 0; i < rows; ++i)
      for (int n = 0; n < N; ++n) b.gradient[n] += dy[i * N + n];
  }
};

template <int D>
struct Norm {
  Parameter gain, bias;

  explicit Norm(Cursor& from) : gain(from.take()), bias(from.take()) {}
  void forward(int rows, float eps, const float* x, float* y, float* normalised, float* inverse) const {
    for (int i = 0; i < rows; ++i) {
      float mean = 0, square = 0, centred[D];
#pragma omp simd reduction(+ : mean)
      for (int j = 0; j < D; ++j) mean += x[i * D + j];
      for (int j = 0; j < D; ++j) centred[j] = x[i * D + j] - mean / D;
#pragma omp simd reduction(+ : square)
      for (int j = 0; j < D; ++j) square += centred[j] * centred[j];
      inverse[i] = 1.0f / __builtin_sqrtf(square / D + eps);
      for (int j = 0; j < D; ++j) {
        normalised[i * D + j] = centred[j] * inverse[i];
        y[i * D + j] = gain.value[j] * normalised[i * D + j] + bias.value[j];
      }
    }
  }
  /// `backward` adds to dx.
  void backward(int rows, const float* normalised, const float* inverse, const float* dy, float* dx) {
    for (int i = 0; i < rows; ++i) {
      const float *y = normalised + i * D, *g = dy + i * D;
      float c[D], mean = 0, along = 0;
      for (int j = 0; j < D; ++j) {
        gain.gradient[j] += g[j] * y[j];
        bias.gradient[j] += g[j];
        c[j] = g[j] * gain.value[j];
      }
#pragma omp simd reduction(+ : mean, along)
      for (int j = 0; j < D; ++j) {
        mean += c[j];
        along += c[j] * y[j];
      }
      for (int j = 0; j < D; ++j) dx[i * D + j] += inverse[i] * (c[j] - mean / D - y[j] * along / D);
    }
  }
};

/// `Heads` are four causal heads of width E over T positions; q, k, v and the result are (T, 4 E).
template <int T, int E>
struct Heads {
  static constexpr int kHeads = 4, D = kHeads * E;
  static constexpr float scale() { return 1.0f / __builtin_sqrtf(E); }
  float p[kHeads][T][T];

  void forward(const float* q, const float* k, const float* v, float* out) {
    float transposed[E][T];
    std::memset(out, 0, sizeof(float) * T * D);
    for (int h = 0; h < kHeads; ++h) {
      for (int u = 0; u < T; ++u)
        for (int e = 0; e < E; ++e) transposed[e][u] = k[u * D + h * E + e];
      for (int t = 0; t < T; ++t) {
        float* row = p[h][t];
        float score[T] = {}, most = -INFINITY, sum = 0;
        for (int e = 0; e < E; ++e)
          for (int u = 0; u < T; ++u) score[u] += q[t * D + h * E + e] * transposed[e][u];
#pragma omp simd reduction(max : most)
        for (int u = 0; u < T; ++u) most = u <= t && score[u] > most ? score[u] : most;
#pragma omp simd reduction(+ : sum)
        for (int u = 0; u < T; ++u) {
          row[u] = u <= t ? exp_of(scale() * (score[u] - most)) : 0.0f;
          sum += row[u];
        }
        for (int u = 0; u < T; ++u) row[u] /= sum;
        for (int u = 0; u <= t; ++u) {
          for (int e = 0; e < E; ++e) out[t * D + h * E + e] += row[u] * v[u * D + h * E + e];
        }
      }
    }
  }
  /// `backward` assigns dq, dk and dv.
  void backward(const float* q, const float* k, const float* v, const float* dout, float* dq, float* dk,
                float* dv) const {
    for (float* d : {dq, dk, dv}) std::memset(d, 0, sizeof(float) * T * D);
    float transposed[E][T];
    for (int h = 0; h < kHeads; ++h) {
      for (int u = 0; u < T; ++u)
        for (int e = 0; e < E; ++e) transposed[e][u] = v[u * D + h * E + e];
      for (int t = 0; t < T; ++t) {
        const float* row = p[h][t];
        float dp[T] = {}, dot = 0;
        for (int e = 0; e < E; ++e)
          for (int u = 0; u < T; ++u) dp[u] += dout[t * D + h * E + e] * transposed[e][u];
#pragma omp simd reduction(+ : dot)
        for (int u = 0; u < T; ++u) dot += dp[u] * row[u];
        for (int u = 0; u <= t; ++u) {
          const float ds = row[u] * (dp[u] - dot) * scale();
          for (int e = 0; e < E; ++e) {
            const int from = t * D + h * E + e, to = u * D + h * E + e;
            dq[from] += ds * k[to];
            dk[to] += ds * q[from];
            dv[to] += row[u] * dout[from];
          }
        }
      }
    }
  }
};

template <int D, int T, int V>
class Decoder final : public PlainDecoder {
  static constexpr int F = 4 * D, kVocabulary = (V + kLanes - 1) / kLanes * kLanes;

 public:
  Decoder(int layers, int batch, float eps, Cursor from)
      : eps_(eps),
        batch_(batch),
        count_(layers),
        all_(from.next),
        tokens_(from.take()),
        positions_(from.take()),
        layers_(static_cast<Layer*>(::operator new(sizeof(Layer) * static_cast<size_t>(layers)))) {
    for (int l = 0; l < count_; ++l) new (layers_ + l) Layer(from);
    new (&end_) End(from);
    parameters_ = from.next - all_;
  }
  ~Decoder() override { ::operator delete(layers_); }

  double step(const int32_t* tokens, const int32_t* targets, const StepInputs& inputs) override {
    end_.out.transpose();
    for (int l = 0; l < count_; ++l) layers_[l].transpose();
    double loss = 0;
    for (int b = 0; b < batch_; ++b) {
      forward(tokens + b * T);
      loss += cross_entropy(targets + b * T);
      backward(tokens + b * T);
    }
    squares_ = 0;
    for (int64_t p = 0; p < parameters_; ++p) update(all_[p], inputs);
    return loss / (batch_ * T);
  }
  double gradient_norm() const override { return std::sqrt(squares_); }

 private:
  struct Layer {
    Norm<D> n1, n2;
    Linear<D, D> q, k, v, o;
    Linear<D, F> w1;
    Linear<F, D> w2;
    explicit Layer(Cursor& from)
        : n1(from),
          n2(from),
          q(from, true),
          k(from, true),
          v(from, true),
          o(from, true),
          w1(from, true),
          w2(from, true) {}
    void transpose() {
      for (Linear<D, D>* square : {&q, &k, &v, &o}) square->transpose();
      w1.transpose();
      w2.transpose();
    }
    // These arrays keep what backward needs of the sequence.
    float x1[T * D], y1[T * D], inverse1[T], x2[T * D], y2[T * D], inverse2[T];
    float queries[T * D], keys[T * D], values[T * D], mixed[T * D], hidden[T * F];
    Heads<T, D / 4> heads;
  };
  struct End {
    Norm<D> final;
    Linear<D, kVocabulary> out;
    explicit End(Cursor& from) : final(from), out(from, false) {}
  };

  void forward(const int32_t* tokens) {
    for (int t = 0; t < T; ++t)
      for (int j = 0; j < D; ++j)
        x_[t * D + j] = __builtin_sqrtf(D) * tokens_.value[tokens[t] * D + j] + positions_.value[t * D + j];
    for (int at = 0; at < count_; ++at) {
      Layer& l = layers_[at];
      l.n1.forward(T, eps_, x_, l.x1, l.y1, l.inverse1);
      l.q.forward(T, l.x1, l.queries);
      l.k.forward(T, l.x1, l.keys);
      l.v.forward(T, l.x1, l.values);
      l.heads.forward(l.queries, l.keys, l.values, l.mixed);
      l.o.forward(T, l.mixed, branch_);
      for (int i = 0; i < T * D; ++i) x_[i] += branch_[i];
      l.n2.forward(T, eps_, x_, l.x2, l.y2, l.inverse2);
      l.w1.forward(T, l.x2, l.hidden);
      for (float& h : l.hidden) h = h > 0 ? h : 0;
      l.w2.forward(T, l.hidden, branch_);
      for (int i = 0; i < T * D; ++i) x_[i] += branch_[i];
    }
    end_.final.forward(T, eps_, x_, last_, last_y_, last_inverse_);
    end_.out.forward(T, last_, logits_);
  }

  /// `cross_entropy` returns the sum of the loss over the sequence and turns the logits into their gradient.
  double cross_entropy(const int32_t* targets) {
    double loss = 0;
    for (int t = 0; t < T; ++t) {
      float *z = logits_ + t * kVocabulary, most = z[0], sum = 0;
#pragma omp simd reduction(max : most)
      for (int j = 0; j < V; ++j) most = z[j] > most ? z[j] : most;
      const float target = z[targets[t]];
#pragma omp simd reduction(+ : sum)
      for (int j = 0; j < V; ++j) {
        z[j] = exp_of(z[j] - most);
        sum += z[j];
      }
      loss += static_cast<double>(__builtin_logf(sum) + most - target);
      const float each = 1.0f / static_cast<float>(batch_ * T);
      for (int j = 0; j < V; ++j) z[j] *= each / sum;
      for (int j = V; j < kVocabulary; ++j) z[j] = 0;
      z[targets[t]] -= each;
    }
    return loss;
  }

  void backward(const int32_t* tokens) {
    std::memset(dx_, 0, sizeof dx_);
    end_.out.template backward<false>(T, last_, logits_, d_);
    end_.final.backward(T, last_y_, last_inverse_, d_, dx_);
    for (int at = count_; at-- > 0;) {
      Layer& l = layers_[at];
      l.w2.template backward<false>(T, l.hidden, dx_, dhidden_);
      for (int j = 0; j < T * F; ++j) dhidden_[j] = l.hidden[j] > 0 ? dhidden_[j] : 0;
      l.w1.template backward<false>(T, l.x2, dhidden_, d_);
      l.n2.backward(T, l.y2, l.inverse2, d_, dx_);
      l.o.template backward<false>(T, l.mixed, dx_, dmixed_);
      l.heads.backward(l.queries, l.keys, l.values, dmixed_, dq_, dk_, dv_);
      l.q.template backward<false>(T, l.x1, dq_, d_);
      l.k.template backward<true>(T, l.x1, dk_, d_);
      l.v.template backward<true>(T, l.x1, dv_, d_);
      l.n1.backward(T, l.y1, l.inverse1, d_, dx_);
    }
    for (int t = 0; t < T; ++t)
      for (int j = 0; j < D; ++j) {
        tokens_.gradient[tokens[t] * D + j] += __builtin_sqrtf(D) * dx_[t * D + j];
        positions_.gradient[t * D + j] += dx_[t * D + j];
      }
  }

  /// `update` is Adam. It adds the gradient's sum of squares to the total and zeroes the gradient for the next step.
  void update(const Parameter& p, const StepInputs& s) {
    float squares = 0;
    float* __restrict value = p.value, * __restrict g = p.gradient, * __restrict m = p.m, * __restrict v = p.v;
    const float rate = s.lr / s.bias_correction1, root = 1.0f / __builtin_sqrtf(s.bias_correction2);
#pragma omp simd reduction(+ : squares)
    for (size_t i = 0; i < p.size; ++i) {
      squares += g[i] * g[i];
      m[i] = s.beta1 * m[i] + (1 - s.beta1) * g[i];
      v[i] = s.beta2 * v[i] + (1 - s.beta2) * g[i] * g[i];
      value[i] -= rate * m[i] / (__builtin_sqrtf(v[i]) * root + s.eps);
      g[i] = 0;
    }
    squares_ += static_cast<double>(squares);
  }

  const float eps_;
  const int batch_, count_;
  const Parameter* all_;
  int64_t parameters_ = 0;
  Parameter tokens_, positions_;
  Layer* layers_;
  union {
    End end_;
  };
  double squares_ = 0;
  // Arrays of one sequence are members, on the heap with the object: at D 256 they are too large for a thread's stack.
  float x_[T * D], branch_[T * D], last_[T * D], last_y_[T * D], last_inverse_[T], logits_[T * kVocabulary];
  float d_[T * D], dx_[T * D], dhidden_[T * F], dmixed_[T * D], dq_[T * D], dk_[T * D], dv_[T * D];
};

PlainDecoder* decoder_of(const Model& m, float eps, const Parameter* parameters) {
  const auto is = [&](int d, int t, int v) { return m.width == d && m.sequence == t && m.vocabulary == v; };
  const Cursor from{parameters};
  if (is(16, 16, 27)) return new Decoder<16, 16, 27>(m.layers, m.batch, eps, from);
  if (is(32, 16, 27)) return new Decoder<32, 16, 27>(m.layers, m.batch, eps, from);
  if (is(64, 16, 27)) return new Decoder<64, 16, 27>(m.layers, m.batch, eps, from);
  if (is(64, 64, 96)) return new Decoder<64, 64, 96>(m.layers, m.batch, eps, from);
  if (is(256, 128, 256)) return new Decoder<256, 128, 256>(m.layers, m.batch, eps, from);
  return nullptr;
}

}  // namespace
}  // namespace normscope::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::bench {
HWY_EXPORT(decoder_of);
namespace {

/// `Owned` is the decoder together with its memory.
class Owned final : public PlainDecoder {
 public:
  Owned(const Model& m, const Stepper& stepper)
      : parameters_(m, stepper.store),
        decoder_(HWY_DYNAMIC_DISPATCH(decoder_of)(m, stepper.config.eps, parameters_.data())) {}
  explicit operator bool() const { return decoder_ != nullptr; }
  double step(const int32_t* tokens, const int32_t* targets, const StepInputs& inputs) override {
    return decoder_->step(tokens, targets, inputs);
  }
  double gradient_norm() const override { return decoder_->gradient_norm(); }

 private:
  PlainParameters parameters_;
  std::unique_ptr<PlainDecoder> decoder_;
};

}  // namespace

std::unique_ptr<PlainDecoder> make_plain_decoder(const Model& m, const Stepper& stepper) {
  if (m.feed_forward != 4 * m.width || m.heads != 4 || m.tied || m.placement != Placement::Pre ||
      m.architecture != Architecture::Decoder)
    return nullptr;
  auto decoder = std::make_unique<Owned>(m, stepper);
  return *decoder ? std::move(decoder) : nullptr;
}

}  // namespace normscope::bench
#endif

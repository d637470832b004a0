// A transformer in one file, with the standard library alone: a decoder that predicts the next letter, its norms before
// a branch, after it or on the stream, one training step forward and backward by hand, Adam. It prints the loss and how
// much gradient reaches each layer: what normscope is about. The engine computes the same; a test compares the two.
//
//   g++ -O3 -march=native -std=c++20 engine/one_file.cpp -o one_file
//   ./one_file post              # Post-LN: layer 1 loses its gradient within twenty steps
//   ./one_file post 200          # the same with a warm-up of 200 steps: it learns
//   ./one_file pre               # Pre-LN needs none
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace one_file {

using Numbers = std::vector<float>;  // a matrix, row after row; most have a row for each letter of the batch

struct Parameter {
  std::string name;
  Numbers value, gradient, m, v;  // m, v: Adam's moments
};

struct Parameters {
  std::deque<Parameter> all;  // never moves what it holds
  Parameter& add(const std::string& name, size_t size, float start = 0) {
    return all.emplace_back(name, Numbers(size, start), Numbers(size), Numbers(size), Numbers(size));
  }
};

float dot(const float* a, const float* b, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}
void add(float* to, float times, const float* x, int n) {
  for (int i = 0; i < n; ++i) to[i] += times * x[i];
}
void add(Numbers& to, const Numbers& x, float times = 1) { add(to.data(), times, x.data(), to.size()); }
// c += a b for a (m,k), b (k,n). By its strides `a` may lie transposed; the innermost loop runs along rows.
void add_product(int m, int k, int n, const float* a, int row, int column, const float* b, float* c) {
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l) add(&c[i * n], a[i * row + l * column], &b[l * n], n);
}

Numbers transposed(const float* a, int rows, int columns) {
  Numbers t(static_cast<size_t>(rows) * columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) t[j * rows + i] = a[i * columns + j];
  return t;
}

// Makes probabilities of n scores.
void softmax(float* p, int n) {
  float sum = 0;
  const float largest = *std::max_element(p, p + n);
  for (int i = 0; i < n; ++i) sum += p[i] = std::exp(p[i] - largest);
  for (int i = 0; i < n; ++i) p[i] /= sum;
}

// y = x W + b.  Backward: dW = x^T dy, db = sum of the rows of dy, dx = dy W^T.
struct Linear {
  Parameter *w, *b;
  int in, out;
  Numbers x;
  Linear(Parameters& p, const std::string& of, const std::string& which, int in, int out)
      : w(&p.add(of + ".w" + which, in * out)), b(&p.add(of + ".b" + which, out)), in(in), out(out) {}
  Numbers forward(const Numbers& input) {
    x = input;
    const int rows = static_cast<int>(x.size()) / in;
    Numbers y(static_cast<size_t>(rows) * out);
    for (int r = 0; r < rows; ++r) add(&y[r * out], 1, b->value.data(), out);
    add_product(rows, in, out, x.data(), in, 1, w->value.data(), y.data());
    return y;
  }
  Numbers backward(const Numbers& dy) {
    const int rows = static_cast<int>(x.size()) / in;
    add_product(in, rows, out, x.data(), 1, in, dy.data(), w->gradient.data());
    for (int r = 0; r < rows; ++r) add(b->gradient.data(), 1, &dy[r * out], out);
    Numbers dx(x.size());
    add_product(rows, out, in, dy.data(), out, 1, transposed(w->value.data(), in, out).data(), dx.data());
    return dx;
  }
};

// LayerNorm: y = (x - mean) / sigma, out = gain y + bias. Backward, with c = gain dout (Xu et al. 2019, Theorem 1):
//   dx = (c - mean(c) - y mean(c y)) / sigma
// The last division is the one that the course is about: where the states are large, little gradient comes back.
struct Norm {
  Parameter* gain = nullptr;  // nullptr: there is no norm in this place, and x passes as it is
  Parameter* bias = nullptr;
  Numbers y, sigma;
  void place(Parameters& p, const std::string& name, int width) {
    gain = &p.add(name + ".gain", width, 1);
    bias = &p.add(name + ".bias", width);
  }
  Numbers forward(const Numbers& x) {
    if (!gain) return x;
    const size_t width = gain->value.size(), rows = x.size() / width;
    Numbers out(x.size());
    y.resize(x.size());
    sigma.resize(rows);
    for (size_t r = 0; r < rows; ++r) {
      const float* row = &x[r * width];
      float mean = 0, variance = 0;
      for (size_t j = 0; j < width; ++j) mean += row[j] / width;
      for (size_t j = 0; j < width; ++j) variance += (row[j] - mean) * (row[j] - mean) / width;
      sigma[r] = std::sqrt(variance + 1e-5f);
      for (size_t j = 0; j < width; ++j) {
        y[r * width + j] = (row[j] - mean) / sigma[r];
        out[r * width + j] = gain->value[j] * y[r * width + j] + bias->value[j];
      }
    }
    return out;
  }
  Numbers backward(const Numbers& dout) {
    if (!gain) return dout;
    const size_t width = gain->value.size();
    Numbers dx(dout.size());
    for (size_t r = 0; r < sigma.size(); ++r) {
      const float *g = &dout[r * width], *of = &y[r * width];
      float mean_c = 0, mean_cy = 0;
      for (size_t j = 0; j < width; ++j) {
        gain->gradient[j] += g[j] * of[j];
        bias->gradient[j] += g[j];
        mean_c += gain->value[j] * g[j] / width;
        mean_cy += gain->value[j] * g[j] * of[j] / width;
      }
      for (size_t j = 0; j < width; ++j)
        dx[r * width + j] = (gain->value[j] * g[j] - mean_c - of[j] * mean_cy) / sigma[r];
    }
    return dx;
  }
};

struct Sizes {
  int layers = 6, width = 64, heads = 4, feed_forward = 256, sequence = 64, batch = 16, symbols = 0;
};

// Causal attention of several heads: each letter reads itself and those before it.
//   p = softmax(q k^T / sqrt(d_h)) over the letters read, in each head,  out = (p v) W_O + b_O
// Backward: dv = p^T dout, dp = dout v^T, ds = p (dp - sum(p dp)), dq = ds k / sqrt(d_h), dk = ds^T q / sqrt(d_h)
struct Attention {
  Sizes s;
  Linear q, k, v, o;
  int part = s.width / s.heads;  // of a head
  float scale = 1 / std::sqrt(static_cast<float>(part));
  Numbers queries, keys, values, probabilities;  // the last: (batch, heads, sequence, sequence)
  Attention(Parameters& p, const std::string& name, const Sizes& s)
      : s(s),
        q(p, name, "q", s.width, s.width),
        k(p, name, "k", s.width, s.width),
        v(p, name, "v", s.width, s.width),
        o(p, name, "o", s.width, s.width),
        probabilities(static_cast<size_t>(s.batch) * s.heads * s.sequence * s.sequence) {}

  // Calls body(first, at, t, p) for letter t of each row and head: where the head's part of the row's first letter
  // stands, where letter t stands, and its probabilities.
  template <class Body>
  void each(const Body& body) {
    for (int b = 0; b < s.batch; ++b)
      for (int h = 0; h < s.heads; ++h)
        for (int t = 0; t < s.sequence; ++t) {
          const size_t first = b * s.sequence * s.width + h * part, n = (b * s.heads + h) * s.sequence + t;
          body(first, first + t * s.width, t, &probabilities[n * s.sequence]);
        }
  }
  Numbers forward(const Numbers& x) {
    queries = q.forward(x), keys = k.forward(x), values = v.forward(x);
    Numbers mixed(x.size());
    each([&](size_t first, size_t at, int t, float* p) {
      for (int u = 0; u <= t; ++u) p[u] = scale * dot(&queries[at], &keys[first + u * s.width], part);
      softmax(p, t + 1);
      for (int u = 0; u <= t; ++u) add(&mixed[at], p[u], &values[first + u * s.width], part);
    });
    return o.forward(mixed);
  }
  Numbers backward(const Numbers& dout) {
    const Numbers dmixed = o.backward(dout);
    Numbers dq(dmixed.size()), dk(dmixed.size()), dv(dmixed.size()), dp(s.sequence);
    each([&](size_t first, size_t at, int t, const float* p) {
      float sum = 0;
      for (int u = 0; u <= t; ++u) {
        dp[u] = dot(&dmixed[at], &values[first + u * s.width], part);
        add(&dv[first + u * s.width], p[u], &dmixed[at], part);
        sum += p[u] * dp[u];
      }
      for (int u = 0; u <= t; ++u) {
        const float ds = p[u] * (dp[u] - sum) * scale;
        add(&dq[at], ds, &keys[first + u * s.width], part);
        add(&dk[first + u * s.width], ds, &queries[at], part);
      }
    });
    Numbers dx = q.backward(dq);
    add(dx, k.backward(dk));
    add(dx, v.backward(dv));
    return dx;
  }
};

// W_2 max(0, W_1 x + b_1) + b_2
struct FeedForward {
  Linear first, second;
  Numbers hidden;
  FeedForward(Parameters& p, const std::string& name, const Sizes& s)
      : first(p, name, "1", s.width, s.feed_forward), second(p, name, "2", s.feed_forward, s.width) {}
  Numbers forward(const Numbers& x) {
    hidden = first.forward(x);
    for (float& h : hidden) h = std::max(h, 0.0f);
    return second.forward(hidden);
  }
  Numbers backward(const Numbers& dout) {
    Numbers dh = second.backward(dout);
    for (size_t i = 0; i < dh.size(); ++i)
      if (hidden[i] <= 0) dh[i] = 0;
    return first.backward(dh);
  }
};

// The norms around one branch f, each there or not:  y = N_stream( skip x + N_after( f( N_before(x) ) ) )
struct Slots {
  bool before = false, after = false, stream = false;
  float skip = 1;
};

// A placement fills the slots of every sub-layer; any of them may differ from the others.
struct Placement {
  std::vector<Slots> sublayers;           // attention and feed-forward in turn, from the bottom
  bool embedding = false, final = false;  // a norm on the embedding, and one after the last layer
};

template <class Branch>
struct Sublayer {
  float skip;
  Branch f;
  Norm before, after, stream;
  Sublayer(Parameters& p, const std::string& name, const Sizes& s, const Slots& slots)
      : skip(slots.skip), f(p, name, s) {
    if (slots.before) before.place(p, name + ".before", s.width);
    if (slots.after) after.place(p, name + ".after", s.width);
    if (slots.stream) stream.place(p, name + ".stream", s.width);
  }
  Numbers forward(const Numbers& x) {
    Numbers sum = after.forward(f.forward(before.forward(x)));
    add(sum, x, skip);
    return stream.forward(sum);
  }
  Numbers backward(const Numbers& dout) {
    const Numbers dsum = stream.backward(dout);
    Numbers dx = before.backward(f.backward(after.backward(dsum)));
    add(dx, dsum, skip);
    return dx;
  }
};

// x_0 = sqrt(D) E[letter] + P[place], layers, logits = x E^T: the table of letters is read twice.
struct Model {
  Sizes s;
  Parameters p;
  Parameter *letters, *places;
  Norm embedding, final;
  struct Layer {
    Sublayer<Attention> attention;
    Sublayer<FeedForward> feed_forward;
  };
  std::vector<Layer> layers;

  Model(const Sizes& s, const Placement& placement) : s(s) {
    letters = &p.add("emb.tokens", s.symbols * s.width);
    places = &p.add("emb.positions", s.sequence * s.width);
    if (placement.embedding) embedding.place(p, "emb.norm", s.width);
    for (int l = 0; l < s.layers; ++l) {
      const std::string name = (l < 9 ? "L0" : "L") + std::to_string(l + 1);
      layers.push_back({{p, name + ".attn", s, placement.sublayers[2 * l]},
                        {p, name + ".ffn", s, placement.sublayers[2 * l + 1]}});
    }
    if (placement.final) final.place(p, "final", s.width);
  }

  // Draws the first weights: matrices by Xavier and Glorot's rule. Gains have been set to 1 and biases to 0.
  void start(std::mt19937& random) {
    const double width = s.width, wide = s.feed_forward;
    for (Parameter& one : p.all) {
      double deviation = one.name == "emb.tokens" ? 1 / std::sqrt(width) : 0;
      if (one.name == "emb.positions") deviation = 1;
      if (one.name.find(".attn.w") != one.name.npos) deviation = std::sqrt(1 / width);
      if (one.name.find(".ffn.w") != one.name.npos) deviation = std::sqrt(2 / (width + wide));
      std::normal_distribution<float> draw(0, static_cast<float>(deviation));
      if (deviation > 0) std::generate(one.value.begin(), one.value.end(), [&] { return draw(random); });
    }
  }

  // Fills all gradients and returns the mean loss in nats; a target below 0 is not asked for.
  double loss(const std::vector<int>& tokens, const std::vector<int>& targets) {
    for (Parameter& one : p.all) std::fill(one.gradient.begin(), one.gradient.end(), 0.0f);
    const int D = s.width, V = s.symbols, rows = static_cast<int>(tokens.size());
    const float root = std::sqrt(static_cast<float>(D));
    Numbers x(static_cast<size_t>(rows) * D), logits(static_cast<size_t>(rows) * V), dx(x.size());
    for (int r = 0; r < rows; ++r) {
      add(&x[r * D], root, &letters->value[tokens[r] * D], D);
      add(&x[r * D], 1, &places->value[r % s.sequence * D], D);
    }
    x = embedding.forward(x);
    for (Layer& layer : layers) x = layer.feed_forward.forward(layer.attention.forward(x));
    x = final.forward(x);
    add_product(rows, D, V, x.data(), D, 1, transposed(letters->value.data(), V, D).data(), logits.data());
    const double mean = softmax_cross_entropy(logits, targets);  // logits hold their own gradient now

    add_product(V, rows, D, logits.data(), 1, V, x.data(), letters->gradient.data());
    add_product(rows, V, D, logits.data(), V, 1, letters->value.data(), dx.data());
    dx = final.backward(dx);
    for (size_t l = layers.size(); l-- > 0;)
      dx = layers[l].attention.backward(layers[l].feed_forward.backward(dx));
    dx = embedding.backward(dx);
    for (int r = 0; r < rows; ++r) {
      add(&letters->gradient[tokens[r] * D], root, &dx[r * D], D);
      add(&places->gradient[r % s.sequence * D], 1, &dx[r * D], D);
    }
    return mean;
  }

  // loss = mean of -ln softmax(logits)[target]; its gradient, (softmax - 1 at the target) / count, replaces the logits.
  double softmax_cross_entropy(Numbers& logits, const std::vector<int>& targets) const {
    double sum = 0;
    int count = 0;
    for (const int target : targets) count += target >= 0;
    for (size_t r = 0; r < targets.size(); ++r) {
      float* row = &logits[r * s.symbols];
      softmax(row, s.symbols);
      if (targets[r] >= 0) sum -= std::log(row[targets[r]]--);
      for (int j = 0; j < s.symbols; ++j) row[j] *= targets[r] >= 0 ? 1.0f / count : 0;
    }
    return sum / count;
  }
  // Adam (Kingma and Ba 2015) with the settings of Vaswani et al. 2017. `step` counts from 1.
  void update(int step, float rate) {
    const float b1 = 0.9f, b2 = 0.98f, eps = 1e-9f;
    const float c1 = 1 - std::pow(b1, static_cast<float>(step)),
                c2 = 1 - std::pow(b2, static_cast<float>(step));
    for (Parameter& one : p.all)
      for (size_t i = 0; i < one.value.size(); ++i) {
        one.m[i] = b1 * one.m[i] + (1 - b1) * one.gradient[i];
        one.v[i] = b2 * one.v[i] + (1 - b2) * one.gradient[i] * one.gradient[i];
        one.value[i] -= rate / c1 * one.m[i] / (std::sqrt(one.v[i] / c2) + eps);
      }
  }
  // The root of the sum of the squares of dL/dW_2 in a layer, from 1: how much gradient reaches it.
  double gradient_size(int layer) const {
    double squares = 0;
    for (const double g : layers[layer - 1].feed_forward.f.second.w->gradient) squares += g * g;
    return std::sqrt(squares);
  }
};

}  // namespace one_file

#ifndef ONE_FILE_WITHOUT_MAIN
int main(int count, char** words) {
  using namespace one_file;
  const std::map<std::string, Slots> slots = {{"none", {}},
                                              {"post", {.stream = true}},
                                              {"pre", {.before = true}},
                                              {"sandwich", {.before = true, .after = true}}};
  const auto placed = slots.find(count > 1 ? words[1] : "post");
  if (placed == slots.end()) {
    std::fprintf(stderr, "expected: one_file [none|post|pre|sandwich] [WARMUP] [STEPS]\n");
    return 2;
  }
  const int warmup = count > 2 ? std::atoi(words[2]) : 0, steps = count > 3 ? std::atoi(words[3]) : 300;
  std::mt19937 random(1);
  const char* const spoken[] = {"the ", "river ", "stone ", "carries ", "under ", "light ", "morning "};
  std::string text;
  while (text.size() < 100'000) text += spoken[random() % std::size(spoken)];
  const auto index = [](char c) { return c == ' ' ? 26 : c - 'a'; };
  const Sizes s{.symbols = 27};
  Model model(s, {std::vector<Slots>(2 * s.layers, placed->second), false, placed->second.before});
  model.start(random);

  std::printf("step    loss   gradient size of W2, layer 1 to %d\n", s.layers);
  std::vector<int> tokens(s.batch * s.sequence), targets(tokens.size());
  for (int step = 1; step <= steps; ++step) {
    for (size_t i = 0, at = 0; i < tokens.size(); ++i, ++at) {
      if (i % s.sequence == 0) at = random() % (text.size() - s.sequence);
      tokens[i] = index(text[at]);
      targets[i] = index(text[at + 1]);
    }
    const double loss = model.loss(tokens, targets);
    if (step <= 5 || step % 10 == 0) {
      std::printf("%4d  %6.3f  ", step, loss);
      for (int l = 1; l <= s.layers; ++l) std::printf(" %8.1e", model.gradient_size(l));
      std::printf("\n");
    }
    model.update(step, 3e-3f * (step < warmup ? static_cast<float>(step) / warmup : 1));
  }
}
#endif

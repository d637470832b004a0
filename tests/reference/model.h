// The model is a decoder written straight from the papers, in double over reference/ops.h, on numbers
// that know their derivatives (var.h): Post-LN and Pre-LN (Xiong et al. 2020), Sandwich, DeepNorm (Wang et al. 2022),
// ReZero (Bachlechner et al. 2020), Admin (Liu et al. 2020) and the younger ones, one case each. It knows nothing of
// the engine's Wiring, so that a wrong wiring shows. Parameters go by the engine's names.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "reference/streams.h"

namespace normscope::reference {

struct DecoderSpec {
  Placement placement = Placement::Post;
  NormKind norm = NormKind::LayerNorm;
  int64_t L = 2, D = 24, heads = 3, F = 40, V = 17, B = 2, T = 11;
  bool tied = true, output_bias = false;
  Activation activation = Activation::Relu;
  double eps = 1e-5, smoothing = 0;
  double dropout_residual = 0, dropout_attention = 0, dropout_activation = 0;
  uint64_t seed = 0;
  uint32_t step = 1;
  // What transformers have learned since, as numbers of the papers.
  int64_t head_width = 0, kv_heads = 0, window = 0, embedding_width = 0;  ///< 0: as in 2017
  double mixing = 1, scale = 0, attention_cap = 0, logit_cap = 0, embedding_scale = 0, gain_offset = 0;
  double rotary_base = 0, local_base = 0, rotary_share = 1;  ///< base 0: positions are learned
  bool neighbours = false, first_stays = false, second_sees_all = false, gated = false, parallel = false,
       shared_norm = false, across_heads = false, token_types = false, alibi = false;
  double branch_factor = 1, read_out = 1;     ///< what every branch, and the last state, are multiplied by
  std::map<std::string, double> eps_of = {};  ///< a norm's own epsilon, by its name
  Biases biases = Biases::All;

  int64_t dh() const { return head_width ? head_width : D / heads; }
  int64_t keys() const { return kv_heads ? kv_heads : heads; }
};

/// The ends of the parameters' names, in the order of norms_of.
inline constexpr const char* kNormNames[] = {"enter",       "before", "q_norm", "k_norm", "v_norm",
                                             "hidden_norm", "output", "after",  "stream"};

/// What a decoder's configuration says, with the settings of the core.
inline DecoderSpec spec_of(const ModelConfig& c, int64_t batch, int64_t positions) {
  DecoderSpec s{.placement = placement_of(c.stack(), context_of(c, true)),
                .norm = c.norm,
                .L = c.layers,
                .D = c.d_model,
                .heads = c.heads,
                .F = c.feed_forward,
                .V = c.vocabulary,
                .B = batch,
                .T = positions,
                .tied = c.tied_output,
                .activation = c.activation,
                .eps = static_cast<double>(c.eps),
                .dropout_residual = static_cast<double>(c.dropout_residual),
                .dropout_attention = static_cast<double>(c.dropout_attention),
                .dropout_activation = static_cast<double>(c.dropout_activation)};
  s.head_width = c.attention.head_width;
  s.kv_heads = c.attention.kv_heads;
  s.window = c.attention.window;
  s.second_sees_all = c.attention.pattern == "wf";
  s.mixing = static_cast<double>(c.attention.mixing);
  s.scale = static_cast<double>(c.attention.scale);
  s.attention_cap = static_cast<double>(c.attention.cap);
  s.logit_cap = static_cast<double>(c.logit_cap);
  s.read_out = static_cast<double>(c.logit_scale);
  s.output_bias = c.output_bias;
  s.embedding_scale = static_cast<double>(c.embedding_scale);
  s.gain_offset = c.gain_offset ? 1 : 0;
  if (row_of(c.positions).name == "rotary") s.rotary_base = 10000;
  s.alibi = row_of(c.positions).alibi;
  s.gated = c.gated;
  s.embedding_width = c.embedding_width;
  s.token_types = c.token_types > 0;
  s.parallel = c.decoder.layers[0].feed_forward.parallel;
  s.shared_norm = c.decoder.layers[0].feed_forward.shared_norm;
  s.across_heads = c.decoder.layers[0].attention.inner.across_heads;
  s.biases = c.biases;
  for (size_t l = 0; l < c.decoder.layers.size(); ++l)
    for (const bool attention : {true, false}) {
      const LayerWiring& layer = c.decoder.layers[l];
      const std::string name = fmt::format("L{:02}.{}.", l + 1, attention ? "attn" : "ffn");
      const auto norms = norms_of(attention ? layer.attention : layer.feed_forward);
      for (size_t k = 0; k < norms.size(); ++k)
        if (norms[k].eps > 0) s.eps_of[name + kNormNames[k]] = static_cast<double>(norms[k].eps);
      if (const auto hidden = s.eps_of.find(name + "hidden_norm"); hidden != s.eps_of.end())
        s.eps_of[name + "gate_norm"] = hidden->second;
    }
  if (c.decoder.final.eps > 0) s.eps_of["final"] = static_cast<double>(c.decoder.final.eps);
  return s;
}

using Parameters = std::map<std::string, Values>;

struct DecoderResult {
  double loss = 0;
  Parameters gradients;
  Values logits;
  std::vector<Values> outputs;   ///< of each sub-layer
  std::vector<Values> branches;  ///< what each adds to the skip, its learned scale included
};

class Decoder {
 public:
  Decoder(const DecoderSpec& spec, const Parameters& parameters) : s_(spec), parameters_(parameters) {}

  /// With `slopes` off it computes the same numbers from constants: no gradients, and the trace stays empty.
  DecoderResult run(const std::vector<int32_t>& tokens, const std::vector<int32_t>& targets,
                    const Values& weights, bool slopes = true) {
    Trace trace;
    for (const auto& [name, values] : parameters_)
      leaves_[name] = slopes ? leaves(trace, values) : Rows(values.begin(), values.end());
    const double root = std::sqrt(static_cast<double>(s_.D));
    const int64_t E = s_.embedding_width ? s_.embedding_width : s_.D;
    const auto projected = [&](const Rows& rows, int64_t count, const char* by, int64_t from, int64_t to) {
      return s_.embedding_width ? linear(rows, leaf(by), kAbsent, {count, from, to}) : rows;
    };
    Rows x = embedding(tokens, projected(leaf("emb.tokens"), s_.V, "emb.in", E, s_.D),
                       s_.rotary_base > 0 || s_.alibi ? kAbsent : leaf("emb.positions"),
                       s_.embedding_scale > 0 ? s_.embedding_scale : root, s_.T, s_.D);
    for (size_t i = 0; s_.token_types && i < x.size(); ++i) x[i] += leaf("emb.types")[i % at(s_.D)];
    if (s_.placement == Placement::Peri || sphere()) x = norm("emb.norm", x);
    x = second_ = drop("emb.drop", x, s_.dropout_residual);
    streams_.start(x);
    DecoderResult result;
    for (layer_ = 1; layer_ <= s_.L; ++layer_) {
      layer_input_ = x;
      for (const char* kind : {"attn", "ffn"}) {
        x = sublayer(fmt::format("L{:02}.{}", layer_, kind), x, kind[0] == 'a');
        result.outputs.push_back(values_of(x));
        result.branches.push_back(branch_value(fmt::format("L{:02}.{}.branch", layer_, kind)));
      }
    }
    x = projected(ended(x), s_.B * s_.T, "emb.out", s_.D, E);
    for (Var& v : x) v = v * Var(s_.read_out);
    const Rows bias = s_.output_bias ? leaf("out.b") : kAbsent;
    Rows logits = s_.tied ? linear(x, leaf("emb.tokens"), bias, {s_.B * s_.T, E, s_.V, true})
                          : linear(x, leaf("out.w"), bias, {s_.B * s_.T, E, s_.V});
    if (sphere()) logits = affine(logits, leaf("out.scale"), kAbsent, 1 / root, s_.V);
    if (s_.logit_cap > 0)
      for (Var& v : logits) v = Var(s_.logit_cap) * tanh(v * Var(1 / s_.logit_cap));
    const Var loss = softmax_xent(logits, targets, row_weights(targets, weights), s_.smoothing).loss;
    result.loss = loss.v;
    result.logits = values_of(logits);
    if (!slopes) return result;
    trace.sweep<Var>({loss}, {1.0});
    for (const auto& [name, rows] : leaves_) result.gradients[name] = gradients(trace, rows);
    return result;
  }

 private:
  /// A tensor; empty: absent.
  using Rows = Array<Var>;
  inline static const Rows kAbsent{};

  /// What follows the last layer.
  Rows ended(Rows x) {
    if (is("gated-norm")) return gated("final", norm("final", x));
    if (is("gpas") || is("prores") || is("gated-attention") || is("delta") ||
        StreamReference::knows(s_.placement))
      return norm("final", x);
    if (is("resi-dual")) return sum(x, norm("second", second_));
    if (is("siamese")) return norm("joined", sum(norm("final", x), norm("second", second_)));
    switch (s_.placement) {
      case Placement::Pre:
      case Placement::Sandwich:
      case Placement::Peri:
      case Placement::Mix:
      case Placement::LayerNormScaling:
      case Placement::NormFormer:
      case Placement::SubLN:
      case Placement::HybridNorm:
      case Placement::QkNorm:
      case Placement::NormFormerScaled:
      case Placement::HybridNormStar:
      case Placement::ResPost:
      case Placement::SimpleNorm:
        return norm("final", x);
      case Placement::FixUp:
        return affine(x, leaf("end.scale"), leaf("end.shift"), 1, s_.D);
      default:
        return x;
    }
  }

  /// The value of the sub-layer's branch, times the learned scale of that name where there is one.
  Values branch_value(const std::string& scale) const {
    Values branch = values_of(branch_);
    if (const auto found = leaves_.find(scale); found != leaves_.end())
      for (size_t i = 0; i < branch.size(); ++i) {
        const double a = found->second[i % found->second.size()].v;
        branch[i] *= sphere() ? std::abs(a) : a;
      }
    return branch;
  }

  Rows scaled(Rows branch) const {
    for (Var& v : branch) v = v * Var(s_.branch_factor);
    return branch;
  }
  Rows sum(const Rows& a, const Rows& b) { return add(a, b, kAbsent, kAbsent, 1, 1, s_.D); }

  Rows sublayer(const std::string& n, Rows x, bool attention) {
    const auto raw = [&](Rows h) {
      return drop(n + ".drop", attention ? attend(n, h) : feed_forward(n, h), s_.dropout_residual);
    };
    const auto f = [&](Rows h) { return branch_ = scaled(raw(h)); };
    const auto after = [&](Rows branch) { return branch_ = scaled(norm(n + ".after", branch)); };
    const auto plus = [&](Rows f_of_x, Rows skip, Rows branch, double alpha) {
      return add(x, f_of_x, skip, branch, alpha, 1.0, s_.D);
    };
    const auto post = [&] { return norm(n + ".stream", sum(x, f(x))); };
    const auto pre = [&] { return sum(x, f(norm(n + ".before", x))); };
    const Rows none = kAbsent;
    if (StreamReference::knows(s_.placement)) {
      const Rows branch = f(norm(n + ".before", x));
      const Rows read = streams_.pass(n, seen_at_, branch, layer_ == s_.L && !attention);
      seen_at_ = n;
      return read;
    }
    if (is("ngpt")) {
      const Rows to = after(raw(x)), &a = leaf(n + ".branch");
      for (size_t i = 0; i < x.size(); ++i) {
        const Var& share = a[i % at(s_.D)];
        x[i] += (share.v < 0 ? Var(0.0) - share : share) * (to[i] - x[i]);
      }
      return norm(n + ".stream", x);
    }
    if (is("resi-dual")) {
      const Rows branch = f(x);
      second_ = sum(second_, branch);
      return norm(n + ".stream", sum(x, branch));
    }
    if (is("siamese")) {
      x = norm(n + ".enter", x);
      const Rows z = f(norm(n + ".before", sum(x, norm(n + ".second_read", second_))));
      second_ = sum(second_, z);
      return add(x, z, none, none, 1, 1 / std::sqrt(2.0 * static_cast<double>(layer_)), s_.D);
    }
    if (is("span")) {
      if (attention) return norm(n + ".stream", sum(x, f(layer_ == 1 ? norm(n + ".before", x) : x)));
      return norm(n + ".stream", sum(layer_input_, f(x)));
    }
    if (is("prores")) {
      const Rows& share = leaf(n.substr(0, n.rfind('.')) + ".prores");
      return sum(x, branch_ = affine(scaled(raw(norm(n + ".before", x))), share, none, 1, s_.D));
    }
    if (is("gated-attention")) return pre();
    if (is("delta")) return rewritten(n, x, norm(n + ".before", x), raw);
    if (is("gated-norm")) return sum(x, f(gated(n + ".before", norm(n + ".before", x))));
    if (is("gpas")) {
      const Var share = silu(leaf(n.substr(0, n.rfind('.')) + ".gpas"))[0];
      Rows y = pre();
      for (Var& v : y) v = v - share * Var(v.v);  // the paper's form: x - SiLU(a) sg(x)
      return y;
    }
    switch (s_.placement) {
      case Placement::Post:
        return norm(n + ".stream", plus(f(x), none, none, 1));
      case Placement::Pre: {
        const bool beside = s_.parallel && !attention;
        const std::string owner = s_.shared_norm ? fmt::format("L{:02}.attn", layer_) : n;
        return plus(f(norm(owner + ".before", beside ? layer_input_ : x)), none, none, 1);
      }
      case Placement::Sandwich:
        return plus(after(raw(norm(n + ".before", x))), none, none, 1);
      case Placement::DeepNorm:
        return norm(n + ".stream", plus(f(x), none, none, std::pow(2.0 * static_cast<double>(s_.L), 0.25)));
      case Placement::ResPost:
      case Placement::SimpleNorm:
        return sum(x, after(raw(x)));
      case Placement::Peri:
        return sum(x, after(raw(norm(n + ".before", x))));
      case Placement::Mix:  // a quarter of the layers, one at least
        return layer_ <= std::max<int64_t>(1, s_.L / 4) ? post() : pre();
      case Placement::LayerNormScaling:
        return sum(x, f(affine(norm(n + ".before", x), none, none, 1 / std::sqrt(layer_), s_.D)));
      case Placement::B2T:
        return attention ? post() : norm(n + ".stream", sum(layer_input_, sum(x, f(x))));
      case Placement::NormFormer:
        return attention ? sum(x, after(raw(norm(n + ".before", x)))) : pre();
      case Placement::NormFormerScaled:
        if (attention) return sum(x, after(raw(norm(n + ".before", x))));
        return plus(f(norm(n + ".before", x)), leaf(n + ".skip"), none, 0);
      case Placement::SubLN:
      case Placement::QkNorm:
        return pre();
      case Placement::HybridNormStar:
      case Placement::HybridNorm: {
        if (s_.placement == Placement::HybridNormStar && layer_ == 1) return pre();
        if (attention) return sum(x, f(x));
        const Rows h = norm(n + ".enter", x);
        return sum(h, f(h));
      }
      case Placement::Keel: {
        const Rows before = f(norm(n + ".before", x));
        return norm(n + ".stream", plus(before, none, none, 2.0 * static_cast<double>(s_.L)));
      }
      case Placement::FixUp:
        return plus(f(x), none, leaf(n + ".branch"), 1);
      case Placement::ReZeroPost:
        return norm(n + ".stream", plus(f(x), none, leaf(n + ".branch"), 1));
      case Placement::AdminPaper:
      case Placement::Admin:
        return norm(n + ".stream", plus(f(x), leaf(n + ".skip"), none, 0));
      case Placement::ReZero:
        return plus(f(x), none, leaf(n + ".branch"), 1);
      default:
        return plus(f(x), none, none, 1);
    }
  }

  /// Turns pairs of each head's first numbers by their angle at each position (Su et al. 2021, equation 34).
  Rows turned(Rows x, int64_t heads) {
    if (s_.rotary_base == 0 || (s_.first_stays && layer_ % 2 != 0)) return x;
    const int64_t dh = s_.dh(), n = static_cast<int64_t>(s_.rotary_share * static_cast<double>(dh)) / 2;
    const double base = windowed() && s_.local_base > 0 ? s_.local_base : s_.rotary_base;
    for (int64_t row = 0; row < s_.B * s_.T; ++row)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t i = 0; i < n; ++i) {
          const double angle = static_cast<double>(row % s_.T) *
                               std::pow(base, -static_cast<double>(i) / static_cast<double>(n));
          const int64_t head = (row * heads + h) * dh;
          Var &a = x[at(head + (s_.neighbours ? 2 * i : i))],
              &b = x[at(head + (s_.neighbours ? 2 * i + 1 : i + n))];
          const Var was = a, c(std::cos(angle)), d(std::sin(angle));
          a = was * c - b * d;
          b = b * c + was * d;
        }
    return x;
  }

  bool windowed() const { return s_.window > 0 && !(s_.second_sees_all && layer_ % 2 == 0); }

  /// Attention with all that a spec may ask for, one query at a time.
  Rows heads_of(const Rows& q, const Rows& k, const Rows& v) {
    const int64_t dh = s_.dh(), H = s_.heads, G = s_.keys();
    const double scale = s_.scale > 0 ? s_.scale : 1 / std::sqrt(static_cast<double>(dh));
    Rows out(at(s_.B * s_.T * H * dh), Var(0.0));
    for (int64_t row = 0; row < s_.B * s_.T; ++row)
      for (int64_t h = 0; h < H; ++h) {
        const int64_t t = row % s_.T, first = windowed() ? std::max<int64_t>(0, t - s_.window + 1) : 0;
        const auto key = [&](int64_t s, int64_t j) { return at(((row - t + s) * G + h / (H / G)) * dh + j); };
        Rows weights;
        Var sum(0.0);
        for (int64_t s = first; s <= t; ++s) {
          Var score(0.0);
          for (int64_t j = 0; j < dh; ++j) score += q[at((row * H + h) * dh + j)] * k[key(s, j)];
          score = score * Var(scale);
          if (s_.attention_cap > 0) score = Var(s_.attention_cap) * tanh(score * Var(1 / s_.attention_cap));
          if (s_.alibi) score += Var(slope(h, H) * static_cast<double>(s - t));
          weights.push_back(exp(score));
          sum += weights.back();
        }
        for (int64_t s = first; s <= t; ++s)
          for (int64_t j = 0; j < dh; ++j)
            out[at((row * H + h) * dh + j)] += Var(s_.mixing) * weights[at(s - first)] / sum * v[key(s, j)];
        for (int64_t j = 0; j < dh && s_.mixing != 1; ++j)
          out[at((row * H + h) * dh + j)] += Var(1 - s_.mixing) * v[key(t, j)];
      }
    return out;
  }

  static Var sigmoid(const Var& x) { return Var(1.0) / (Var(1.0) + exp(Var(0.0) - x)); }

  /// Deep delta learning: x + beta k (v - k . x), a row at a time; f maps N(x) to what k is the direction of.
  template <typename F>
  Rows rewritten(const std::string& n, Rows x, const Rows& normed, const F& f) {
    const Rows of = f(normed);
    branch_ = of;
    for (size_t row = 0; row < x.size(); row += at(s_.D)) {
      Var square(1e-10), along(0.0), share = leaf(n + ".beta.b")[0], value = leaf(n + ".value.b")[0];
      for (size_t i = 0; i < at(s_.D); ++i) {
        square += of[row + i] * of[row + i];
        along += of[row + i] * x[row + i];
        share += leaf(n + ".beta.w")[i] * normed[row + i];
        value += leaf(n + ".value.w")[i] * x[row + i];
      }
      const Var length = sqrt(square);
      const Var step =
          Var(2 * s_.branch_factor) * sigmoid(share) * (Var(4.0) * sigmoid(value) - along / length);
      for (size_t i = 0; i < at(s_.D); ++i) {
        branch_[row + i] = step * of[row + i] / length;
        x[row + i] += branch_[row + i];
      }
    }
    return x;
  }

  /// GatedNorm's gate behind the norm of that name.
  Rows gated(const std::string& n, Rows y) {
    const int64_t R = s_.B * s_.T, rank = static_cast<int64_t>(leaf(n + ".gate_in").size()) / s_.D;
    const Rows seen = silu(linear(y, leaf(n + ".gate_in"), kAbsent, {R, s_.D, rank}));
    const Rows asked = linear(seen, leaf(n + ".gate_out"), kAbsent, {R, rank, s_.D});
    for (size_t i = 0; i < y.size(); ++i) y[i] = y[i] * sigmoid(asked[i]);
    return y;
  }

  Rows attend(const std::string& n, Rows x) {
    const int64_t R = s_.B * s_.T, dh = s_.dh();
    const bool hybrid = s_.placement == Placement::HybridNorm || s_.placement == Placement::HybridNormStar;
    const auto project = [&](const char* which, Rows in, int64_t from, int64_t to) {
      return linear(in, leaf(n + ".w" + which), bias(n + ".b" + which), {R, from, to});
    };
    x = shifted(n + ".shift_in", x);
    Rows q = project("q", x, s_.D, s_.heads * dh), k = project("k", x, s_.D, s_.keys() * dh),
         v = project("v", x, s_.D, s_.keys() * dh);
    if (hybrid || s_.placement == Placement::QkNorm || sphere()) {
      q = norm(n + ".q_norm", q, s_.across_heads ? s_.heads * dh : dh);
      k = norm(n + ".k_norm", k, s_.across_heads ? s_.keys() * dh : dh);
      if (hybrid) v = norm(n + ".v_norm", v, dh);
    }
    if (s_.placement == Placement::SimpleNorm) {
      q = norm(n + ".q_norm", q, s_.heads * dh);
      k = norm(n + ".k_norm", k, s_.keys() * dh);
      v = norm(n + ".v_norm", v, s_.keys() * dh);
    }
    q = turned(q, s_.heads);
    k = turned(k, s_.keys());
    // The scale of q and k, twice on q: a key that several heads of queries read has one for each.
    for (int twice = 0; sphere() && twice < 2; ++twice)
      q = affine(q, leaf(n + ".qk_scale"), kAbsent, 1, s_.heads * dh);
    Rows h;
    if (s_.dropout_attention > 0) {
      AttentionShape a{s_.B, s_.heads, s_.T, s_.T, s_.D, true};
      a.keep = mask(n + ".heads", s_.B * s_.heads * s_.T * s_.T, s_.dropout_attention);
      a.keep_scale = 1 / (1 - s_.dropout_attention);
      h = attention(q, k, v, a).out;
    } else {
      h = heads_of(q, k, v);
    }
    if (is("gated-attention")) {
      const Rows asked = linear(x, leaf(n + ".wgate"), kAbsent, {R, s_.D, s_.heads * dh});
      for (size_t i = 0; i < h.size(); ++i) h[i] = h[i] * sigmoid(asked[i]);
    }
    if (normformer()) h = affine(h, leaf(n + ".head_scale"), kAbsent, 1, s_.heads * dh);
    if (s_.placement == Placement::SubLN) h = norm(n + ".output", h, s_.heads * dh);
    return project("o", shifted(n + ".shift_out", h, s_.heads * dh), s_.heads * dh, s_.D);
  }

  Rows feed_forward(const std::string& n, Rows x) {
    const int64_t R = s_.B * s_.T;
    x = shifted(n + ".shift_in", x);
    const auto hidden = [&](const char* which) {
      const Rows h = linear(x, leaf(n + ".w" + which), bias(n + ".b" + which), {R, s_.D, s_.F});
      const std::string name = n + (which == std::string("g") ? ".gate_scale" : ".hidden_scale");
      if (sphere()) return affine(h, leaf(name), kAbsent, 1, s_.F);
      if (s_.placement != Placement::SimpleNorm) return h;
      return norm(n + (which == std::string("g") ? ".gate_norm" : ".hidden_norm"), h, s_.F);
    };
    Rows h = activated(shifted(n + ".shift_hidden", hidden(s_.gated ? "g" : "1"), s_.F));
    if (s_.gated) {
      const Rows other = hidden("1");
      for (size_t i = 0; i < h.size(); ++i) h[i] = h[i] * other[i];
    }
    h = drop(n + ".hidden.drop", h, s_.dropout_activation);
    if (s_.placement == Placement::SubLN || normformer()) h = norm(n + ".output", h, s_.F);
    return linear(shifted(n + ".shift_out", h, s_.F), leaf(n + ".w2"), bias(n + ".b2"), {R, s_.F, s_.D});
  }

  /// The bias of a matrix, by its name: "L01.attn.bq".
  Rows bias(const std::string& name) const {
    const bool reads = name.ends_with(".bq") || name.ends_with(".bk") || name.ends_with(".bv"),
               network = name.find(".ffn.") != name.npos, output = name.ends_with(".bo");
    const bool has = s_.placement != Placement::FixUp &&
                     (s_.biases == Biases::All || (s_.biases == Biases::Qkv && reads) ||
                      (s_.biases == Biases::FeedForward && network) ||
                      (s_.biases == Biases::ButQkv && (network || output)));
    return has ? leaf(name) : kAbsent;
  }

  /// Calls the function of reference.h of each name: an activation without a reference does not compile.
  Rows activated(Rows x) {
    switch (s_.activation) {
#define ACTIVATION(Kind, op, label) \
  case Activation::Kind:            \
    return op(x);
#include "engine/ops/ops.def"
    }
    return x;
  }

  bool is(std::string_view placement) const { return test::is(s_.placement, placement); }
  bool sphere() const { return is("ngpt"); }
  bool normformer() const {
    return s_.placement == Placement::NormFormer || s_.placement == Placement::NormFormerScaled;
  }

  /// Adds FixUp's scalar shift.
  Rows shifted(const std::string& n, Rows x, int64_t width = 0) {
    if (s_.placement != Placement::FixUp) return x;
    return affine(x, kAbsent, leaf(n + ".b"), 1, width ? width : s_.D);
  }

  /// Goes over rows of the given width, 0: of the model's, by a norm of the given kind, None: the model's.
  Rows norm(const std::string& n, Rows x, int64_t width = 0, NormKind kind = NormKind::None) {
    if (kind == NormKind::None) kind = sphere() ? NormKind::RmsSimple : s_.norm;
    Rows gain = has_gain(kind) ? leaf(n + ".gain") : kAbsent;
    for (Var& g : gain) g += Var(s_.gain_offset);
    const Rows bias = has_bias(kind) ? leaf(n + ".bias") : kAbsent;
    const auto own = s_.eps_of.find(n);
    return layer_norm(kind, x, gain, bias, width ? width : s_.D,
                      own == s_.eps_of.end() ? s_.eps : own->second)
        .out;
  }

  Rows drop(const std::string& site, Rows x, double p) {
    if (p == 0) return x;
    return dropout(x, mask(site, static_cast<int64_t>(x.size()), p), 1 / (1 - p));
  }

  std::vector<uint8_t> mask(const std::string& site, int64_t n, double p) const {
    std::vector<uint8_t> keep(at(n));
    for (int64_t i = 0; i < n; ++i)
      keep[at(i)] = random_word(static_cast<uint64_t>(i), site_of(site), s_.step, Purpose::Dropout,
                                s_.seed) >= static_cast<uint32_t>(p * 4294967296.0);
    return keep;
  }

  const Rows& leaf(const std::string& name) const { return leaves_.at(name); }

  DecoderSpec s_;
  Parameters parameters_;
  int64_t layer_ = 0;
  Rows layer_input_, second_, branch_;
  std::string seen_at_ = "emb";  ///< whose norm the streams are seen behind
  StreamReference streams_{s_.placement, s_.D,
                           [this](const std::string& name) -> const Rows& { return leaf(name); },
                           [this](const std::string& name, NormKind kind, const Rows& x, int64_t width) {
                             return norm(name, x, width, kind);
                           }};
  std::map<std::string, Rows> leaves_;
};

}  // namespace normscope::reference

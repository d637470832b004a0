// A decoder written straight from the papers, in double over reference/graph.h: Post-LN and Pre-LN (Xiong et
// al. 2020), Sandwich, DeepNorm (Wang et al. 2022), ReZero (Bachlechner et al. 2020), Admin (Liu et al.
// 2020). It knows nothing of the engine's Wiring, so that a wrong wiring shows. Parameters go by the engine's
// names.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "core/philox.h"
#include "model/wiring.h"
#include "reference/graph.h"

namespace normscope::reference {

struct DecoderSpec {
  Placement placement = Placement::Post;
  NormKind norm = NormKind::LayerNorm;
  int64_t L = 2, D = 24, heads = 3, F = 40, V = 17, B = 2, T = 11;
  bool tied = true, gelu = false;
  double eps = 1e-5, smoothing = 0;
  double dropout_residual = 0, dropout_attention = 0, dropout_activation = 0;
  uint64_t seed = 0;
  uint32_t step = 1;
};

using Parameters = std::map<std::string, Values>;

struct DecoderResult {
  double loss = 0;
  Parameters gradients;
  std::vector<Values> outputs;  ///< of each sub-layer
};

class Decoder {
 public:
  Decoder(const DecoderSpec& spec, const Parameters& parameters) : s_(spec) {
    for (const auto& [name, values] : parameters) leaves_[name] = g_.leaf(values);
  }

  DecoderResult run(const std::vector<int32_t>& tokens, const std::vector<int32_t>& targets,
                    const Values& weights) {
    Id x = g_.embedding(tokens, leaf("emb.tokens"), leaf("emb.positions"),
                        std::sqrt(static_cast<double>(s_.D)), s_.T, s_.D);
    x = drop("emb.drop", x, s_.dropout_residual);
    DecoderResult result;
    for (int64_t l = 1; l <= s_.L; ++l)
      for (const char* kind : {"attn", "ffn"}) {
        x = sublayer(fmt::format("L{:02}.{}", l, kind), x, kind[0] == 'a');
        result.outputs.push_back(g_.value(x));
      }
    if (s_.placement == Placement::Pre || s_.placement == Placement::Sandwich) x = norm("final", x);
    const Id logits = s_.tied
                          ? g_.linear(x, leaf("emb.tokens"), Graph::kAbsent, {s_.B * s_.T, s_.D, s_.V, true})
                          : g_.linear(x, leaf("out.w"), Graph::kAbsent, {s_.B * s_.T, s_.D, s_.V});
    const Id loss = g_.loss(logits, targets, weights, s_.smoothing);
    g_.backward(loss);
    result.loss = g_.value(loss)[0];
    for (const auto& [name, id] : leaves_) result.gradients[name] = g_.gradient(id);
    return result;
  }

 private:
  using Id = Graph::Id;

  Id sublayer(const std::string& n, Id x, bool attention) {
    const auto f = [&](Id h) {
      return drop(n + ".drop", attention ? attend(n, h) : feed_forward(n, h), s_.dropout_residual);
    };
    const auto plus = [&](Id f_of_x, Id skip, Id branch, double alpha) {
      return g_.add(x, f_of_x, skip, branch, alpha, 1.0, s_.D);
    };
    const Id none = Graph::kAbsent;
    switch (s_.placement) {
      case Placement::Post:
        return norm(n + ".trunk", plus(f(x), none, none, 1));
      case Placement::Pre:
        return plus(f(norm(n + ".before", x)), none, none, 1);
      case Placement::Sandwich:
        return plus(norm(n + ".after", f(norm(n + ".before", x))), none, none, 1);
      case Placement::DeepNorm:
        return norm(n + ".trunk", plus(f(x), none, none, std::pow(2.0 * static_cast<double>(s_.L), 0.25)));
      case Placement::Admin:
        return norm(n + ".trunk", plus(f(x), leaf(n + ".skip"), none, 0));
      case Placement::ReZero:
        return plus(f(x), none, leaf(n + ".branch"), 1);
      default:
        return plus(f(x), none, none, 1);
    }
  }

  Id attend(const std::string& n, Id x) {
    const int64_t R = s_.B * s_.T;
    const auto project = [&](const char* which, Id in) {
      return g_.linear(in, leaf(n + ".w" + which), leaf(n + ".b" + which), {R, s_.D, s_.D});
    };
    AttentionShape a{s_.B, s_.heads, s_.T, s_.T, s_.D, true};
    if (s_.dropout_attention > 0) {
      a.keep = mask(n + ".heads", s_.B * s_.heads * s_.T * s_.T, s_.dropout_attention);
      a.keep_scale = 1 / (1 - s_.dropout_attention);
    }
    return project("o", g_.attention(project("q", x), project("k", x), project("v", x), a));
  }

  Id feed_forward(const std::string& n, Id x) {
    const int64_t R = s_.B * s_.T;
    Id h = g_.linear(x, leaf(n + ".w1"), leaf(n + ".b1"), {R, s_.D, s_.F});
    h = s_.gelu ? g_.gelu(h) : g_.relu(h);
    h = drop(n + ".hidden.drop", h, s_.dropout_activation);
    return g_.linear(h, leaf(n + ".w2"), leaf(n + ".b2"), {R, s_.F, s_.D});
  }

  Id norm(const std::string& n, Id x) {
    const Id gain = s_.norm == NormKind::Simple ? Graph::kAbsent : leaf(n + ".gain");
    const Id bias = s_.norm == NormKind::LayerNorm ? leaf(n + ".bias") : Graph::kAbsent;
    return g_.norm(s_.norm, x, gain, bias, s_.D, s_.eps);
  }

  Id drop(const std::string& site, Id x, double p) {
    if (p == 0) return x;
    return g_.dropout(x, mask(site, static_cast<int64_t>(g_.value(x).size()), p), 1 / (1 - p));
  }

  std::vector<uint8_t> mask(const std::string& site, int64_t n, double p) const {
    std::vector<uint8_t> keep(at(n));
    for (int64_t i = 0; i < n; ++i)
      keep[at(i)] = random_word(static_cast<uint64_t>(i), site_of(site), s_.step, Purpose::Dropout,
                                s_.seed) >= static_cast<uint32_t>(p * 4294967296.0);
    return keep;
  }

  Id leaf(const std::string& name) const { return leaves_.at(name); }

  DecoderSpec s_;
  Graph g_;
  std::map<std::string, Id> leaves_;
};

}  // namespace normscope::reference

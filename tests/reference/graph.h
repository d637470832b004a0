// A differentiable graph in double over the reference ops: each call computes at once and remembers how to
// send its gradient back. Eager, slow and simple on purpose: nothing here is shared with the engine's tape.
#pragma once

#include <functional>
#include <vector>

#include "reference/ops_backward.h"

namespace normscope::reference {

class Graph {
 public:
  using Id = size_t;
  static constexpr Id kAbsent = static_cast<Id>(-1);

  Id leaf(Values v) {
    return node(std::move(v), [] {});
  }
  const Values& value(Id i) const { return values_[i]; }
  const Values& gradient(Id i) const { return gradients_[i]; }

  Id embedding(const std::vector<int32_t>& tokens, Id table, Id positions, double scale, int64_t T,
               int64_t D) {
    const Id out = next();
    return node(reference::embedding<double>(tokens, value(table), optional(positions), scale, T, D),
                [=, this] {
                  const int64_t rows = static_cast<int64_t>(value(table).size()) / D;
                  const int64_t places = static_cast<int64_t>(optional(positions).size()) / D;
                  auto g = embedding_backward(tokens, gradients_[out], scale, rows, places, T, D);
                  send(table, g.table);
                  send(positions, g.positions);
                });
  }

  Id linear(Id x, Id w, Id b, LinearShape s) {
    const Id out = next();
    return node(reference::linear<double>(value(x), value(w), optional(b), s), [=, this] {
      auto g = linear_backward(value(x), value(w), gradients_[out], s);
      send(x, g.x);
      send(w, g.weight);
      send(b, g.bias);
    });
  }

  Id attention(Id q, Id k, Id v, const AttentionShape& a) {
    const Id out = next();
    auto r = reference::attention<double>(value(q), value(k), value(v), a);
    return node(r.out, [=, this, p = r.probabilities] {
      auto g = attention_backward(value(q), value(k), value(v), p, gradients_[out], a);
      send(q, g.q);
      send(k, g.k);
      send(v, g.v);
    });
  }

  Id norm(NormKind kind, Id x, Id gain, Id bias, int64_t D, double eps) {
    const Id out = next();
    return node(layer_norm<double>(kind, value(x), optional(gain), optional(bias), D, eps).out, [=, this] {
      auto g = layer_norm_backward(kind, value(x), optional(gain), gradients_[out], D, eps);
      send(x, g.x);
      send(gain, g.gain);
      send(bias, g.bias);
    });
  }

  Id relu(Id x) {
    const Id out = next();
    return node(reference::relu<double>(value(x)),
                [=, this] { send(x, relu_backward(value(x), gradients_[out])); });
  }
  Id gelu(Id x) {
    const Id out = next();
    return node(reference::gelu<double>(value(x)),
                [=, this] { send(x, gelu_backward(value(x), gradients_[out])); });
  }
  Id dropout(Id x, const std::vector<uint8_t>& keep, double scale) {
    const Id out = next();
    return node(reference::dropout<double>(value(x), keep, scale),
                [=, this] { send(x, dropout_backward(keep, scale, gradients_[out])); });
  }

  Id add(Id x, Id f, Id skip, Id branch, double skip_constant, double branch_constant, int64_t D) {
    const Id out = next();
    auto sum = reference::add<double>(value(x), value(f), optional(skip), optional(branch), skip_constant,
                                      branch_constant, D);
    return node(std::move(sum), [=, this] {
      auto g = add_backward(value(x), value(f), optional(skip), optional(branch), skip_constant,
                            branch_constant, gradients_[out], D);
      send(x, g.x);
      send(f, g.f);
      send(skip, g.skip);
      send(branch, g.branch);
    });
  }

  Id affine(Id x, Id gain, Id shift, double constant, int64_t D) {
    const Id out = next();
    return node(reference::affine<double>(value(x), optional(gain), optional(shift), constant, D), [=, this] {
      auto g =
          affine_backward(value(x), optional(gain), optional(shift).size(), constant, gradients_[out], D);
      send(x, g.x);
      send(gain, g.gain);
      send(shift, g.shift);
    });
  }

  Id loss(Id logits, const std::vector<int32_t>& targets, const Values& weights, double smoothing) {
    const Id out = next();
    const Values weight = row_weights(targets, weights);
    return node({softmax_xent<double>(value(logits), targets, weight, smoothing).loss}, [=, this] {
      send(logits, softmax_xent_backward(value(logits), targets, weight, smoothing, gradients_[out][0]));
    });
  }

  /// Gradients of one scalar with respect to every node.
  void backward(Id scalar) {
    for (size_t i = 0; i < values_.size(); ++i) gradients_[i].assign(values_[i].size(), 0.0);
    gradients_[scalar] = {1.0};
    for (size_t i = scalar + 1; i-- > 0;) back_[i]();
  }

 private:
  Id next() const { return values_.size(); }
  Id node(Values v, std::function<void()> back) {
    values_.push_back(std::move(v));
    gradients_.emplace_back();
    back_.push_back(std::move(back));
    return values_.size() - 1;
  }
  Values optional(Id i) const { return i == kAbsent ? Values{} : values_[i]; }
  void send(Id to, const Values& g) {
    if (to == kAbsent) return;
    for (size_t i = 0; i < g.size(); ++i) gradients_[to][i] += g[i];
  }

  std::vector<Values> values_, gradients_;
  std::vector<std::function<void()>> back_;
};

}  // namespace normscope::reference

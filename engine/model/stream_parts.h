// `StreamParts` are how the streams of a stack are read, carried on and written: one by the sum of a sub-layer, several
// (model/streams.h) as one value (B,T,n,D), mixed by the op `mix`. Called by transformer.cpp.
#pragma once

#include "engine/model/attention_parts.h"
#include "engine/ops/add/add.h"
#include "engine/ops/concat/concat.h"
#include "engine/ops/mix/mix.h"
#include "engine/ops/probe/probe.h"
#include "engine/ops/softmax/softmax.h"

namespace normscope {

class StreamParts : protected AttentionParts {
 public:
  using AttentionParts::AttentionParts;

 protected:
  /// Starts a stack whose streams all begin as x.
  void begin_streams(const std::string& prefix, const Streams& streams, ValueId x) {
    wired_ = streams;
    if (streams.one()) return;
    written_ = 0;
    all_ = streams.of_depth() ? x
                              : mix(tape_, prefix + "copies", x,
                                    constant(prefix + "copies.weights", {1, streams.count}), streams.count);
    if (!streams.of_depth()) look_at_streams(prefix + "emb");
  }

  /// Records what a sub-layer leaves: the streams with its branch, and what is read from them next. Behind the
  /// last sub-layer that is the mean of n streams; the published sum is n times that, which the final norm divides out.
  void pass(SublayerValues& s, bool last) {
    const std::string& n = s.name;
    if (wired_.of_depth()) {
      all_ = append(tape_, n + ".streams", all_, s.branch);
    } else {
      s.carry = weights_of(n + ".carry", Task::Carry);
      s.write = weights_of(n + ".write", Task::Write);
      const int32_t count = wired_.count;
      all_ = add(tape_, n + ".streams", mix(tape_, n + ".carried", all_, s.carry, count),
                 mix(tape_, n + ".written", s.branch, s.write, count));
    }
    ++written_;
    s.streams = all_;
    const bool added_up = last && !wired_.of_depth();
    if (!added_up) look_at_streams(n);
    s.read = added_up ? constant(n + ".read", {wired_.count, 1}, 1.0 / wired_.count)
                      : weights_of(n + ".read", Task::Read);
    s.sum = s.joined = s.output = mix(tape_, n + ".sum", all_, s.read, 1);
  }

  /// Adds the second stream to what a branch reads, where branches read it.
  ValueId with_second(const std::string& name, ValueId x) {
    if (second_ == kNone || second_read_ == NormKind::None) return x;
    return add(tape_, name + ".both", x, norm(name + ".second_read", second_read_, second_));
  }

  /// 1 - SiLU(a); the sub-layers of a layer share its a.
  ValueId gpas_factor(const std::string& sublayer) {
    const ValueId one = parameter("gpas.one", {1}, {Init::Kind::Constant, 1.0}, false),
                  a = parameter(sublayer.substr(0, sublayer.rfind('.')) + ".gpas", {1},
                                {Init::Kind::Zeros, 0.0});
    return affine(tape_, sublayer + ".gpas", silu(tape_, sublayer + ".gpas_of", a), -1.0f, kNone, one);
  }

  /// Scales what a sub-layer hands on by GPAS's factor, and not its gradient.
  ValueId shrunk(const SublayerValues& s, ValueId x) {
    return gradient_kept(tape_, s.name + ".kept", x, s.gpas);
  }

  /// Asks for the gradient of each of several streams, and of both where there is a second one.
  void probe_streams(const SublayerValues& s, ValueId lengths) {
    const auto ask = [&](int32_t i, ValueId value, int32_t parts) {
      const ProbeSpec part{ProbeKind::MeanSquare, parts > 1 ? i - 1 : 0, parts};
      tape_.probe(
          {s.name + ".stream." + std::to_string(i) + ".gradient_square", part, value, true, layer_, lengths});
    };
    for (int32_t i = 1; !wired_.one() && !wired_.of_depth() && i <= wired_.count; ++i)
      ask(i, s.streams, wired_.count);
    if (s.second == kNone) return;
    ask(1, s.output, 1);
    ask(2, s.second, 1);
  }

  Streams wired_;                ///< of the stack that is recorded
  ValueId layer_input_ = kNone;  ///< the input of the layer that is recorded
  ValueId second_ = kNone;       ///< the second stream so far (ResiDual, SiameseNorm)
  WiredNorm second_read_ = {};   ///< behind which branches read it

 private:
  enum class Task : uint8_t { Read, Carry, Write };

  int32_t count() const { return wired_.of_depth() ? written_ + 1 : wired_.count; }

  /// Weights of one that no training changes.
  ValueId constant(const std::string& name, Shape shape, double value = 1.0) {
    return parameter(name, shape, {Init::Kind::Constant, value}, false);
  }

  /// Records what weights are computed from: each stream behind a norm, or for the manifold all streams
  /// of a position as one row (Xie et al. 2025, equation 7).
  void look_at_streams(const std::string& n) {
    if (wired_.weights != Streams::Weights::Computed) return;
    const Shape s = tape_.shape(all_);
    if (wired_.rule == Streams::Rule::Manifold)
      seen_ = norm(n + ".seen", NormKind::Rms, reshape(tape_, n + ".row", all_, {s[0], s[1], s[2] * s[3]}));
    else
      seen_ = norm(n + ".seen", wired_.rule == Streams::Rule::Softmax ? NormKind::Rms : config_.norm, all_);
  }

  /// What weights start as: those of one stream, read from one of n streams after the other (Zhu et al.
  /// 2024, equation 14). Beneath the manifold's functions they only lean that way; equal streams would stay equal.
  Init start_of(Task task) const {
    const bool manifold = wired_.rule == Streams::Rule::Manifold;
    if (wired_.rule == Streams::Rule::Softmax) return {Init::Kind::Zeros, 0.0};
    if (task == Task::Write) return {Init::Kind::Constant, manifold ? 0.0 : 1.0};
    if (wired_.of_depth()) return {Init::Kind::Constant, 1.0};
    Init init{Init::Kind::Diagonal, 1.0};
    if (manifold) init.value = task == Task::Read ? 2.0 : 4.0;
    if (manifold && task == Task::Read) init.rest = -2.0;
    init.place = task == Task::Read ? written_ % wired_.count : 0;
    return init;
  }

  ValueId weights_of(const std::string& n, Task task) {
    const int32_t from = task == Task::Write ? 1 : count(), to = task == Task::Read ? 1 : count();
    const bool fixed = wired_.weights == Streams::Weights::Fixed;
    const bool scored = wired_.rule == Streams::Rule::Softmax && wired_.weights == Streams::Weights::Computed;
    ValueId weights = kNone;
    if (scored)
      weights = linear(tape_, n + ".score", seen_,
                       parameter(n + ".query", {config_.d_model, 1}, {Init::Kind::Zeros, 0.0}), kNone);
    else
      weights = parameter(n, {from, to}, start_of(task), !fixed);
    if (wired_.weights == Streams::Weights::Computed && !scored)
      weights = with_computed(n, task, weights, from * to);
    return ruled(n, task, weights, from);
  }

  /// Adds to weights what the streams of a position ask for, a little of it at the start: 0.01 times its
  /// share, whose matrix is zero (Zhu et al. 2024, equations 10 to 13).
  ValueId with_computed(const std::string& n, Task task, ValueId weights, int32_t size) {
    const Shape s = tape_.shape(all_);
    const bool manifold = wired_.rule == Streams::Rule::Manifold;
    const int64_t in = tape_.shape(seen_).cols(), each = task == Task::Carry ? count() : 1;
    const ValueId w = parameter(n + ".w", {in, manifold ? size : each}, {Init::Kind::Zeros, 0.0});
    ValueId asked = linear(tape_, n + ".asked", seen_, w, kNone);
    if (!manifold)
      asked = soft_cap(tape_, n + ".bounded", reshape(tape_, n + ".of_all", asked, {s[0], s[1], size}), 1.0f);
    return affine(tape_, n + ".weights", asked, 1.0f,
                  parameter(n + ".gate", {1}, {Init::Kind::Constant, 0.01}), weights);
  }

  /// Bends weights to the rule: a softmax over what is read, a sigmoid, twice a sigmoid, or a matrix whose rows
  /// and columns add up to one, after 20 rounds (Xie et al. 2025, equations 8 and 9).
  ValueId ruled(const std::string& n, Task task, ValueId weights, int32_t from) {
    if (wired_.rule == Streams::Rule::Free) return weights;
    if (wired_.rule == Streams::Rule::Softmax) return softmax(tape_, n + ".shares", weights, from);
    if (task == Task::Carry) return sinkhorn(tape_, n + ".balanced", weights, wired_.count, 20);
    // The sigmoid of z is 1/2 + tanh(z / 2) / 2, and soft_cap with 2 is 2 tanh(z / 2).
    const bool twice = task == Task::Write;
    return affine(tape_, n + ".positive", soft_cap(tape_, n + ".half", weights, 2.0f), twice ? 0.5f : 0.25f,
                  kNone, constant(twice ? "streams.one" : "streams.half", {1}, twice ? 1.0 : 0.5));
  }

  ValueId all_ = kNone, seen_ = kNone;
  int32_t written_ = 0;  ///< branches so far
};

}  // namespace normscope

#include "training/measure/step/double_ops.h"

#include "engine/core/philox.h"
#include "engine/ops/add/add.h"
#include "engine/ops/affine/affine.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/relative_attention.h"
#include "engine/ops/dropout/dropout.h"
#include "engine/ops/embedding/embedding.h"
#include "engine/ops/images/conv2d.h"
#include "engine/ops/images/max_pool.h"
#include "engine/ops/linear/linear.h"
#include "training/measure/step/reference.h"
#include "training/measure/step/reference_images.h"

namespace normscope {
namespace {

using reference::Array;
using Inputs = std::vector<DoubleInput>;

/// `kept` says which elements a dropout keeps: those whose random word reaches the threshold.
std::vector<uint8_t> kept(int64_t elements, const StepInputs& step, DropoutKind kind, uint32_t site) {
  std::vector<uint8_t> keep(static_cast<size_t>(elements));
  const uint32_t threshold = step.dropout[static_cast<int>(kind)].threshold;
  for (size_t i = 0; i < keep.size(); ++i)
    keep[i] = random_word(i, site, step.step, Purpose::Dropout, step.seed) >= threshold;
  return keep;
}

double scale_of(const StepInputs& step, DropoutKind kind) {
  return static_cast<double>(step.dropout[static_cast<int>(kind)].scale);
}

/// `embedding_of` takes a token that is not in the table for a row of zeros.
Array<double> embedding_of(const EmbeddingSpec& spec, const Inputs& in) {
  const int64_t width = in[1].shape.cols(), vocabulary = in[1].shape.rows();
  Array<double> table = in[1].numbers;
  table.resize(table.size() + static_cast<size_t>(width), 0.0);
  std::vector<int32_t> tokens = in[0].integers;
  for (int32_t& token : tokens)
    if (token < 0 || token >= vocabulary) token = static_cast<int32_t>(vocabulary);
  return reference::embedding<double>(tokens, table, in[2].numbers, static_cast<double>(spec.scale),
                                      in[0].shape[1], width);
}

Array<double> attention_of(const AttentionSpec& spec, const Inputs& in, const StepInputs& step) {
  const Shape &q = in[0].shape, &k = in[1].shape;
  reference::AttentionShape a{q[0], spec.heads, q[1], k[1], q[2], spec.causal, in[3].integers};
  if (spec.dropout_site != 0) {
    a.keep = kept(a.B * a.H * a.Tq * a.Tk, step, DropoutKind::Attention, spec.dropout_site);
    a.keep_scale = scale_of(step, DropoutKind::Attention);
  }
  return reference::attention<double>(in[0].numbers, in[1].numbers, in[2].numbers, a).out;
}

Array<double> relative_attention_of(const RelativeAttentionSpec& spec, const Inputs& in,
                                    const StepInputs& step) {
  const Shape &q = in[0].shape, &k = in[1].shape;
  reference::RelativeShape a{{q[0], spec.heads, q[1], k[1], q[2]}, in[5].integers};
  if (spec.dropout_site != 0) {
    a.keep = kept(a.B * a.H * a.Tq * a.Tk, step, DropoutKind::Attention, spec.dropout_site);
    a.keep_scale = scale_of(step, DropoutKind::Attention);
  }
  return reference::relative_attention<double>(in[0].numbers, in[1].numbers, in[2].numbers, in[3].numbers,
                                               in[4].numbers, a)
      .out;
}

/// `held_norm` computes the kinds that hold something constant, which it takes from `held`.
Array<double> held_norm(const NormSpec& spec, const Array<double>& x, const Array<double>& held, int64_t D) {
  const auto eps = static_cast<double>(spec.eps);
  const auto live = reference::layer_norm<double>(NormKind::Simple, x, {}, {}, D, eps);
  const auto fixed = reference::layer_norm<double>(NormKind::Simple, held, {}, {}, D, eps);
  const bool ada = traits_of(spec.kind).has_factor;
  const Array<double>& mean = ada || mean_has_gradient(spec.kind) ? live.mean : fixed.mean;
  const Array<double>& inverse =
      ada || sigma_has_gradient(spec.kind) ? live.inverse_sigma : fixed.inverse_sigma;
  Array<double> y(x.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t row = i / static_cast<size_t>(D);
    y[i] = (x[i] - mean[row]) * inverse[row];
    if (ada) y[i] *= static_cast<double>(spec.scale) * (1 - static_cast<double>(spec.slope) * fixed.out[i]);
  }
  return y;
}

Array<double> norm_of(const NormSpec& spec, const Inputs& in, const Inputs& held) {
  const int64_t D = in[0].shape.cols() / spec.heads;
  const Array<double>& x = in[0].numbers;
  if (has_alpha(spec.kind))
    return reference::dyt<double>(x, in[1].numbers, in[2].numbers, in[3].numbers.at(0), D).out;
  if (!holds_constant(spec.kind))
    return reference::layer_norm<double>(spec.kind, x, in[1].numbers, in[2].numbers, D,
                                         static_cast<double>(spec.eps))
        .out;
  return held_norm(spec, x, held[0].numbers, D);
}

Array<double> linear_of(const LinearSpec& spec, const Inputs& in) {
  const Shape& w = in[1].shape;
  return reference::linear<double>(
      in[0].numbers, in[1].numbers, in[2].numbers,
      {in[0].shape.rows(), in[0].shape.cols(), spec.transposed ? w[0] : w[1], spec.transposed});
}

/// `loss_of` ignores a target that is no symbol.
Array<double> loss_of(const Inputs& in, const StepInputs& step) {
  std::vector<int32_t> targets = in[1].integers;
  for (int32_t& target : targets)
    if (target >= in[0].shape.cols()) target = -1;
  const Array<double> weights = reference::row_weights(targets, in[2].numbers);
  return {reference::softmax_xent<double>(in[0].numbers, targets, weights,
                                          static_cast<double>(step.label_smoothing))
              .loss};
}

}  // namespace

std::vector<double> forward_in_double(const Node& node, const Inputs& in, const Inputs& held,
                                      const StepInputs& step) {
  const Array<double>& x = in[0].numbers;
  const Shape& shape = in[0].shape;
  switch (node.op) {
    case OpKind::Embedding:
      return embedding_of(node.attributes.as<EmbeddingSpec>(), in);
    case OpKind::Linear:
      return linear_of(node.attributes.as<LinearSpec>(), in);
    case OpKind::Attention:
      return attention_of(node.attributes.as<AttentionSpec>(), in, step);
    case OpKind::RelativeAttention:
      return relative_attention_of(node.attributes.as<RelativeAttentionSpec>(), in, step);
    case OpKind::Concat:
      return reference::concat<double>(x, in[1].numbers, shape[0]);
    case OpKind::LayerNorm:
      return norm_of(node.attributes.as<NormSpec>(), in, held);
    case OpKind::Relu:
      return reference::relu<double>(x);
    case OpKind::Gelu:
      return reference::gelu<double>(x);
    case OpKind::Add: {
      const auto spec = node.attributes.as<AddSpec>();
      return reference::add<double>(x, in[1].numbers, in[2].numbers, in[3].numbers,
                                    static_cast<double>(spec.skip), static_cast<double>(spec.branch),
                                    shape.cols());
    }
    case OpKind::Affine:
      return reference::affine<double>(x, in[1].numbers, in[2].numbers,
                                       static_cast<double>(node.attributes.as<AffineSpec>().constant),
                                       shape.cols());
    case OpKind::Dropout: {
      const auto spec = node.attributes.as<DropoutSpec>();
      return reference::dropout<double>(x, kept(shape.size(), step, spec.kind, spec.site),
                                        scale_of(step, spec.kind));
    }
    case OpKind::SoftmaxXent:
      return loss_of(in, step);
    case OpKind::MeanPool:
      return reference::mean_pool<double>(x, in[1].integers, shape[0], shape[1], shape[2]);
    case OpKind::Conv2d:
      return reference::conv2d<double>(x, in[1].numbers, in[2].numbers,
                                       node.attributes.as<Conv2dSpec>().window);
    case OpKind::MaxPool:
      return reference::max_pool<double>(x, node.attributes.as<MaxPoolSpec>().window);
    default:
      return {};
  }
}

}  // namespace normscope

#include "engine/model/init_rule.h"

#include <cmath>

namespace normscope {
namespace {

/// Residual branches of the whole model: two a layer, three in the decoder of an encoder-decoder.
double branches_of(const StackContext& c) {
  if (c.other_layers == 0) return 2.0 * c.layers;
  return c.decoder ? 3.0 * c.layers + 2.0 * c.other_layers : 2.0 * c.layers + 3.0 * c.other_layers;
}

/// Huang et al. 2020, section 3.2; the embeddings of an encoder-decoder, shared, follow the decoder.
InitGains t_fixup(const StackContext& c) {
  const auto decoder = [](double layers) { return std::pow(9 * layers, -0.25); };
  InitGains g;
  g.value = g.output = g.first = g.second = g.embedding =
      c.decoder ? decoder(c.layers) : 0.67 * std::pow(c.layers, -0.25);
  if (!c.decoder && c.other_layers > 0) g.embedding = decoder(c.other_layers);
  return g;
}

}  // namespace

InitGains init_gains(InitRule rule, const StackContext& context) {
  InitGains g;
  switch (rule) {
    case InitRule::Xavier:
      break;
    case InitRule::Theory:
      g.query = g.key = 0;
      break;
    case InitRule::Normal002:
      g.deviation = 0.02;
      break;
    case InitRule::FixUp:
      g.query = g.key = g.value = std::pow(branches_of(context), -1.0 / 6);
      g.first = std::pow(branches_of(context), -0.5);
      g.output = g.second = 0;
      break;
    case InitRule::TFixup:
      return t_fixup(context);
    case InitRule::LookLinear:
      g.mirrored = true;
      break;
    case InitRule::B2T:
      g.query = g.key = g.value = g.output = g.first = g.second = std::pow(context.layers, -0.5);
      break;
  }
  return g;
}

}  // namespace normscope

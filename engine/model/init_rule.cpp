#include "engine/model/init_rule.h"

#include <cmath>

namespace normscope {
namespace {

/// Counts the residual branches of the whole model: two a layer, three with cross-attention.
double branches_of(const StackContext& c) {
  if (c.other_layers == 0) return 2.0 * c.layers;
  return c.decoder ? 3.0 * c.layers + 2.0 * c.other_layers : 2.0 * c.layers + 3.0 * c.other_layers;
}

// Each row of init_rules.def has a function.

InitGains xavier(const StackContext&) { return {}; }

InitGains theory(const StackContext&) { return {.query = 0, .key = 0}; }

InitGains normal002(const StackContext&) { return {.deviation = 0.02}; }

InitGains fixup(const StackContext& c) {
  InitGains g;
  g.query = g.key = g.value = std::pow(branches_of(c), -1.0 / 6);
  g.first = std::pow(branches_of(c), -0.5);
  g.output = g.second = 0;
  return g;
}

/// Huang et al. 2020, section 3.2; the shared embeddings of an encoder-decoder follow the decoder.
InitGains t_fixup(const StackContext& c) {
  const auto decoder = [](double layers) { return std::pow(9 * layers, -0.25); };
  InitGains g;
  g.value = g.output = g.first = g.second = g.embedding =
      c.decoder ? decoder(c.layers) : 0.67 * std::pow(c.layers, -0.25);
  if (!c.decoder && c.other_layers > 0) g.embedding = decoder(c.other_layers);
  return g;
}

InitGains looklinear(const StackContext&) { return {.mirrored = true}; }

InitGains b2t(const StackContext& c) {
  InitGains g;
  g.query = g.key = g.value = g.output = g.first = g.second = std::pow(c.layers, -0.5);
  return g;
}

}  // namespace

Growth growth_of(Transfer transfer, double width, double depth) {
  if (transfer == Transfer::None) return {};
  Growth g{.width = width, .depth = transfer == Transfer::Mup ? 1 : depth};
  const double alpha = transfer == Transfer::DepthMup ? 0.5 : 1;  // of Dey et al. 2025
  g.branch = std::pow(g.depth, -alpha);
  g.rate = std::pow(g.depth, alpha - 1);
  g.eps = g.branch / width;
  return g;
}

InitGains init_gains(InitRule rule, const StackContext& context) {
  static constexpr InitGains (*kGains[])(const StackContext&) = {
#define INIT_RULE(Name, text, gains) gains,
#include "engine/model/init_rules.def"
#undef INIT_RULE
  };
  return kGains[static_cast<size_t>(rule)](context);
}

}  // namespace normscope

// The table of placements and its readers. A new placement is a row of placements.def; only a number that depends on
// the place in the stack needs a function here.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "engine/core/error.h"
#include "engine/model/wiring.h"

namespace normscope {
namespace {

constexpr NormKind N = NormKind::LayerNorm;  // stands for the norm that the model uses

double deepnorm_alpha(const StackContext& c, int) { return deepnorm_constants(c).alpha; }
double deepnorm_beta(const StackContext& c, int) { return deepnorm_constants(c).beta; }
double subln_gain(const StackContext& c, int) { return normscope::subln_gain(c); }
double inverse_root_of_layer(const StackContext&, int layer) { return 1 / std::sqrt(layer); }
double inverse_root_of_sublayers(const StackContext&, int layer) { return 1 / std::sqrt(2.0 * layer); }
double first_quarter(const StackContext& c, int) { return std::max(1, c.layers / 4); }
double first_layer(const StackContext&, int) { return 1; }
double sublayers_of_stack(const StackContext& c, int) { return c.layers * (c.has_cross() ? 3 : 2); }

const PlacementRow kRows[] = {
#define PLACEMENT(Name, text, long_label, button, ...) \
  PlacementRow{.name = text, .label = long_label, .short_label = button, __VA_ARGS__},
#include "engine/model/placements.def"
#undef PLACEMENT
    PlacementRow{.name = "custom", .label = "Custom", .short_label = "Custom"}};

static_assert(std::size(kPresets) + 1 == std::size(kRows));

void choose_norm(Wiring& w, NormKind norm) {
  for (WiredNorm* at : norms_of(w))
    if (*at != NormKind::None) *at = norm;
}

/// `norm_of` is the norm that the stack has somewhere; LayerNorm where it has none.
NormKind norm_of(const StackWiring& stack) {
  for (const LayerWiring& layer : stack.layers)
    for (const Wiring* w : {&layer.attention, &layer.feed_forward, &layer.cross})
      for (NormKind kind : norms_of(*w))
        if (kind != NormKind::None) return kind;
  for (NormKind kind : norms_of(stack))
    if (kind != NormKind::None) return kind;
  return NormKind::LayerNorm;
}

}  // namespace

const PlacementRow& row_of(Placement placement) { return kRows[static_cast<size_t>(placement)]; }

const char* to_string(Placement placement) { return row_of(placement).name; }
const char* label(Placement placement) { return row_of(placement).label; }

Placement placement_from(std::string_view name) {
  std::string known;
  for (Placement p : kPresets) {
    if (name == to_string(p)) return p;
    known += (known.empty() ? "" : ", ") + std::string(to_string(p));
  }
  fail("placement", "'{}' is not a placement: expected one of {}", name, known);
}

DeepNormConstants deepnorm_constants(const StackContext& c) {
  const double own = c.layers, other = c.other_layers;
  if (c.other_layers == 0) return {std::pow(2 * own, 0.25), std::pow(8 * own, -0.25)};
  if (c.decoder) return {std::pow(3 * own, 0.25), std::pow(12 * own, -0.25)};
  const double n4m = std::pow(own, 4) * other;  // N encoder layers, M decoder layers
  return {0.81 * std::pow(n4m, 1.0 / 16), 0.87 * std::pow(n4m, -1.0 / 16)};
}

double subln_gain(const StackContext& c) {
  if (c.other_layers == 0) return std::sqrt(std::log(2.0 * c.layers));
  if (c.decoder) return std::sqrt(std::log(3.0 * c.layers));
  return std::sqrt(std::log(3.0 * c.other_layers) * std::log(2.0 * c.layers) / 3);
}

LayerWiring preset_layer(Placement placement, NormKind norm, const StackContext& context, int layer) {
  const PlacementRow& row = row_of(placement);
  const bool early = row.early && layer <= row.early_layers(context, layer);
  Wiring w = early ? *row.early : row.sublayer;
  const auto number = [&](PlacementRow::Number n) { return static_cast<float>(n(context, layer)); };
  if (row.skip) w.skip = {Scale::Kind::Constant, number(row.skip)};
  if (row.branch) w.branch = {Scale::Kind::Constant, number(row.branch)};
  if (row.gain) w.init_gain = number(row.gain);
  if (row.pre_scale) w.pre_scale = number(row.pre_scale);
  LayerWiring wiring{w, w, w};
  if (row.cross && context.has_cross()) wiring.cross = *row.cross;
  if (row.feed_forward && !early) wiring.feed_forward = *row.feed_forward;
  Inner& inner = wiring.feed_forward.inner;  // has no heads
  inner.query = inner.key = inner.value = NormKind::None;
  inner.head_scale = false;
  for (Wiring* part : {&wiring.attention, &wiring.cross, &wiring.feed_forward}) choose_norm(*part, norm);
  return wiring;
}

Wiring preset(Placement placement, NormKind norm, const StackContext& context) {
  return preset_layer(placement, norm, context, 1).attention;
}

StackWiring preset_stack(Placement placement, NormKind norm, const StackContext& context) {
  const PlacementRow& row = row_of(placement);
  StackWiring stack;
  for (int layer = 1; layer <= context.layers; ++layer)
    stack.layers.push_back(preset_layer(placement, norm, context, layer));
  if (row.embedding) stack.embedding = norm;
  if (row.final) stack.final = norm;
  if (row.second) stack.second = norm;
  if (row.second_read) stack.second_read = norm;
  if (row.joined) stack.joined = norm;
  stack.streams = row.streams;
  return stack;
}

Placement placement_of(const StackWiring& stack, const StackContext& context) {
  if (static_cast<size_t>(context.layers) != stack.layers.size()) return Placement::Custom;
  const NormKind norm = norm_of(stack);
  for (Placement p : kPresets)
    if (stack.layers.empty() || stack.layers[0] == preset_layer(p, norm, context, 1))
      if (stack == preset_stack(p, norm, context)) return p;
  return Placement::Custom;
}

bool has_norms(Placement placement) {
  const PlacementRow& row = row_of(placement);
  if (row.embedding || row.final || row.second) return true;
  for (NormKind kind : norms_of(row.sublayer))
    if (kind != NormKind::None) return true;
  return false;
}

}  // namespace normscope

// Admin's profiling pass (Liu et al. 2020, section 4; the sequential rule of the authors' code).
#include <cmath>
#include <span>

#include "core/error.h"
#include "model/transformer.h"
#include "tape/seal.h"

namespace normscope {
namespace {

/// Variance over all elements of a tensor, about its overall mean.
double variance(const std::vector<float>& x) {
  double mean = 0, sum = 0;
  for (float v : x) mean += v;
  mean /= static_cast<double>(x.size());
  for (float v : x) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(x.size());
}

void set_skip(Store& store, const SublayerValues& s, double omega) {
  const int32_t p = store.find(s.name + ".skip");
  const std::vector<float> values(static_cast<size_t>(store.parameters()[static_cast<size_t>(p)].shape.size()),
                                  static_cast<float>(omega));
  store.write(p, values);
}

}  // namespace

std::vector<double> profile_admin(Store& store, const ModelConfig& config, std::span<const int32_t> tokens, int32_t batch,
                                  int32_t sequence) {
  Tape tape(store);
  const ModelValues model =
      record_transformer(tape, config, {.batch = batch, .sequence = sequence, .training = false, .probes = false});
  std::vector<SublayerValues> profiled;
  for (size_t i = 0; i < model.sublayers.size(); ++i) {
    const LayerWiring& layer = config.stack().layers[static_cast<size_t>(model.sublayers[i].layer - 1)];
    const Wiring& wiring = model.sublayers[i].name.ends_with(".attn") ? layer.attention : layer.feed_forward;
    if (wiring.skip.kind == Scale::Kind::LearnedVector) profiled.push_back(model.sublayers[i]);
  }
  if (profiled.empty()) return {};

  Program program = seal(tape, {.loss = model.loss, .backward = false});
  if (program.tokens("tokens").size() != tokens.size())
    fail("admin", "the profiling batch has {} tokens: expected {}", tokens.size(), program.tokens("tokens").size());
  std::copy(tokens.begin(), tokens.end(), program.tokens("tokens").begin());
  for (int32_t& target : program.tokens("targets")) target = -1;

  std::vector<double> omegas = {1.0};
  for (const SublayerValues& s : profiled) set_skip(store, s, 1.0);
  // One forward per sub-layer, each with every earlier omega in force: simple, and milliseconds at start only.
  for (size_t i = 0; i + 1 < profiled.size(); ++i) {
    program.replay({});
    const double x = variance(program.read(tape.value(profiled[i].input).name));
    const double a = variance(program.read(tape.value(profiled[i].branch).name));
    omegas.push_back(std::sqrt(omegas[i] * omegas[i] * x + a));
    set_skip(store, profiled[i + 1], omegas.back());
  }
  return omegas;
}

}  // namespace normscope

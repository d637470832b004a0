// Admin's profiling pass (Liu et al. 2020, section 4) by both rules: see model/transformer.h.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "engine/core/error.h"
#include "engine/model/transformer.h"
#include "engine/tape/seal.h"

namespace normscope {
namespace {

/// The variance over all elements of a tensor, about their common mean.
double variance(const std::vector<float>& x) {
  double mean = 0, sum = 0;
  for (float v : x) mean += v;
  mean /= static_cast<double>(x.size());
  for (float v : x) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(x.size());
}

void set_skip(Store& store, const SublayerValues& s, double omega) {
  const int32_t p = store.find(s.name + ".skip");
  const std::vector<float> values(
      static_cast<size_t>(store.parameters()[static_cast<size_t>(p)].shape.size()),
      static_cast<float>(omega));
  store.write(p, values);
}

/// What a branch brings to the sum: its values times the wired factor, which may be learned, one for each feature.
std::vector<float> times_factor(std::vector<float> branch, const Store& store, const SublayerValues& s,
                                const Scale& scale) {
  std::vector<float> factor{scale.value};
  if (scale.kind == Scale::Kind::LearnedScalar || scale.kind == Scale::Kind::LearnedVector)
    factor = store.read(store.find(s.name + ".branch"));
  for (size_t i = 0; i < branch.size(); ++i) branch[i] *= factor[i % factor.size()];
  return branch;
}

/// The unpadded rows of x.
std::vector<float> visible(std::vector<float> x, std::span<const int32_t> lengths) {
  if (lengths.empty()) return x;
  const size_t row = x.size() / lengths.size();  // of all positions; their number does not matter here
  std::vector<float> kept;
  for (size_t r = 0; r < lengths.size(); ++r) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(r * row);
    kept.insert(kept.end(), first, first + static_cast<std::ptrdiff_t>(lengths[r]));
  }
  return kept;
}

void fill(Program& program, const char* name, std::span<const int32_t> values) {
  if (values.empty()) return;
  const auto to = program.tokens(name);
  if (to.size() != values.size())
    fail("admin", "the profiling batch has {} numbers of {}: expected {}", values.size(), name, to.size());
  std::ranges::copy(values, to.begin());
}

}  // namespace

const Wiring& wiring_of(const ModelConfig& config, const SublayerValues& s) {
  const bool encoder = config.architecture == Architecture::Encoder || s.name.starts_with("enc.");
  const LayerWiring& layer =
      (encoder ? config.encoder : config.decoder).layers[static_cast<size_t>(s.layer - 1)];
  if (s.name.ends_with(".cross")) return layer.cross;
  return s.name.ends_with(".attn") ? layer.attention : layer.feed_forward;
}

std::vector<double> profile_admin(Store& store, const ModelConfig& config, const RecordOptions& options,
                                  const ProfileInputs& inputs) {
  RecordOptions quiet = options;
  quiet.training = quiet.probes = false;
  Tape tape(store);
  const ModelValues model = record_transformer(tape, config, quiet);
  std::vector<SublayerValues> profiled;
  for (const SublayerValues& s : model.sublayers)
    if (wiring_of(config, s).skip.profile != Scale::Profile::None) profiled.push_back(s);
  if (profiled.empty()) return {};

  Program program = seal(tape, {.loss = model.loss, .backward = false});
  fill(program, "tokens", inputs.tokens);
  if (config.architecture == Architecture::EncoderDecoder) fill(program, "source", inputs.source);
  if (options.key_lengths) fill(program, "key_lengths", inputs.key_lengths);
  if (!inputs.types.empty()) fill(program, "types", inputs.types);
  for (int32_t& target : program.tokens("targets")) target = -1;

  const auto in_decoder = [&](size_t k) { return !profiled[k].name.starts_with("enc."); };
  const auto variance_of = [&](std::vector<float> values, size_t k) {
    const bool decoder_lengths = in_decoder(k) && config.architecture == Architecture::EncoderDecoder;
    const auto lengths = !options.key_lengths ? std::span<const int32_t>{}
                         : decoder_lengths    ? inputs.target_lengths
                                              : inputs.key_lengths;
    std::vector<int32_t> floats(lengths.begin(), lengths.end());
    for (int32_t& length : floats) length *= config.d_model;
    return variance(visible(std::move(values), floats));
  };
  const auto stream_variance = [&](size_t k) {
    return variance_of(program.read(tape.value(profiled[k].entered).name), k);
  };
  const auto branch_variance = [&](size_t k) {
    return variance_of(times_factor(program.read(tape.value(profiled[k].branch).name), store, profiled[k],
                                    wiring_of(config, profiled[k]).branch),
                       k);
  };
  const auto starts_chain = [&](size_t k) { return k == 0 || in_decoder(k) != in_decoder(k - 1); };
  std::vector<double> omegas(profiled.size(), 1.0);
  for (const SublayerValues& s : profiled) set_skip(store, s, 1.0);

  // The paper's rule comes first: it measures with every omega at one.
  program.replay({});
  double sum = 0;
  for (size_t i = 0; i < profiled.size(); ++i) {
    if (starts_chain(i)) sum = 0;
    if (wiring_of(config, profiled[i]).skip.profile == Scale::Profile::AtOnce && !starts_chain(i))
      omegas[i] = std::sqrt(sum);
    sum += branch_variance(i);
  }
  for (size_t i = 0; i < profiled.size(); ++i) set_skip(store, profiled[i], omegas[i]);

  // One forward per sub-layer, each with every earlier omega in force: simple, and milliseconds at start only.
  for (size_t i = 1; i < profiled.size(); ++i) {
    if (starts_chain(i) || wiring_of(config, profiled[i]).skip.profile != Scale::Profile::Sequential)
      continue;
    program.replay({});
    omegas[i] = std::sqrt(omegas[i - 1] * omegas[i - 1] * stream_variance(i - 1) + branch_variance(i - 1));
    set_skip(store, profiled[i], omegas[i]);
  }
  return omegas;
}

std::vector<double> profile_admin(Store& store, const ModelConfig& config, std::span<const int32_t> tokens,
                                  int32_t batch, int32_t sequence) {
  return profile_admin(store, config, {.batch = batch, .sequence = sequence, .source_sequence = sequence},
                       {.tokens = tokens, .source = tokens, .key_lengths = {}, .target_lengths = {}});
}

}  // namespace normscope

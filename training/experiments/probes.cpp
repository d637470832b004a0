#include "training/experiments/probes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

#include "engine/core/error.h"
#include "engine/core/stopwatch.h"
#include "engine/cpu/isa.h"
#include "engine/tape/store.h"
#include "training/data/task.h"
#include "training/data/text_source.h"
#include "training/measure/history.h"
#include "training/measure/look.h"
#include "training/run/critical_rate.h"
#include "training/run/run.h"

namespace normscope::experiments {

Batch validation_batch(const Task& task, const RunSpec& spec, int32_t sequences) {
  return task.draw(spec.seed, 1, Split::Validation, sequences, spec.model.sequence);
}

CriticalShares critical_shares() { return {1 / kMaxMultiple, 1 / kMinMultiple}; }

ModelConfig theory_setting(const ModelConfig& model, int32_t feed_forward) {
  const Placement placement = placement_of(model.stack(), context_of(model, true));
  ModelConfig config = model;
  config.architecture = Architecture::Encoder;
  config.heads = 1;
  config.feed_forward = feed_forward > 0 ? feed_forward : model.d_model;
  // With few labels instead of a thousand, the gradients of positions would add up where states are alike.
  config.vocabulary = 1000;
  config.sequence = 32;
  config.init = InitRule::Theory;
  config.gaussian_input = true;
  config.tied_output = false;
  config.output_projection = false;
  // A wiring that is no placement's has no name by which it could be made anew.
  if (placement == Placement::Custom)
    config.encoder = model.stack();
  else
    set_placement(config, placement);
  return config;
}

namespace {

double sum_of_squares(std::span<const float> x) {
  return std::accumulate(x.begin(), x.end(), 0.0,
                         [](double a, float v) { return a + static_cast<double>(v) * v; });
}

/// The sum of squares of each position.
std::vector<double> squares(const Look& look, ValueId value) {
  const std::vector<float> x = look.read(value);
  const auto width = static_cast<size_t>(look.shape(value).cols());
  std::vector<double> sums;
  for (size_t at = 0; at < x.size(); at += width)
    sums.push_back(sum_of_squares(std::span(x).subspan(at, width)));
  return sums;
}

double mean_square(const Look& look, ValueId value) {
  const std::vector<float> x = look.read(value);
  return sum_of_squares(x) / static_cast<double>(x.size());
}

}  // namespace

std::vector<double> stream_squares(Store& store, const ModelConfig& config, const Batch& batch,
                                   std::string_view sublayer) {
  Look look(store, config, batch);
  look.replay();
  std::vector<double> means;
  for (const SublayerValues& s : look.values().sublayers)
    if (s.name.ends_with(sublayer)) means.push_back(mean_square(look, s.sum));
  return means;
}

std::vector<double> path_squares(Store& store, const ModelConfig& config, const Batch& batch, bool branches) {
  Look look(store, config, batch);
  look.replay();
  std::vector<double> means;
  if (!branches) means.push_back(mean_square(look, look.values().embedding));
  for (const SublayerValues& s : look.values().sublayers)
    means.push_back(mean_square(look, branches ? s.branch : s.sum));
  return means;
}

std::vector<double> shares_above_tenth(Store& store, const ModelConfig& config, const Batch& batch,
                                       std::string_view sublayer) {
  Look look(store, config, batch);
  look.replay();
  std::vector<double> shares;
  for (const SublayerValues& s : look.values().sublayers)
    if (s.name.ends_with(sublayer)) {
      const std::vector<double> all = squares(look, s.sum);
      const auto n = static_cast<double>(all.size());
      const double mean = std::accumulate(all.begin(), all.end(), 0.0) / n;
      shares.push_back(
          static_cast<double>(std::ranges::count_if(all, [&](double z) { return z > 1.1 * mean; })) / n);
    }
  return shares;
}

std::vector<double> norms_to_the_last(const ModelConfig& config) {
  if (!is_transformer(config.architecture))
    fail("measure", "a branch meets others in a transformer: expected another model.architecture");
  const auto count = [](std::initializer_list<NormKind> norms) {
    return std::ranges::count_if(norms, [](NormKind kind) { return kind != NormKind::None; });
  };
  std::vector<const Wiring*> sublayers;
  for (const LayerWiring& layer : config.stack().layers) {
    sublayers.push_back(&layer.attention);
    if (config.architecture == Architecture::EncoderDecoder) sublayers.push_back(&layer.cross);
    sublayers.push_back(&layer.feed_forward);
  }
  std::vector<double> norms;
  for (size_t branch = 0; branch + 1 < sublayers.size(); ++branch) {
    auto passed = count({sublayers[branch]->after, sublayers[branch]->stream});
    for (size_t k = branch + 1; k + 1 < sublayers.size(); ++k)
      passed += count({sublayers[k]->enter, sublayers[k]->stream});
    norms.push_back(static_cast<double>(passed + count({sublayers.back()->enter, sublayers.back()->before})));
  }
  return norms;
}

double log_offset(Store& store, const ModelConfig& config, const Batch& batch) {
  Look look(store, config, batch);
  look.replay();
  double branches = 0;
  for (const SublayerValues& s : look.values().sublayers)
    branches += mean_square(look, s.branch) / static_cast<double>(look.values().sublayers.size());
  return mean_square(look, look.values().embedding) / branches + 0.5;
}

std::vector<double> skip_scales(const Store& store, const ModelConfig& config) {
  std::vector<double> scales;
  for (int32_t layer = 1; layer <= config.layers; ++layer)
    for (const char* sub : {"attn", "ffn"}) {
      const LayerWiring& wiring = config.stack().layers[static_cast<size_t>(layer - 1)];
      const Scale& skip = (sub[0] == 'a' ? wiring.attention : wiring.feed_forward).skip;
      const int32_t learned = store.find(fmt::format("L{:02}.{}.skip", layer, sub));
      if (learned < 0) {
        scales.push_back(skip.kind == Scale::Kind::Constant ? skip.value : 1.0);
        continue;
      }
      const std::vector<float> values = store.read(learned);
      scales.push_back(std::accumulate(values.begin(), values.end(), 0.0) /
                       static_cast<double>(values.size()));
    }
  return scales;
}

double change_by_one_step(const RunSpec& spec, const std::shared_ptr<const Task>& task, Backend& backend) {
  Run run(spec, task, backend);
  const Batch batch = validation_batch(*task, run.spec(), 2);
  Store before = run.store().clone();
  run.step();
  return output_difference(before, run.store(), run.spec().model, batch);
}

namespace {

static_assert(std::endian::native == std::endian::little);  // the bytes that are hashed

uint64_t add(uint64_t hash, std::span<const float> values) {
  return hash_bytes({reinterpret_cast<const char*>(values.data()), values.size_bytes()}, hash);
}

}  // namespace

FirstSteps take_first_steps(Backend& backend, int32_t steps, const std::function<bool()>& stop) {
  FirstSteps first;
  uint64_t hash = hash_bytes({});
  double tokens = 0;
  for (const RunSpec& spec : default_comparison()) {
    const std::shared_ptr<const Task> task = make_task(spec.data);
    Run run(spec, task, backend);
    Stopwatch clock;
    bool stopped = false;
    for (int32_t step = 0; step < steps && !stopped; ++step) {
      stopped = stop && stop();
      if (stopped) continue;
      run.step();
      clock.lap();
    }
    first.seconds += clock.seconds();
    tokens += steps * units_of_step(spec);
    first.losses.push_back(run.history()->loss().values);
    if (stopped) return first;
    hash = add(hash, first.losses.back());
    const Store& store = run.store();
    for (size_t p = 0; p < store.parameters().size(); ++p)
      hash = add(hash, store.read(static_cast<int32_t>(p)));
  }
  first.checksum = fmt::format("{:016x}", hash);
  first.tokens_per_second = first.seconds > 0 ? tokens / first.seconds : 0;
  return first;
}

std::string report_of(const FirstSteps& first, int32_t threads, bool json) {
  if (!json)
    return fmt::format("{} steps of the default comparison, {}, threads {}: checksum {}, {:.0f} tokens/s\n",
                       kChecksumSteps, cpu::choose_isa(), threads, first.checksum, first.tokens_per_second);
  const nlohmann::json row = {{"checksum", first.checksum},
                              {"instruction_set", cpu::choose_isa()},
                              {"threads", threads},
                              {"steps", kChecksumSteps},
                              {"losses", first.losses},
                              {"seconds", first.seconds},
                              {"tokens_per_second", first.tokens_per_second}};
  return row.dump() + "\n";
}

}  // namespace normscope::experiments

#include "training/experiments/probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/core/error.h"
#include "engine/tape/seal.h"
#include "training/run/edge/critical_rate.h"
#include "training/run/run.h"

namespace normscope::lessons {

MeasureBatch validation_batch(const Task& task, const RunSpec& spec, int32_t sequences) {
  const int32_t T = spec.model.sequence;
  MeasureBatch batch{.B = sequences, .T = T, .tokens = {}, .targets = {}, .x = {}};
  batch.tokens.resize(static_cast<size_t>(sequences) * static_cast<size_t>(T));
  batch.targets.resize(batch.tokens.size());
  task.batch(spec.seed, 1, Split::Validation, sequences, T, batch.tokens, batch.targets);
  return batch;
}

CriticalShares critical_shares() { return {1 / kMostMultiple, 1 / kLeastMultiple}; }

ModelConfig theory_setting(const ModelConfig& model, int32_t feed_forward) {
  const Placement placement = placement_of(model.stack(), context_of(model, true));
  ModelConfig config = model;
  config.architecture = Architecture::Encoder;
  config.heads = 1;
  config.feed_forward = feed_forward > 0 ? feed_forward : model.d_model;
  // A thousand labels: with few of them the gradients of positions would add up where states are alike.
  config.vocabulary = 1000;
  config.sequence = 32;
  config.init = InitRule::Theory;
  config.gaussian_input = true;
  config.tied_output = false;
  config.output_projection = false;
  set_placement(config, placement);
  return config;
}

namespace {

/// A model and what one batch has left in its tensors.
struct Forward {
  Forward(Store& store, const ModelConfig& config, const MeasureBatch& batch)
      : tape(store),
        model(record_transformer(
            tape, config, {.batch = batch.B, .sequence = batch.T, .training = false, .probes = false})),
        program(seal(tape, {.loss = model.loss, .backward = false})) {
    if (config.gaussian_input)
      std::copy(batch.x.begin(), batch.x.end(), program.floats("x").begin());
    else
      std::copy(batch.tokens.begin(), batch.tokens.end(), program.tokens("tokens").begin());
    std::copy(batch.targets.begin(), batch.targets.end(), program.tokens("targets").begin());
    program.replay({});
  }
  /// Of each position, the sum of squares.
  std::vector<double> squares(ValueId value) const {
    const std::vector<float> x = program.read(tape.value(value).name);
    const auto width = tape.shape(value).cols();
    std::vector<double> sums;
    for (auto row = x.begin(); row != x.end(); row += width)
      sums.push_back(std::accumulate(row, row + width, 0.0,
                                     [](double a, float v) { return a + static_cast<double>(v) * v; }));
    return sums;
  }
  double mean_square(ValueId value) const {
    const std::vector<float> x = program.read(tape.value(value).name);
    const double sum = std::accumulate(x.begin(), x.end(), 0.0,
                                       [](double a, float v) { return a + static_cast<double>(v) * v; });
    return sum / static_cast<double>(x.size());
  }

  Tape tape;
  ModelValues model;
  Program program;
};

}  // namespace

std::vector<double> stream_squares(Store& store, const ModelConfig& config, const MeasureBatch& batch,
                                   std::string_view sublayer) {
  const Forward forward(store, config, batch);
  std::vector<double> squares;
  for (const SublayerValues& s : forward.model.sublayers)
    if (s.name.ends_with(sublayer)) squares.push_back(forward.mean_square(s.sum));
  return squares;
}

std::vector<double> shares_above_tenth(Store& store, const ModelConfig& config, const MeasureBatch& batch,
                                       std::string_view sublayer) {
  const Forward forward(store, config, batch);
  std::vector<double> shares;
  for (const SublayerValues& s : forward.model.sublayers)
    if (s.name.ends_with(sublayer)) {
      const std::vector<double> squares = forward.squares(s.sum);
      const double mean =
          std::accumulate(squares.begin(), squares.end(), 0.0) / static_cast<double>(squares.size());
      shares.push_back(static_cast<double>(std::count_if(squares.begin(), squares.end(),
                                                         [&](double z) { return z > 1.1 * mean; })) /
                       static_cast<double>(squares.size()));
    }
  return shares;
}

std::vector<double> norms_to_the_last(const ModelConfig& config) {
  if (!is_transformer(config.architecture))
    fail("measure", "a branch meets others in a transformer: expected another model.architecture");
  const auto count = [](std::initializer_list<NormKind> norms) {
    return std::count_if(norms.begin(), norms.end(), [](NormKind kind) { return kind != NormKind::None; });
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

double log_offset(Store& store, const ModelConfig& config, const MeasureBatch& batch) {
  const Forward forward(store, config, batch);
  double branches = 0;
  for (const SublayerValues& s : forward.model.sublayers)
    branches += forward.mean_square(s.branch) / static_cast<double>(forward.model.sublayers.size());
  return forward.mean_square(forward.model.embedding) / branches + 0.5;
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
  const MeasureBatch batch = validation_batch(*task, run.spec(), 2);
  Store before = run.store().clone();
  run.step();
  return output_difference(before, run.store(), run.spec().model, batch);
}

}  // namespace normscope::lessons

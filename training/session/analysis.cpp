#include "training/session/analysis.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/error.h"
#include "training/run/evaluate.h"

namespace normscope {

std::vector<MatrixSpectra> next_spectra(const Run& run, std::optional<int32_t> layer) {
  const std::unique_ptr<Run> copy = run.fork(run.spec());
  copy->measure_live(false);
  const std::vector<int32_t>& trained = copy->program().data().parameter_order;
  std::vector<std::vector<float>> before;
  for (const int32_t p : trained) before.push_back(copy->store().read(p));
  copy->step();
  std::vector<MatrixSpectra> all;
  for (size_t i = 0; i < trained.size(); ++i) {
    const ParameterInfo& info = copy->store().parameters()[static_cast<size_t>(trained[i])];
    const auto rows = static_cast<size_t>(info.shape.rows()), cols = static_cast<size_t>(info.shape.cols());
    if (info.shape.rank != 2 || std::min(rows, cols) < 2 || (layer && info.layer != *layer)) continue;
    std::vector<double> weights(before[i].begin(), before[i].end()), update(weights.size());
    const std::vector<float> after = copy->store().read(trained[i]);
    for (size_t n = 0; n < update.size(); ++n) update[n] = static_cast<double>(after[n]) - weights[n];
    all.push_back({info.name,
                   info.layer,
                   {singular_values(std::move(update), rows, cols)},
                   {singular_values(std::move(weights), rows, cols)}});
  }
  return all;
}

namespace {

constexpr int32_t kMaxBatches = 4;  // each of dozens of losses takes a pass over every batch

void require_branches(const ModelConfig& model) {
  if (is_transformer(model.architecture)) return;
  fail("ablation",
       "{} has no residual branches to leave out: expected a transformer, or --what loss without --without",
       row_of(model.architecture).learner);
}

void check_names(const ModelConfig& model, const std::vector<std::string>& names) {
  if (!names.empty()) require_branches(model);
  const std::vector<std::string> known = ablation_names(model);
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end()) {
      fail("ablation", "'{}' is no layer of this model: expected {} to {}, or a sub-layer such as {}.attn",
           name, known.front(), stack_layers(model).back().layers.back(), known.front());
    }
}

}  // namespace

std::vector<StackLayers> stack_layers(const ModelConfig& model) {
  const auto named = [](const char* prefix, const StackWiring& stack, std::vector<std::string> parts) {
    StackLayers one{prefix, {}, std::move(parts)};
    for (size_t l = 1; l <= stack.layers.size(); ++l)
      one.layers.push_back(fmt::format("{}L{:02}", prefix, l));
    return one;
  };
  if (model.architecture != Architecture::EncoderDecoder)
    return {named("", model.stack(), {".attn", ".ffn"})};
  return {named("enc.", model.encoder, {".attn", ".ffn"}),
          named("dec.", model.decoder, {".attn", ".cross", ".ffn"})};
}

std::vector<std::string> ablation_names(const ModelConfig& model) {
  std::vector<std::string> names, sublayers;
  for (const StackLayers& stack : stack_layers(model))
    for (const std::string& layer : stack.layers) {
      names.push_back(layer);
      for (const std::string& part : stack.parts) sublayers.push_back(layer + part);
    }
  names.insert(names.end(), sublayers.begin(), sublayers.end());
  return names;
}

double loss_without(Run& run, const std::vector<std::string>& names) {
  const RunSpec& spec = run.spec();
  check_names(spec.model, names);
  return Validator(run.store(), spec.model, run.task(), spec.seed, spec.train.batch, names, kMaxBatches)
      .measure();
}

std::vector<double> losses_without(Run& run, const std::vector<std::string>& layers, bool last) {
  std::vector<double> losses;
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto first = last ? layers.end() - static_cast<std::ptrdiff_t>(i + 1)
                            : layers.begin() + static_cast<std::ptrdiff_t>(i);
    losses.push_back(loss_without(run, {first, last ? layers.end() : first + 1}));
  }
  return losses;
}

Ablation layer_ablation(Run& run, std::vector<std::string> chosen) {
  const ModelConfig& model = run.spec().model;
  require_branches(model);
  check_names(model, chosen);
  Ablation a;
  a.step = run.steps_done();
  a.whole = loss_without(run, {});
  for (const auto& [prefix, layers, parts] : stack_layers(model)) {
    const std::vector<double> alone = losses_without(run, layers, false),
                              top = losses_without(run, layers, true);
    const auto depth = static_cast<int32_t>(layers.size());
    for (int32_t l = 1; l <= depth; ++l) {
      const std::string& layer = layers[static_cast<size_t>(l) - 1];
      a.layers.push_back({layer, l, 1, alone[static_cast<size_t>(l) - 1]});
      for (const std::string& part : parts)
        a.sublayers.push_back({layer + part, l, 1, loss_without(run, {layer + part})});
    }
    for (int32_t l = depth; l >= 1; --l) {
      const std::string& layer = layers[static_cast<size_t>(l) - 1];
      a.from_top.push_back({l == depth ? layer : fmt::format("{}-{}", layer, layers.back()), l, depth - l + 1,
                            top[static_cast<size_t>(depth - l)]});
    }
  }
  a.chosen = std::move(chosen);
  if (!a.chosen.empty()) a.chosen_loss = loss_without(run, a.chosen);
  return a;
}

}  // namespace normscope

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

constexpr int32_t kMostBatches = 4;  // each of dozens of losses takes a pass over every batch

struct Stack {
  const char* prefix;
  int32_t layers;
  bool cross;
};

std::vector<Stack> stacks_of(const ModelConfig& model) {
  const auto depth = [](const StackWiring& stack) { return static_cast<int32_t>(stack.layers.size()); };
  if (model.architecture != Architecture::EncoderDecoder) return {{"", depth(model.stack()), false}};
  return {{"enc.", depth(model.encoder), false}, {"dec.", depth(model.decoder), true}};
}

std::string layer_name(const Stack& stack_layout, int32_t layer) {
  return fmt::format("{}L{:02}", stack_layout.prefix, layer);
}

std::vector<const char*> parts_of(const Stack& stack_layout) {
  if (stack_layout.cross) return {".attn", ".cross", ".ffn"};
  return {".attn", ".ffn"};
}

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
      const Stack stack_layout = stacks_of(model).back();
      fail("ablation", "'{}' is no layer of this model: expected {} to {}, or a sub-layer such as {}.attn",
           name, known.front(), layer_name(stack_layout, stack_layout.layers), known.front());
    }
}

}  // namespace

std::vector<std::string> ablation_names(const ModelConfig& model) {
  std::vector<std::string> names;
  for (const Stack& stack_layout : stacks_of(model))
    for (int32_t l = 1; l <= stack_layout.layers; ++l) names.push_back(layer_name(stack_layout, l));
  for (const Stack& stack_layout : stacks_of(model))
    for (int32_t l = 1; l <= stack_layout.layers; ++l)
      for (const char* part : parts_of(stack_layout)) names.push_back(layer_name(stack_layout, l) + part);
  return names;
}

double loss_without(Run& run, const std::vector<std::string>& names) {
  const RunSpec& spec = run.spec();
  check_names(spec.model, names);
  return Validator(run.store(), spec.model, run.task(), spec.seed, spec.train.batch, names, kMostBatches)
      .measure();
}

Ablation layer_ablation(Run& run, std::vector<std::string> chosen) {
  const ModelConfig& model = run.spec().model;
  require_branches(model);
  check_names(model, chosen);
  Ablation a;
  a.step = run.steps_done();
  a.whole = loss_without(run, {});
  for (const Stack& stack_layout : stacks_of(model)) {
    std::vector<std::string> top;
    for (int32_t l = 1; l <= stack_layout.layers; ++l) {
      const std::string layer = layer_name(stack_layout, l);
      a.layers.push_back({layer, l, 1, loss_without(run, {layer})});
      for (const char* part : parts_of(stack_layout))
        a.sublayers.push_back({layer + part, l, 1, loss_without(run, {layer + part})});
    }
    for (int32_t l = stack_layout.layers; l >= 1; --l) {
      top.push_back(layer_name(stack_layout, l));
      const std::string name =
          l == stack_layout.layers ? top.front() : fmt::format("{}-{}", top.back(), top.front());
      a.from_top.push_back({name, l, static_cast<int32_t>(top.size()), loss_without(run, top)});
    }
  }
  a.chosen = std::move(chosen);
  if (!a.chosen.empty()) a.chosen_loss = loss_without(run, a.chosen);
  return a;
}

}  // namespace normscope

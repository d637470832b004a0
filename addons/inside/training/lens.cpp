#include "addons/inside/training/lens.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/model/transformer.h"
#include "engine/tape/seal.h"
#include "training/measure/look.h"

namespace normscope {
namespace {

const ValueInfo& info(const Program& program, ValueId value) {
  return program.data().values[static_cast<size_t>(value)];
}

std::vector<float> numbers_of(const Program& program, ValueId value) {
  std::vector<float> numbers(static_cast<size_t>(info(program, value).shape.size()));
  program.read_front(value, numbers);
  return numbers;
}

/// The places of the largest numbers of a row, the largest first; of equal ones the first comes first.
std::vector<int32_t> largest(std::span<const float> row, size_t count) {
  std::vector<int32_t> best;
  const auto before = [&](float number, int32_t other) { return number > row[static_cast<size_t>(other)]; };
  for (size_t v = 0; v < row.size(); ++v) {
    if (best.size() == count && !before(row[v], best.back())) continue;
    if (best.size() == count) best.pop_back();
    best.insert(std::upper_bound(best.begin(), best.end(), row[v], before), static_cast<int32_t>(v));
  }
  return best;
}

}  // namespace

Said::Said(const Program& program, ValueId logits, ValueId loss)
    : width_(static_cast<size_t>(info(program, logits).shape.cols())),
      logits_(numbers_of(program, logits)),
      log_sums_(numbers_of(program,
                           program.data().nodes[static_cast<size_t>(info(program, loss).node)].saved[0])) {}

std::vector<float> Said::losses(std::span<const int32_t> targets) const {
  std::vector<float> losses;
  for (size_t t = 0; t < targets.size(); ++t) {
    const bool asked = targets[t] >= 0 && static_cast<size_t>(targets[t]) < width_;
    losses.push_back(asked ? log_sum(t) - row(t)[static_cast<size_t>(targets[t])]
                           : std::numeric_limits<float>::quiet_NaN());
  }
  return losses;
}

Inside::Lens lens_of(Store& store, const ModelConfig& model, const Batch& text, const LayerState& layer,
                     int32_t guesses) {
  Tape tape(store);
  const ModelValues end = record_end(tape, model, record_options(shape_of(text), false));
  Program program =
      seal(tape, {.loss = end.loss, .backward = false, .reuse_bytes = true, .keep_probabilities = false});
  put(text, program);
  std::ranges::copy(layer.state, program.floats("state").begin());
  if (!layer.second.empty()) std::ranges::copy(layer.second, program.floats("state.second").begin());
  program.replay({});
  const Said said(program, end.logits, end.loss);
  Inside::Lens lens;
  lens.name = layer.name;
  lens.layer = layer.layer;
  lens.loss = program.loss();
  for (const float loss : said.losses(text.targets)) lens.right.push_back(std::exp(-loss));
  for (size_t t = 0; t < text.tokens.size(); ++t)
    for (const int32_t token : largest(said.row(t), static_cast<size_t>(guesses)))
      lens.guesses.push_back({token, std::exp(said.row(t)[static_cast<size_t>(token)] - said.log_sum(t))});
  return lens;
}

}  // namespace normscope

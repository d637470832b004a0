// Direct logit attribution: which sub-layers and heads a logit comes from (Elhage et al. 2021, "A mathematical
// framework for transformer circuits"; with the statistics of norms held, as TransformerLens has it).
#include <algorithm>

#include "addons/inside/training/inside.h"

namespace normscope {
namespace {

/// The vector that reads a token's state: the column of its symbol less the mean column; (tokens, D). It reads the
/// table in parts, because a copy of the whole would be the largest allocation.
std::vector<float> directions_of(const Store& store, int32_t table, bool symbols_first,
                                 std::span<const int32_t> symbols) {
  const Shape& shape = store.parameters()[static_cast<size_t>(table)].shape;
  const auto rows = static_cast<size_t>(shape[0]), columns = static_cast<size_t>(shape[1]);
  const size_t width = symbols_first ? columns : rows, vocabulary = symbols_first ? rows : columns;
  const size_t at_once = std::max(size_t{1}, (size_t{1} << 18) / columns);
  std::vector<double> mean(width);
  std::vector<float> directions(symbols.size() * width), stretch;
  for (size_t first = 0; first < rows; first += at_once) {
    stretch.resize(std::min(at_once, rows - first) * columns);
    store.read_part(table, first * columns, stretch);
    for (size_t i = 0; i < stretch.size(); ++i)
      mean[symbols_first ? i % columns : first + i / columns] += static_cast<double>(stretch[i]);
    for (size_t t = 0; t < symbols.size() && !symbols_first; ++t)
      for (size_t r = 0; r * columns < stretch.size(); ++r)
        directions[t * width + first + r] = stretch[r * columns + static_cast<size_t>(symbols[t])];
  }
  for (size_t t = 0; t < symbols.size(); ++t) {
    const std::span direction = std::span(directions).subspan(t * width, width);
    if (symbols_first) store.read_part(table, static_cast<size_t>(symbols[t]) * columns, direction);
    for (size_t i = 0; i < width; ++i)
      direction[i] -= static_cast<float>(mean[i] / static_cast<double>(vocabulary));
  }
  return directions;
}

/// The product of each token's row with its direction.
std::vector<float> read_by(std::span<const float> directions, std::span<const float> states, size_t width) {
  std::vector<float> parts;
  for (size_t at = 0; at < directions.size(); at += width)
    parts.push_back(
        static_cast<float>(cpu::dots(&directions[at], &states[at], static_cast<int64_t>(width)).ab));
  return parts;
}

/// The part of each head, (heads, T): its output times its rows of the output matrix. Empty where more than a norm is
/// between that product and the branch.
std::vector<float> heads_of(Look& look, const Store& store, const SublayerValues& s, size_t heads,
                            std::span<const float> of_branch, size_t width) {
  const Node* product = look.last_product(s);
  std::vector<float> direction(of_branch.begin(), of_branch.end());
  if (!product || !look.follow_norm(s.branch, product->out, direction)) return {};
  const std::vector<float> read = look.read(product->in[0]), matrix = store.read(store.find(s.name + ".wo"));
  const size_t tokens = direction.size() / width, rows = matrix.size() / width, of_head = rows / heads;
  std::vector<float> parts, said(width);
  for (size_t h = 0; h < heads; ++h)
    for (size_t t = 0; t < tokens; ++t) {
      std::ranges::fill(said, 0.0f);
      for (size_t i = h * of_head; i < (h + 1) * of_head; ++i)
        cpu::add_scaled(&matrix[i * width], read[t * rows + i], said.data(), static_cast<int64_t>(width));
      parts.push_back(read_by(std::span(direction).subspan(t * width, width), said, width)[0]);
    }
  return parts;
}

}  // namespace

void attribute_logits(Look& look, const Store& store, const ModelConfig& model, std::vector<int32_t> symbols,
                      Inside& inside) {
  const ModelValues& values = look.values();
  const int32_t table = store.find(output_table(model));
  const auto width = static_cast<size_t>(model.d_model);
  if (std::ranges::max(inside.targets) < 0) return;  // a model without a head, too
  if (table < 0 || model.masked_head || model.classes > 0 || model.embedding_width > 0) return;
  const Shape& shape = store.parameters()[static_cast<size_t>(table)].shape;
  if (shape.rank != 2 || shape.size() != int64_t{model.vocabulary} * model.d_model) return;

  Inside::LogitAttribution found;
  found.symbol = std::move(symbols);
  std::vector<float> direction = directions_of(store, table, shape[0] == model.vocabulary, found.symbol);
  found.logit = read_by(direction, look.read(values.hidden), width);
  if (!look.follow_norm(values.hidden, values.sublayers.back().output, direction)) return;
  std::vector<std::vector<float>> parts(values.sublayers.size()), of_heads(values.sublayers.size());
  const auto read_branch = [&](size_t place, std::span<const float> of_branch) {
    const SublayerValues& s = values.sublayers[place];
    parts[place] = read_by(of_branch, look.read(s.branch), width);
    if (s.probabilities != kNone)
      of_heads[place] = heads_of(look, store, s, static_cast<size_t>(model.heads), of_branch, width);
  };
  if (!look.follow_down(direction, read_branch)) return;
  found.embedding = read_by(direction, look.read(values.embedding), width);
  inside.attributed = std::move(found);
  for (size_t i = 0; i < parts.size(); ++i) {
    inside.sublayers[i].attribution = std::move(parts[i]);
    for (Inside::Attention& attention : inside.attention)
      if (attention.name == inside.sublayers[i].name) attention.attribution = std::move(of_heads[i]);
  }
}

}  // namespace normscope

#include "addons/bench/training/measurements.h"

#include <algorithm>

#include "training/measure/look.h"

namespace normscope {
namespace {

struct ReplayedRun {
  const Look& look;
  const Batch& batch;

  /// Unpadded positions of each row, of the source or of `name`'s stack; empty: no padding.
  std::span<const int32_t> lengths(const std::string& name, bool source = false) const {
    if (batch.key_lengths.empty()) return {};
    return name.starts_with("dec.") && !source ? batch.target_lengths : batch.key_lengths;
  }
};

bool counts(std::span<const int32_t> lengths, int64_t row, int64_t position) {
  return lengths.empty() || position < lengths[static_cast<size_t>(row)];
}

/// Calls `f` with every batch, on one program for each shape that occurs.
template <typename F>
void each_batch(Run& run, Split split, int32_t first, int32_t count, Look::Gradients gradients, F f) {
  const RunSpec& spec = run.spec();
  std::map<BatchShape, Look> looks;
  for (int32_t i = first; i < first + count; ++i) {
    const Batch batch =
        run.task().draw(spec.seed, static_cast<uint64_t>(i), split, spec.train.batch, spec.model.sequence);
    const BatchShape shape = shape_of(batch);
    Look& look = looks.try_emplace(shape, run.store(), spec.model, shape, gradients).first->second;
    look.put(batch);
    look.replay({.label_smoothing = gradients == Look::Gradients::Kept ? spec.train.label_smoothing : 0.0f});
    f(ReplayedRun{look, batch});
  }
}

template <typename F>
void each_validation_batch(Run& run, F f) {
  constexpr int32_t kMax = 4;  // a task may have many
  const RunSpec& spec = run.spec();
  const int32_t all = run.task().validation_batches(spec.train.batch, spec.model.sequence);
  each_batch(run, Split::Validation, 1, std::clamp(all, 1, kMax), Look::Gradients::None, f);
}

/// Calls f(batch, node, number) for each node of every validation batch that `wanted` holds for.
template <typename Wanted, typename F>
void each_node(Run& run, Wanted wanted, F f) {
  each_validation_batch(run, [&](const ReplayedRun& at) {
    size_t number = 0;
    for (const Node& node : at.look.program().data().nodes)
      if (wanted(node)) f(at, node, number++);
  });
}

double squared(std::span<const float> x) {
  double sum = 0;
  for (float v : x) sum += static_cast<double>(v) * v;
  return sum;
}

/// Whether a node works on the encoder's states: keys and values of cross-attention and their norms.
bool reads_encoded(const ReplayedRun& at, ValueId v) {
  if (at.look.values().encoded == kNone) return false;
  const ProgramData& data = at.look.program().data();
  while (v != kNone && v != at.look.values().encoded) {
    const int32_t node = data.values[static_cast<size_t>(v)].node;
    v = node < 0 ? kNone : data.nodes[static_cast<size_t>(node)].in[0];
  }
  return v == at.look.values().encoded;
}

struct LogitSums {
  double largest = -INFINITY, square = 0, count = 0;
};

/// For a segment by itself: these programs have no memory.
void add_logits(const ReplayedRun& at, const Node& node, LogitSums& sums) {
  const AttentionScores spec = rules_of(node.op).scores(node);
  const auto read = [&](ValueId v) { return v == kNone ? std::vector<float>() : at.look.read(v); };
  const std::vector<float> q = read(spec.queries), k = read(spec.keys), e = read(spec.position),
                           r = read(spec.distances);
  const Shape &qs = at.look.shape(spec.queries), &ks = at.look.shape(spec.keys);
  const std::span<const int32_t> queries = at.lengths(node.name), keys = at.lengths(node.name, true);
  const int64_t B = qs[0], Tq = qs[1], Tk = ks[1], D = qs[2], H = spec.heads, width = D / H;
  const int64_t K = ks[2], times = D / K;  // heads that share one of keys
  const double scale = AttentionSpec{.scale = spec.scale}.scale_of(width),
               cap = static_cast<double>(spec.cap);
  const auto product = [&](const float* x, const float* y) {
    double sum = 0;
    for (int64_t j = 0; j < width; ++j) sum += static_cast<double>(x[j]) * y[j];
    return sum;
  };
  for (int64_t b = 0; b < B; ++b)
    for (int64_t t = 0; t < Tq; ++t) {
      if (!counts(queries, b, t)) continue;
      const int64_t window = spec.window > 0 ? spec.window : Tk,
                    last = std::min(Tk, spec.causal ? t + 1 : t + window);
      for (int64_t s = std::max<int64_t>(0, t + 1 - window); s < last; ++s) {
        if (spec.key_lengths != kNone && !counts(keys, b, s)) continue;
        for (int64_t h = 0; h < H; ++h) {
          const auto query = static_cast<size_t>((b * Tq + t) * D + h * width);
          double logit = product(&q[query], &k[static_cast<size_t>((b * Tk + s) * K + h / times * width)]);
          if (!r.empty()) logit += product(&e[query], &r[static_cast<size_t>((t - s) * D + h * width)]);
          logit *= scale;
          if (cap > 0) logit = cap * std::tanh(logit / cap);
          if (spec.alibi) logit += alibi_slope(h, H) * static_cast<double>(s - t);
          sums.largest = std::max(sums.largest, logit);
          sums.square += logit * logit;
          sums.count += 1;
        }
      }
    }
}

/// For every row, the spectral norm of the Jacobian without gain and AdaNorm's factor: 1/sigma, as what
/// it multiplies is a projection or the identity; of a curve its steepest slope in the row.
std::vector<double> jacobians(const ReplayedRun& at, const Node& node) {
  const NormKind kind = node.attributes.as<NormSpec>().kind;
  const std::vector<float> factor = at.look.read(node.saved[1]);
  std::vector<double> norms(factor.begin(), factor.end());
  if (!has_alpha(kind)) return norms;
  const std::vector<float> x = at.look.read(node.in[0]);
  const double alpha = static_cast<double>(at.look.read(node.in[3])[0]);
  const double shift = has_shift(kind) ? static_cast<double>(at.look.read(node.in[4])[0]) : 0;
  std::ranges::fill(norms, 0 * alpha);  // NaN, once the run has diverged, and it stays
  const size_t width = x.size() / norms.size();
  for (size_t j = 0; j < x.size(); ++j) {
    double& steepest = norms[j / width];
    const double u = alpha * static_cast<double>(x[j]) + shift;
    steepest = std::max(steepest, std::abs(norm_curve_slope(kind, u) * alpha));
  }
  return norms;
}

/// Calls f(row, position) for the unpadded rows of a norm.
template <typename F>
void each_row(const ReplayedRun& at, const Node& node, size_t rows, F f) {
  const Shape& shape = at.look.shape(node.out);
  // A convolutional network or a parser normalises (B, features), so a row of the batch is one position.
  const int64_t positions = shape.rank < 3 ? 1 : shape[1];
  const int64_t each = static_cast<int64_t>(rows) / (shape[0] * positions);
  const std::span<const int32_t> lengths = at.lengths(node.name, reads_encoded(at, node.in[0]));
  for (int64_t r = 0; r < static_cast<int64_t>(rows); ++r)
    if (counts(lengths, r / each / positions, r / each % positions)) f(static_cast<size_t>(r));
}

void concentrate(std::vector<double> squares, double epsilon, double delta, Concentration& c) {
  const double n = static_cast<double>(squares.size());
  for (double z : squares) c.mean += z / n;
  for (double z : squares) c.delta += (z > (1 + epsilon) * c.mean ? 1 : 0) / n;
  // The smallest bound that at most delta n of the squares exceed.
  std::ranges::sort(squares);
  const auto beyond = static_cast<size_t>(std::floor(delta * n));
  const double bound = beyond >= squares.size() ? squares.front() : squares[squares.size() - 1 - beyond];
  c.epsilon = c.mean > 0 ? std::max(bound / c.mean - 1, 0.0) : 0.0;
}

/// "dec.L03" for "dec.L03.ffn.w1", "" outside the layers.
std::string layer_of(const ParameterInfo& info) {
  return info.layer == 0 ? "" : info.name.substr(0, info.name.find('.', info.name.find('L')));
}

}  // namespace

std::vector<MeanGradient> mean_gradients(Run& run, int32_t batches) {
  if (batches < 1) fail("measure", "{} batches: expected at least 1", batches);
  std::vector<MeanGradient> all;
  std::vector<std::vector<double>> sums;
  each_batch(
      run, Split::Train, run.steps_done() + 1, batches, Look::Gradients::Kept, [&](const ReplayedRun& at) {
        const ProgramData& data = at.look.program().data();
        for (size_t p = 0; p < data.parameter_order.size(); ++p) {
          const ParameterInfo& info = run.store().parameters()[static_cast<size_t>(data.parameter_order[p])];
          const std::vector<float> g = at.look.program().read(info.name, true);
          if (all.size() <= p) {
            all.push_back({info.name, info.layer});
            sums.emplace_back(g.size(), 0.0);
          }
          for (size_t i = 0; i < g.size(); ++i) sums[p][i] += static_cast<double>(g[i]) / batches;
          all[p].mean_of_norms += std::sqrt(squared(g)) / batches;
        }
      });
  for (size_t p = 0; p < all.size(); ++p) {
    double square = 0;
    for (double g : sums[p]) square += g * g;
    all[p].norm_of_mean = std::sqrt(square);
  }
  return all;
}

std::vector<LogitSize> logit_sizes(Run& run) {
  std::vector<LogitSize> all;
  std::vector<LogitSums> sums;
  const auto attends = [](const Node& node) { return rules_of(node.op).scores != nullptr; };
  each_node(run, attends, [&](const ReplayedRun& at, const Node& node, size_t i) {
    if (all.size() <= i) {
      all.push_back(
          {node.name.substr(0, node.name.rfind('.')), node.layer});  // "L03.attn" of "L03.attn.heads"
      sums.emplace_back();
    }
    add_logits(at, node, sums[i]);
  });
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].largest = sums[i].largest;
    all[i].root_mean_square = std::sqrt(sums[i].square / sums[i].count);
  }
  return all;
}

std::vector<NormJacobian> jacobian_norms(Run& run) {
  std::vector<NormJacobian> all;
  std::vector<double> rows;
  const auto is_norm = [](const Node& node) { return node.op == OpKind::LayerNorm; };
  each_node(run, is_norm, [&](const ReplayedRun& at, const Node& node, size_t i) {
    if (all.size() <= i) {
      all.push_back({node.name, node.layer, node.attributes.as<NormSpec>().kind});
      rows.push_back(0);
    }
    const std::vector<double> norms = jacobians(at, node);
    each_row(at, node, norms.size(), [&](size_t r) {
      all[i].mean += norms[r];
      all[i].largest = std::max(all[i].largest, norms[r]);
      rows[i] += 1;
    });
  });
  for (size_t i = 0; i < all.size(); ++i) all[i].mean /= rows[i];
  return all;
}

std::vector<Concentration> concentrations(Run& run, double epsilon, double delta) {
  std::vector<Concentration> all;
  std::vector<std::vector<double>> squares;
  each_validation_batch(run, [&](const ReplayedRun& at) {
    for (size_t i = 0; i < at.look.values().sublayers.size(); ++i) {
      const SublayerValues& s = at.look.values().sublayers[i];
      if (all.size() <= i) {
        all.push_back({s.name, s.layer});
        squares.emplace_back();
      }
      const std::vector<float> x = at.look.read(s.sum);
      const Shape& shape = at.look.shape(s.sum);
      const auto width = static_cast<size_t>(shape[2]);
      for (int64_t b = 0; b < shape[0]; ++b)
        for (int64_t t = 0; t < shape[1]; ++t)
          if (counts(at.lengths(s.name), b, t))
            squares[i].push_back(
                squared(std::span(x).subspan(static_cast<size_t>(b * shape[1] + t) * width, width)));
    }
  });
  for (size_t i = 0; i < all.size(); ++i) concentrate(std::move(squares[i]), epsilon, delta, all[i]);
  return all;
}

std::vector<UpdateRatio> update_ratios(const Run& run) {
  const std::unique_ptr<Run> copy = run.fork(run.spec());
  copy->measure_live(false);
  copy->step();
  const ProgramData& data = copy->program().data();
  const std::span<const double> stats = copy->program().stats();
  const auto square = [&](int32_t first, size_t p) {
    const double norm = stats[static_cast<size_t>(first) + p];
    return norm * norm;
  };
  std::vector<UpdateRatio> all;
  std::vector<double> sizes;
  for (size_t p = 0; p < data.parameter_order.size(); ++p) {
    const ParameterInfo& info = copy->store().parameters()[static_cast<size_t>(data.parameter_order[p])];
    const std::string name = layer_of(info);
    auto at = std::ranges::find(all, name, &UpdateRatio::name);
    if (at == all.end()) {
      at = all.insert(at, {name, info.layer});
      sizes.push_back(0);
    }
    at->update += square(data.update_norm_stat, p);
    at->weight += square(data.weight_norm_stat, p);
    sizes[static_cast<size_t>(at - all.begin())] += static_cast<double>(info.shape.size());
  }
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].update = std::sqrt(all[i].update / sizes[i]);
    all[i].weight = std::sqrt(all[i].weight / sizes[i]);
  }
  return all;
}

std::vector<UpdateNumbers> next_update(const Run& run) {
  const std::unique_ptr<Run> copy = run.fork(run.spec());
  copy->step();
  const History& history = *copy->history();
  std::vector<float> numbers;
  int32_t step = 0;
  history.frame(copy->steps_done(), numbers, step);
  constexpr std::string_view kSpike = ".spike_ratio", kCosine = ".update_cosine";
  std::vector<UpdateNumbers> all;
  for (const StatInfo& stat : history.layout()) {
    if (!stat.name.ends_with(kSpike)) continue;
    const std::string name = stat.name.substr(0, stat.name.size() - kSpike.size());
    const auto number = [&](std::string_view ending) {
      return static_cast<double>(numbers.at(static_cast<size_t>(history.find(name + std::string(ending)))));
    };
    all.push_back({name, number(kSpike), number(kCosine)});
  }
  return all;
}

}  // namespace normscope

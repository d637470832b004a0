// The Lab fixture is a Lab made by hand: three runs whose histories look like the default comparison after 214 of 300
// steps (Post-LN stuck, Post-LN with warm-up learning, Pre-LN learning), so that screens and plots can be tested
// without training.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "app/plot/plot_spec.h"
#include "training/data/task.h"
#include "training/session/lab.h"
#include "training/spec/spec.h"

namespace normscope::fixture {

struct LabShape {
  int step = 214, budget = 300, layers = 6;
  bool fork = false;  // with a run D, forked from A at step 150
};

constexpr int kHeads = 4;  // of the default comparison

// The loss of run 0..2 at a step, with a small regular ripple for noise.
inline double loss_at(int run, int step) {
  const double ripple = 0.05 * std::sin(step * 1.7 + run) + 0.03 * std::sin(step * 0.63 + 2 * run);
  const double plateau = 2.95 + 1.0 * std::exp(-step / 6.0);
  if (run == 0) return plateau + ripple;
  if (run == 1)
    return (step < 131 ? 2.95 + 1.1 * std::exp(-step / 12.0) : 1.1 + 1.85 * std::exp(-(step - 131) / 30.0)) +
           ripple;
  return (step < 46 ? plateau : 0.9 + 2.05 * std::exp(-(step - 46) / 40.0)) + 0.5 * ripple;
}

// The gradient norm of a matrix: in the stuck run it falls by a factor of seven per layer downwards.
inline double gradient_at(int run, int layer, int layers, int step) {
  const double settle = 1 - std::exp(-step / 15.0);
  if (run == 0) return 0.2 * std::pow(7.0, -(layers - layer) * settle);
  if (run == 1) return 0.15 * std::pow(1.2 + settle * std::exp(-step / 60.0), -(layers - layer));
  return 0.12 * (1 - 0.1 * (layer - 1) * settle);
}

inline std::vector<StatInfo> stat_layout(int layers) {
  std::vector<StatInfo> stats{{"loss", 0}};
  for (int layer = 1; layer <= layers; ++layer) {
    for (const char* matrix : {"attn.wq", "attn.wk", "attn.wv", "attn.wo", "ffn.w1", "ffn.w2"})
      stats.push_back({fmt::format("L{:02}.{}.grad_norm", layer, matrix), layer});
    for (const char* sub : {"attn", "ffn"})
      stats.push_back({fmt::format("L{:02}.{}.sum.mean_square", layer, sub), layer});
    for (const char* matrix : {"attn.wq", "attn.wk", "attn.wv", "attn.wo", "ffn.w1", "ffn.w2"})
      for (const char* norm : {"update_norm", "weight_norm"})
        stats.push_back({fmt::format("L{:02}.{}.{}", layer, matrix, norm), layer});
    for (const char* number : {"spike_ratio", "update_cosine"})
      stats.push_back({fmt::format("L{:02}.{}", layer, number), layer});
    for (const char* number : {"sight", "identity", "directions", "hearing", "w2.telling"})
      stats.push_back({fmt::format("L{:02}.ffn.{}", layer, number), layer});
    for (int sub = 0; sub < 2; ++sub) {
      const std::string name = fmt::format("L{:02}.{}", layer, sub ? "ffn" : "attn");
      for (const char* number : {"token_cosine", "layer_cosine", "branch.variance", "input.variance",
                                 "extreme", "extreme_position", "effective_rank"})
        stats.push_back({fmt::format("{}.{}", name, number), layer});
      if (sub == 0)
        for (const char* number : {"attention_entropy", "largest_logit", "first_mass"})
          stats.push_back({fmt::format("{}.{}", name, number), layer});
      for (int head = 1; sub == 0 && head <= kHeads; ++head)
        for (const char* number : {"entropy", "logit", "first_mass"})
          stats.push_back({fmt::format("{}.head.{}.{}", name, head, number), layer});
      const int i = 2 * (layer - 1) + sub + 1;
      stats.push_back({fmt::format("beta2.{}.sum", i), layer});
      for (int j = 0; j <= i; ++j) stats.push_back({fmt::format("beta2.{}.{}", i, j), layer});
    }
  }
  return stats;
}

// The share of part j in the state after sub-layer i: the stuck run halves what is old at every norm, and
// more as training goes on; the learning runs keep more of it.
inline double share_at(int run, int i, int j, int step) {
  if (run == 2) return 1.0 / (i + 1) * (j == 3 ? 1.2 : 0.9);
  const double keep = run == 0 ? 0.5 - 0.38 * std::min(1.0, step / 150.0) : 0.55;
  return (j == 0 ? std::pow(keep, i) : (1 - keep) * std::pow(keep, i - j)) * 0.95;
}

inline std::shared_ptr<History> history_of(int run, int from, const LabShape& shape) {
  auto history = std::make_shared<History>(stat_layout(shape.layers));
  for (int step = from + 1; step <= shape.step; ++step) {
    std::vector<double> stats{loss_at(run, step)};
    for (int layer = 1; layer <= shape.layers; ++layer) {
      for (int matrix = 0; matrix < 6; ++matrix)
        stats.push_back(gradient_at(run, layer, shape.layers, step) * (0.6 + 0.08 * matrix));
      for (int sub = 0; sub < 2; ++sub)
        stats.push_back(run == 2 ? 1.5 + 1.35 * layer + 0.3 * sub : 1.5 + 0.05 * run);
      for (int matrix = 0; matrix < 6; ++matrix)
        for (double norm : {0.01 * std::pow(1.3, layer) / (1 + run), 8.0 + matrix}) stats.push_back(norm);
      for (double number : {step % 100 == 60 ? 4.0 : 0.9 + 0.1 * layer, 0.3 + 0.05 * layer})
        stats.push_back(number);
      // Sight falls by three per layer upwards in the stuck run, and hearing downwards.
      const double seen = run == 0 ? std::pow(3.0, 1 - layer) : 0.9,
                   heard = run == 0 ? 0.02 * std::pow(3.0, layer - shape.layers) : 0.01;
      const double known = run == 0 ? 0.95 * std::pow(0.75, layer - 1) : 0.9 - 0.03 * layer;
      for (double number : {seen, known, run == 0 ? 9.0 - layer : 10.0, heard, 2 * seen * heard})
        stats.push_back(number);
      for (int sub = 0; sub < 2; ++sub) {
        const double alike = run == 0 ? 0.98 : 0.2 + 0.05 * layer;
        for (double number : {alike, 0.9 - 0.02 * layer, 0.4 + 0.1 * run, run == 2 ? 1.0 + layer : 1.0,
                              3.0 + 2.0 * layer, 1.0, run == 0 ? 1.1 : 14.0 - layer})
          stats.push_back(number);
        if (sub == 0)
          for (double number : {3.0 - 0.1 * layer - 0.3 * run, 2.0 + layer, 0.1 + 0.05 * layer})
            stats.push_back(number);
        for (int head = 1; sub == 0 && head <= kHeads; ++head)  // the third has the largest logit
          for (double number : {3.0 - 0.1 * layer - 0.3 * run + 0.1 * head,
                                2.0 + layer - 0.5 * std::abs(head - 3), 0.1 + 0.05 * layer + 0.01 * head})
            stats.push_back(number);
        const int i = 2 * (layer - 1) + sub + 1;
        double sum = 0;
        for (int j = 0; j <= i; ++j) sum += share_at(run, i, j, step);
        stats.push_back(sum);
        for (int j = 0; j <= i; ++j) stats.push_back(share_at(run, i, j, step));
      }
    }
    const double rate = run == 1 ? 3e-3 * std::min(1.0, step / 200.0) : 3e-3;
    history->append(step, stats[0], rate, stats);
  }
  return history;
}

inline RunView run_view(int run, const RunSpec& spec, const LabShape& shape) {
  RunView view;
  view.letter = static_cast<char>('A' + run);
  RunSpec copy = spec;
  copy.train.steps = shape.budget;
  view.spec = std::make_shared<const RunSpec>(copy);
  view.name = default_name(copy);
  view.step = shape.step;
  auto history = history_of(run, 0, shape);
  const int window = loss_window(shape.step, {});
  view.loss = 0;
  for (int i = 0; i < window; ++i) view.loss += loss_at(run, shape.step - i) / window;
  view.data = std::make_shared<const DataIdentity>(
      DataIdentity{"built-in sentences", "0123456789abcdef", 29, "letter"});
  if (run == 0 && shape.step >= 150) {
    view.state = RunState::Stuck;
    view.badge = Message("stuck at {}", "letter frequencies");
    history->add_event({150, RunEvent::Kind::Stuck, "stuck at letter frequencies"});
  }
  const int leaves = run == 1 ? 131 : run == 2 ? 46 : 1 << 20;
  if (shape.step > leaves) {
    view.state = RunState::Learning;
    view.learning_since = leaves;
    view.badge = Message("learning since step {}", leaves);
    history->add_event({leaves, RunEvent::Kind::LeftPlateau, "leaves the plateau"});
  }
  if (view.badge.empty()) view.badge = "training";
  constexpr const char* texts[] = {"e tno ahrl ei tdhs nera oet ihl re ,asd nt oehi rlea tn so hed",
                                   "the small teacher slowly finds a red brige behind the old ga",
                                   "the quiet farmer often paints a small boat near the river and"};
  view.writes = texts[run];
  view.history = history;
  return view;
}

inline std::shared_ptr<const LabView> lab_view(const LabShape& shape = {}) {
  auto view = std::make_shared<LabView>();
  view->version = 1;
  view->playing = true;
  view->step = shape.step;
  view->budget = shape.budget;
  view->seconds_per_step = 0.031;
  view->tokens_per_second = 99e3;
  view->threads = 2;
  view->unigram_entropy = 2.95;
  view->entropy_rate = 0.76;
  view->data_name = "built-in corpus";
  view->unit = "letter";
  std::vector<RunSpec> specs = default_comparison();
  for (RunSpec& spec : specs) set_field(spec, "model.layers", std::to_string(shape.layers));
  for (int run = 0; run < 3; ++run)
    view->runs.push_back(run_view(run, specs[static_cast<size_t>(run)], shape));
  if (shape.fork) {
    RunView d = view->runs[2];
    RunSpec spec = *view->runs[0].spec;
    for (LayerWiring& layer : spec.model.stack().layers)
      for (Wiring* wiring : {&layer.attention, &layer.feed_forward}) {
        wiring->before = wiring->stream;
        wiring->stream = NormKind::None;
      }
    spec.name = "Fork of A";
    d.letter = 'D';
    d.name = spec.name;
    d.spec = std::make_shared<const RunSpec>(spec);
    d.forked_from = 0;
    d.fork_step = 150;
    d.fork_note = "12 norms moved";
    d.history = history_of(2, 150, shape);
    d.learning_since = 171;
    d.badge = Message("learning since step {}", 171);
    view->runs.push_back(std::move(d));
  }
  return view;
}

/// A to C, and D forked from A.
inline std::shared_ptr<const LabView> four_runs() {
  LabShape shape;
  shape.fork = true;
  return lab_view(shape);
}

inline float cell(const plot::HeatMap& heat, int row, int column) {
  return heat.cells[static_cast<size_t>(row * heat.columns + column)];
}

}  // namespace normscope::fixture

#include "app/course/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "app/course/figures.h"
#include "app/course/map.h"
#include "app/course/reader.h"
#include "app/course/tapes.h"
#include "app/ui/widgets.h"
#include "training/experiments/probes.h"
#include "training/io/text.h"
#include "training/measure/history.h"
#include "training/measure/numbers.h"
#include "training/measure/small_tape.h"
#include "training/measure/theory/theory.h"
#include "training/spec/update_rule.h"

namespace normscope::course {
namespace {

constexpr int32_t kTheoryBatch = 4, kRealBatch = 4, kDraws = 2, kMaxParts = 20;

CurveData series_of(const Curve& curve, const Series& series) {
  CurveData data;
  for (size_t i = 0; i < series.steps.size(); ++i) {
    if (series.steps[i] < curve.from || series.steps[i] > curve.to) continue;
    data.x.push_back(series.steps[i]);
    data.y.push_back(static_cast<double>(series.values[i]));
  }
  return data;
}

/// "skip_product" of the only stack, "enc.skip_product" or "dec.skip_product".
std::optional<std::string> stack_of_skip(const std::string& name) {
  for (const char* prefix : {"", "enc.", "dec."})
    if (name == std::string(prefix) + "skip_product") return prefix;
  return {};
}

CurveData stat_curve(const Curve& curve, const History& history, const ModelConfig& model,
                     const std::string& name) {
  if (name == "loss") return series_of(curve, history.loss());
  if (name == "rate") return series_of(curve, history.rate());
  if (name == "validation") return series_of(curve, history.validation());
  if (const auto stack = stack_of_skip(name))
    return series_of(curve, skip_product(history, *stack == "enc." ? model.encoder : model.stack(),
                                         model.d_model, *stack));
  const int32_t stat = history.find(name);
  if (stat < 0)
    fail("curve." + curve.id, "the run has no number {}: expected one of its layers and matrices", name);
  return series_of(curve, history.series(stat));
}

/// Drops the steps between two measurements of the critical rate, which have no value.
void leave_out_unmeasured(CurveData& data) {
  CurveData there;
  for (size_t i = 0; i < data.y.size(); ++i)
    if (!std::isnan(data.y[i])) {
      there.x.push_back(data.x[i]);
      there.y.push_back(data.y[i]);
    }
  data = std::move(there);
}

/// Names the token cosine of the last sub-layer, such as "L06.ffn.token_cosine".
std::string last_cosine(const History& history) {
  std::string last = "token_cosine";
  for (const StatInfo& stat : history.layout())
    if (stat.name.ends_with(".token_cosine")) last = stat.name;
  return last;
}

CurveData history_curve(const Curve& curve, const History& history, const ModelConfig& model, double level) {
  CurveData data;
  if (curve.y == "loss" || curve.y == "excess") {
    data = series_of(curve, history.loss());
    if (curve.y == "excess")
      for (double& y : data.y) y -= level;
  } else if (curve.y == "token_cosine") {
    data = stat_curve(curve, history, model, last_cosine(history));
  } else {
    const auto [top, below] = two_names(stat_of(curve.y));
    data = stat_curve(curve, history, model, top);
    if (!below.empty()) {
      const CurveData other = stat_curve(curve, history, model, below);
      for (size_t i = 0; i < data.y.size(); ++i) data.y[i] /= i < other.y.size() ? other.y[i] : 1;
    }
  }
  if (asks_critical_rate(curve)) leave_out_unmeasured(data);
  if (curve.relative && !data.y.empty()) {
    const double first = data.y[0];
    for (double& y : data.y) y /= first;
  }
  return data;
}

/// All layers of one step before the layers of the next; empty until the run has reached the first step.
CurveData profile(const Curve& curve, const History& history, const ModelConfig& model) {
  const auto [top, below] = two_names(curve.y);
  std::vector<CurveData> layers;
  for (int32_t layer = 1; layer <= layers_of(top, model); ++layer) {
    Curve one = curve;
    one.y = of_layer(top, layer) + (below.empty() ? "" : " / " + of_layer(below, layer));
    layers.push_back(history_curve(one, history, model, 0));
  }
  CurveData data;
  // A run that trains may add a step meanwhile: the layer that was read first has the fewest.
  for (size_t step = 0; step < layers.front().y.size(); ++step)
    for (const CurveData& layer : layers) {
      data.x.push_back(static_cast<double>(data.x.size() + 1));
      data.y.push_back(layer.y[step]);
    }
  return data;
}

CurveData numbered(std::vector<double> y) {
  CurveData data;
  for (size_t i = 0; i < y.size(); ++i) data.x.push_back(static_cast<double>(i + 1));
  data.y = std::move(y);
  return data;
}

/// An untrained model with its Store and a batch, in the setting that the curve asks for.
struct Fresh {
  ModelConfig config;
  Batch batch;
  Store store;
};

Fresh fresh(const Curve& curve, RunSpec spec, experiments::RunStore& runs, int32_t layers) {
  if (layers > 0) set_field(spec, "model.layers", std::to_string(layers));
  const std::shared_ptr<const Task> task = runs.task(spec.data);
  ModelConfig config = spec.model;
  config.vocabulary = task->vocabulary();
  if (curve.theory) config = experiments::theory_setting(config, curve.feed_forward);
  Batch batch = curve.theory ? random_batch(config, kTheoryBatch, config.sequence, spec.seed)
                             : experiments::validation_batch(*task, spec, kRealBatch);
  Store store = initial_store(runs.backend(), config, batch, spec.seed);
  return {std::move(config), std::move(batch), std::move(store)};
}

/// Moves the seed, because a point of a curve is the mean of several models.
RunSpec model_of(RunSpec spec, int32_t model) {
  spec.seed += 100 * static_cast<uint64_t>(model);
  return spec;
}

double at_depth(const Curve& curve, const RunSpec& spec, experiments::RunStore& runs, int32_t layers) {
  runs.look();
  if (curve.y == "step_change") {
    RunSpec deep = spec;
    set_field(deep, "model.layers", std::to_string(layers));
    return experiments::change_by_one_step(deep, runs.task(spec.data), runs.backend());
  }
  Fresh model = fresh(curve, spec, runs, layers);
  if (curve.y == "last_gradient")
    return gradient_profile(model.store, model.config, model.batch, curve.positions)
        .at(fmt::format("L{:02}.ffn.w2", layers));
  if (curve.y == "own_shares")
    return sum_of_own_shares(residual_dependency(model.store, model.config, model.batch));
  if (curve.y == "log_offset") return experiments::log_offset(model.store, model.config, model.batch);
  double sum = 0;
  for (int32_t draw = 0; draw < kDraws; ++draw)
    sum += output_change(model.store, model.config, model.batch, curve.noise,
                         spec.seed + 1000 * static_cast<uint64_t>(draw));
  return sum / kDraws;
}

double depth_x(const Curve& curve, double layers) { return curve.y == "last_gradient" ? layers : 2 * layers; }

CurveData depth(const Curve& curve, const RunSpec& spec, experiments::RunStore& runs) {
  CurveData data;
  for (double layers : curve.xs) {
    data.x.push_back(depth_x(curve, layers));
    // A single model depends more on its weights than on its depth, so a point is the mean of several models.
    double sum = 0;
    for (int32_t model = 0; model < curve.models; ++model)
      sum += at_depth(curve, model_of(spec, model), runs, static_cast<int32_t>(layers));
    data.y.push_back(sum / curve.models);
  }
  return data;
}

std::vector<double> by_layer(const Curve& curve, Fresh model) {
  auto& [config, batch, store] = model;
  if (curve.y == "skip") return experiments::skip_scales(store, config);
  if (curve.y == "path") return experiments::path_squares(store, config, batch, false);
  if (curve.y == "branch") return experiments::path_squares(store, config, batch, true);
  if (curve.y == "above_tenth") return experiments::shares_above_tenth(store, config, batch, "ffn");
  std::vector<double> y;
  if (curve.y == "gradient") {
    const GradientProfile profile = gradient_profile(store, config, batch, curve.positions);
    for (int32_t l = 1; l <= config.layers; ++l) y.push_back(profile.at(fmt::format("L{:02}.ffn.w2", l)));
    return y;
  }
  y = experiments::stream_squares(store, config, batch, curve.y == "attention_stream" ? "attn" : "ffn");
  if (curve.y != "between_bounds") return y;
  const double r = static_cast<double>(config.feed_forward) / config.d_model;
  for (size_t l = 0; l < y.size(); ++l) {
    const theory::Bounds bounds = theory::pre_stream_square(static_cast<int32_t>(l + 1), r);
    y[l] = (y[l] - bounds.low) / (bounds.high - bounds.low);
  }
  return y;
}

CurveData layers(const Curve& curve, const RunSpec& spec, experiments::RunStore& runs) {
  std::vector<double> mean;
  for (int32_t model = 0; model < curve.models; ++model) {
    runs.look();
    const std::vector<double> y = by_layer(curve, fresh(curve, model_of(spec, model), runs, 0));
    mean.resize(y.size(), 0.0);
    for (size_t i = 0; i < y.size(); ++i) mean[i] += y[i] / curve.models;
  }
  return numbered(std::move(mean));
}

CurveData shares(const Curve& curve, const experiments::RunFindings& run) {
  std::vector<double> y;
  for (const std::vector<double>& row : curve.at_start ? run.shares_start : run.shares_end)
    y.push_back(curve.y == "own" ? row.back() : std::accumulate(row.begin(), row.end(), 0.0));
  return numbered(std::move(y));
}

double of_norm(const std::string& y, const ModelConfig& config, const GaussianRows& rows, Backend& backend) {
  if (y == "activation_share") return activation_share(backend, config, rows);
  if (y == "jacobian") return norm_jacobian(backend, config, rows).spectral;
  if (y == "jacobian_product") return norm_jacobian(backend, config, rows).product;
  const NormGradient gradient = norm_gradient(backend, config, rows);
  return y == "gradient_mean" ? gradient.mean : gradient.variance;
}

CurveData norm(const Curve& curve, const RunSpec& spec, experiments::RunStore& runs) {
  CurveData data;
  for (const double x : curve.xs) {
    GaussianRows rows{.width = spec.model.d_model, .seed = spec.seed};
    if (curve.over == "width") rows.width = static_cast<int32_t>(x);
    if (curve.over == "scale") rows.scale = x;
    if (curve.over == "shift") rows.shift = x;
    data.x.push_back(x);
    data.y.push_back(of_norm(curve.y, spec.model, rows, runs.backend()));
  }
  return data;
}

}  // namespace

bool is_trained(const Curve& curve) {
  using Of = Curve::Of;
  return curve.of == Of::Run || is_swept(curve) || curve.of == Of::Profile || curve.of == Of::LeftOut ||
         (curve.of == Of::Shares && !curve.at_start);
}

bool asks_critical_rate(const Curve& curve) { return curve.y.find("critical_rate") != curve.y.npos; }

bool grows(const Curve& curve) { return curve.of == Curve::Of::Run || curve.of == Curve::Of::Profile; }

int32_t layers_of(const std::string& name, const ModelConfig& model) {
  const bool encoder = name.starts_with("enc.") || model.architecture == Architecture::Encoder;
  return static_cast<int32_t>((encoder ? model.encoder : model.decoder).layers.size());
}

std::vector<double> drawn_grid(const Lesson& lesson, const Curve& curve) {
  using Of = Curve::Of;
  std::vector<double> x = curve.xs;
  if (curve.of == Of::Depth)
    for (double& layers : x) layers = depth_x(curve, layers);
  if (!x.empty() || is_walk(curve)) return x;
  int32_t from = curve.from, to = curve.to;
  if (curve.of != Of::Run && curve.of != Of::Tape) {
    const bool sublayers = curve.of == Of::Shares || curve.of == Of::Wiring || curve.y == "skip" ||
                           curve.y == "branch" || curve.y == "path";
    from = 1;
    to = (sublayers ? 2 : 1) * layers_of(curve.y, lesson.run(curve.run)->spec.model);
    to += (curve.y == "path") - (curve.of == Of::Wiring);  // the input counts; the last sub-layer has none
  }
  const int32_t parts = std::min(to - from, kMaxParts);  // few enough for a drag to reach each
  for (int32_t i = 0; i <= parts; ++i) x.push_back(from + (to - from) * i / std::max(1, parts));
  return x;
}

namespace {

/// Whether a run measures `y` at its steps: a number, or two as "a / b"; `by_layer`: the first of them of every layer.
bool is_measured(const std::string& y, bool by_layer) {
  const auto [top, below] = two_names(y);
  const auto measured = [](const std::string& name) { return known_number(name) || stack_of_skip(name); };
  const auto is_ratio = [](const std::string& name) {
    return known_number(name) && known_number(name)->over;
  };
  if (below.empty()) return measured(top) && (top.find("L*") != top.npos) == by_layer;
  return is_measured(top, by_layer) && measured(below) && !is_ratio(top) && !is_ratio(below) &&
         (by_layer || below.find("L*") == below.npos);
}

}  // namespace

Message unless_measured(const Curve& curve) {
  using Of = Curve::Of;
  static const std::vector<std::string_view> kNames[] = {
      // by Curve::Of
      {"loss", "excess", "token_cosine", "rate", "critical_rate", "skip_product"},
      {"final_loss", "final_excess", "learns"},
      {"last_gradient", "own_shares", "log_offset", "output_change", "step_change"},
      {"stream", "attention_stream", "between_bounds", "above_tenth", "gradient", "skip", "path", "branch"},
      {"own", "sum"},
      {"activation_share", "jacobian", "jacobian_product", "gradient_mean", "gradient_variance"},
      {"norms"},
      {},
      {"layer", "top"},
      {"learns"},
      {},
      {"change"}};
  if (curve.of == Of::Tape) {
    const std::string known = expected_of_tape(curve.y);
    return known.empty() ? Message() : Message("expected {}", known);
  }
  const std::vector<std::string_view>& names = kNames[static_cast<size_t>(curve.of)];
  if (std::ranges::find(names, curve.y) != names.end()) return {};
  const bool by_layer = curve.of == Of::Profile;
  if (curve.of != Of::Run && !by_layer) return expected(curve.y, names);
  return is_measured(curve.y, by_layer) ? Message() : expected_number(curve.y, names, by_layer);
}

RunSpec spec_of(const Lesson& lesson, const std::string& run, uint64_t seed, const Changes& changes) {
  RunSpec spec = lesson.run(run)->spec;
  spec.seed = seed;
  if (const auto it = changes.find(run); it != changes.end())
    for (const auto& [key, value] : it->second) set_field(spec, key, value);
  complete(spec);
  validate(spec);
  return spec;
}

experiments::StudyRun run_of(const Lesson& lesson, const std::string& run, uint64_t seed,
                             const Changes& changes) {
  return {spec_of(lesson, run, seed, changes), lesson.run(run)->edits};
}

std::vector<double> sweep_values(const Lesson& lesson, const Curve& curve, uint64_t seed,
                                 const Changes& changes, const std::vector<Changes>& tried) {
  std::vector<double> values = curve.xs;
  if (!curve.other.empty()) return values;  // the curve is of the cells of a map
  const RunSpec line = spec_of(lesson, curve.run, seed, changes);
  const auto add = [&](const RunSpec& point) {
    const double value = std::strtod(get_field(point, curve.field).c_str(), nullptr);
    const auto at = std::ranges::lower_bound(values, value);
    if (at != values.end() && *at == value) return;
    if (settings_text(with_value(line, curve.field, value), {}) == settings_text(point, {}))
      values.insert(at, value);
  };
  const auto add_runs = [&](const Changes& made) {
    for (const auto& [run, fields] : made)
      if (lesson.run(run) && lesson.run(run)->edits == lesson.run(curve.run)->edits)
        add(spec_of(lesson, run, seed, made));
  };
  add_runs(changes);
  for (const Changes& earlier : tried) add_runs(earlier);
  return values;
}

CurveData measure_curve(const Lesson& lesson, const Curve& curve, uint64_t seed, experiments::RunStore& store,
                        const experiments::OnStep& on_step, const Changes& changes,
                        const std::vector<Changes>& tried) {
  if (curve.of == Curve::Of::Tape) return measure_tape(lesson, curve, changes);
  const experiments::StudyRun run = run_of(lesson, curve.run, seed, changes);
  switch (curve.of) {
    case Curve::Of::Run:
    case Curve::Of::Profile: {
      const std::shared_ptr<const experiments::RunFindings> found = store.get(run, on_step);
      return partial_curve(curve, run.spec.model, *found->history, found->level);
    }
    case Curve::Of::Sweep:
    case Curve::Of::Border:
      return measure_swept(curve, sweep_values(lesson, curve, seed, changes, tried), run, store, on_step);
    case Curve::Of::Depth:
      return depth(curve, run.spec, store);
    case Curve::Of::Layers:
      return layers(curve, run.spec, store);
    case Curve::Of::Shares:
      return shares(curve, *store.get(run, on_step));
    case Curve::Of::Norm:
      return norm(curve, run.spec, store);
    case Curve::Of::Wiring:
      return numbered(experiments::norms_to_the_last(run.spec.model));
    case Curve::Of::LeftOut:
      return numbered(store.left_out(run, curve.y == "top", on_step));
    case Curve::Of::OneStep:
      return measure_one_step(curve, run, store, on_step);
    case Curve::Of::Tape:
      break;
  }
  return {};
}

CurveData partial_curve(const Curve& curve, const ModelConfig& model, const History& history, double level) {
  if (curve.of == Curve::Of::Profile) return profile(curve, history, model);
  return curve.of == Curve::Of::Run ? history_curve(curve, history, model, level) : CurveData{};
}
std::vector<std::vector<double>> divisors_of(const std::vector<std::span<const double>>& squares) {
  if (squares.empty()) return {};
  const size_t layers = squares.back().size();
  std::vector<std::vector<double>> divisors(layers);
  for (size_t layer = 0; layer < layers; ++layer) {
    for (size_t sublayer = squares.size() - 1; layer + 1 < layers && sublayer-- > 0;)
      divisors[layer].push_back(std::sqrt(squares[sublayer][layer + 1]));
    divisors[layer].push_back(std::sqrt(squares.back()[layer]));
  }
  return divisors;
}

namespace {

/// Excludes placements, because the name of the run states them already.
bool sayable(const std::string& key) {
  return find_field(key) && key != "run.name" && key != "run.seed" && !key.ends_with("placement");
}

/// Whether a label leaves the setting out: layer norm and attention that mixes are the default, so only others are named.
bool goes_without_saying(const std::string& key, const std::string& value) {
  return (key == "model.norm" && value == "ln") || (key == "model.attention_mixing" && value == "1");
}

/// The settings in which the runs differ, in the order of the table of fields.
std::vector<std::string> telling(const Lesson& lesson, const Changes& changes) {
  std::vector<std::string> keys;
  if (lesson.runs.empty()) return keys;
  const RunSpec first = spec_of(lesson, lesson.runs[0].id, 1, changes);
  const auto add = [&](const RunSpec& from, const RunSpec& to) {
    for (const Edit& edit : edits_between(from, to, 0))
      if (sayable(edit.key) && std::ranges::find(keys, edit.key) == keys.end()) keys.push_back(edit.key);
  };
  // A page asks for its labels in every frame, and comparing specifications is slow: compare no run with itself.
  for (const LessonRun& run : lesson.runs) {
    const RunSpec changed = spec_of(lesson, run.id, 1, changes);
    if (&run != &lesson.runs[0]) add(first, changed);
    if (!changes.empty()) add(spec_of(lesson, run.id, 1), changed);
  }
  return keys;
}

/// Names what the learner chose in a challenge, because the run's own name does not.
std::string chosen_placement(const Lesson& lesson, const std::string& run, const RunSpec& spec) {
  if (!lesson.challenge || lesson.challenge->run != run) return {};
  for (const Challenge::Choice& choice : lesson.challenge->choices)
    if (choice.field.ends_with("placement"))
      for (const Challenge::Choice::Value& one : choice.values)
        if (one.value == get_field(spec, choice.field)) return ", " + one.text;
  return {};
}

}  // namespace

std::string run_label(const Lesson& lesson, const std::string& run, const Changes& changes,
                      const Curve* curve) {
  const bool fresh =
      curve && curve->y != "step_change" &&
      (curve->of == Curve::Of::Depth || curve->of == Curve::Of::Layers || curve->of == Curve::Of::Norm ||
       curve->of == Curve::Of::Wiring || (curve->of == Curve::Of::Shares && curve->at_start));
  std::string label = lesson.run(run)->name;
  if (!lesson.has_letter(run)) return label;
  const RunSpec spec = spec_of(lesson, run, 1, changes);
  label += chosen_placement(lesson, run, spec);
  for (const std::string& key : telling(lesson, changes))
    if ((!fresh || !key.starts_with("train.")) && !goes_without_saying(key, get_field(spec, key)))
      label += ", " + setting_label(lesson, key, get_field(spec, key));
  return label;
}

std::string setting_label(const Lesson& lesson, const std::string& key, const std::string& value) {
  const Words& words = *lesson.words;
  if (key == "train.warmup" && value == "0") return words.tr("no warm-up");
  if (key == "model.attention_mixing" && value == "0") return words.tr("each to itself");
  if (key == "train.optimizer") return words::spoken(rule_of(optimizer_from(value)).label, words);
  const Field& field = *find_field(key);
  const std::string name = word_for(words, "setting", field.key, words::spoken(field.label, words));
  std::string said =
      field.type == FieldType::Real ? ui::number(std::strtod(value.c_str(), nullptr), 3) : value;
  if (lesson.challenge)
    for (const Challenge::Choice& choice : lesson.challenge->choices)
      for (const Challenge::Choice::Value& one : choice.values)
        if (choice.field == key && one.value == value && field.type == FieldType::Choice) said = one.text;
  if (key == "model.norm" && said == value)
    if (const std::string* norm = words.find(fmt::format("norms.{}.name", value))) said = *norm;
  return fmt::format("{} {}", name, said);
}

std::string setting_named_in(const Lesson& lesson, std::string_view text) {
  std::vector<std::string> keys = telling(lesson, {});
  for (const Knob& knob : lesson.knobs) keys.push_back(knob.field);
  for (const std::string& key : keys)
    if (const Field* field = find_field(key); field && text.find(field->label) != text.npos)
      return std::string(field->label);
  return {};
}

}  // namespace normscope::course

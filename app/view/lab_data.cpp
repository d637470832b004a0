#include "app/view/lab_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/words/words.h"
#include "engine/model/residual.h"
#include "training/measure/verdict.h"
#include "training/spec/loss_means.h"
#include "training/spec/spec.h"

namespace normscope::view {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::shared_ptr<Line> to_line(Series series) {
  auto line = std::make_shared<Line>();
  line->x.assign(series.steps.begin(), series.steps.end());
  line->y = std::move(series.values);
  return line;
}

const StackWiring& stack_of(const RunView& run, Side side) {
  const ModelConfig& model = run.spec->model;
  return side == Side::Encoder && has_both(run) ? model.encoder : model.stack();
}

}  // namespace

const Span& Line::span() const {
  for (; read_ < y.size(); ++read_) {
    const float v = y[read_];
    if (!std::isfinite(v)) continue;
    span_.lowest = std::min(span_.lowest, v);
    span_.highest = std::max(span_.highest, v);
    if (v > 0) span_.lowest_positive = std::min(span_.lowest_positive, v);
  }
  return span_;
}

void LabData::begin_frame() {
  whole_reads_ = 1;
  for (auto it = runs_.begin(); it != runs_.end();) {
    if (!it->second.used) {
      it = runs_.erase(it);
    } else {
      it->second.used = false;
      ++it;
    }
  }
}

LabData::RunLines& LabData::cached(const RunView& run) {
  RunLines& c = runs_[run.history.get()];
  c.used = true;
  const uint64_t version = run.history ? run.history->version() : 0;
  if (c.version != version || c.history != run.history) {
    if (c.history != run.history) c = {};
    c.frames.clear();
    c.found.clear();
    c.quotients.clear();
    c.roots.clear();
    c.loss.reset();
    c.mean_loss.reset();
    c.rate.reset();
    c.version = version;
    c.history = run.history;
    c.used = true;
    if (c.index.empty() && c.history)
      for (const StatInfo& stat : c.history->layout())
        c.index.emplace(stat.name, static_cast<int32_t>(c.index.size()));
  }
  return c;
}

int32_t LabData::find(const RunLines& c, std::string_view name) {
  const auto found = c.index.find(name);
  return found == c.index.end() ? -1 : found->second;
}

std::shared_ptr<const Line> LabData::loss(const RunView& run) {
  RunLines& c = cached(run);
  if (!c.loss) c.loss = c.history ? to_line(c.history->loss()) : std::make_shared<Line>();
  return c.loss;
}

std::shared_ptr<const Line> LabData::mean_loss(const RunView& run) {
  const auto steps = loss(run);
  RunLines& c = cached(run);
  if (!c.mean_loss) {
    auto line = std::make_shared<Line>();
    line->x = steps->x;
    line->y = loss_means(steps->x, steps->y, run.edits);
    c.mean_loss = std::move(line);
  }
  return c.mean_loss;
}

std::shared_ptr<const Line> LabData::rate(const RunView& run) {
  RunLines& c = cached(run);
  if (!c.rate) c.rate = c.history ? to_line(c.history->rate()) : std::make_shared<Line>();
  return c.rate;
}

// Appends the steps since the line's end, each from its history frame, without steps whose frame has been dropped.
void LabData::extend(const RunView& run, RunLines& c, GrowingLine& g, int32_t stat) {
  const auto steps = loss(run);
  const float last = g.line->x.back();
  auto at = std::ranges::upper_bound(steps->x, last);
  if (at == steps->x.end()) return;
  if (g.line.use_count() > 1) g.line = std::make_shared<Line>(*g.line);
  for (; at != steps->x.end(); ++at) {
    const int step = static_cast<int>(*at);
    const std::vector<float>& numbers = frame(c, step);
    if (static_cast<size_t>(stat) >= numbers.size() || c.found[step] != step) continue;
    g.line->x.push_back(*at);
    g.line->y.push_back(numbers[static_cast<size_t>(stat)]);
  }
}

std::shared_ptr<const Line> LabData::stat(const RunView& run, const std::string& name) {
  constexpr float kManySteps = 64;  // a line so far behind is cheaper to read whole
  RunLines& c = cached(run);
  const int32_t index = find(c, name);
  if (index < 0) return std::make_shared<Line>();
  GrowingLine& g = c.stats[name];
  if (g.line && g.version == c.version) return g.line;
  const auto newest = static_cast<float>(c.history->last_step());
  const auto behind = [&] { return newest - g.line->x.back(); };  // negative: the run was set back
  const auto overgrown = [&] {
    return g.line->y.size() > g.whole + g.whole / 4 + 2000 && whole_reads_-- > 0;
  };
  if (!g.line || g.line->empty() || behind() < 0 || behind() > kManySteps || overgrown()) {
    g.line = to_line(c.history->series(index));
    g.whole = g.line->y.size();
  } else {
    extend(run, c, g, index);
  }
  g.version = c.version;
  return g.line;
}

// Has a point only at steps that both lines have: thinning may have removed a step from one of them.
std::shared_ptr<const Line> LabData::quotient(const RunView& run, const std::string& above,
                                              const std::string& below) {
  const auto up = stat(run, above), down = stat(run, below);
  auto& line = cached(run).quotients[above + "/" + below];
  if (line) return line;
  auto result = std::make_shared<Line>();
  for (size_t i = 0, k = 0; i < up->x.size(); ++i) {
    while (k < down->x.size() && down->x[k] < up->x[i]) ++k;
    if (k == down->x.size()) break;
    if (down->x[k] != up->x[i]) continue;
    result->x.push_back(up->x[i]);
    result->y.push_back(down->y[k] > 0 ? up->y[i] / down->y[k] : kNaN);
  }
  return line = std::move(result);
}

std::shared_ptr<const Line> LabData::root(const RunView& run, const std::string& name) {
  const auto of = stat(run, name);
  auto& line = cached(run).roots[name];
  if (line) return line;
  auto result = std::make_shared<Line>();
  result->x = of->x;
  for (const float y : of->y) result->y.push_back(std::sqrt(y));
  return line = std::move(result);
}

float LabData::value(const RunView& run, std::string_view name, int step) {
  RunLines& c = cached(run);
  const std::vector<float>& stats = frame(c, step);
  const int32_t index = find(c, name);
  return index >= 0 && static_cast<size_t>(index) < stats.size() ? stats[static_cast<size_t>(index)] : kNaN;
}

bool LabData::has(const RunView& run, const std::string& name) { return find(cached(run), name) >= 0; }

const std::vector<float>& LabData::frame(RunLines& c, int step) {
  auto [it, fresh] = c.frames.try_emplace(step);
  if (fresh && (!c.history || !c.history->frame(step, it->second, c.found[step]))) it->second.clear();
  return it->second;
}

std::vector<float> LabData::by_layer(const RunView& run, std::string_view path, int step, Side side) {
  RunLines& c = cached(run);
  const std::vector<float>& stats = frame(c, step);
  std::vector<float> result(static_cast<size_t>(layers_of(run, side)), kNaN);
  for (size_t layer = 0; layer < result.size(); ++layer) {
    const int32_t index = find(c, layer_stat(run, side, static_cast<int>(layer) + 1, path));
    if (index >= 0 && static_cast<size_t>(index) < stats.size())
      result[layer] = stats[static_cast<size_t>(index)];
  }
  return result;
}

float LabData::stream_variance(const RunView& run, int layer, Sub sub, int step, Side side) {
  return value(
      run, fmt::format("{}L{:02}.{}.input.variance", prefix_of(run, side), layer + 1, to_string(sub)), step);
}

float LabData::gradient(const RunView& run, int layer, Sub sub, int step, Side side) {
  RunLines& c = cached(run);
  const std::vector<float>& stats = frame(c, step);
  const std::string prefix = prefix_of(run, side);
  double sum = 0;
  bool any = false;
  for (const Matrix& matrix : kMatrices) {
    const std::string_view path = matrix.path;
    if (path.substr(0, path.find('.')) != to_string(sub)) continue;
    const int32_t index = find(c, fmt::format("{}L{:02}.{}.grad_norm", prefix, layer + 1, path));
    if (index < 0 || static_cast<size_t>(index) >= stats.size()) continue;
    const double g = stats[static_cast<size_t>(index)];
    sum += g * g;
    any = true;
  }
  return any ? static_cast<float>(std::sqrt(sum)) : kNaN;
}

namespace {

double mean_loss_at(const Line& line, int step, int window) {
  double sum = 0;
  int count = 0;
  for (size_t i = line.y.size(); i-- > 0 && count < window;) {
    const float back = static_cast<float>(step) - line.x[i];
    if (back >= static_cast<float>(window) && count > 0) break;  // old steps are thinned out
    if (back >= 0) {
      sum += line.y[i];
      ++count;
    }
  }
  return count ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

void undecided(RunView& then) {
  then.state = RunState::Training;
  then.learning_since = 0;
  then.note.clear();
  const bool young = then.forked_from >= 0 && then.step <= then.fork_step;
  then.badge = fmt::format("{} step {}", young ? "starts at" : "at", then.step);
}

void learning(RunView& then, int since) {
  then.state = RunState::Learning;
  then.learning_since = since;
  then.badge = fmt::format("learning since step {}", since);
}

// Sets state, badge and note of an earlier run by the verdict from its history up to its step.
void apply_events(RunView& then, const RunView& now, const Line& losses) {
  undecided(then);
  Verdict verdict = then.history ? verdict_of(*then.history, then.step) : Verdict{};
  const auto count = std::ranges::upper_bound(losses.x, static_cast<float>(then.step)) - losses.x.begin();
  if (verdict == Verdict::Stuck && then.spec)
    verdict = judge(verdict, std::span(losses.y).first(static_cast<size_t>(count)),
                    {.guessing = guessing_loss(then.spec->model)});
  switch (verdict.kind) {
    case Verdict::Kind::Learns:
      learning(then, verdict.since);
      if (began_below(then.history->events(), then.step)) then.badge = "learning from the first step on";
      break;
    case Verdict::Kind::Stuck:
      then.state = RunState::Stuck;
      then.badge = verdict.where;
      break;
    case Verdict::Kind::Diverges:
      then.state = RunState::Diverging;
      then.badge = to_string(then.state);
      break;
    case Verdict::Kind::NotFinite:
      then.state = now.state;
      then.badge = now.badge;
      then.note = now.note;
      break;
    case Verdict::Kind::Returned:
    case Verdict::Kind::TooSlow:
    case Verdict::Kind::Failed:
      break;
    case Verdict::Kind::Undecided: {
      // A fork keeps its source's state of learning, once enough steps of its own allow a verdict.
      const bool forked = then.forked_from >= 0 && then.step - then.fork_step >= Plateau::kWindow;
      if (forked && now.learning_since > 0 && now.learning_since <= then.fork_step)
        learning(then, now.learning_since);
      break;
    }
  }
}

}  // namespace

double loss_at(LabData& data, const RunView& run, int step) {
  return mean_loss_at(*data.loss(run), step, loss_window(step, run.edits));
}

std::shared_ptr<const RunSpec> spec_at(const RunView& run, int step) {
  const int last = std::max(step, run.fork_step + (step <= run.fork_step ? 1 : 0));
  const auto later = [last](const Edit& edit) { return edit.step > last; };
  if (!run.origin || std::ranges::none_of(run.edits, later)) return run.spec;
  auto then = std::make_shared<RunSpec>(*run.origin);
  for (const Edit& edit : run.edits)
    if (!later(edit)) set_field(*then, edit.key, edit.value);
  return then;
}

RunView run_at(LabData& data, const RunView& run, int step) {
  RunView then = run;
  if (step >= run.step) return then;
  then.step = std::max(step, run.forked_from >= 0 ? run.fork_step : 0);
  then.spec = spec_at(run, then.step);
  then.score.clear();  // it belongs to the newest validation
  then.loss = loss_at(data, run, then.step);
  apply_events(then, run, *data.loss(run));
  then.writes.clear();
  then.writes_step = 0;
  if (run.samples)
    for (const Sample& sample : *run.samples)
      if (sample.step <= then.step) {
        then.writes = sample.text;
        then.writes_step = sample.step;
      }
  return then;
}

LabView view_at(LabData& data, const LabView& view, int step) {
  LabView then = view;
  for (RunView& run : then.runs) run = run_at(data, run, step);
  return then;
}

int steps_shown(const LabView& view) {
  constexpr int kWhole = 500;  // steps that are always shown whole
  const int newest = std::max(1, view.step), budget = std::max(view.budget, newest);
  double round = kWhole;
  for (double decade = 100; round < 1.05 * newest; decade *= 10)
    for (double unit : {5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 40.0})
      if (round < 1.05 * newest) round = unit * decade;
  return static_cast<int>(std::min<double>(budget, round));
}

int layers_of(const RunView& run, Side side) { return run.spec ? layers_of(run.spec->model, side) : 0; }

int streams_of(const RunView& run, Side side) {
  if (!run.spec || !has_stream(run)) return 0;
  return stream_layout(stack_of(run, side)).all();
}

bool over_depth(const RunView& run, Side side) {
  return run.spec && has_stream(run) && stream_layout(stack_of(run, side)).over_depth();
}

bool any_over_depth(const LabView& view) {
  return std::ranges::any_of(view.runs, [](const RunView& run) {
    return std::ranges::any_of(sides_of(run), [&](Side side) { return over_depth(run, side); });
  });
}

bool has_stream(const RunView& run) { return !run.spec || is_transformer(run.spec->model.architecture); }

bool any_stream(const LabView& view) {
  return view.runs.empty() || std::ranges::any_of(view.runs, has_stream);
}

std::string layer_stat(const RunView& run, Side side, int layer, std::string_view path) {
  if (has_stream(run)) return fmt::format("{}L{:02}.{}", prefix_of(run, side), layer, path);
  const std::string of = layer == layers_of(run, side)
                             ? "class"
                             : fmt::format("L{:02}.{}", layer, row_of(run.spec->model.architecture).part);
  if (path.find('.') == path.npos)  // of all that the layer has
    return fmt::format("{}.{}", of.substr(0, of.find('.')), path);
  if (path.ends_with("_norm")) return fmt::format("{}.w{}", of, path.substr(path.rfind('.')));
  return path.ends_with("mean_square") ? of + ".out.mean_square" : "";
}

std::string prefix_of(const RunView& run, Side side) {
  return run.spec ? name_prefix(run.spec->model, side) : "";
}

bool has_both(const RunView& run) { return run.spec && has_both(run.spec->model); }

const std::string& no_stream() { return tr("These runs have no residual stream and no attention."); }

bool any_both(const LabView& view) {
  return std::ranges::any_of(view.runs, [](const RunView& run) { return has_both(run); });
}

std::vector<Side> sides_of(const RunView& run) {
  if (has_both(run)) return {Side::Main, Side::Encoder};
  return {Side::Main};
}

int most_layers(const LabView& view) {
  int layers = 1;
  for (const RunView& run : view.runs)
    for (Side side : sides_of(run)) layers = std::max(layers, layers_of(run, side));
  return layers;
}

int find_run(const LabView& view, char letter) {
  for (size_t i = 0; i < view.runs.size(); ++i)
    if (view.runs[i].letter == letter) return static_cast<int>(i);
  return -1;
}

}  // namespace normscope::view

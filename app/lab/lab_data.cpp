#include "app/lab/lab_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/train/verdict.h"

namespace normscope::lab {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::shared_ptr<Line> to_line(Series series) {
  auto line = std::make_shared<Line>();
  line->x.assign(series.steps.begin(), series.steps.end());
  line->y = std::move(series.values);
  return line;
}

}  // namespace

const Span& Line::span() const {
  for (; read_ < y.size(); ++read_) {
    const float v = y[read_];
    if (!std::isfinite(v)) continue;
    span_.lowest = std::min(span_.lowest, v), span_.highest = std::max(span_.highest, v);
    if (v > 0) span_.lowest_positive = std::min(span_.lowest_positive, v);
  }
  return span_;
}

void LabData::begin_frame() {
  whole_reads_ = 1;
  for (auto it = runs_.begin(); it != runs_.end();) {
    if (!it->second.used)
      it = runs_.erase(it);
    else
      it->second.used = false, ++it;
  }
}

LabData::Cached& LabData::cached(const RunView& run) {
  Cached& c = runs_[run.history.get()];
  c.used = true;
  const uint64_t version = run.history ? run.history->version() : 0;
  if (c.version != version || c.history != run.history) {
    if (c.history != run.history) c = {};
    c.frames.clear(), c.found.clear(), c.quotients.clear(), c.loss.reset(), c.rate.reset();
    c.version = version, c.history = run.history, c.used = true;
    if (c.index.empty() && c.history)
      for (const StatInfo& stat : c.history->layout())
        c.index.emplace(stat.name, static_cast<int32_t>(c.index.size()));
  }
  return c;
}

int32_t LabData::find(const Cached& c, std::string_view name) {
  const auto found = c.index.find(name);
  return found == c.index.end() ? -1 : found->second;
}

std::shared_ptr<const Line> LabData::loss(const RunView& run) {
  Cached& c = cached(run);
  if (!c.loss) c.loss = c.history ? to_line(c.history->loss()) : std::make_shared<Line>();
  return c.loss;
}

std::shared_ptr<const Line> LabData::rate(const RunView& run) {
  Cached& c = cached(run);
  if (!c.rate) c.rate = c.history ? to_line(c.history->rate()) : std::make_shared<Line>();
  return c.rate;
}

// The steps that the run took since, a frame each; those that the history does not have any more are left
// out.
void LabData::extend(const RunView& run, Cached& c, Growing& g, int32_t stat) {
  const auto steps = loss(run);
  const float last = g.line->x.back();
  auto at = std::upper_bound(steps->x.begin(), steps->x.end(), last);
  if (at == steps->x.end()) return;
  if (g.line.use_count() > 1) g.line = std::make_shared<Line>(*g.line);
  for (; at != steps->x.end(); ++at) {
    const int step = static_cast<int>(*at);
    const std::vector<float>& numbers = frame(c, step);
    if (static_cast<size_t>(stat) >= numbers.size() || c.found[step] != step) continue;
    g.line->x.push_back(*at), g.line->y.push_back(numbers[static_cast<size_t>(stat)]);
  }
}

std::shared_ptr<const Line> LabData::stat(const RunView& run, const std::string& name) {
  constexpr float kManySteps = 64;  // behind: then reading all is cheaper
  Cached& c = cached(run);
  const int32_t index = find(c, name);
  if (index < 0) return std::make_shared<Line>();
  Growing& g = c.stats[name];
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

// Where one of the two has a point that the other lost to thinning, there is none.
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

float LabData::value(const RunView& run, std::string_view name, int step) {
  Cached& c = cached(run);
  const std::vector<float>& stats = frame(c, step);
  const int32_t index = find(c, name);
  return index >= 0 && static_cast<size_t>(index) < stats.size() ? stats[static_cast<size_t>(index)] : kNaN;
}

bool LabData::has(const RunView& run, const std::string& name) { return find(cached(run), name) >= 0; }

const std::vector<float>& LabData::frame(Cached& c, int step) {
  auto [it, fresh] = c.frames.try_emplace(step);
  if (fresh && (!c.history || !c.history->frame(step, it->second, c.found[step]))) it->second.clear();
  return it->second;
}

std::vector<float> LabData::by_layer(const RunView& run, std::string_view path, int step, Side side) {
  Cached& c = cached(run);
  const std::vector<float>& stats = frame(c, step);
  const std::string prefix = prefix_of(run, side);
  std::vector<float> result(static_cast<size_t>(layers_of(run, side)), kNaN);
  for (size_t layer = 0; layer < result.size(); ++layer) {
    const int32_t index = find(c, fmt::format("{}L{:02}.{}", prefix, layer + 1, path));
    if (index >= 0 && static_cast<size_t>(index) < stats.size())
      result[layer] = stats[static_cast<size_t>(index)];
  }
  return result;
}

float LabData::trunk_variance(const RunView& run, int layer, Sub sub, int step, Side side) {
  return value(
      run, fmt::format("{}L{:02}.{}.input.variance", prefix_of(run, side), layer + 1, to_string(sub)), step);
}

float LabData::gradient(const RunView& run, int layer, Sub sub, int step, Side side) {
  Cached& c = cached(run);
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
    sum += g * g, any = true;
  }
  return any ? static_cast<float>(std::sqrt(sum)) : kNaN;
}

RunView run_at(LabData& data, const RunView& run, int step) {
  RunView then = run;
  if (step >= run.step) return then;
  then.step = step;
  const auto line = data.loss(run);
  double sum = 0;
  const int window = shown_window(step);
  int count = 0;
  for (size_t i = line->y.size(); i-- > 0 && count < window;) {
    const float back = static_cast<float>(step) - line->x[i];
    if (back >= static_cast<float>(window) && count > 0) break;  // long ago not every step is kept
    if (back >= 0) sum += line->y[i], ++count;
  }
  then.loss = count ? sum / count : std::numeric_limits<double>::quiet_NaN();
  then.state = RunState::Training, then.learning_since = 0, then.note.clear();
  then.badge = fmt::format("at step {}", step);
  if (!run.history) return then;
  const Verdict verdict = verdict_of(run.history->events(), step);
  switch (verdict.kind) {
    case Verdict::Kind::Learns:
      then.state = RunState::Learning, then.learning_since = verdict.since;
      then.badge = fmt::format("learning since step {}", verdict.since);
      break;
    case Verdict::Kind::Stuck:
      then.state = RunState::Stuck, then.badge = verdict.what;
      break;
    case Verdict::Kind::NotFinite:
      then.state = run.state, then.badge = run.badge, then.note = run.note;
      break;
    case Verdict::Kind::Undecided:
      break;
  }
  return then;
}

int layers_of(const RunView& run, Side side) { return run.spec ? layers_of(run.spec->model, side) : 0; }

std::string prefix_of(const RunView& run, Side side) {
  return run.spec ? name_prefix(run.spec->model, side) : "";
}

bool has_both(const RunView& run) { return run.spec && has_both(run.spec->model); }

bool any_both(const LabView& view) {
  return std::any_of(view.runs.begin(), view.runs.end(), [](const RunView& run) { return has_both(run); });
}

std::vector<Side> sides_of(const RunView& run) {
  if (has_both(run)) return {Side::main, Side::encoder};
  return {Side::main};
}

const char* side_word(Side side) { return side == Side::main ? "decoder" : "encoder"; }

int find_run(const LabView& view, char letter) {
  for (size_t i = 0; i < view.runs.size(); ++i)
    if (view.runs[i].letter == letter) return static_cast<int>(i);
  return -1;
}

}  // namespace normscope::lab

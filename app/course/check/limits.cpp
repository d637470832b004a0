#include "app/course/check/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <set>
#include <sstream>

#include "app/course/map/swept.h"
#include "app/course/reading/measure_rules.h"
#include "engine/core/error.h"
#include "training/experiments/store/numbers.h"
#include "training/experiments/table.h"
#include "training/io/input_kinds.h"
#include "training/io/input_value.h"
#include "training/io/line_file.h"
#include "training/spec/codec.h"

namespace normscope::course {

template <class Io>
void io(Io& io, codec::Of<Io, LimitLine>& line) {
  constexpr codec::Text kText{4096};
  io("lesson", line.lesson, kText);
  io("setting", line.setting, kText);
  io("definition", line.definition, kText);
  io("numbers", line.numbers, kText);
  io("seed", line.seed, codec::Whole{0, INT64_MAX});
  io("values", line.values, codec::Map{kMostOfLesson, codec::AnyNumber{}});
}

namespace {

namespace fs = std::filesystem;
using LimitKind = LimitSetting::Kind;

// ---- what a measure needs

void need(const Lesson& lesson, const std::string& id, std::set<std::string>& measures,
          std::set<std::string>& curves) {
  const Measure* m = id.empty() ? nullptr : lesson.measure(id);
  if (!m || !measures.insert(id).second) return;
  for (const std::string* other : {&m->first, &m->second, &m->offset}) need(lesson, *other, measures, curves);
  std::vector<std::string> used = m->rivals;
  used.insert(used.end(), {m->curve, m->against, m->law});
  for (const std::string& curve : used)
    if (lesson.curve(curve)) curves.insert(curve);
}

/// `effect_of` is the lesson with its effect alone.
Lesson effect_of(Lesson lesson) {
  std::set<std::string> measures, curves;
  for (const std::string& id : lesson.effect) need(lesson, id, measures, curves);
  std::erase_if(lesson.measures, [&](const Measure& m) { return !measures.contains(m.id); });
  std::erase_if(lesson.curves, [&](const Curve& c) { return !curves.contains(c.id); });
  std::erase_if(lesson.checks, [&](const Check& c) {
    return std::find(lesson.effect.begin(), lesson.effect.end(), c.measure) == lesson.effect.end();
  });
  lesson.figures.clear();
  return lesson;
}

bool reads_text(const LessonRun& run) {
  return run.spec.data.name == "corpus" || run.spec.data.name == "text";
}

// ---- settings

void change_width(RunSpec& spec, double width) {
  const ModelConfig& was = spec.model;
  const double times = width / was.d_model;
  const auto scaled = [&](int32_t n) {
    return std::to_string(std::max(1, static_cast<int32_t>(std::lround(n * times))));
  };
  const std::string feed_forward = scaled(was.feed_forward), heads = scaled(was.heads);
  set_field(spec, "model.d_model", fmt::format("{}", width));
  set_field(spec, "model.feed_forward", feed_forward);
  set_field(spec, "model.heads", heads);
}

int32_t deeper(double layers, double times) {
  return layers <= 1 ? static_cast<int32_t>(layers)
                     : std::max(1, static_cast<int32_t>(std::lround(layers * times)));
}

/// `deeper_probe` moves "L06.ffn.w2.grad_norm" of the last of six layers to the last of twelve; the first layer stays.
std::string deeper_probe(const std::string& y, double times) {
  std::string out;
  for (size_t i = 0; i < y.size();) {
    const bool layer = y[i] == 'L' && i + 2 < y.size() &&
                       std::isdigit(static_cast<unsigned char>(y[i + 1])) &&
                       std::isdigit(static_cast<unsigned char>(y[i + 2]));
    if (!layer) {
      out += y[i++];
      continue;
    }
    out += fmt::format("L{:02}", deeper(std::stoi(y.substr(i + 1, 2)), times));
    i += 3;
  }
  return out;
}

void change_depth(Lesson& lesson, double times) {
  for (LessonRun* run : lesson.all_runs())
    set_field(run->spec, "model.layers", std::to_string(deeper(run->spec.model.layers, times)));
  std::set<std::string> by_depth;
  for (Curve& c : lesson.curves) {
    if (grows(c)) c.y = deeper_probe(c.y, times);
    if (c.of == Curve::Of::Run || is_swept(c) || c.of == Curve::Of::Norm || c.of == Curve::Of::Tape ||
        c.of == Curve::Of::OneStep)
      continue;
    by_depth.insert(c.id);
    for (double& x : c.xs) x = deeper(x, times);
    c.xs.erase(std::unique(c.xs.begin(), c.xs.end()), c.xs.end());
  }
  for (Measure& m : lesson.measures)
    if (by_depth.contains(m.curve) && m.take != "first_below") {  // a limit of y; without a range both are 0
      m.a = deeper(m.a, times);
      m.b = deeper(m.b, times);
    }
}

/// `change_steps` moves windows that end with the training along with its end; windows at the start stay.
void change_steps(Lesson& lesson, double times) {
  std::map<std::string, int32_t> more;  // by run
  for (LessonRun* run : lesson.all_runs()) {
    const int32_t was = run->spec.train.steps, now = static_cast<int32_t>(std::lround(was * times));
    set_field(run->spec, "train.steps", std::to_string(now));
    more[run->id] = now - was;
  }
  for (Curve& c : lesson.curves) {
    if (c.of != Curve::Of::Run) continue;
    const int32_t was = lesson.run(c.run)->spec.train.steps - more[c.run];
    if (c.to != was) continue;
    c.to += more[c.run];
    const bool late = c.from > was / 2;
    if (late) c.from += more[c.run];
    for (Measure& m : lesson.measures)
      if (m.curve == c.id && m.b == was) {
        m.a += more[c.run];
        m.b += more[c.run];
      }
  }
}

/// `change_text` changes only the text: it has other frequencies and another last loss, but the lesson asks the same.
void change_text(Lesson& lesson, const std::string& text) {
  for (LessonRun* run : lesson.all_runs()) {
    if (!reads_text(*run)) continue;
    run->spec.data.name = "text";
    run->spec.data.text_path = text;
  }
}

// ---- lines

std::optional<LimitLine> line_from(const std::string& text) {
  try {
    return codec::read<LimitLine>(InputValue::parse(text, "limits"));
  } catch (const Error&) {
    return {};  // cut off by the end of a process: measured again
  }
}

const Check* check_of(const Lesson& lesson, const std::string& measure) {
  for (const Check& c : lesson.checks)
    if (c.measure == measure) return &c;
  return nullptr;
}

bool all_hold(const Lesson& lesson, const std::map<std::string, double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [&](const auto& v) { return effect_holds(lesson, v.first, v.second); });
}

/// `same_line` is the line of a file for the same run of the same setting; nullptr without one.
const LimitLine* same_line(const std::vector<LimitLine>& known, const LimitLine& line) {
  const auto same = std::find_if(known.begin(), known.end(), [&](const LimitLine& k) {
    return k.lesson == line.lesson && k.setting == line.setting && k.definition == line.definition &&
           k.numbers == line.numbers && k.seed == line.seed;
  });
  return same == known.end() ? nullptr : &*same;
}

/// `each_line` lets `each` fill in every line of a lesson: one seed per setting, and more after a line whose verdict
/// differs.
void each_line(const Lesson& lesson, experiments::RunStore& store, const LimitOptions& options,
               const std::function<void(const Lesson& changed, LimitLine&)>& each) {
  const std::unique_ptr<Backend> backend = make_backend(options.backend, 1);
  for (const LimitSetting& setting : limit_settings(lesson, options.text)) {
    const Lesson changed = in_setting(lesson, setting);
    LimitLine line{lesson.id, setting.name(), hash_text(definition(changed)), "", 1, {}};
    line.numbers = fmt::format("{} data {:016x}", experiments::numbers_of(*backend),
                               store.task(changed.runs.front().spec.data)->hash());
    bool flips = false;
    for (; line.seed == 1 || (flips && line.seed <= static_cast<uint64_t>(options.seeds)); ++line.seed) {
      line.values.clear();
      each(changed, line);
      flips = flips || !all_hold(lesson, line.values);
    }
  }
}

std::map<std::string, double> one_seed(const Lesson& lesson, uint64_t seed, experiments::RunStore& store,
                                       const experiments::OnStep& on_step) {
  store.train_ahead(runs_of_seed(lesson, seed), on_step);
  CurveSet curves;
  for (const Curve& curve : lesson.curves)
    curves[curve.id] = measure_curve(lesson, curve, seed, store, on_step);
  std::map<std::string, double> values;
  for (const std::string& id : lesson.effect) values[id] = evaluate(lesson, *lesson.measure(id), curves);
  return values;
}

}  // namespace

std::string LimitSetting::name() const {
  switch (kind) {
    case LimitKind::Width:
      return fmt::format("width {}", by);
    case LimitKind::Depth:
      return fmt::format("depth × {}", by);
    case LimitKind::Steps:
      return fmt::format("steps × {}", by);
    case LimitKind::Text:
      break;
  }
  return "another text";
}

std::vector<LimitSetting> limit_settings(const Lesson& lesson, const std::string& text) {
  const Lesson effect = effect_of(lesson);
  std::vector<LimitSetting> all{{LimitKind::Width, 32, {}},
                                {LimitKind::Width, 128, {}},
                                {LimitKind::Depth, 0.5, {}},
                                {LimitKind::Depth, 2, {}}};
  if (std::any_of(effect.curves.begin(), effect.curves.end(), is_trained))
    all.push_back({LimitKind::Steps, 5, {}});
  const auto of_text = [&](const Curve& c) {
    return !c.theory && c.of != Curve::Of::Tape && reads_text(*lesson.run(c.run));
  };
  if (!text.empty() && std::any_of(effect.curves.begin(), effect.curves.end(), of_text))
    all.push_back({LimitKind::Text, 1, text});
  return all;
}

Lesson in_setting(const Lesson& lesson, const LimitSetting& setting) {
  Lesson changed = effect_of(lesson);
  if (setting.kind == LimitKind::Depth) change_depth(changed, setting.by);
  if (setting.kind == LimitKind::Steps) change_steps(changed, setting.by);
  if (setting.kind == LimitKind::Text) change_text(changed, setting.text);
  for (LessonRun* run : changed.all_runs()) {
    if (setting.kind == LimitKind::Width) change_width(run->spec, setting.by);
    complete(run->spec);
    validate(run->spec);
  }
  return changed;
}

std::vector<LimitLine> read_limits(const std::string& path) {
  std::vector<LimitLine> lines;
  std::istringstream in(read_input_file_if_there(path, input::kMeasured).value_or(""));
  for (std::string text; std::getline(in, text);)
    if (std::optional<LimitLine> line = line_from(text)) lines.push_back(std::move(*line));
  return lines;
}

std::vector<LimitLine> measure_limits(const Lesson& lesson, experiments::RunStore& store,
                                      const LimitOptions& options,
                                      const std::function<void(const LimitLine&)>& told,
                                      const experiments::OnStep& on_step) {
  const std::vector<LimitLine> known = read_limits(options.results);
  LineFile results(options.results, "limits", true);
  std::vector<LimitLine> lines;
  each_line(lesson, store, options, [&](const Lesson& changed, LimitLine& line) {
    if (line.seed == 1) store.forget();  // of the setting before
    if (const LimitLine* same = same_line(known, line)) {
      line.values = same->values;
    } else {
      line.values = one_seed(changed, line.seed, store, on_step);
      results.line(codec::write(line).dump());
      if (!results.error().empty()) throw Error(results.error());
      if (told) told(line);
    }
    lines.push_back(line);
  });
  return lines;
}

std::vector<experiments::Experiment> limit_runs(const Lesson& lesson, experiments::RunStore& store,
                                                const LimitOptions& options) {
  std::vector<LimitLine> known;
  if (!options.results.empty()) known = read_limits(options.results);
  std::vector<experiments::Experiment> runs;
  each_line(lesson, store, options, [&](const Lesson& changed, LimitLine& line) {
    if (const LimitLine* same = same_line(known, line))
      line.values = same->values;
    else
      for (experiments::Experiment& run : runs_of_seed(changed, line.seed)) runs.push_back(std::move(run));
  });
  return runs;
}

bool effect_holds(const Lesson& lesson, const std::string& measure, double value) {
  const Check* check = check_of(lesson, measure);
  return !check || holds(*check, {{value}, {}});
}

std::string limits_table(const Lesson& lesson, const std::vector<LimitLine>& lines) {
  experiments::Table table{{{"", "setting"}}};
  for (const std::string& id : lesson.effect)
    table.columns.push_back(
        {"", fmt::format("{} ({})", lesson.measure(id)->label, band_text(*check_of(lesson, id)))});
  const auto row = [&](const std::string& name, const std::map<std::string, std::vector<double>>& values) {
    experiments::TableRow& cells = table.rows.emplace_back();
    cells.emplace_back(name);
    for (const std::string& id : lesson.effect) {
      const auto it = values.find(id);
      if (it == values.end() || it->second.empty()) {
        cells.emplace_back("–");
        continue;
      }
      const Measure& m = *lesson.measure(id);
      const Check& check = *check_of(lesson, id);
      const std::vector<double>& v = it->second;
      const auto held = std::count_if(v.begin(), v.end(), [&](double x) { return holds(check, {{x}, {}}); });
      const Spread s = spread_of(v, m.mean);
      std::string cell = shown(s.mean, m);
      if (v.size() > 1)
        cell += fmt::format(", {} to {}, {} of {} hold", shown(s.low, m), shown(s.high, m), held, v.size());
      cells.emplace_back(held == static_cast<std::ptrdiff_t>(v.size()) ? cell : "**" + cell + "**");
    }
  };
  if (const std::optional<Results> kept = load_results(lesson)) {
    std::map<std::string, std::vector<double>> values;
    for (const std::string& id : lesson.effect)
      if (kept->measures.contains(id)) values[id] = kept->measures.at(id).values;
    row("as in the lesson", values);
  }
  for (size_t i = 0; i < lines.size();) {
    std::map<std::string, std::vector<double>> values;
    size_t end = i;
    for (; end < lines.size() && lines[end].setting == lines[i].setting; ++end)
      for (const auto& [id, v] : lines[end].values) values[id].push_back(v);
    row(lines[i].setting, values);
    i = end;
  }
  return experiments::to_markdown(table);
}

std::string licence_text(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_regular_file(error) && !entry.is_symlink(error)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::string text;
  for (const std::string& file : files) {
    text += read_input_file(file, input::kText);
  }
  return text;
}

}  // namespace normscope::course

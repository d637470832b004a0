#include "app/settings/settings_rows.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <numeric>

#include "app/view/lab_data.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "engine/core/machine.h"
#include "training/data/task.h"
#include "training/files/places.h"
#include "training/spec/spec.h"
#include "training/spec/update_rule.h"

namespace normscope::settings {

using namespace ui;

namespace {

namespace fs = std::filesystem;

// The results of place_of() for fields that have a row only while a run reads them: the field on which that depends.
constexpr std::string_view kOfData = "settings/data.name", kOfArchitecture = "settings/model.architecture",
                           kOfPositions = "settings/model.positions",
                           kOfWindow = "settings/model.attention_window";

bool is_changed(const SettingsState& state, const LabView& view, int only, size_t run) {
  return only >= 0 ? static_cast<size_t>(only) == run
                   : (state.edits >> (view.runs[run].letter - 'A') & 1) != 0;
}

std::string text_of(const Field& field, double value) {
  return field.type == FieldType::Integer ? fmt::format("{}", std::llround(value))
                                          : fmt::format("{:g}", value);
}

/// The range of a slider.
struct Range {
  std::string_view key;
  double lo = 0, hi = 0, step = 1;
  bool log = false;
};
// Ranges of fields whose useful values are fewer than the valid ones.
constexpr Range kRanges[] = {{"model.layers", 1, 24},
                             {"train.lr", 1e-5, 1e-1, 0, true},
                             {"model.d_model", 16, 512, 16, true},
                             {"train.batch", 1, 256, 1, true},
                             {"model.heads", 1, 16, 1, true},
                             {"model.feed_forward", 16, 2048, 16, true},
                             {"model.sequence", 8, 512, 8, true},
                             {"run.seed", 0, 100},
                             {"model.init_scale", 0.0625, 4, 0, true},
                             {"train.warmup", 0, 1000, 10},
                             {"train.warmup_target", 0, 10, 0.1},
                             {"model.head_width", 0, 128},
                             {"model.kv_heads", 0, 16},
                             {"model.attention_window", 0, 128},
                             {"model.attention_scale", 0, 2, 0.01},
                             {"model.attention_cap", 0, 100},
                             {"model.attention_start", 0, 2, 0.01},
                             {"model.logit_scale", 0.01, 10, 0, true},
                             {"train.update_bound", 0, 0.02, 0.0005},
                             {"model.logit_cap", 0, 100},
                             {"model.embedding_scale", 0, 32, 0.5},
                             {"model.rotary_base", 10, 1e6, 0, true},
                             {"model.rotary_factor", 1, 64}};

Range range_of(const Field& field) {
  const auto* narrow = std::ranges::find(kRanges, field.key, &Range::key);
  if (narrow != std::end(kRanges)) return *narrow;
  if (field.type != FieldType::Real) return {field.key, field.low, field.high};
  return {field.key, field.low, std::min(field.high, 1.0), 0.01};
}

FieldOptions scale_of(const Field& field) {
  const Range range = range_of(field);
  return {.lo = range.lo,
          .hi = std::max(range.hi, range.lo + 1e-9),
          .step = range.step,
          .log = range.log,
          .integer = field.type == FieldType::Integer};
}

std::vector<double> values_along(const FieldOptions& scale) {
  constexpr int kValues = 7;
  std::vector<double> values;
  for (int i = 0; i < kValues; ++i) {
    const double share = static_cast<double>(i) / (kValues - 1);
    double value = ui::from_track(scale, share);
    if (scale.integer) value = std::round(value);
    if (values.empty() || values.back() != value) values.push_back(value);
  }
  return values;
}

/// The loss at the end: the mean over the loss window.
double end_of(const std::vector<float>& losses) {
  const auto count = std::min(std::ssize(losses), std::ptrdiff_t{kLossWindow});
  return std::accumulate(losses.end() - count, losses.end(), 0.0) / static_cast<double>(count);
}

/// The losses at the ends of the dial's runs, by run and value; NaN where a run is not trained yet.
std::vector<std::vector<double>> ends_of(const SettingsState& state, const LabView& view) {
  const std::vector<DialRun> runs = dial_runs(state, view);
  std::vector<std::vector<double>> ends(view.runs.size(),
                                        std::vector<double>(state.dial->values.size(), std::nan("")));
  for (size_t i = 0; i < runs.size() && runs.size() == view.supposed.size(); ++i) {
    const LabView::Supposition& one = view.supposed[i];
    if (*one.spec == runs[i].spec && one.run && !one.run->losses.empty())
      ends[runs[i].run][runs[i].value] = end_of(one.run->losses);
  }
  return ends;
}

/// The position of the dial's present value on the field's track, from 0 to 1.
float share_now(const SettingsState& state, const LabView& view) {
  const Field& field = *find_field(state.dial->key);
  const size_t run = state.dial->only >= 0 ? static_cast<size_t>(state.dial->only) : 0;
  const double now = std::strtod(field.get(*view.runs[run].spec).c_str(), nullptr);
  return static_cast<float>(ui::to_track(scale_of(field), now));
}

/// The specification with another value of a field; nothing where it would be invalid.
std::optional<RunSpec> with_value(RunSpec run, std::string_view key, const std::string& value) {
  try {
    set_field(run, key, value);
    validate(run);
  } catch (const Error&) {
    return {};
  }
  return run;
}

/// The next value of a number, or choice of a list, for an arrow key; empty at the end of either.
std::string next_value(const Field& field, const std::string& now, int by) {
  if (field.type == FieldType::Choice) {
    const std::vector<std::string_view> all = choices_of(field);
    const auto at = std::ranges::find(all, now) - all.begin() + by;
    return at < 0 || at >= std::ssize(all) ? "" : std::string(all[static_cast<size_t>(at)]);
  }
  if (field.type != FieldType::Integer && field.type != FieldType::Real) return "";
  const double before = std::strtod(now.c_str(), nullptr);
  const double value = ui::next_value(scale_of(field), before, by);
  return value == before || value < field.low || value > field.high ? "" : text_of(field, value);
}

// A control for a value inside a row, underlined while the mouse is over it.
Hit value_hit(Ui& ui, const std::string& name, const Rect& rect, const std::string& text,
              const std::string& help, bool arrows) {
  const Hit hit =
      ui.hit(name, rect, text, help, {.arrows = arrows ? Arrows::Either : Arrows::None, .radius = 4});
  if (hit.hovered || hit.held)
    ui.paint().hairline({rect.x, rect.bottom() - 4}, {rect.right(), rect.bottom() - 4}, ui.theme().ink);
  return hit;
}

/// A placement's short label, "Post" for "Post-LN", for rows with the values of many runs; other texts are unchanged.
std::string brief(const Field& field, const RunView& run, const std::string& text) {
  if (field.key != "model.placement" && field.key != "model.encoder_placement") return text;
  const std::string value = field.get(*run.spec);
  for (const Placement placement : placements())
    if (value == to_string(placement)) return std::string(shown_label(row_of(placement).short_label));
  return text;
}

// The fields that users change most, in the order of their rows.
constexpr std::string_view kFirst[] = {
    "model.layers",       "train.lr",   "model.d_model",  "train.batch", "model.heads", "train.optimizer",
    "model.feed_forward", "model.init", "model.sequence", "data.name",   "run.seed"};

const std::string* own_words(const Field& field, std::string_view what) {
  return words::of_window().find(fmt::format("settings.shown.{}.{}", field.key, what));
}

// The unit after the number; "rows" for a batch where no run reads text, as images and states of a parse are no texts.
std::string unit_of(const Field& field, const LabView& view) {
  if (field.key == "train.batch" && !view::any_stream(view)) return tr("rows");
  if (field.key == "model.sequence") return tr("{unit}s", {{"unit", words::spoken(view.unit)}});
  if (const std::string* own = own_words(field, "unit")) return *own;
  return own_words(field, "label") ? "" : words::spoken(field.unit);  // a label that says what it counts
}

const std::string& what_to_type(const Field& field) {
  if (field.key == "train.milestones") return tr("steps, as 100,200");
  return field.file ? tr("path, then Enter; empty: none") : tr("then Enter");
}

std::string refused_file(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return "";
  if (fs::exists(path, error)) return tr("{path} is no file", {{"path", path}});
  return tr("there is no file {path}", {{"path", path}});
}

// The name of a kind of data in the list, or of a field for a file, from settings.toml.
const std::string& label_of(std::string_view source) {
  return words::say(fmt::format("settings.data.{}.label", source));
}
const std::string& help_of(std::string_view source) {
  return words::say(fmt::format("settings.data.{}.help", source));
}

// Why no run reads the field now: "schedule is constant: expected step"; empty where a run does.
std::string idle_because(const Field& field, const LabView& view) {
  Message reason;
  for (const RunView& run : view.runs) {
    reason = unused_reason(*run.spec, field.key);
    if (reason.empty()) return "";
  }
  if (reason.empty()) return "";
  const Field* decides = find_field(reason.places[0]);
  return words::spoken({"{} is {}: expected {}", decides ? field_label(*decides) : reason.places[0],
                        reason.places[1], reason.places[2]});
}

}  // namespace

std::string_view place_of(const Field& field) {
  if (field.key == "train.steps") return "transport/budget";
  if (field.key == "model.placement") return "diagram/preset";  // and a row where the runs differ in it
  // Files of data are in the list of the data. A field that only one kind of data reads has a row only while a run
  // reads it: see has_row().
  if (field.key == "data.text" || field.key == "data.labels" ||
      (field.added && field.key.starts_with("data.")))
    return kOfData;
  const bool of_one_architecture = field.added && !field.conditions.empty() &&
                                   field.conditions[0].because == "model.architecture" &&
                                   field.conditions[0].expected.empty();
  if (field.key == "model.masked_head" || of_one_architecture) return kOfArchitecture;
  if (field.key.starts_with("model.rotary_")) return kOfPositions;
  if (field.key == "model.attention_pattern") return kOfWindow;
  return "";
}

bool has_row(const Field& field, const LabView& view) {
  const auto any_run = [&](auto&& test) {
    return std::ranges::any_of(view.runs,
                               [&](const RunView& run) { return test(unused_reason(*run.spec, field.key)); });
  };
  const std::string_view place = place_of(field);
  if (place == kOfArchitecture || place == kOfPositions || place == kOfWindow ||
      (place == kOfData && field.type != FieldType::Text))
    return any_run([](const Message& reason) { return reason.empty(); });
  // What a transformer does not read stays in its list, as a choice may need it next. A published model made its
  // choices already; only its kind of data makes tasks of other data, in the model's tokens.
  const bool published = !view.runs.empty() && std::ranges::all_of(view.runs, [](const RunView& run) {
    const TaskKind* const kind = find_kind(run.spec->data.name);
    return kind && kind->also && !run.spec->train.init_from.empty();
  });
  if (!place.empty() || (view::any_stream(view) && !published)) return place.empty();
  return any_run([](const Message& reason) {
    return reason.empty() || (reason.places[0] != "model.architecture" && reason.places[0] != "data.name");
  });
}

bool listed(const Field& field) { return place_of(field).empty(); }

bool differs(const Field& field, const LabView& view) {
  for (size_t i = 1; i < view.runs.size(); ++i)
    if (field.get(*view.runs[i].spec) != field.get(*view.runs[0].spec)) return true;
  return false;
}

void Rows::edit(const Field& field, const std::string& value, int only) {
  unsigned all = 0;
  for (const RunView& run : view.runs) all |= 1u << (run.letter - 'A');
  if (only >= 0)
    commands.emplace_back(session::EditField{only, std::string(field.key), value});
  else if ((state.edits & all) == all || field.key.starts_with("data.") || field.key == "run.seed")
    commands.emplace_back(session::EditField{-1, std::string(field.key), value});
  else
    for (size_t i = 0; i < view.runs.size(); ++i)
      if (state.edits >> (view.runs[i].letter - 'A') & 1)
        commands.emplace_back(session::EditField{static_cast<int>(i), std::string(field.key), value});
}

void Rows::mark_pending(const Field& field, const Rect& rect) {
  std::string letters;
  for (const RunView& run : view.runs)
    if (pending.has(run.letter, field.key)) letters += run.letter;
  if (letters.empty()) return;
  ui.mark(fmt::format("settings/pending/{}", field.key), rect, letters,
          tr("Asked for: the runs with this value are being built."));
  ui.paint().accent_box(ui.theme(), {rect.x, rect.y + 3, 3, rect.h - 6}, 1.5f);
}

void Rows::hint(const Field& field, const Rect& rect) {
  if (field.live || view.instant || !state.restart_hint.empty()) return;
  const std::string name = fmt::format("settings/{}", field.key);
  const std::string& focus = ui.focused();
  const bool focused = ui.focus_visible() && focus.starts_with(name) &&
                       (focus.size() == name.size() || focus[name.size()] == '/');
  if (focused || (rect.contains(ui.mouse()) && clip.contains(ui.mouse())))
    state.restart_hint = tr("a change restarts from step 0");
}

void Rows::predict(const Field& field, const std::string& value, int only) {
  if (field.live && !view.instant) state.restart_hint = live_cost_text(field, value);
  if (field.live || view.instant) return;
  double now = 0, then = 0;
  int64_t bytes = 0;
  for (size_t i = 0; i < view.runs.size(); ++i) {
    RunSpec spec = *view.runs[i].spec;
    now += step_flop(spec.model, spec.train.batch);
    try {
      if (is_changed(state, view, only, i)) set_field(spec, field.key, value);
    } catch (const Error&) {
      return;  // the field itself says so once it is asked for
    }
    then += step_flop(spec.model, spec.train.batch);
    bytes += estimated_bytes(spec.model, spec.train.batch);
  }
  static const auto machine = static_cast<int64_t>(machine_memory());  // asked once: it reads a file
  state.restart_hint = cost_text(view.seconds_per_step, now, then, bytes, machine);
}

std::string Rows::help(const Field& field) const {
  std::string text = fmt::format("{} {}", spoken_help(field),
                                 view.instant ? tr("A change trains the runs anew, while you make it.")
                                 : field.live ? tr("Acts at once, from the next step on.")
                                              : tr("A change restarts the runs from step 0."));
  if (const std::string idle = idle_because(field, view); !idle.empty())
    text += " " + tr("Not read now: {reason}.", {{"reason", idle}});
  return text;
}

void Rows::number_field(const Field& field, const std::string& name, const Rect& rect, std::string_view words,
                        int only) {
  const RunSpec& spec = *view.runs[only >= 0 ? static_cast<size_t>(only) : 0].spec;
  const std::string now = field.get(spec);
  double value = std::strtod(now.c_str(), nullptr);
  FieldOptions options = scale_of(field);
  options.least = field.low;
  options.most = field.high;
  options.unit = unit_of(field, view);
  options.track = range_of(field).hi <= 4096 && field.key != "run.seed";
  const ui::Change change = ui::field(ui, name, rect, words, value, help(field), options);
  using ui::Typed;
  const Typed typed = ui.edit().name == name ? ui::typed_number(ui.edit().buffer, options.integer)
                                             : Typed{Typed::Kind::Nonsense, value};
  const bool whole = typed.kind == Typed::Kind::Number;
  if (change != ui::Change::None || whole)  // the cost is shown while the value is dragged or typed
    predict(field, text_of(field, std::clamp(whole ? typed.value : value, field.low, field.high)), only);
  dial(field, rect, only);
  if (change == ui::Change::None || (change == ui::Change::Live && !view.instant)) return;
  const std::string text = text_of(field, value);
  // Two digits of a float and of a double differ by rounding, in every frame in which the mouse is held.
  if (change == ui::Change::Done || text != now) edit(field, text, only);
}

void Rows::dial(const Field& field, const Rect& rect, int only) {
  const Range shown = range_of(field);
  if (!view.instant || shown.hi <= shown.lo || (shown.log && shown.lo <= 0) || field.key == "run.seed")
    return;
  if (ui.popup_open() && only < 0) return;  // a list lies over the row
  const bool held = ImGui::IsMouseDown(ImGuiMouseButton_Left) &&
                    ui.focused().starts_with(fmt::format("settings/{}", field.key));
  if (!held && (!rect.contains(ui.mouse()) || !clip.contains(ui.mouse()))) return;
  state.dial = Dial{std::string(field.key), {}, only, values_along(scale_of(field))};
  state.dial->place = rect;
}

// Draws the strip directly above the number field, so that the field's track below is the strip's x axis.
void draw_dial(Ui& ui, const SettingsState& state, const LabView& view) {
  if (!state.dial) return;
  const std::vector<std::vector<double>> ends = ends_of(state, view);
  constexpr float kHeight = 68, kCaption = 15;
  const Rect place{state.dial->place.x, state.dial->place.y - kHeight - 3, state.dial->place.w, kHeight};
  Rect inner = place.inset(8, 7);
  const Rect caption = inner.take_top(kCaption);
  const double level = view.unigram_entropy, top = level + 0.2;
  double bottom = level - 0.3;
  for (const std::vector<double>& run : ends)
    for (const double end : run)
      if (end < bottom) bottom = end;
  const std::vector<double>& values = state.dial->values;
  const auto count = static_cast<float>(values.size() - 1);
  const auto at = [&](size_t value, double loss) {
    const double share = std::clamp((top - loss) / (top - bottom), 0.0, 1.0);
    return Vec{inner.x + inner.w * static_cast<float>(value) / count,
               inner.y + inner.h * static_cast<float>(share)};
  };
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.fill(place, t.panel, radius::field);
  p.outline(place, t.strong, 1, radius::field);
  const TextStyle small{Face::Sans, type::tick};
  const Vec base{caption.x, caption.y + 9};
  p.text(base, small, t.ink2, tr("last loss"));
  p.text({caption.right(), base.y}, {Face::Mono, type::tick}, t.ink3,
         fmt::format("{} – {}", ui::number(values.front()), ui::number(values.back())), Align::Right);
  p.hairline(at(0, level), at(values.size() - 1, level), t.control);
  const float now = inner.x + inner.w * share_now(state, view);
  p.hairline({now, inner.y}, {now, inner.bottom()}, t.ink3);
  std::string told;
  for (size_t run = 0; run < ends.size(); ++run) {
    const RunLook& look = t.runs[static_cast<size_t>(view::colour_of(view.runs[run]))];
    for (size_t i = 0; i < ends[run].size(); ++i) {
      if (std::isnan(ends[run][i])) continue;
      if (i > 0 && !std::isnan(ends[run][i - 1]))
        p.line(at(i - 1, ends[run][i - 1]), at(i, ends[run][i]), look.line, 2);
      p.marker(at(i, ends[run][i]), look.marker, 3, look.line, t.panel);
      told += fmt::format("{}{} {}: {}", told.empty() ? "" : ", ", view.runs[run].letter,
                          ui::number(state.dial->values[i]), ui::decimals(ends[run][i], 2));
    }
  }
  ui.mark(
      fmt::format("settings/{}/strip", state.dial->key), place, told,
      tr("The last loss of each run over the range of the number below, from low to high; the line is {frequencies}.",
         {{"frequencies", words::spoken(frequencies_of(view.unit))}}));
}

std::vector<RunSpec> runs_beside(const session::EditField& edit, const LabView& view) {
  std::vector<RunSpec> runs;
  const Field* field = find_field(edit.key);
  if (!field || field->key == "run.seed" || field->key.starts_with("data.")) return runs;
  for (size_t run = 0; run < view.runs.size(); ++run)
    for (const int by : {1, -1}) {
      if (edit.run >= 0 && static_cast<size_t>(edit.run) != run) continue;
      const RunSpec& now = *view.runs[run].spec;
      const std::string next = next_value(*field, field->get(now), by);
      if (next.empty()) continue;
      if (auto spec = with_value(now, field->key, next)) runs.push_back(std::move(*spec));
    }
  return runs;
}

std::vector<DialRun> dial_runs(const SettingsState& state, const LabView& view) {
  std::vector<DialRun> runs;
  if (!state.dial) return runs;
  const Field& field = *find_field(state.dial->key);
  for (size_t value = 0; value < state.dial->values.size(); ++value)
    for (size_t run = 0; run < view.runs.size(); ++run) {
      if (!is_changed(state, view, state.dial->only, run)) continue;
      if (auto spec = with_value(*view.runs[run].spec, field.key, text_of(field, state.dial->values[value])))
        runs.push_back({value, run, std::move(*spec)});
    }
  return runs;
}

std::optional<RunSpec> spec_in_question(const SettingsState& state, const LabView& view, int shown) {
  if (!state.choice_hovered) return {};
  const auto& [only, key, value] = *state.choice_hovered;
  const auto changes = [&, &only = only](size_t run) { return is_changed(state, view, only, run); };
  auto run = static_cast<size_t>(shown);
  if (!changes(run))
    for (run = 0; run < view.runs.size() && !changes(run);) ++run;
  if (run == view.runs.size()) return {};
  const RunSpec& now = *view.runs[run].spec;
  auto spec = with_value(now, key, value);
  return spec && *spec == now ? std::nullopt : spec;
}

void Rows::choice_field(const Field& field, const std::string& name, const Rect& rect) {
  if (row(ui, name, rect, field_label(field), "", display(field, *view.runs[0].spec), help(field), true))
    ui.open_popup(name);
  choice_list(field, name, rect, -1);
}

void Rows::choice_list(const Field& field, const std::string& name, const Rect& row, int only) {
  constexpr float h = 26;
  if (!ui.popup_open(name)) return;
  const std::vector<std::string_view> choices = choices_of(field);
  std::vector<std::string> values(choices.begin(), choices.end());
  if (field.type == FieldType::Flag) values = {"true", "false"};
  const std::string now = field.get(*view.runs[only >= 0 ? static_cast<size_t>(only) : 0].spec);
  float width = 0;
  for (const std::string& value : values)
    width = std::max(width, ui.paint().text_width({Face::Bold, type::body}, display(field, value)) + 28);
  // A list longer than the window goes on in a second column.
  const auto count = static_cast<float>(values.size());
  const float columns = std::ceil((count * h + 12) / (ui.size().y - 8)), lines = std::ceil(count / columns);
  width = std::max(width, (std::min(row.w, 240.f) - 12) / columns);
  Rect list{row.x, row.bottom() + 4, width * columns + 12, h * lines + 12};
  list.x = std::max(4.f, std::min(list.x, ui.size().x - 4 - list.w));
  if (list.bottom() > ui.size().y - 4) list.y = std::max(4.f, row.y - 4 - list.h);
  if (!ui.begin_popup(name, list)) return;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& value = values[i];
    ButtonOptions o{
        .quiet = true, .left = true, .style = {value == now ? Face::Bold : Face::Sans, type::body}};
    const auto place = static_cast<float>(i);
    const float column = std::floor(place / lines), line = place - column * lines;
    const Rect item = Rect{list.x + 6 + column * width, list.y + 6 + line * h, width, h}.inset(0, 1);
    const bool other = value != now && replaces(field, value);
    if (item.contains(ui.mouse()) && other) {
      state.restart_hint = tr("other runs take the place of these");
    } else if (item.contains(ui.mouse())) {
      predict(field, value, only);
      if (view.instant) state.choice_hovered = session::EditField{only, std::string(field.key), value};
    }
    if (button(ui, name + "/" + value, item, display(field, value),
               other ? tr("Three such runs, on data of their own, take the place of all.") : help(field),
               o)) {
      if (value != now && other)
        commands.emplace_back(session::ReplaceRuns{.runs = comparison_of(value), .play = view.playing});
      else if (value != now)
        edit(field, value, only);
      ui.close_popup();
    }
  }
  ui.end_popup();
}

// True for a change between a transformer and another architecture, because no data fits both.
bool Rows::replaces(const Field& field, const std::string& value) const {
  return field.key == "model.architecture" &&
         (!is_transformer(architecture_from(value)) || (value == "decoder" && !view::any_stream(view)));
}

void Rows::shared(const Field& field, const Rect& rect) {
  if (!clip.contains(rect)) return;
  hint(field, rect);
  const std::string name = fmt::format("settings/{}", field.key);
  if (field.key == "data.name")
    data(rect);
  else if (field.key == "run.name")
    run_names(rect);
  else if (field.type == FieldType::Text)
    text_row(field, name, rect);
  else if (field.type == FieldType::Integer || field.type == FieldType::Real)
    number_field(field, name, rect, field_label(field), -1);
  else
    choice_field(field, name, rect);
  mark_pending(field, rect);
}

// Draws one run's value inside the row of a field that differs. A click on a choice opens its list, on a text its box.
// A number is dragged, changed by arrow keys, or clicked, which opens a field to type into.
void Rows::run_value(const Field& field, size_t i, const Rect& rect, const std::string& text) {
  const RunView& run = view.runs[i];
  const std::string name = fmt::format("settings/{}/{}", field.key, run.letter);
  const Colour ink = ui.theme().ink;
  const int only = static_cast<int>(i);
  if (field.key == "model.placement") {  // the diagram's presets are the list of placements
    ui.tell(name, rect, display(field, *run.spec), help(field));
    ui.paint().text_in(rect, {Face::Mono, type::body}, ink, text, Align::Right);
    return;
  }
  if (field.type != FieldType::Integer && field.type != FieldType::Real) {
    const bool typed = field.type == FieldType::Text;
    if (value_hit(ui, name, rect, text, help(field), false).clicked)
      typed ? open_text(field, name, only) : ui.open_popup(name);
    ui.paint().text_in(rect, {Face::Mono, type::body}, ink, text, Align::Right);
    return typed ? text_box(field, name, rect, only) : choice_list(field, name, rect, only);
  }
  const Range range = range_of(field);
  const Hit hit =
      value_hit(ui, name, rect, text, help(field) + tr(" Drag, arrow keys, or click to type."), true);
  const double now = std::strtod(field.get(*run.spec).c_str(), nullptr);
  double value = now;
  if (hit.dragging) {
    value =
        range.log ? now * std::pow(10.0, hit.drag.x / 150.0) : now + std::round(hit.drag.x / 2) * range.step;
    if (field.type == FieldType::Real) value = std::strtod(fmt::format("{:.2g}", value).c_str(), nullptr);
  }
  if (hit.arrow_x + hit.arrow_y) {
    const double step = range.log ? now * 0.1 : range.step;
    value = now + step * (hit.arrow_x + hit.arrow_y);
  }
  value = std::clamp(value, field.low, std::min(field.high, 1e6));
  if (value != now) predict(field, text_of(field, value), static_cast<int>(i));
  if ((hit.released && hit.dragging) || hit.arrow_x || hit.arrow_y) {
    if (value != now) edit(field, text_of(field, value), static_cast<int>(i));
  } else if (hit.clicked && !hit.dragging) {
    ui.open_popup(name);
  }
  ui.paint().text_in(rect, {Face::Mono, type::body}, ink, display(field, text_of(field, value)),
                     Align::Right);
  const Rect list{std::min(rect.x, ui.size().x - 196), rect.bottom() + 4, 190, 40};
  if (!ui.begin_popup(name, list)) return;
  number_field(field, name + "/value", list.inset(8), fmt::format("{} {}", run.letter, field_label(field)),
               static_cast<int>(i));
  ui.end_popup();
}

void Rows::differing(const Field& field, const Rect& rect) {
  if (!clip.contains(rect)) return;
  hint(field, rect);
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.fill(rect, t.field, radius::field);
  p.outline(rect, t.control, 1, radius::field);
  ui.tell(fmt::format("settings/{}", field.key), rect, "differs",
          fmt::format("{} {}", help(field), tr("It differs between the runs: each has its own value here.")));
  Rect line = rect.inset(9, 0);
  const float label_w = p.text_in(line, {Face::Sans, type::body}, t.ink2, field_label(field));
  Rect left = line;
  left.take_left(label_w + 8);

  const TextStyle mono{Face::Mono, type::body};
  std::vector<std::string> texts;
  float needed = 0;
  const std::string unit = unit_of(field, view);
  auto measure = [&] {
    needed = 0;
    for (const std::string& text : texts) needed += 14 + 4 + std::max(10.f, p.text_width(mono, text)) + 8;
    if (!unit.empty()) needed += p.text_width({Face::Sans, type::tick}, unit);
  };
  for (const RunView& run : view.runs) texts.push_back(display(field, *run.spec));
  measure();
  if (needed > left.w) {
    for (size_t i = 0; i < texts.size(); ++i) texts[i] = brief(field, view.runs[i], texts[i]);
    measure();
  }
  // The label is kept: of the longest values only the run's tile is drawn.
  for (size_t i = 0; i < texts.size() && needed > left.w; ++i) {
    std::ranges::max_element(texts, [](const std::string& a, const std::string& b) {
      return a.size() < b.size();
    })->clear();
    measure();
  }
  if (needed + 48 < left.w) p.text_in(left, {Face::Sans, type::tick}, t.ink3, tr("differs"));
  Rect right = line;
  if (!unit.empty()) {
    const Rect place = right.take_right(p.text_width({Face::Sans, type::tick}, unit), 6);
    p.text_in(place, {Face::Sans, type::tick}, t.ink3, unit, Align::Right);
  }
  for (size_t i = view.runs.size(); i-- > 0;) {
    const float w = std::max(10.f, p.text_width(mono, texts[i]));
    const Rect value = right.take_right(w + 1, 4);
    const Rect tile_box = right.take_right(14, 8);
    run_value(field, i, value, texts[i]);
    tile(ui, centred(tile_box.centre(), 14, 14), view.runs[i].letter - 'A');
  }
  mark_pending(field, rect);
}

// ---- The texts of fields, and which fields come first

std::string spoken_help(const Field& field) {
  std::string text = words::spoken(field.help);
  for (const std::string_view more : field.more_help) text += " " + words::spoken(more);
  return text;
}

std::vector<const Field*> first_fields() {
  std::vector<const Field*> fields;
  for (const std::string_view key : kFirst)
    if (const Field* field = find_field(key)) fields.push_back(field);
  return fields;
}

std::string field_label(const Field& field) {
  const std::string* own = own_words(field, "label");
  return own ? *own : words::spoken(field.label);
}

// ---- Settings that are typed as text: a list of steps, files, the names of the runs. The row shows the value and
// opens a text box. A text that is no valid value is not posted, and a line below the box says why.

std::string refusal_of(const Field& field, const std::string& text, const LabView& view, int only) {
  for (size_t i = 0; i < view.runs.size(); ++i) {
    if (only >= 0 && static_cast<int>(i) != only) continue;
    try {
      RunSpec spec = *view.runs[i].spec;
      set_field(spec, field.key, text);
      validate(spec);
    } catch (const Error& error) {
      return words::spoken(without_where(error.message));  // the row names the key
    }
  }
  return field.file && !text.empty() ? refused_file(text) : "";
}

std::string display(const Field& field, const std::string& value) {
  if (field.key == "model.placement") {
    if (value == to_string(Placement::Custom)) return tr("custom");
    return words::spoken(label(placement_from(value)));
  }
  if (field.key == "train.optimizer") return words::spoken(rule_of(optimizer_from(value)).label);
  if (value == "xavier") return "Xavier";
  if (value == "normal002") return words::with_decimal("0.02");
  if (value == "ln") return "LN";
  if (value == "rms") return "RMS";
  if (field.type == FieldType::Integer) return grouped(std::strtoll(value.c_str(), nullptr, 10));
  if (field.type == FieldType::Real) return number(std::strtod(value.c_str(), nullptr), 4);
  return value;
}

std::string display(const Field& field, const RunSpec& spec) {
  if (field.key == "model.init" && !spec.train.init_from.empty()) return tr("of the file");
  return display(field, field.get(spec));
}

void Rows::open_text(const Field& field, const std::string& name, int only) {
  state.typed = field.get(*view.runs[only >= 0 ? static_cast<size_t>(only) : 0].spec);
  state.refusal.clear();
  ui.open_popup(name);
  ui.edit() = {name + "/text", state.typed, true};
}

void Rows::text_row(const Field& field, const std::string& name, const Rect& rect) {
  const std::string label = field_label(field);
  std::string value = field.get(*view.runs[0].spec);
  if (field.file) value = fs::path(value).filename().string();
  if (value.empty()) value = tr("none");
  const float room = rect.w - 34 - ui.paint().text_width({Face::Sans, type::body}, label);
  value = ui.paint().fit({Face::Mono, type::body}, value, room);
  if (row(ui, name, rect, label, "", value, help(field), true)) open_text(field, name, -1);
  text_box(field, name, rect, -1);
}

void Rows::text_box(const Field& field, const std::string& name, const Rect& row, int only) {
  if (!ui.popup_open(name)) return;
  constexpr float width = 320, line = 16;
  const TextStyle small{Face::Sans, type::tick};
  const std::string idle = idle_because(field, view);
  const std::string below = !state.refusal.empty() ? state.refusal
                            : !idle.empty()        ? tr("Not read now: {reason}.", {{"reason", idle}})
                            : field.live           ? tr("Acts at once, from the next step on.")
                                                   : tr("A change restarts the runs from step 0.");
  const float below_h = ui.paint().wrapped_height(width - 30, small, below, line);
  Rect box{row.x, row.bottom() + 4, width, 12 + 20 + 30 + below_h + 4};
  box.x = std::max(8.f, std::min(box.x, ui.size().x - 8 - box.w));
  if (box.bottom() > ui.size().y - 4) box.y = row.y - 4 - box.h;
  if (!ui.begin_popup(name, box)) return;
  Rect rest = box.inset(6);
  ui.paint().text_in(rest.take_top(20).inset(9, 0), small, ui.theme().ink3, words::spoken(field.label));
  const std::string control = name + "/text";
  const bool done =
      text_field(ui, control, rest.take_top(30).inset(0, 3), what_to_type(field), state.typed, help(field));
  const Rect told = rest.inset(9, 0);
  ui.paint().text_wrapped(told, small, state.refusal.empty() ? ui.theme().ink3 : ui.theme().ink, below, line);
  ui.mark(name + "/note", told, below, tr("What was not taken, and why; or when a change acts."));
  if (done) take_text(field, control, name, only);
  ui.end_popup();
}

// Posts the typed text, or keeps the box open with the reason why it is refused; Escape closes it.
void Rows::take_text(const Field& field, const std::string& control, const std::string& popup, int only) {
  const std::string text = field.file ? with_home(state.typed) : state.typed;
  state.refusal = refusal_of(field, text, view, only);
  if (!state.refusal.empty()) {
    ui.edit() = {control, state.typed, true};
    return;
  }
  const RunSpec& spec = *view.runs[only >= 0 ? static_cast<size_t>(only) : 0].spec;
  if (text != field.get(spec)) edit(field, text, only);
  ui.focus(popup);
  ui.close_popup();
}

// One row opens a list of all runs' names, because names always differ.
void Rows::run_names(const Rect& rect) {
  const std::string name = "settings/run.name";
  const Field& field = *find_field("run.name");
  const std::string count = tr("{count} run | {count} runs", {{"count", view.runs.size()}});
  if (row(ui, name, rect, tr("names"), "", count, help(field), true)) ui.open_popup(name);
  if (!ui.popup_open(name)) return;
  constexpr float width = 300, pitch = 30;
  Rect list{rect.right() - width, rect.bottom() + 4, width,
            12 + pitch * static_cast<float>(view.runs.size())};
  list.x = std::max(list.x, 8.f);
  if (list.bottom() > ui.size().y - 4) list.y = rect.y - 4 - list.h;
  if (!ui.begin_popup(name, list)) return;
  Rect rest = list.inset(6);
  for (size_t i = 0; i < view.runs.size(); ++i) {
    const RunView& run = view.runs[i];
    Rect line = rest.take_top(pitch).inset(0, 3);
    tile(ui, centred(line.take_left(20, 6).centre(), 16, 16), run.letter - 'A');
    std::string typed = run.spec->name;
    if (text_field(ui, fmt::format("{}/{}", name, run.letter), line, default_name(*run.spec), typed,
                   help(field)) &&
        typed != run.spec->name)
      edit(field, typed, static_cast<int>(i));
  }
  ui.end_popup();
}

// ---- The row "data". Its list has the tasks that fit the runs' architecture, and fields for the user's own files,
// which can also be dropped on the window.

void Rows::data(const Rect& rect) {
  const std::string name = "settings/data.name";
  const Field& field = *find_field("data.name");
  const std::string help =
      tr("{help} A change restarts all runs from step 0.", {{"help", spoken_help(field)}});
  const TextStyle mono{Face::Mono, type::body};
  const std::string label = field_label(field);
  const float room = rect.w - 34 - ui.paint().text_width({Face::Sans, type::body}, label);
  const std::string data_name = words::spoken(view.data_name);
  const std::string shown =
      view.data_name == "built-in sentences" && ui.paint().text_width(mono, data_name) > room
          ? tr("built-in")
          : ui.paint().fit(mono, data_name, room);
  if (row(ui, name, rect, label, "", shown, help, true)) {
    ui.open_popup(name);
    const RunSpec& spec = *view.runs[0].spec;
    state.path = spec.data.name == "text" ? spec.data.text_path : "";
  }
  data_list(rect, name);
}

void Rows::data_list(const Rect& place, const std::string& name) {
  if (!ui.popup_open(name)) return;
  const RunSpec& spec = *view.runs[0].spec;
  std::vector<std::string_view> sources, files;
  for (const TaskKind* kind : task_kinds())
    if (!kind->made_up.empty() &&
        (kind->name == spec.data.name || with_value(spec, "data.name", std::string(kind->name))))
      sources.push_back(kind->name);
  for (const TaskKind* kind : task_kinds())
    if (!kind->file.empty() && with_value(spec, kind->file, "file")) files.push_back(kind->file);
  constexpr float h = 26, caption = 20, field = 30;
  const float height =
      12 + h * static_cast<float>(sources.size()) + (caption + field) * static_cast<float>(files.size());
  Rect list{place.right() - 300, place.bottom() + 4, 300, height};
  list.x = std::max(list.x, 8.f);
  if (list.bottom() > ui.size().y - 4) list.y = place.y - 4 - list.h;
  if (!ui.begin_popup(name, list)) return;
  Rect rest = list.inset(6);
  for (const std::string_view source : sources) {
    const bool own = spec.data.name == source && !path_of(spec.data).empty();  // a file under that name
    const bool now = spec.data.name == source && !own;
    ButtonOptions o{.quiet = true, .left = true, .style = {now ? Face::Bold : Face::Sans, type::body}};
    if (!button(ui, fmt::format("{}/{}", name, source), rest.take_top(h).inset(0, 1), label_of(source),
                help_of(source), o))
      continue;
    if (!now)
      commands.emplace_back(own ? session::EditField{-1, std::string(kind_of(spec.data).file), ""}
                                : session::EditField{-1, "data.name", std::string(source)});
    ui.close_popup();
  }
  for (const std::string_view file : files) {
    ui.paint().text_in(rest.take_top(caption).inset(9, 0), {Face::Sans, type::tick}, ui.theme().ink3,
                       label_of(file));
    const Rect box = rest.take_top(field).inset(0, 3);
    if (!text_field(ui, fmt::format("{}/{}", name, file), box, tr("path, then Enter"), state.path,
                    help_of(file)))
      continue;
    if (!state.path.empty())
      commands.emplace_back(session::EditField{-1, std::string(file), with_home(state.path)});
    ui.close_popup();
  }
  ui.end_popup();
}

}  // namespace normscope::settings

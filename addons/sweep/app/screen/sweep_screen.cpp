#include "addons/sweep/app/screen/sweep_screen.h"

#include <imgui.h>

#include <algorithm>

#include "addons/sweep/app/sweep_writers.h"
#include "app/shell/screens.h"

namespace normscope::sweep {
namespace {

using namespace ui;
using link::kPlace;

// Limits of a link, whose sender decides how much work it causes.
constexpr int64_t kMaxLinkedRuns = 2000;
constexpr size_t kMaxParts = 64;  // axes and settings

struct SweepFields {
  Plan plan;  ///< without its axes
  std::vector<std::string> axes, more_seeds;
  Metric metric;
};

SweepFields read(const ScreenSettings& settings, bool of_link) {
  link::ScreenSettingsReader reader(Screen::Sweep, settings);
  SweepFields read;
  read.plan.set = reader.all("set");
  read.axes = reader.all("axis");
  if (!of_link) read.more_seeds = reader.all("more_seeds");
  read.plan.steps = reader.whole("steps", 0, kMaxSteps, 0);
  read.plan.seeds = reader.whole("seeds", 1, 1000, 1);
  const std::optional<std::string> metric = reader.text("metric");
  reader.done();
  read.metric = metric ? metric_from(*metric) : KeptSweep{}.metric;
  return read;
}

/// Refuses KEY=... of a setting that names a file to read.
void require_no_file(std::string_view part) {
  const std::string_view key = part.substr(0, part.find('='));
  if (names_file(key)) fail(kPlace, "the sweep sets {}: expected one that names no file", key);
}

constexpr size_t kMaxFields = 200;  ///< more runs than this are shown as one bar
constexpr float kMinRuns = 240;     ///< the width that the runs keep

/// Cuts each line of a script into pieces that fit the width. It drops what exceeds the height, because
/// Copy takes the whole script anyway.
void draw_script(Painter& p, const Theme& t, const Rect& rect, std::string_view text) {
  const TextStyle mono{Face::Mono, type::tick};
  const float line = 15, letter = p.text_width(mono, "0");
  const auto most = static_cast<size_t>(std::max(8.f, rect.w / letter));
  float y = rect.y;
  while (!text.empty() && y + line <= rect.bottom()) {
    std::string_view piece = text.substr(0, text.find('\n'));
    size_t gap = 1;  // skips the end of the line, or the blank at which it is cut
    if (piece.size() > most) {
      const size_t blank = piece.rfind(' ', most);
      gap = blank == piece.npos || blank == 0 ? 0 : 1;
      piece = piece.substr(0, gap == 0 ? most : blank);
    }
    p.text({rect.x, y + 11}, mono, t.ink, piece);
    text.remove_prefix(std::min(text.size(), piece.size() + gap));
    y += line;
  }
}

}  // namespace

ScreenSettings settings_of(const KeptSweep& kept) {
  const Plan& plan = kept.plan;
  ScreenSettings settings;
  for (const std::string& set : plan.set) settings.emplace_back("set", set);
  for (const Axis& axis : plan.axes) settings.emplace_back("axis", to_text(axis));
  for (const MoreSeeds& more : plan.more) settings.emplace_back("more_seeds", to_text(more, plan));
  if (plan.steps > 0) settings.emplace_back("steps", std::to_string(plan.steps));
  if (plan.seeds > 1) settings.emplace_back("seeds", std::to_string(plan.seeds));
  if (kept.metric != KeptSweep{}.metric) settings.emplace_back("metric", info(kept.metric).name);
  return settings;
}

ScreenSettings link_of(KeptSweep kept) {
  kept.plan.more.clear();
  return settings_of(kept);
}

KeptSweep sweep_from(const ScreenSettings& settings) {
  SweepFields all = read(settings, false);
  return {plan_from(std::move(all.plan), all.axes, all.more_seeds), all.metric};
}

void check_link(const ScreenSettings& settings) {
  const SweepFields asked = read(settings, true);
  for (const std::vector<std::string>* parts : {&asked.plan.set, &asked.axes})
    for (const std::string& part : *parts) require_no_file(part);
  if (asked.plan.set.size() + asked.axes.size() > kMaxParts)
    fail(kPlace, "the sweep has more than {} parts: expected fewer", kMaxParts);
  if (asked.axes.empty() || asked.axes.size() > 2)
    fail(kPlace, "the sweep has {} axes: expected one or two, as sweep.axis=KEY=VALUES", asked.axes.size());
  const Plan plan = plan_from(asked.plan, asked.axes);
  if (plan.runs() > kMaxLinkedRuns)
    fail(kPlace, "the sweep has {} runs: expected at most {} in a link", plan.runs(), kMaxLinkedRuns);
  runs_of(plan);  // throws where the axes do not fit together
}

/// Draws one field per run in the order of training: dark where there is a result, half filled while it trains.
void SweepScreen::draw_runs(Ui& ui, const Rect& rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const int64_t known = grid_->known;
  const auto runs = static_cast<int64_t>(runs_.size());
  ui.mark("sweep/runs", rect, tr("{done} of {all}", {{"done", known}, {"all", runs}}),
          tr("One field for each run, seed by seed."));
  if (runs_.size() > kMaxFields) {
    p.fill(rect, t.trough, 3);
    p.fill({rect.x, rect.y, rect.w * static_cast<float>(known) / static_cast<float>(runs), rect.h}, t.ink2,
           3);
    return;
  }
  const float each = rect.w / static_cast<float>(std::max<int64_t>(1, runs));
  for (size_t i = 0; i < runs_.size(); ++i) {
    const StudyRun& one = runs_[i];
    const uint64_t seed = one.spec.seed;
    const Rect field{rect.x + static_cast<float>(i) * each, rect.y, std::max(1.f, each - 2), rect.h};
    const Cell& cell = grid_->at(one.column, one.row);
    const bool there = cell.runs[seed - 1].has_value();
    p.fill(field, there ? t.ink2 : t.trough, 2);
    for (const UnderWay& run : state_->under_way)
      if (!there && run.column == one.column && run.row == one.row && run.seed == seed)
        p.fill({field.x, field.y, field.w * run.share, field.h}, t.ink2, 2);
  }
}

/// Two lines: how many runs are known; then the last refusal, why the sweep ended, or its progress. A long refusal
/// takes both lines.
void SweepScreen::draw_status(Ui& ui, const Rect& words, bool clock) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const TextStyle body{Face::Sans, type::body};
  const float middle = words.centre().y;
  const Rect upper{words.x, middle - 24, words.w, 24}, line{words.x, middle + 2, words.w, 18};
  const bool trouble = !message_.empty() || !state_->error.empty();
  const bool told = trouble || busy() || state_->grid->plan == plan_;
  const std::string status = !message_.empty() ? message_
                             : told            ? progress_words(*state_, clock, seconds_)
                                               : "";
  const std::string fitted = p.fit(body, status, line.w);
  ui.tell("sweep/status", words, status,
          fitted == status ? tr("How far the sweep has come, or what stops it.") : status);
  const Rect both{words.x, upper.y, words.w, line.bottom() - upper.y};
  if (trouble && fitted != status && p.wrapped_height(both.w, body, status, 15) <= both.h) {
    p.text_wrapped(both, body, t.ink, status, 15);
    return;
  }
  const float number = p.text_in(upper, {Face::Mono, type::counter}, t.ink, grouped(grid_->known));
  p.text_in({upper.x + number + 8, upper.y + 2, upper.w, upper.h}, body, t.ink3,
            tr("of {all} runs", {{"all", runs_.size()}}));
  if (trouble || fitted == status) p.text_in(line, body, trouble ? t.ink : t.ink2, fitted);
}

void SweepScreen::draw_bar(Ui& ui, const Rect& bar, bool clock) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.fill(bar, t.panel);
  p.hairline({bar.x, bar.y}, {bar.right(), bar.y}, t.border);
  Rect rest = bar.inset(14, 0);
  const float cy = bar.centre().y;
  const bool running = busy() && wants_training_, done = grid_->complete;
  ButtonOptions play{.enabled = running || !done, .primary = true};
  const Rect place = centred({rest.x + 23, cy}, 46, 34);
  if (icon_button(ui, "sweep/play", place, running ? Icon::Pause : Icon::Play,
                  running ? tr("Pause; runs under way are saved and go on from their step (Space).")
                          : tr("Train what is missing, several runs side by side (Space)."),
                  play, running ? tr("running") : tr("resting")))
    play_or_pause();
  rest.take_left(46, 6);
  ButtonOptions stops{.enabled = running || state_->phase == Phase::Paused};
  const Rect square = centred({rest.x + 17, cy}, 34, 34);
  if (icon_button(ui, "sweep/stop", square, Icon::None, tr("Stop; what ran is kept (S)."), stops)) stop();
  p.fill(centred(square.centre(), 11, 11), stops.enabled ? t.ink : t.ink3, 1);
  rest.take_left(34, 12);

  const int32_t all = trainer_->all_cores();
  const float words_w = size_ == Size::Compact ? 240 : 300;
  const std::vector<words::Label> labels{words::label("{count} core | {count} cores", {{"count", 1}}),
                                         words::label("{count} core | {count} cores", {{"count", all}})};
  const float width = segmented_width(ui, labels);
  const bool room = rest.w > width + words_w + kMinRuns;
  if (room && all > 1 && clock) {
    int shown = trainer_->cores() > 1 ? 1 : 0;
    if (segmented(
            ui, "sweep/cores", centred({rest.x + width / 2, cy}, width, 28), labels, shown,
            tr("How many runs train side by side, each on a core of its own. Runs that train in the Lab "
               "keep at least a quarter of the cores.")))
      trainer_->use_cores(shown == 0 ? 1 : all);
    rest.take_left(width, 16);
  }
  draw_status(ui, rest.take_left(words_w, 16), clock);
  const Rect runs = centred(rest.centre(), rest.w, 8);
  draw_runs(ui, runs);
  const TextStyle mono{Face::Mono, type::tick};
  p.text({runs.x, runs.bottom() + 18}, mono, t.ink3, tr("run {run}", {{"run", 1}}));
  p.text({runs.right(), runs.bottom() + 18}, mono, t.ink3, tr("run {run}", {{"run", runs_.size()}}),
         Align::Right);
}

void SweepScreen::save(const std::string& ending) {
  const std::string text = ending == "csv"   ? to_csv(*grid_)
                           : ending == "svg" ? to_svg(*grid_, metric_)
                                             : to_json(*grid_).dump(1) + "\n";
  asked_.files.push_back({"sweep." + ending, text});
}

void SweepScreen::draw_elsewhere(Ui& ui, const Rect& rect) {
  Rect rest = panel(ui, rect, {tr("Run it elsewhere"), tr("one run for each task"), "", 0, false});
  const std::vector<words::Label> labels{words::label("command"), words::label("Slurm array"),
                                         words::label("GNU parallel")};
  Rect row = rest.take_top(28, 8);
  segmented(ui, "sweep/form", {row.x, row.y, std::min(row.w, segmented_width(ui, labels)), 26}, labels, form_,
            tr("The sweep as text: one command, a job array for Slurm, or lines for GNU parallel."));
  Rect buttons = rest.take_bottom(28, 8);
  const std::string text = text_for(experiments::kForms[form_], plan_, info(metric_).name);
  ui.mark("sweep/text", rest, text, tr("What is copied: it trains this very plan."));
  ui.paint().fill(rest, ui.theme().dark ? ui.theme().field : ui.theme().sunk, radius::field);
  draw_script(ui.paint(), ui.theme(), rest.inset(8, 6), text);
  const std::string& copy = tr("Copy");
  const float wide = std::max(70.f, ui.paint().text_width({Face::Bold, type::title}, copy) + 20);
  if (button(ui, "sweep/copy", buttons.take_left(wide, 10), copy, tr("Copies the text (C).")))
    asked_.copied = text;
  for (const char* ending : {"csv", "svg", "json"}) {
    std::string label(ending);
    std::transform(label.begin(), label.end(), label.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    if (button(ui, fmt::format("sweep/export/{}", ending), buttons.take_left(62, 6), label,
               tr("Saves what is known so far as {kind} in the pictures folder.", {{"kind", label}})))
      save(ending);
  }
}

SweepScreen::SweepScreen(std::unique_ptr<Worker> trainer) : trainer_(std::move(trainer)) {
  show(preset_plan("warmup"));
}

void SweepScreen::show_kept(const KeptSweep& kept) {
  if (wants_training_) stop();  // what comes from elsewhere is trained when play is pressed
  metric_ = kept.metric;
  show(kept.plan);
  undo_.clear();
  redo_.clear();
}

void SweepScreen::begin(const std::string& preset) {
  if (!preset.empty()) show(preset_plan(preset));
}

bool SweepScreen::busy() const {
  const Phase phase = trainer_->state()->phase;
  return phase == Phase::Looking || phase == Phase::Training;
}

void SweepScreen::show(Plan plan) {
  chosen_ = hovered_ = pinned_ = std::nullopt;
  brush_.reset();
  held_.reset();
  key_ = {0, 1};
  change(std::move(plan));
}

/// `done` is false during a drag: the work after a finished change takes longer than a frame.
void SweepScreen::change(Plan next, bool done) {
  if (!take(std::move(next), done)) {
    if (done) refuse(message_);
    return;
  }
  if (!done || plan_ == settled_) return;
  constexpr size_t kMaxUndo = 100;
  if (!settled_.axes.empty()) undo_.push_back(settled_);
  if (undo_.size() > kMaxUndo) undo_.erase(undo_.begin());
  redo_.clear();
  settled_ = plan_;
}

/// Ends a drag and shows the plan before it, which the trainer has; false: there was no change.
bool SweepScreen::let_go() {
  held_.reset();
  if (plan_ == settled_ || settled_.axes.empty()) return false;
  take(settled_, false);
  return true;
}

/// Ends a drag, restores the plan before it, and shows why.
void SweepScreen::refuse(const std::string& why) {
  const std::string said = why;  // a copy, because `why` may be message_ itself
  let_go();
  message_ = said;
}

/// A drag counts as the last change: undo first ends it.
bool SweepScreen::step_back(std::vector<Plan>& from, std::vector<Plan>& to) {
  if (let_go()) return true;
  if (from.empty()) return false;
  to.push_back(settled_);
  settled_ = from.back();
  from.pop_back();
  take(settled_, true);
  return true;
}

/// Estimates by FLOP from the Lab's time per step, on all cores; NaN: the Lab has taken no step.
double SweepScreen::seconds_before(const LabView& view) const {
  double flop = 0;
  for (const RunView& run : view.runs) flop += step_flop(run.spec->model, run.spec->train.batch);
  if (!(view.seconds_per_step > 0) || !(flop > 0) || state_->runs == 0) return kUnknown;
  const double share = static_cast<double>(state_->left()) / static_cast<double>(state_->runs);
  const double slower = static_cast<double>(trainer_->all_cores()) / std::max(1, trainer_->cores());
  return flop_ * share * view.seconds_per_step / flop * slower;
}

/// False where the plan cannot be trained: only the message changes.
bool SweepScreen::take(Plan next, bool done) {
  try {
    runs_ = runs_of(next);
    flop_ = 0;
    for (const StudyRun& one : runs_)
      if (const RunSpec& spec = one.spec; one.refused.empty())
        flop_ += spec.train.steps * step_flop(spec.model, spec.train.batch);
    base_ = base_of(next);
    message_.clear();
  } catch (const Error& error) {
    message_ = why_not(error.message);
    return false;
  }
  grid_ = std::make_shared<const Grid>(grid_of(next, runs_, carried(*grid_, next, runs_)));
  plan_ = std::move(next);
  grid_of_.reset();
  typed_ = {};
  if (brush_) brush_ = within(*brush_, plan_);
  const auto keep = [&](std::optional<Place>& place) {
    if (place && (place->column >= plan_.columns() || place->row >= plan_.rows())) place.reset();
  };
  keep(chosen_);
  keep(hovered_);
  keep(pinned_);
  if (done) trainer_->start(plan_, wants_training_ && busy());
  return true;
}

void SweepScreen::edit(size_t which, const Axis& axis, bool done) {
  if (which < plan_.axes.size() && plan_.axes[which] == axis && !done) return;
  change(with_axis(plan_, which, axis), done);
}

void SweepScreen::play_or_pause() {
  message_.clear();
  wants_training_ = !busy() || !wants_training_;
  if (wants_training_)
    trainer_->start(plan_, true);
  else
    trainer_->halt(Phase::Paused);
}

void SweepScreen::stop() {
  wants_training_ = false;
  trainer_->halt(Phase::Stopped);
}

const RunSpec* SweepScreen::spec_at(const Place& place) const {
  const auto found = std::ranges::find_if(runs_, [&](const StudyRun& one) {
    return one.column == place.column && one.row == place.row && one.refused.empty();
  });
  return found == runs_.end() ? nullptr : &found->spec;
}

/// Opens a cell in the Lab as run D, from step 0; undo removes it.
void SweepScreen::open_cell(const Place& place) {
  const RunSpec* spec = spec_at(place);
  if (!spec) return;
  if (!open_.empty() && !(open_[0].spec->data == spec->data)) {
    asked_.notice = tr("the cell's data differ from those of the Lab's runs: copy its command instead");
    return;
  }
  if (open_.empty())
    asked_.commands.emplace_back(session::ReplaceRuns{.runs = {*spec}, .play = true});
  else
    asked_.commands.emplace_back(session::ForkRequest{
        .source = 0, .spec = *spec, .from_start = true, .note = tr("a cell of the sweep"), .train = true});
  asked_.shown = Screen::Lab;
}

/// The cell of the right column: under the mouse, else pinned, else chosen by the keys.
std::optional<Place> SweepScreen::shown_cell() const {
  return hovered_ ? hovered_ : pinned_ ? pinned_ : chosen_;
}

/// Finds cells that are runs of the Lab: all but seed and name agree, and the budget where it is an axis.
void SweepScreen::find_open(const LabView& view) {
  std::vector<OpenRun> open;
  for (const RunView& run : view.runs) open.push_back({run.letter, run.spec});
  const bool same =
      std::equal(open.begin(), open.end(), open_.begin(), open_.end(),
                 [](const OpenRun& a, const OpenRun& b) { return a.letter == b.letter && a.spec == b.spec; });
  if (same && grid_of_) return;
  open_ = std::move(open);
  tiles_.clear();
  const bool steps_differ =
      std::ranges::any_of(plan_.axes, [](const Axis& axis) { return axis.key == "train.steps"; });
  for (const StudyRun& one : runs_) {
    const RunSpec& cell = one.spec;
    if (cell.seed != 1) break;  // they are sorted by seed
    for (const OpenRun& run : open_) {
      RunSpec spec = *run.spec;
      spec.seed = cell.seed;
      spec.name = cell.name;
      if (!steps_differ) spec.train.steps = cell.train.steps;
      if (one.refused.empty() && spec == cell) tiles_.push_back({{one.column, one.row}, run.letter});
    }
  }
}

/// The cell `across` columns and `up` rows further, at most at the edge of the grid.
Place SweepScreen::beside(const Place& from, int across, int up) const {
  const auto step = [](size_t at, int by, size_t count) {
    const auto last = static_cast<int64_t>(count) - 1;
    return static_cast<size_t>(std::clamp<int64_t>(static_cast<int64_t>(at) + by, 0, last));
  };
  return {step(from.column, across, plan_.columns()), step(from.row, up, plan_.rows())};
}

void SweepScreen::move(const Ui& ui, int across, int up, bool brushes) {
  const Place before = chosen_.value_or(Place{});
  const Place now = chosen_ ? beside(before, across, up) : before;
  if (brushes) {
    if (!brush_) brush_ = Brush{before.column, before.row, before.column, before.row};
    brush_->column1 = now.column;
    brush_->row1 = now.row;
    right_tab_ = 1;
  }
  chosen_ = now;
  pinned_.reset();
  hovered_.reset();
  lies_at_ = ui.mouse();
}

void SweepScreen::keys(Ui& ui) {
  constexpr struct {
    const char* chord;
    int across, up;
    bool brushes;
  } arrows[] = {{"Left", -1, 0, false},   {"Right", 1, 0, false},      {"Up", 0, 1, false},
                {"Down", 0, -1, false},   {"Shift+Left", -1, 0, true}, {"Shift+Right", 1, 0, true},
                {"Shift+Up", 0, 1, true}, {"Shift+Down", 0, -1, true}};
  for (const auto& arrow : arrows)
    if (ui.shortcut(arrow.chord, "sweep/grid")) move(ui, arrow.across, arrow.up, arrow.brushes);
  if (ui.shortcut("Space", "sweep/play")) play_or_pause();
  if (ui.shortcut("S", "sweep/stop")) stop();
  if (ui.shortcut("C", "sweep/copy"))
    asked_.copied = text_for(experiments::kForms[form_], plan_, info(metric_).name);
  if (ui.shortcut("Ctrl+T")) asked_.copied = to_text(*grid_, metric_);
  if (ui.shortcut("Escape")) {
    brush_.reset();
    pinned_ = chosen_ = std::nullopt;
    message_.clear();
  }
  if (ui.shortcut("Enter", "sweep/open") && shown_cell() && ui.focused().empty()) open_cell(*shown_cell());
  const bool more = ui.shortcut("+", "sweep/region/seeds") || ui.shortcut("=", "sweep/region/seeds");
  const std::optional<Place> one = shown_cell();
  if (!more || (!brush_ && !one)) return;
  const Brush there = brush_ ? *brush_ : Brush{one->column, one->row, one->column, one->row};
  change(with_seeds(plan_, there, seeds_in(plan_, there) + 1));
}

ScreenRequests SweepScreen::draw(Ui& ui, const Rect& area, const LabView& view, bool clock,
                                 lab::TransportState&) {
  asked_ = {};
  state_ = trainer_->state();
  if (!busy()) wants_training_ = false;
  size_ = layout_for(ui.size());
  // A handle that was not drawn in the last frame: another screen was shown, or its axis is gone.
  if (held_ && held_->frame + 1 != ImGui::GetFrameCount()) let_go();
  find_open(view);
  keys(ui);
  if (grid_of_ != state_ && state_->grid->plan == plan_) grid_ = state_->grid;
  grid_of_ = state_;
  scale_ = scale_of(*grid_, metric_);
  seconds_ = seconds_before(view);

  const bool compact = size_ == Size::Compact;
  auto [bar, rest, gap] = screen_room(area, size_);
  if (size_ == Size::Full) {
    Rect left = rest.take_left(364, gap);
    draw_axes(ui, left.take_top(544, gap));
    draw_elsewhere(ui, left);
  } else {
    const std::vector<words::Label> labels =
        compact
            ? std::vector<words::Label>{words::label("Grid"), words::label("Axes"), words::label("Elsewhere")}
            : std::vector<words::Label>{words::label("Axes"), words::label("Elsewhere")};
    Rect& column = rest;
    // The grid gets its width first: the right column describes only one cell, at first none.
    const float cell = std::clamp(0.3f * column.w, 358.f, 420.f);
    Rect left = column.take_left(compact ? column.w - gap - cell : 344, gap);
    int shown = static_cast<int>(left_) - (compact ? 0 : 1);
    shown = std::max(0, shown);
    segmented(ui, "sweep/left", left.take_top(26, 6).inset(0, 1), labels, shown,
              tr("The grid, what is swept, or its text to run elsewhere."));
    left_ = static_cast<Left>(shown + (compact ? 0 : 1));
    if (left_ == Left::Grid)
      draw_grid_panel(ui, left);
    else if (left_ == Left::Axes)
      draw_axes(ui, left);
    else
      draw_elsewhere(ui, left);
  }
  if (compact) {
    ui.begin_region("cell");
    draw_right(ui, rest);
  } else {
    ui.begin_region("cell");
    draw_right(ui, rest.take_right(size_ == Size::Full ? 432.f : 380.f, gap));
    ui.begin_region("grid");
    draw_grid_panel(ui, rest);
  }
  ui.begin_region("transport");
  draw_bar(ui, bar, clock);
  return std::move(asked_);
}

}  // namespace normscope::sweep

namespace normscope {

ScreenKind sweep_kind() {
  return {.make = [](const ScreenSetup& setup) -> std::unique_ptr<AppScreen> {
            return std::make_unique<sweep::SweepScreen>(std::make_unique<sweep::Worker>(
                setup.keeps ? shell::results_store() : experiments::StorePlace(), setup.wake, setup.trainer));
          },
          .check = sweep::check_link,
          .own_runs = true};
}

}  // namespace normscope

#include "addons/sweep/app/screen/sweep_screen.h"

#include <algorithm>

#include "addons/sweep/app/screen/words.h"
#include "addons/sweep/app/sweep_plan.h"
#include "addons/sweep/app/sweep_writers.h"
#include "app/link/screen_settings.h"
#include "app/shell/parts/screens.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/experiments/study.h"
#include "training/spec/limits.h"

namespace normscope::sweep {
namespace {

using link::kPlace;

// They bound the work that a link asks of whoever opens it.
constexpr int64_t kMostLinkedRuns = 2000;
constexpr size_t kMostParts = 64;  // axes and settings

struct Read {
  Plan plan;  ///< without its axes
  std::vector<std::string> axes, more_seeds;
  Metric metric;
};

Read read(const ScreenSettings& settings, bool of_link) {
  link::ScreenSettingsReader reader(Screen::Sweep, settings);
  Read read;
  read.plan.set = reader.all("set");
  read.axes = reader.all("axis");
  if (!of_link) read.more_seeds = reader.all("more_seeds");
  read.plan.steps = reader.whole("steps", 0, kMostSteps, 0);
  read.plan.seeds = reader.whole("seeds", 1, 1000, 1);
  const std::optional<std::string> metric = reader.text("metric");
  reader.done();
  read.metric = metric ? metric_from(*metric) : KeptSweep{}.metric;
  return read;
}

/// Refuses a part of a sweep, KEY=..., that decides which file is read.
void require_no_file(std::string_view part) {
  const std::string_view key = part.substr(0, part.find('='));
  if (names_file(key)) fail(kPlace, "the sweep sets {}: expected one that names no file", key);
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
  Read all = read(settings, false);
  return {plan_from(std::move(all.plan), all.axes, all.more_seeds), all.metric};
}

void check_link(const ScreenSettings& settings) {
  const Read asked = read(settings, true);
  for (const std::vector<std::string>* parts : {&asked.plan.set, &asked.axes})
    for (const std::string& part : *parts) require_no_file(part);
  if (asked.plan.set.size() + asked.axes.size() > kMostParts)
    fail(kPlace, "the sweep has more than {} parts: expected fewer", kMostParts);
  if (asked.axes.empty() || asked.axes.size() > 2)
    fail(kPlace, "the sweep has {} axes: expected one or two, as sweep.axis=KEY=VALUES", asked.axes.size());
  const Plan plan = plan_from(asked.plan, asked.axes);
  if (plan.runs() > kMostLinkedRuns)
    fail(kPlace, "the sweep has {} runs: expected at most {} in a link", plan.runs(), kMostLinkedRuns);
  runs_of(plan);  // throws where the axes do not fit together
}

}  // namespace normscope::sweep

namespace normscope::sweep {

using namespace ui;

SweepScreen::SweepScreen(std::unique_ptr<SweepTrainer> trainer) : trainer_(std::move(trainer)) {
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

/// Leaves `done` false while a handle is still held, because what follows costs more than a frame.
void SweepScreen::change(Plan next, bool done) {
  if (!take(std::move(next), done)) {
    if (done) refuse(message_);
    return;
  }
  if (!done || plan_ == settled_) return;
  constexpr size_t kMostUndo = 100;
  if (!settled_.axes.empty()) undo_.push_back(settled_);
  if (undo_.size() > kMostUndo) undo_.erase(undo_.begin());
  redo_.clear();
  settled_ = plan_;
}

/// Drops what the user holds and shows the plan as it was before, which the trainer has; false: it was that
/// already.
bool SweepScreen::let_go() {
  held_.reset();
  if (plan_ == settled_ || settled_.axes.empty()) return false;
  take(settled_, false);
  return true;
}

/// Restores the plan without what the user holds, and says why.
void SweepScreen::refuse(const std::string& why) {
  const std::string said = why;  // a copy, because `why` may be message_ itself
  let_go();
  message_ = said;
}

/// Treats what the user holds as the last change, and drops it first.
bool SweepScreen::step_back(std::vector<Plan>& from, std::vector<Plan>& to) {
  if (let_go()) return true;
  if (from.empty()) return false;
  to.push_back(settled_);
  settled_ = from.back();
  from.pop_back();
  take(settled_, true);
  return true;
}

/// Takes the Lab's time for its own arithmetic on all cores; NaN: the Lab has taken no step.
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

/// Makes a cell run D, from step 0, beside the others; undo removes it.
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
  for (const RunView& run : view.runs) open.push_back({run.letter, run.name, run.spec});
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

/// The cell so many steps further, or the last one on the way.
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

ScreenRequests SweepScreen::draw(Ui& ui, const Rect& area, const LabView& view, bool clock, lab::TransportState&) {
  asked_ = {};
  state_ = trainer_->state();
  if (!busy()) wants_training_ = false;
  size_ = layout_for(ui.size());
  drop_lost_handle();
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
    // The grid gets its room first, because what stands beside it describes one cell, and at the beginning none.
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
    draw_right(ui, rest);
  } else {
    draw_right(ui, rest.take_right(size_ == Size::Full ? 432.f : 380.f, gap));
    draw_grid_panel(ui, rest);
  }
  draw_bar(ui, bar, clock);
  return std::move(asked_);
}

}  // namespace normscope::sweep

namespace normscope {

ScreenKind sweep_kind() {
  return {.make = [](const ScreenSetup& setup) -> std::unique_ptr<AppScreen> {
            return std::make_unique<sweep::SweepScreen>(std::make_unique<sweep::Worker>(
                setup.keeps ? shell::results_store() : experiments::StorePlace(), setup.wake));
          },
          .check = sweep::check_link,
          .own_runs = true};
}

}  // namespace normscope

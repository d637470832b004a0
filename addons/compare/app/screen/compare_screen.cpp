#include "addons/compare/app/screen/compare_screen.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "addons/compare/app/figures.h"
#include "addons/compare/app/tracks.h"
#include "addons/compare/app/writers.h"
#include "app/lab/lab_screen.h"
#include "app/view/shortcuts.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"

namespace normscope::compare_screen {

using namespace ui;
using namespace compare;

namespace {

constexpr int kMatricesShown = 6;  // of one stack

/// Marks for the timeline.
std::vector<lab::TimelineMark> parting_places(const Comparison& all) {
  std::vector<lab::TimelineMark> marks;
  for (size_t run = 0; run < all.runs.size(); ++run)
    if (all.places[run].parts)
      marks.push_back({all.colour(run), all.places[run].step,
                       tr("parts from {run}", {{"run", all.letter(all.baseline())}}),
                       std::string(1, all.letter(run)), true});
  return marks;
}

}  // namespace

CompareScreen::CompareScreen(std::function<void()> wake) : side_(wake), comparing_(wake) {}

void CompareScreen::open(const std::string& path, const LabView& view) {
  if (view.runs.empty() && side_.choices().empty()) baseline_ = 'A';  // the first of those that stand alone
  if (!side_.open(path, view, std::exchange(open_into_, std::nullopt))) unplaced_.push_back(path);
}

KeptChoice CompareScreen::kept_choice() const {
  return {baseline_, align_, matrix_, metric_, factor_, side_.kept()};
}

ScreenSettings CompareScreen::linked() const {
  KeptChoice choice = kept_choice();
  choice.files.clear();
  ScreenSettings settings = settings_of(choice);
  if (choice.baseline > 'D') settings.erase(settings.begin());  // a file's run
  return settings;
}

void CompareScreen::open_link(const ScreenSettings& link) {
  KeptChoice choice = choice_from(link);
  choice.files = side_.kept();
  choose(choice);
}

void CompareScreen::choose(const KeptChoice& kept) {
  baseline_ = kept.baseline;
  baseline_chosen_ = baseline_ != KeptChoice{}.baseline;
  align_ = kept.align;
  matrix_ = kept.matrix;
  metric_ = kept.metric;
  factor_ = kept.factor;
  // Nothing of the session before remains.
  range_.reset();
  across_.reset();
  beyond_.reset();
  refusal_.clear();
  unplaced_.clear();
  for (size_t i = 0; i < kMost; ++i) side_.bring_back(i);
  for (size_t i = 0; i < std::min(kept.files.size(), size_t{kMost}); ++i)
    if (const KeptFile& file = kept.files[i]; !file.path.empty())
      side_.put(i, file.path, file.run, file.letter);
}

// Writes files of numbers from the comparison, because the plots show only a part of them.
void CompareScreen::complete(std::vector<view::SavePlot>& saves) const {
  if (!shown_ || !shown_->error.empty()) return;
  const Comparison& all = shown_->all;
  for (view::SavePlot& save : saves) {
    if (save.format != view::PlotFormat::Csv || save.plots->empty()) continue;
    const std::string& id = save.plots->front().id;
    if (id == "compare-difference") save.csv = plot::to_csv(difference_plot(all, false));
    if (id == "compare-end") save.csv = end_csv(all);
    for (size_t run = 0; run < all.runs.size(); ++run)
      if (id == shown_->maps[run].id) save.csv = map_csv(all, run);
  }
}

/// Counts the baseline's place among the runs that are compared, live or read.
Choice CompareScreen::choice_of(const std::vector<SideBySide::Place>& shown) const {
  Choice choice;
  const bool first = !baseline_chosen_ && shown.size() == 2;  // of three, B is what A lacks
  for (size_t i = 0; i < shown.size() && !first; ++i)
    if (shown[i].letter == baseline_) choice.baseline = static_cast<int32_t>(i);
  choice.align = static_cast<Alignment>(align_);
  choice.range = range_;
  choice.matrix = matrix_;
  choice.metric = metric_;
  choice.factor = factor_;
  return choice;
}

ScreenRequests CompareScreen::draw(Ui& ui, const Rect& area, const LabView& view, bool clock,
                                   lab::TransportState& transport) {
  ScreenRequests desk;
  side_.update(view);
  // The cursor cannot stay at a step that restarted runs have not reached yet.
  if (transport.pinned_step.value_or(0) > view.step) transport.pinned_step.reset();
  Frame f{ui, view, desk, transport, ui::layout_for(ui.size()), side_.places(view), nullptr};
  std::vector<SideBySide::Place> compared;
  for (const SideBySide::Place& place : f.places)
    if (place.live || place.recorded) compared.push_back(place);
  const Choice choice = choice_of(compared);
  if (compared.size() >= kLeast) {
    const std::string chosen =
        fmt::format("{} {} {} {} {} {}", choice.baseline, align_, matrix_, panels::info(metric_).id, factor_,
                    range_ ? fmt::format("{}-{}", range_->first, range_->second) : "");
    shown_ = comparing_.newest(side_.key(view), chosen, choice, [&] { return side_.runs(view, clock); });
  } else {
    shown_.reset();
  }
  f.shown = shown_;
  f.step = beyond_.value_or(lab::cursor_step(transport, view));
  hover_x_ = std::exchange(hover_next_, std::nullopt);
  if (shown_ && !shown_->error.empty() && align_ != 0) {  // the baseline does not say what this axis counts
    refusal_ = words::spoken(shown_->error);
    align_ = 0;
  }
  const std::optional<size_t> loupe = f.run_of(loupe_);
  if (f.has() && (!loupe || *loupe == f.all().baseline()))
    loupe_ = f.all().letter(f.all().baseline() == 0 ? 1 : 0);

  const bool compact = f.compact();
  auto [bar, rest, gap] = screen_room(area, f.size);
  draw_heads(f, rest.take_top(compact ? 62.f : 148.f, gap));
  ask_where(f);
  if (f.has()) {
    draw_time(f, rest.take_left(compact ? std::round(rest.w * 0.615f) : std::round(rest.w * 0.63f), gap));
    draw_right(f, rest);
  } else {
    panel(ui, rest, {});
    const std::string why = compared.size() < kLeast ? tr("Open a run to compare with.")
                            : shown_                 ? words::spoken(shown_->error)
                                                     : tr("comparing …");
    ui.paint().text_wrapped(rest.inset(space::pad), {Face::Sans, type::body}, ui.theme().ink2, why, 17);
    ui.mark("compare/none", rest, why, tr("Why nothing is compared."));
  }
  const std::optional<int> before = transport.pinned_step;
  lab::draw_transport(ui, transport, view, bar, f.size, clock, desk.commands,
                      f.has() ? parting_places(f.all()) : std::vector<lab::TimelineMark>{});
  if (transport.pinned_step != before) beyond_.reset();
  keys(f, transport);
  cells_.hand_over(desk);
  complete(desk.saves);
  return desk;
}

void CompareScreen::keys(Frame& f, lab::TransportState& transport) {
  Ui& ui = f.ui;
  for (const SideBySide::Place& place : f.places)
    if ((place.live || place.recorded) &&
        ui.shortcut(std::string(1, place.letter), std::string("compare/run/") + place.letter))
      choose_baseline(place.letter);
  if (ui.shortcut("Shift+Right", "timeline")) go_to(f, f.step + 10);
  if (ui.shortcut("Shift+Left", "timeline")) go_to(f, f.step - 10);
  if (ui.shortcut("P", "compare/place")) next_place(f);
  if (ui.shortcut("W", "compare/matrix")) next_matrix();
  if (ui.shortcut("X", "compare/align")) set_align((align_ + 1) % 3);
  // Past the live runs' newest step the arrows belong to this screen.
  const bool right = beyond_ && ui.shortcut("Right", "timeline"),
             left = beyond_ && ui.shortcut("Left", "timeline");
  if (right || left) return go_to(f, f.step + (right ? 1 : -1));
  lab::transport_keys(ui, transport, f.view, f.desk.commands, false);
}

/// Moves the Lab's cursor. Past its newest step this screen has its own, up to the end of a recorded run.
void CompareScreen::go_to(Frame& f, double step) {
  const auto wanted = static_cast<int>(std::lround(std::clamp(step, 0.0, 1e9)));
  beyond_.reset();
  lab::pin_cursor(f.transport, f.view, wanted);
  if (wanted <= f.view.step || !f.has()) return;
  int32_t furthest = f.view.step;
  for (const EndRow& row : f.all().rows) furthest = std::max(furthest, row.last_step);
  if (furthest > f.view.step) beyond_ = std::min(wanted, furthest);
}

void CompareScreen::set_align(int align) {
  align_ = align;
  across_.reset();
  refusal_.clear();
}

void CompareScreen::next_matrix() { matrix_ = (matrix_ + 1) % kMatricesShown; }

/// Goes to the parting place after the one that is under the loupe.
void CompareScreen::next_place(Frame& f) {
  if (!f.has()) return;
  const size_t count = f.all().runs.size();
  const size_t now = f.run_of(loupe_).value_or(0);
  for (size_t i = 1; i <= count; ++i) {
    const size_t run = (now + i) % count;
    if (!f.all().places[run].parts) continue;
    loupe_ = f.all().letter(run);
    return go_to(f, f.all().places[run].step);
  }
}

namespace {

using Clock = std::chrono::steady_clock;
constexpr double kRest = 15;  // times what a comparison took, between two of a run that trains
constexpr double kLeastRest = 0.1, kMostRest = 2;  // seconds

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

/// The rest before a comparison, which a user cuts short.
struct Comparing::Pause {
  std::mutex mutex;
  std::condition_variable changed;
  bool hurry = false;

  void rest(double seconds) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return hurry; });
    hurry = false;
  }
  void end() {
    {
      const std::lock_guard lock(mutex);
      hurry = true;
    }
    changed.notify_all();
  }
};

ComparisonView show(std::vector<Recording> runs, const Choice& choice) noexcept {
  ComparisonView shown;
  shown.error = guarded("comparing", [&] {
    shown.all = compare::compare(std::move(runs), choice);
    const Comparison& all = shown.all;
    shown.loss = loss_plot(all);
    shown.difference = difference_plot(all);
    shown.end = end_plot(all);
    shown.per_step = ruler_of(all.runs, all.choice).per_step(all.runs[all.baseline()]);
    for (size_t run = 0; run < all.runs.size(); ++run) {
      const bool map = run != all.baseline() && all.maps[run].lacks.empty();
      shown.maps.push_back(map ? ratio_plot(all, run) : plot::PlotSpec{});
      shown.loupes.push_back(loupe_of(all, run));
      shown.grids.push_back(loupe_plot(all, run, shown.loupes.back()));
    }
  });
  return shown;
}

Comparing::Comparing(std::function<void()> wake)
    : wake_(std::move(wake)), pause_(std::make_shared<Pause>()) {}

Comparing::~Comparing() { pause_->end(); }

std::shared_ptr<const ComparisonView> Comparing::newest(const std::string& data, const std::string& chosen,
                                                        const Choice& choice,
                                                        const std::function<std::vector<Recording>()>& runs) {
  const auto take = [this] {
    const Made* made = asked_.empty() ? nullptr : background_.find(asked_);
    if (!made) return;
    made_ = *made;
    made_key_ = std::exchange(asked_, {});
    made_choice_ = asked_choice_;
  };
  take();
  const std::string key = data + "\n" + chosen;
  if (!asked_.empty() && asked_choice_ != chosen) pause_->end();
  if (asked_.empty() && made_key_ != key) {
    const bool by_hand = !made_.shown || made_choice_ != chosen || !wake_;
    const double rest = by_hand ? 0 : std::clamp(kRest * made_.seconds, kLeastRest, kMostRest);
    background_.ask(
        key,
        [pause = pause_, rest, choice, what = runs()]() mutable {
          if (rest > 0) pause->rest(rest);
          const Clock::time_point begin = Clock::now();
          Made made;
          made.shown = std::make_shared<const ComparisonView>(show(std::move(what), choice));
          made.seconds = seconds_since(begin);
          return made;
        },
        wake_);
    asked_ = key;
    asked_choice_ = chosen;
    take();
  }
  return made_.shown;
}

}  // namespace normscope::compare_screen

namespace normscope {

ScreenKind compare_kind() {
  return {.make = [](const ScreenSetup& setup) -> std::unique_ptr<AppScreen> {
            return std::make_unique<compare_screen::CompareScreen>(setup.wake);
          },
          .check = compare_screen::check_link,
          .opens = FileKind::Recorded};
}

}  // namespace normscope

#include "addons/compare/app/screen/compare_screen.h"

#include <imgui.h>

#include <algorithm>

#include "addons/compare/app/writers.h"
#include "app/lab/lab_screen.h"
#include "app/link/link.h"
#include "app/view/shortcuts.h"
#include "training/spec/spec_text.h"

namespace normscope::compare_screen {
using namespace ui;
using namespace compare;
namespace {

constexpr int kMatricesShown = 6;  // of one stack

std::vector<lab::TimelineMark> parting_places(const Comparison& all) {
  std::vector<lab::TimelineMark> marks;
  for (size_t run = 0; run < all.runs.size(); ++run)
    if (all.places[run].parts)
      marks.push_back({all.colour(run), all.places[run].step,
                       tr("parts from {run}", {{"run", all.letter(all.baseline())}}),
                       std::string(1, all.letter(run)), true});
  return marks;
}

using Clock = std::chrono::steady_clock;
constexpr double kRest = 15;  // times what a comparison took, between two of a run that trains
constexpr double kMinRest = 0.1, kMaxRest = 2;  // seconds

constexpr char kLastLive = 'D', kLast = 'H';

/// Reads "2:0:E:/home/me/run.jsonl": the place, the run of the file, its letter or '-', the path.
void take_file(const link::ScreenSettingsReader& reader, std::string_view value,
               std::vector<KeptFile>& files) {
  std::string_view parts[3], rest = value;
  for (std::string_view& part : parts) {
    part = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  int64_t place = 0, run = 0;
  const char letter = parts[2].size() == 1 ? parts[2][0] : 0;
  if (!parse_integer(parts[0], place) || place < 0 || place >= static_cast<int64_t>(compare::kMax) ||
      !parse_integer(parts[1], run) || run < 0 || run > 999 ||
      (letter != '-' && !(letter > kLastLive && letter <= kLast)))
    reader.refuse("file", value, "PLACE:RUN:LETTER:PATH");
  if (files.size() <= static_cast<size_t>(place)) files.resize(static_cast<size_t>(place) + 1);
  files[static_cast<size_t>(place)] = {std::string(rest), static_cast<size_t>(run),
                                       letter == '-' ? char{} : letter};
}

KeptChoice read(const ScreenSettings& settings, bool of_link) {
  KeptChoice choice;
  link::ScreenSettingsReader reader(Screen::Compare, settings);
  if (const auto letter = reader.text("baseline")) {
    const char last = of_link ? kLastLive : kLast;
    if (letter->size() != 1 || (*letter)[0] < 'A' || (*letter)[0] > last)
      reader.refuse("baseline", *letter, Message("a letter from A to {}", last));
    choice.baseline = (*letter)[0];
  }
  choice.align = reader.whole("align", 0, 2, choice.align);
  choice.matrix = reader.whole("matrix", 0, 5, choice.matrix);
  if (const auto id = reader.text("metric")) {
    const auto& all = panels::metrics();
    const auto one = std::ranges::find(all, *id, &Number::id);
    if (one == all.end()) reader.refuse("metric", *id, "a quantity of the Compare screen");
    choice.metric = *one;
  }
  choice.factor = reader.real("factor", 1.01, 1e6, choice.factor);
  if (!of_link)
    for (const std::string& file : reader.all("file")) take_file(reader, file, choice.files);
  reader.done();
  return choice;
}

char letter_at(size_t place) { return static_cast<char>('A' + place); }

constexpr size_t kLive = 4;  // places of runs of the session

bool is_live(const LabView& view, size_t place) { return !live_key(view, letter_at(place)).empty(); }

}  // namespace

CompareScreen::CompareScreen(std::function<void()> wake) : side_(wake), comparing_(wake) {}

void CompareScreen::open(const std::string& path, const LabView& view) {
  // Without runs of the session, the first opened run is the baseline.
  if (view.runs.empty() && side_.choices().empty()) choice_.baseline = 'A';
  if (!side_.open(path, view, std::exchange(open_into_, std::nullopt))) unplaced_.push_back(path);
}

KeptChoice CompareScreen::kept_choice() const {
  KeptChoice kept = choice_;
  kept.files = side_.kept();
  return kept;
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
  choice_ = kept;
  baseline_chosen_ = kept.baseline != KeptChoice{}.baseline;
  // Nothing of the previous session remains.
  range_.reset();
  across_.reset();
  beyond_.reset();
  refusal_.clear();
  unplaced_.clear();
  for (size_t i = 0; i < kMax; ++i) side_.bring_back(i);
  for (size_t i = 0; i < std::min(kept.files.size(), size_t{kMax}); ++i)
    if (const KeptFile& file = kept.files[i]; !file.path.empty())
      side_.put(i, file.path, file.run, file.letter);
}

// Takes the numbers of CSV files from the comparison, because plots show only a part of them.
void CompareScreen::complete(std::vector<view::SavePlot>& saves) const {
  if (!shown_ || !shown_->error.empty()) return;
  const Comparison& all = shown_->all;
  for (view::SavePlot& save : saves) {
    const bool with_data = save.format == view::PlotFormat::Csv || save.format == view::PlotFormat::Pdf;
    if (!with_data || save.plots->empty()) continue;
    save.facts = to_text(all);
    const std::string& id = save.plots->front().id;
    if (id == "compare-difference") save.csv = plot::to_csv(difference_plot(all, false));
    if (id == "compare-end") save.csv = end_csv(all);
    for (size_t run = 0; run < all.runs.size(); ++run)
      if (id == shown_->maps[run].id) save.csv = map_csv(all, run);
  }
}

/// The choice with the baseline as an index into the compared runs, live or recorded.
Choice CompareScreen::choice_of(const std::vector<SideBySide::Place>& shown) const {
  Choice choice{.align = static_cast<Alignment>(choice_.align),
                .range = range_,
                .metric = choice_.metric,
                .matrix = choice_.matrix,
                .factor = choice_.factor};
  const bool first = !baseline_chosen_ && shown.size() == 2;  // of three, B is what A lacks
  for (size_t i = 0; i < shown.size() && !first; ++i)
    if (shown[i].letter == choice_.baseline) choice.baseline = static_cast<int32_t>(i);
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
  if (compared.size() >= kMin) {
    const std::string chosen = fmt::format("{} {} {} {} {} {}", choice.baseline, choice_.align,
                                           choice_.matrix, panels::info(choice_.metric).id, choice_.factor,
                                           range_ ? fmt::format("{}-{}", range_->first, range_->second) : "");
    shown_ = comparing_.newest(side_.key(view), chosen, choice, [&] { return side_.runs(view, clock); });
  } else {
    shown_.reset();
  }
  f.shown = shown_;
  f.step = beyond_.value_or(lab::cursor_step(transport, view));
  hover_x_ = std::exchange(hover_next_, std::nullopt);
  // The baseline lacks the number for this axis.
  if (shown_ && !shown_->error.empty() && choice_.align != 0) {
    refusal_ = words::spoken(shown_->error);
    choice_.align = 0;
  }
  const std::optional<size_t> loupe = f.run_of(loupe_);
  if (f.has() && (!loupe || *loupe == f.all().baseline()))
    loupe_ = f.all().letter(f.all().baseline() == 0 ? 1 : 0);

  const bool compact = f.compact();
  auto [bar, rest, gap] = screen_room(area, f.size);
  ui.begin_region("runs");
  draw_heads(f, rest.take_top(compact ? 62.f : 148.f, gap));
  ask_where(f);
  if (f.has()) {
    ui.begin_region("over time");
    draw_time(f, rest.take_left(compact ? std::round(rest.w * 0.615f) : std::round(rest.w * 0.63f), gap));
    ui.begin_region("by layer");
    draw_right(f, rest);
  } else {
    panel(ui, rest, {});
    const std::string why = compared.size() < kMin ? tr("Open a run to compare with.")
                            : shown_               ? words::spoken(shown_->error)
                                                   : tr("comparing …");
    ui.paint().text_wrapped(rest.inset(space::pad), {Face::Sans, type::body}, ui.theme().ink2, why, 17);
    ui.mark("compare/none", rest, why, tr("Why nothing is compared."));
  }
  const std::optional<int> before = transport.pinned_step;
  lab::draw_transport(
      ui, transport, view, bar, f.size, clock, desk.commands,
      lab::timeline_marks(view, f.has() ? parting_places(f.all()) : std::vector<lab::TimelineMark>{}));
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
  if (ui.shortcut("W", "compare/matrix")) choice_.matrix = (choice_.matrix + 1) % kMatricesShown;
  if (ui.shortcut("X", "compare/align")) set_align((choice_.align + 1) % 3);
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
  choice_.align = align;
  across_.reset();
  refusal_.clear();
}

/// Moves the loupe to the next run that parts from the baseline.
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

/// The pause before a comparison, which a user's choice ends early.
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
    const TimedView* made = asked_.empty() ? nullptr : background_.find(asked_);
    if (!made) return;
    made_ = *made;
    made_key_ = std::exchange(asked_, {});
    made_choice_ = asked_choice_;
  };
  take();
  const std::string wanted = chosen + "\n" + words::of_window().name(), key = data + "\n" + wanted;
  if (!asked_.empty() && asked_choice_ != wanted) pause_->end();
  if (asked_.empty() && made_key_ != key) {
    const bool by_hand = !made_.shown || made_choice_ != wanted || !wake_;
    const double rest = by_hand ? 0 : std::clamp(kRest * made_.seconds, kMinRest, kMaxRest);
    background_.ask(
        key,
        [pause = pause_, rest, choice, what = runs()]() mutable {
          if (rest > 0) pause->rest(rest);
          const Clock::time_point begin = Clock::now();
          TimedView made;
          made.shown = std::make_shared<const ComparisonView>(show(std::move(what), choice));
          made.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
          return made;
        },
        wake_);
    asked_ = key;
    asked_choice_ = wanted;
    take();
  }
  return made_.shown;
}

ScreenSettings settings_of(const KeptChoice& choice) {
  const KeptChoice usual;
  ScreenSettings settings;
  settings.emplace_back("baseline", std::string(1, choice.baseline));
  if (choice.align != usual.align) settings.emplace_back("align", std::to_string(choice.align));
  if (choice.matrix != usual.matrix) settings.emplace_back("matrix", std::to_string(choice.matrix));
  if (choice.metric != usual.metric) settings.emplace_back("metric", panels::info(choice.metric).id);
  if (choice.factor != usual.factor) settings.emplace_back("factor", fmt::format("{}", choice.factor));
  for (size_t i = 0; i < choice.files.size(); ++i)
    if (const KeptFile& file = choice.files[i]; !file.path.empty())
      settings.emplace_back(
          "file", fmt::format("{}:{}:{}:{}", i, file.run, file.letter ? file.letter : '-', file.path));
  return settings;
}

KeptChoice choice_from(const ScreenSettings& settings) { return read(settings, false); }
void check_link(const ScreenSettings& settings) { read(settings, true); }

/// Where the session has runs, takes their places last: a fork needs its own.
size_t SideBySide::free_place(const LabView& view) const {
  const size_t first = view.runs.empty() ? 0 : kLive;
  for (size_t i = 0; i < kMax; ++i)
    if (const size_t at = (first + i) % kMax; !slots_[at].file && (slots_[at].hidden || !is_live(view, at)))
      return at;
  return kMax;
}

std::shared_ptr<SideBySide::File> SideBySide::file_of(const std::string& path) {
  const auto known =
      std::ranges::find_if(files_, [&](const auto& file) { return file->source->path() == path; });
  if (known != files_.end()) return *known;
  auto file = std::make_shared<File>();
  file->source = std::make_unique<records::FollowedFile>(path, wake_);
  files_.push_back(file);
  return file;
}

/// A recorded run keeps its letter: the place's own, unless another recorded run has that already.
void SideBySide::fill(size_t place, const std::shared_ptr<File>& file, size_t run, char letter) {
  Slot& slot = slots_[place];
  if (letter == 0) letter = slot.letter;
  const auto taken = [&](char wanted) {
    return std::ranges::any_of(
        slots_, [&](const Slot& other) { return &other != &slot && other.file && other.letter == wanted; });
  };
  if (letter == 0) letter = letter_at(place);
  for (size_t next = 0; taken(letter) && next < kMax; ++next) letter = letter_at((kLive + next) % kMax);
  slot = {file, run, slot.hidden, letter};
}

bool SideBySide::open(const std::string& path, const LabView& view, std::optional<size_t> place) {
  size_t at = place.value_or(kMax);
  // A file that is open already stays where it is.
  for (size_t i = 0; at == kMax && i < kMax; ++i)
    if (slots_[i].file && slots_[i].file->source->path() == path) at = i;
  if (at == kMax) at = free_place(view);
  if (at == kMax) return false;
  const std::shared_ptr<File> file = file_of(path);
  if (slots_[at].file != file) {
    fill(at, file, 0);
    slots_[at].makes_way = view.runs.empty();
  }
  update(view);
  return true;
}

void SideBySide::leave_out(size_t place) {
  Slot& slot = slots_[place];
  slot = {nullptr, 0, !slot.file, 0};
}

void SideBySide::bring_back(size_t place) { slots_[place] = {}; }

void SideBySide::put(size_t place, const std::string& path, size_t run, char letter) {
  fill(place, file_of(path), run, letter);
  slots_[place].file->handed_out = true;
}

void SideBySide::hand_out(const std::shared_ptr<File>& file, const LabView& view) {
  if (file->handed_out || file->runs.empty()) return;
  file->handed_out = true;
  for (size_t run = 1; run < file->runs.size(); ++run)
    if (const size_t at = free_place(view); at < kMax) {
      fill(at, file, run);
      slots_[at].makes_way = view.runs.empty();
    }
}

/// A live run that begins after logs were opened takes the place that has its letter, and the log there moves on.
void SideBySide::make_way(const LabView& view) {
  for (size_t place = 0; place < kLive; ++place) {
    if (!slots_[place].makes_way || !is_live(view, place)) continue;
    const size_t at = free_place(view);
    if (at == kMax) return;
    const Slot moved = std::exchange(slots_[place], {});
    fill(at, moved.file, moved.run);
  }
}

void SideBySide::update(const LabView& view) {
  std::erase_if(files_, [&](const auto& file) {
    return std::ranges::none_of(slots_, [&](const Slot& slot) { return slot.file == file; });
  });
  for (const std::shared_ptr<File>& file : files_) {
    std::shared_ptr<const records::FollowedNow> now = file->source->now();
    if (now == file->now) continue;
    file->now = std::move(now);
    file->runs = grouped(file->now->file.runs);
    hand_out(file, view);
  }
  make_way(view);
}

std::array<SideBySide::Place, kMax> SideBySide::places(const LabView& view) const {
  std::array<Place, kMax> result;
  for (size_t i = 0; i < kMax; ++i) {
    const Slot& slot = slots_[i];
    Place& place = result[i];
    place.number = i;
    place.letter = slot.file ? slot.letter : letter_at(i);
    place.live = !slot.file && !slot.hidden && is_live(view, i);
    if (place.live) place.name = view.runs[static_cast<size_t>(view::find_run(view, place.letter))].name;
    if (!slot.file) continue;
    place.path = slot.file->source->path();
    place.recorded = slot.run < slot.file->runs.size();
    if (place.recorded) place.name = slot.file->runs[slot.run].name;
    if (slot.file->now) place.fault = words::spoken(slot.file->now->error);
    place.reading = !slot.file->now || slot.file->now->version == 0;
  }
  return result;
}

std::vector<Recording> SideBySide::runs(const LabView& view, bool clock) {
  std::vector<Recording> result;
  const std::array<Place, kMax> all = places(view);
  for (size_t i = 0; i < kMax; ++i) {
    if (all[i].live) {
      if (std::optional<Recording> run = live_.take(view, all[i].letter, clock))
        result.push_back(std::move(*run));
    } else if (all[i].recorded) {
      result.push_back(slots_[i].file->runs[slots_[i].run]);
      result.back().letter = all[i].letter;
    }
  }
  return result;
}

std::string SideBySide::key(const LabView& view) const {
  std::string key;
  const std::array<Place, kMax> all = places(view);
  for (size_t i = 0; i < kMax; ++i) {
    const Slot& slot = slots_[i];
    key += '|';
    if (all[i].live)
      key += live_key(view, all[i].letter);
    else if (all[i].recorded)
      key += fmt::format("{} {} {} {}", slot.letter, all[i].path, slot.run, slot.file->now->version);
  }
  return key;
}

std::vector<SideBySide::Choice> SideBySide::choices() const {
  std::vector<Choice> result;
  for (const std::shared_ptr<File>& file : files_)
    for (size_t run = 0; run < file->runs.size(); ++run)
      result.push_back({file->source->path(), file->runs[run].name, run});
  return result;
}

std::vector<KeptFile> SideBySide::kept() const {
  std::vector<KeptFile> result(kMax);
  for (size_t i = 0; i < kMax; ++i)
    if (slots_[i].file) result[i] = {slots_[i].file->source->path(), slots_[i].run, slots_[i].letter};
  return result;
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

#include "addons/tape-screen/app/tape_screen.h"

#include <imgui.h>

#include <algorithm>

#include "app/link/link.h"
#include "app/ui/widgets.h"
#include "app/view/lab_data.h"

namespace normscope::tape_screen {
using namespace ui;
namespace {

constexpr double kPerSecond[] = {2, 10, 0};  // instructions: slow, 1x, max (one a frame)
constexpr double kFollowSeconds = 1;

int layers_of(const StepFacts& facts) {
  int layers = 1;
  for (const FoldLine& line : facts.fold.lines) layers = std::max(layers, static_cast<int>(line.layer));
  return layers;
}

/// The instructions of one phase, with the probes between them.
struct Stretch {
  size_t first = 0, end = 0;
};

Stretch stretch_of(const ProgramData& program, Phase phase) {
  Stretch all;
  bool any = false;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    if (program.instructions[i].phase != phase) continue;
    if (!any) all.first = i;
    any = true;
    all.end = i + 1;
  }
  return all;
}

double seconds_of(const Fold& fold, const std::function<bool(int32_t)>& counts) {
  double sum = 0;
  const auto add = [&](const FoldSide& side) {
    if (side.instruction >= 0 && counts(side.instruction)) sum += side.seconds;
  };
  for (const FoldLine& line : fold.lines) {
    add(line.forward);
    add(line.backward);
  }
  for (const FoldUpdate& update : fold.update) add(update.side);
  return sum;
}

}  // namespace

TapeScreen::TapeScreen(std::function<void()> wake) : worker_(std::move(wake)) {}

ScreenSettings TapeScreen::kept() const {
  return {{"run", std::string(1, kept_.run)}, {"head", std::to_string(kept_.head)}};
}

void TapeScreen::restore(const ScreenSettings& kept) {
  KeptTape there;
  link::ScreenSettingsReader reader(Screen::Tape, kept);
  if (const auto run = reader.text("run"); run && run->size() == 1) there.run = run->front();
  there.head = reader.whole("head", -1, 10'000'000, there.head);
  run_ = there.run;
  kept_ = there;
  asked_first_ = false;
  restored_head_ = there.head;
}

void TapeScreen::begin(const std::string& what) {
  AppScreen::begin(what);
  run_ = 'A';
  asked_first_ = false;
  anew_ = true;
}

void TapeScreen::go(size_t instruction) {
  if (!facts_ || listed_.empty()) return;
  const size_t there = nearest_listed(listed_, instruction);
  reveal_head_ = true;
  if (there == head_) return;
  head_ = there;
  head_by_hand_ = true;
}

void TapeScreen::ask_step(const LabView& view, char letter) {
  const int32_t run = view::find_run(view, letter);
  if (run < 0) return;
  run_ = letter;
  waits_ = true;
  wanted_ = 0;
  asked_.commands.emplace_back(session::PlayStep{run});
}

/// Gives a requested step to the worker; a refusal ends the waiting.
void TapeScreen::take(const LabView& view) {
  if (view::find_run(view, run_) < 0 && !view.runs.empty()) run_ = view.runs.front().letter;
  if (view.played && view.played->ticket != taken_) {
    taken_ = view.played->ticket;
    worker_.take(view.played);
  }
  if (wanted_ > 0 && (taken_ >= wanted_ || !session::refusal(view.answers, wanted_).empty())) waits_ = false;
}

/// Asks at most once a second, because the copy is made between two steps of the training.
void TapeScreen::follow(Ui& ui, const LabView& view) {
  const int32_t run = view::find_run(view, run_);
  follow_due_ = false;
  if (!follow_ || run < 0 || playing_ || !state_->error.empty()) return;
  const RunView& now = view.runs[static_cast<size_t>(run)];
  const bool newest = facts_ && facts_->letter == run_ && facts_->step > now.step;
  if (newest || now.state == RunState::NonFinite || busy()) return;
  if (ui.time() < follow_at_) {
    follow_due_ = true;
    return ui.animate();
  }
  follow_at_ = ui.time() + kFollowSeconds;
  ask_step(view, run_);
}

bool TapeScreen::shown_is_current() const {
  return facts_ && state_->shown && state_->shown->step == facts_->number &&
         state_->shown->instruction == head_ && state_->shown->sequence == sequence_;
}

void TapeScreen::send() {
  if (!facts_) return;
  const SentRequest wanted{facts_->number, head_, sequence_};
  if (sent_ == wanted) return;
  sent_ = wanted;
  sent_check_.reset();
  worker_.show(head_, sequence_);
}

/// Makes the rows of the newest step. The head stays while the program has the same instructions. It
/// starts at the fold, and goes to a number that is not finite.
void TapeScreen::refresh_rows() {
  facts_ = state_->facts;
  if (!facts_) return;
  opened_.compact = size_ == Size::Compact;
  if (rows_of_ == facts_ && !rows_stale_) return;
  const bool other_step = !rows_of_ || rows_of_->number != facts_->number;
  const bool other_program =
      !rows_of_ || rows_of_->program.instructions.size() != facts_->program.instructions.size();
  rows_ = fold_rows(*facts_, opened_);
  rows_of_ = facts_;
  rows_stale_ = false;
  listed_ = listed_instructions(facts_->program);
  const bool restored = other_step && restored_head_ && facts_->letter == run_ && !waits_;
  if (other_program || restored) {
    head_ = fold_of(facts_->program);
    head_by_hand_ = false;
    sequence_ = 0;
    reveal_head_ = true;
  }
  if (restored) {
    const int32_t head = *std::exchange(restored_head_, std::nullopt);
    if (head >= 0) go(static_cast<size_t>(head));
  }
  if (other_step && facts_->broken) to_broken();
}

void TapeScreen::to_broken() {
  if (facts_ && facts_->broken) go(facts_->broken->instruction);
}

void TapeScreen::step(int by) {
  if (listed_.empty()) return;
  const auto at = std::ranges::lower_bound(listed_, head_) - listed_.begin();
  const auto last = static_cast<std::ptrdiff_t>(listed_.size()) - 1;
  go(listed_[static_cast<size_t>(std::clamp<std::ptrdiff_t>(at + by, 0, last))]);
}

/// Moves the head along the list, on its side of the fold.
void TapeScreen::step_row(int by) {
  const std::optional<size_t> row = facts_ ? row_of(rows_, *facts_, head_) : std::nullopt;
  if (!row) return;
  const bool forward = is_forward(facts_->program, head_);
  for (auto r = static_cast<std::ptrdiff_t>(*row) + by;
       r >= 0 && r < static_cast<std::ptrdiff_t>(rows_.size()); r += by) {
    const FoldRow& next = rows_[static_cast<size_t>(r)];
    const int32_t there = forward ? next.forward.instruction : next.backward.instruction;
    if (there < 0 || (next.kind == RowKind::Layer && next.open)) continue;
    return go(static_cast<size_t>(there));
  }
}

void TapeScreen::open_row(const FoldRow& row) {
  if (row.kind == RowKind::Line || row.kind == RowKind::Update) {
    if (!row.opens_with.empty()) opened_.by_hand[row.opens_with] = false;
  } else {
    opened_.by_hand[row.name] = !row.open;
  }
  rows_stale_ = true;
}

/// Opens the closed group at the head; otherwise it closes the open sub-layer, else the open layer.
void TapeScreen::open_at_head() {
  const std::optional<size_t> row = facts_ ? row_of(rows_, *facts_, head_) : std::nullopt;
  if (!row) return;
  const FoldRow& here = rows_[*row];
  reveal_head_ = true;
  if (here.kind != RowKind::Line) return open_row(here);
  const FoldGroup* inner = nullptr;
  for (const FoldGroup& group : facts_->fold.groups)
    if (group.first <= here.first && here.first < group.end && (!inner || group.depth >= inner->depth))
      inner = &group;
  if (!inner) return;
  opened_.by_hand[inner->name] = false;
  rows_stale_ = true;
}

void TapeScreen::play_or_pause() {
  if (!facts_) return;
  if (!playing_ && head_ == listed_.back()) go(listed_.front());
  playing_ = !playing_;
  next_at_ = 0;
}

void TapeScreen::keys(Ui& ui) {
  if (ui.shortcut("Left", "tape/timeline")) step(-1);
  if (ui.shortcut("Right", "tape/next")) step(1);
  if (ui.shortcut("Shift+Left", "tape/timeline")) step(-10);
  if (ui.shortcut("Shift+Right", "tape/timeline")) step(10);
  if (ui.shortcut("Up", "tape/fold")) step_row(-1);
  if (ui.shortcut("Down", "tape/fold")) step_row(1);
  if (ui.shortcut("Space", "tape/play")) play_or_pause();
  if (!facts_) return;
  if (ui.shortcut("Ctrl+T")) asked_.copied = to_string(facts_->fold, facts_->roof, true);
  if (ui.shortcut("O", "tape/fold")) go(other_side(*facts_, head_));
  if (ui.shortcut("F", "tape/turn")) go(fold_of(facts_->program));
  if (ui.shortcut("N", "tape/finite")) to_broken();
  if (ui.shortcut("Home", "tape/first")) go(listed_.front());
  if (ui.shortcut("End", "tape/timeline")) go(listed_.back());
  if (ui.shortcut("Enter", "tape/fold") && ui.focused().empty()) open_at_head();
}

/// Goes to the next instruction once the present one is shown and its time is over.
void TapeScreen::advance(Ui& ui) {
  if (!playing_ || !facts_) return;
  ui.animate();
  if (!shown_is_current() || ui.time() < next_at_) return;
  const double rate = kPerSecond[speed_];
  next_at_ = rate > 0 ? ui.time() + 1 / rate : 0;
  if (head_ == listed_.back())
    playing_ = false;
  else
    step(1);
}

float TapeScreen::draw_tabs(Ui& ui, const Rect& rect, const std::vector<words::Label>& labels) {
  constexpr float kHead = 42;
  panel(ui, rect, {});
  tab_ = std::clamp(tab_, 0, static_cast<int>(labels.size()) - 1);
  const Rect place{rect.x + 12, rect.y + 9, segmented_width(ui, labels), 26};
  segmented(ui, "tape/tab", place, labels, tab_,
            tr("What of the instruction is shown: its rule, its tensors, memory."));
  return kHead;
}

void TapeScreen::draw_instruction(Ui& ui, const Rect& rect, Part part, float head) {
  InstructionInput given;
  given.part = part;
  given.head = head;
  given.nothing = !facts_                 ? tr("No step yet.")
                  : state_->error.empty() ? tr("Under way.")
                                          : tr("There is nothing to show.");
  if (facts_ && state_->shown && state_->shown->step == facts_->number) given.shown = state_->shown;
  given.checked = state_->checked;
  const InstructionRequest asked = instruction_.draw(ui, rect, given, asked_);
  if (asked.sequence) sequence_ = *asked.sequence;
  if (!asked.check || playing_ || !shown_is_current() || !sent_) return;
  const std::pair wanted(*sent_, *asked.check);
  if (sent_check_ == wanted) return;
  sent_check_ = wanted;
  worker_.check(*asked.check);
}

void TapeScreen::draw_memory(Ui& ui, const Rect& rect, float head) {
  MemoryInput given;
  given.head_room = head;
  given.hovered = instruction_.hovered();
  if (facts_) {
    given.readable = facts_->readable;
    given.shared = facts_->shared;
    if (shown_is_current()) given.shown = state_->shown;
    given.head = static_cast<int32_t>(head_);
    given.fold = static_cast<int32_t>(fold_of(facts_->program)) + 1;
    given.layers = layers_of(*facts_);
    given.reuses = facts_->spec->train.reuse_gradients;
  }
  if (const auto head = memory_.draw(ui, rect, given, asked_)) go(static_cast<size_t>(std::max(0, *head)));
}

void TapeScreen::draw_columns(Ui& ui, Rect rest) {
  const bool memory = size_ == Size::Full || tab_ == (size_ == Size::Medium ? 1 : 2);
  if (!memory) memory_.forget();
  if (size_ == Size::Full) {
    const float gap = space::gap;
    draw_instruction(ui, rest.take_left((rest.w - gap) * 420 / 820, gap), Part::All, 0);
    draw_memory(ui, rest, 0);
  } else if (size_ == Size::Medium) {
    const float head = draw_tabs(ui, rest, {words::label("Instruction"), words::label("Memory")});
    tab_ == 0 ? draw_instruction(ui, rest, Part::All, head) : draw_memory(ui, rest, head);
  } else {
    const float head =
        draw_tabs(ui, rest, {words::label("Rule"), words::label("Tensors"), words::label("Memory")});
    if (tab_ == 2)
      draw_memory(ui, rest, head);
    else
      draw_instruction(ui, rest, tab_ == 0 ? Part::Rule : Part::Tensors, head);
  }
}

ScreenRequests TapeScreen::draw(Ui& ui, const Rect& area, const LabView& view, bool clock,
                                lab::TransportState&) {
  asked_ = {};
  worker_.time(clock);
  const Size before = size_;
  size_ = layout_for(ui.size());
  rows_stale_ = rows_stale_ || before != size_;
  state_ = worker_.state();
  take(view);
  refresh_rows();
  if (!state_->error.empty()) playing_ = false;  // what it waits for does not come
  // Requests a step at the start, and anew for another session.
  if ((!facts_ || restored_head_ || anew_) && !asked_first_ && !view.runs.empty() && !view.busy) {
    asked_first_ = true;
    anew_ = false;
    ask_step(view, run_);
  }
  follow(ui, view);
  keys(ui);
  if (rows_stale_) refresh_rows();
  advance(ui);
  const bool compact = size_ == Size::Compact;
  auto [bar, rest, gap] = screen_room(area, size_);
  constexpr float kFold = 740, kLowFold = 556, kColumns = 320;  // which the widest formula needs
  ui.begin_region("step");
  draw_fold(ui, rest.take_left(compact ? std::min(kLowFold, rest.w - gap - kColumns) : kFold, gap), view,
            clock);
  ui.begin_region("columns");
  draw_columns(ui, rest);
  ui.begin_region("transport");
  draw_bar(ui, bar, clock);
  send();
  const bool moving = playing_ || ImGui::IsMouseDown(ImGuiMouseButton_Left);  // where it stops is kept
  if (!moving && !restored_head_ && facts_) kept_ = {run_, head_by_hand_ ? static_cast<int32_t>(head_) : -1};
  return std::move(asked_);
}

void TapeScreen::draw_timeline_labels(Ui& ui, const Rect& track) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const ProgramData& program = facts_->program;
  const float per = track.w / static_cast<float>(std::max<size_t>(1, program.instructions.size() - 1));
  const auto x_of = [&](double instruction) { return track.x + static_cast<float>(instruction) * per; };
  const TextStyle style{Face::Sans, type::tick};
  // The layers are labelled above the track: first forward through them, then backward.
  float free = track.x;
  const float head = x_of(static_cast<double>(head_));
  for (size_t i = 0; i < program.instructions.size();) {
    size_t end = i;
    const Instruction& it = program.instructions[i];
    while (end < program.instructions.size() && program.instructions[end].layer == it.layer &&
           program.instructions[end].phase == it.phase)
      ++end;
    if (it.layer > 0 && it.phase != Phase::Update && end - i > 2) {
      const std::string words =
          free <= track.x ? tr("layer {layer}", {{"layer", it.layer}}) : fmt::format("{}", it.layer);
      const float w = p.text_width(style, words), x = x_of(static_cast<double>(i + end) / 2) - w / 2;
      const bool under_flag = x < head + 26 && x + w > head - 26;
      if (x >= free && !under_flag && x + w <= track.right()) {
        p.text({x, track.y - 14}, style, t.ink3, words);
        free = x + w + 8;
      }
    }
    i = end;
  }
  const Stretch forward = stretch_of(program, Phase::Forward),
                backward = stretch_of(program, Phase::Backward);
  const float y = track.bottom() + 17;
  const float fold = x_of(static_cast<double>(forward.end) - 0.5);
  p.line({fold, track.y - 8}, {fold, track.bottom() + 6}, t.ink2, 1.2f);
  const float forward_end = track.x + p.text({track.x, y}, style, t.ink2, tr("forward"));
  const float update = p.text_width(style, tr("update")),
              middle = x_of(static_cast<double>(backward.first + backward.end) / 2);
  if (fold - 12 > forward_end + 8) p.text({fold, y}, style, t.ink2, tr("fold"), Align::Centre);
  if (middle - 30 > fold + 20 && middle + 30 < track.right() - update - 8)
    p.text({middle, y}, style, t.ink2, tr("backward"), Align::Centre);
  p.text({track.right(), y}, style, t.ink2, tr("update"), Align::Right);
}

void TapeScreen::draw_timeline(Ui& ui, const Rect& rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const bool compact = size_ == Size::Compact;
  const Rect track{rect.x, compact ? rect.centre().y - 3 : rect.y + 45, rect.w, 6};
  const auto last =
      static_cast<float>(std::max<size_t>(1, facts_ ? facts_->program.instructions.size() - 1 : 1));
  const Hit hit =
      ui.hit("tape/timeline", {track.x - 8, track.centre().y - 14, track.w + 16, 28},
             fmt::format("{}", head_), tr("The instructions of this step. Drag the play head along them."),
             {.enabled = facts_ != nullptr, .arrows = Arrows::Across});
  if (hit.held && facts_) {
    const float share = std::clamp((ui.mouse().x - track.x) / track.w, 0.f, 1.f);
    go(static_cast<size_t>(std::lround(share * last)));
  }
  if (hit.arrow_x) step(hit.arrow_x);
  p.fill(track, t.trough, 3);
  p.outline(track, t.control, 1, 3);
  if (!facts_) return;
  const float x = track.x + static_cast<float>(head_) / last * track.w;
  p.fill({track.x, track.y, x - track.x, track.h}, t.ink2, 3);
  const float cy = track.centre().y;
  if (compact) {
    const float fold = track.x + (static_cast<float>(fold_of(facts_->program)) + 0.5f) / last * track.w;
    p.line({fold, cy - 10}, {fold, cy + 10}, t.ink2, 1.2f);
  } else {
    draw_timeline_labels(ui, track);
    flag(p, t, track, x, grouped(static_cast<long long>(head_)));
  }
  p.accent_disc(t, {x, cy}, 7);
}

void TapeScreen::draw_speed(Ui& ui, const Rect& place) {
  const std::vector<words::Label> labels{words::label("slow"), words::label("1×"), words::label("max")};
  segmented(ui, "tape/speed", place, labels, speed_,
            tr("Two or ten instructions a second, or as fast as they are shown."));
}

void TapeScreen::draw_bar(Ui& ui, const Rect& bar, bool clock) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const bool compact = size_ == Size::Compact;
  p.fill(bar, t.panel);
  p.hairline({bar.x, bar.y}, {bar.right(), bar.y}, t.border);
  Rect rest = bar.inset(14, 0);
  const float cy = bar.centre().y, side = compact ? 30.f : 34.f;
  ButtonOptions plain, primary;
  plain.enabled = primary.enabled = facts_ != nullptr;
  primary.primary = true;
  const auto place = [&](float width) { return centred({rest.x + width / 2, cy}, width, side); };
  if (icon_button(ui, "tape/first", place(side), Icon::First, tr("To the first instruction (Home)."),
                  plain) &&
      facts_)
    go(listed_.front());
  rest.take_left(side, 6);
  if (icon_button(ui, "tape/play", place(46), playing_ ? Icon::Pause : Icon::Play,
                  tr("Plays the step, instruction by instruction (Space)."), primary,
                  playing_ ? tr("playing") : tr("resting")))
    play_or_pause();
  rest.take_left(46, 6);
  if (icon_button(ui, "tape/next", place(side), Icon::Step,
                  tr("One instruction on, in order of execution (Right)."), plain))
    step(1);
  rest.take_left(side, 12);
  if (!compact) {
    draw_speed(ui, centred({rest.x + 59, cy}, 118, 28));
    rest.take_left(118, 22);
  }
  Rect words = rest.take_left(compact ? 96.f : 262.f, compact ? 12.f : 20.f);
  const size_t count = facts_ ? facts_->program.instructions.size() : 0;
  const Rect upper{words.x, compact ? cy - 12 : cy - 26, words.w, 24};
  const std::string now = facts_ ? grouped(static_cast<long long>(head_)) : "–";
  const TextStyle of_style{Face::Sans, type::body};
  const float w = p.text_in(upper, {Face::Mono, type::counter}, t.ink, now);
  const std::string of =
      compact ? tr("/ {all}", {{"all", count}}) : tr("of {all} instructions", {{"all", count}});
  p.text_in({upper.x + w + 8, upper.y + 2, words.w - w - 8, upper.h}, of_style, t.ink3, of);
  ui.mark("tape/counter", upper, now, tr("The instruction under the play head; they are counted from 0."));
  if (!compact && clock && facts_ && facts_->timed) {
    const double all = seconds_of(facts_->fold, [](int32_t) { return true; });
    const double before = seconds_of(facts_->fold, [&](int32_t i) { return static_cast<size_t>(i) < head_; });
    const TextStyle tick{Face::Sans, type::tick};
    std::string sums =
        tr("{all} ms one by one, {before} of them before this one",
           {{"all", ui::significant(1e3 * all, 3)}, {"before", ui::significant(1e3 * before, 3)}});
    if (p.text_width(tick, sums) > words.w)
      sums = tr("{all} ms one by one, {before} before this one",
                {{"all", ui::significant(1e3 * all, 3)}, {"before", ui::significant(1e3 * before, 3)}});
    p.text_in({words.x, cy + 2, words.w, 18}, tick, t.ink2, sums);
  }
  draw_timeline(ui, {rest.x + 10, bar.y, rest.w - 24, bar.h});
}

}  // namespace normscope::tape_screen

namespace normscope {

ScreenKind tape_kind() {
  return {.make = [](const ScreenSetup& setup) -> std::unique_ptr<AppScreen> {
    return std::make_unique<tape_screen::TapeScreen>(setup.wake);
  }};
}

}  // namespace normscope

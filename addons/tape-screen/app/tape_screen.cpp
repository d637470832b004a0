#include "addons/tape-screen/app/tape_screen.h"

#include <algorithm>

#include <imgui.h>

#include "app/link/screen_settings.h"
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

/// Gives a step that was asked for to the worker; a refusal ends the waiting.
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

/// Goes along the list, on the side of the fold where the head stands.
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

/// Goes to the next instruction once the present one is there and its time is over.
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
  const InstructionRequest asked = instruction_.draw(ui, rect, given);
  if (asked.sequence) sequence_ = *asked.sequence;
  if (asked.file) asked_.files.push_back({asked.file->first, asked.file->second});
  if (!asked.check || playing_ || !shown_is_current() || !sent_) return;
  const SentCheck wanted{*sent_, *asked.check};
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
  const MemoryRequest asked = memory_.draw(ui, rect, given);
  if (asked.head) go(static_cast<size_t>(std::max(0, *asked.head)));
  if (asked.file) asked_.files.push_back({asked.file->first, asked.file->second});
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
  // The screen shows a step from the start, and a step of the session before is not one of this session.
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
  draw_fold(ui, rest.take_left(compact ? std::min(kLowFold, rest.w - gap - kColumns) : kFold, gap), view,
            clock);
  draw_columns(ui, rest);
  draw_bar(ui, bar, clock);
  send();
  const bool moving = playing_ || ImGui::IsMouseDown(ImGuiMouseButton_Left);  // where it stops is kept
  if (!moving && !restored_head_ && facts_) kept_ = {run_, head_by_hand_ ? static_cast<int32_t>(head_) : -1};
  asked_.saves = instruction_.take_saves();
  for (view::SavePlot& save : memory_.take_saves()) asked_.saves.push_back(std::move(save));
  return std::move(asked_);
}

}  // namespace normscope::tape_screen

namespace normscope {

ScreenKind tape_kind() {
  return {.make = [](const ScreenSetup& setup) -> std::unique_ptr<AppScreen> {
    return std::make_unique<tape_screen::TapeScreen>(setup.wake);
  }};
}

}  // namespace normscope

// The Tape screen shows one training step of a run as the engine executes it: on the left the fold (forward down,
// backward up), in the middle the instruction under the play head, on the right the memory plan, at the bottom the
// instructions as a timeline. It is state plus draw(), without a window: it reads a LabView, and StepWorker plays the
// step off the drawing thread. draw_app draws it.
//
// Controls: tape/run/A ..., tape/once, tape/follow, tape/changes with /list, tape/fold with /menu and
// /menu/{svg,csv,json}, tape/row/NAME, tape/open/NAME, tape/head, tape/sentence, tape/finite, tape/first, tape/back,
// tape/play, tape/next, tape/speed, tape/counter, tape/timeline, tape/tab; the headers of the two other panels list
// theirs.
#pragma once

#include "addons/tape-screen/app/fold_rows.h"
#include "addons/tape-screen/app/panels.h"
#include "app/words/words.h"

namespace normscope::tape_screen {

struct KeptTape {
  char run = 'A';
  int32_t head = -1;  ///< instruction; -1: at the fold
  bool operator==(const KeptTape&) const = default;
};

class TapeScreen : public AppScreen {
 public:
  /// Another thread calls `wake` when there is something new to draw.
  explicit TapeScreen(std::function<void()> wake = {});

  /// Fills `area`, the window below the top bar. With `clock` false nothing is written that depends on the
  /// machine's speed.
  ScreenRequests draw(ui::Ui& ui, const ui::Rect& area, const LabView& view, bool clock,
                      lab::TransportState&) override;

  StepWorker& worker() { return worker_; }
  const std::shared_ptr<const TapeState>& state() const { return state_; }
  const std::vector<FoldRow>& rows() const { return rows_; }
  size_t head() const { return head_; }
  void go(size_t instruction);
  bool playing() const { return playing_; }
  bool follows() const { return follow_; }
  char run() const { return run_; }
  /// Whether a requested step or instruction is not ready, or Follow will request a step.
  bool busy() const override { return waits_ || follow_due_ || worker_.busy(); }
  /// Run and play head; while it plays or a mouse button is down, those from before.
  ScreenSettings kept() const override;
  void restore(const ScreenSettings& kept) override;
  /// Keeps the ticket of the step that this frame requested.
  void posted(const session::Command& command, session::Ticket ticket) override {
    if (std::holds_alternative<session::PlayStep>(command)) wanted_ = ticket;
  }
  void begin(const std::string& what) override;

 private:
  // tape_screen.cpp
  void take(const LabView& view);
  void follow(ui::Ui& ui, const LabView& view);
  void ask_step(const LabView& view, char letter);
  void send();
  void refresh_rows();
  void keys(ui::Ui& ui);
  void step(int by);
  void step_row(int by);
  void open_row(const FoldRow& row);
  void open_at_head();
  void to_broken();
  void advance(ui::Ui& ui);
  bool shown_is_current() const;
  void draw_columns(ui::Ui& ui, ui::Rect rest);
  void draw_instruction(ui::Ui& ui, const ui::Rect& rect, Part part, float head);
  void draw_memory(ui::Ui& ui, const ui::Rect& rect, float head);
  float draw_tabs(ui::Ui& ui, const ui::Rect& rect, const std::vector<words::Label>& labels);
  // fold_panel.cpp
  void draw_fold(ui::Ui& ui, const ui::Rect& rect, const LabView& view, bool clock);
  void draw_nothing(ui::Ui& ui, const ui::Rect& rect, const LabView& view);
  float draw_run_tiles(ui::Ui& ui, const ui::Rect& row, const LabView& view);
  void draw_list(ui::Ui& ui, const FoldPicture& fit);
  void hold_row(ui::Ui& ui, const FoldPicture& fit, size_t row);
  void scroll(ui::Ui& ui, FoldPicture& fit);
  void draw_linked(ui::Ui& ui, const FoldPicture& fit);
  void draw_head(ui::Ui& ui, const FoldPicture& fit);
  void draw_foot(ui::Ui& ui, ui::Rect foot, bool clock);
  void draw_finite(ui::Ui& ui, const ui::Rect& line);
  void draw_menu(ui::Ui& ui, const ui::Rect& place);
  void draw_changes(ui::Ui& ui, const ui::Rect& place);
  void save(const std::string& ending);
  void draw_bar(ui::Ui& ui, const ui::Rect& bar, bool clock);
  void draw_timeline(ui::Ui& ui, const ui::Rect& rect);
  void draw_timeline_labels(ui::Ui& ui, const ui::Rect& track);
  void draw_speed(ui::Ui& ui, const ui::Rect& place);
  void play_or_pause();

  std::shared_ptr<const TapeState> state_ = std::make_shared<TapeState>();  ///< of this frame
  std::shared_ptr<const StepFacts> facts_;                                  ///< of state_
  std::vector<FoldRow> rows_;
  std::shared_ptr<const StepFacts> rows_of_;  ///< the facts that the rows were made from
  OpenRows opened_;
  bool rows_stale_ = true;  ///< something was opened or closed after the rows were made
  std::vector<size_t> listed_;
  char run_ = 'A';
  bool follow_ = false, waits_ = false;
  bool follow_due_ = false;  ///< there is a newer step; Follow requests it at follow_at_
  double follow_at_ = 0;
  session::Ticket taken_ = 0;   ///< of the step that the worker has
  session::Ticket wanted_ = 0;  ///< of the step requested last; 0: not posted yet
  size_t head_ = 0;
  bool head_by_hand_ = false, asked_first_ = false;
  bool anew_ = false;                     ///< another step is to be requested first
  std::optional<int32_t> restored_head_;  ///< of a restored session, for its first step; -1: at the fold
  KeptTape kept_;
  int64_t sequence_ = 0;
  bool playing_ = false;
  int speed_ = 2;
  double next_at_ = 0;
  size_t scroll_ = 0;
  bool reveal_head_ = true;
  int tab_ = 0;
  ui::Size size_ = ui::Size::Full;
  struct SentRequest {
    uint64_t number = 0;
    size_t head = 0;
    int64_t sequence = 0;
    bool operator==(const SentRequest&) const = default;
  };
  std::optional<SentRequest> sent_;
  std::optional<std::pair<SentRequest, std::optional<Element>>> sent_check_;
  InstructionPanel instruction_;
  MemoryPanel memory_;
  ScreenRequests asked_;
  StepWorker worker_;  ///< last, so its thread ends first
};

}  // namespace normscope::tape_screen

// The Inside screen shows what one or two models do with a text that is typed there: at the top the text and its
// tokens, below it each model's stream by sub-layer and token with what belongs to each sub-layer beside it, at the
// bottom the chosen sub-layer and token: its heads, whose state it is, the gradients of its layer, and what each layer
// would say. It is state plus draw(): the trainer measures (session::Inquire), at once after each edit of the text
// and whenever a run has moved on. What is older than what was asked for lies under a veil.
//
// Controls: inside/text, inside/learn, inside/leave_out, inside/write, inside/spectrum, inside/shows, inside/run/A ...,
// inside/token, inside/grid/A ..., inside/head, inside/tab.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "addons/inside/app/grid.h"
#include "addons/inside/training/inside.h"
#include "app/lab/transport.h"
#include "app/ui/ui.h"
#include "app/view/app_screen.h"
#include "training/session/lab.h"

namespace normscope::inside {

inline constexpr size_t kLongestKept = 100'000;  ///< bytes of a text

class InsideScreen : public AppScreen {
 public:
  /// Fills `area`, the window below the top bar.
  /// `transport`: the Lab's; the models are read at the step of its cursor.
  ScreenRequests draw(ui::Ui& ui, const ui::Rect& area, const LabView& view, bool clock,
                      lab::TransportState& transport) override;
  /// Takes the ticket of the look that was asked for in this frame.
  void posted(const session::Command& command, session::Ticket ticket) override {
    if (waiting_ && std::holds_alternative<session::Inquire>(command)) waiting_->ticket = ticket;
  }
  /// Whether a look was asked for and is not whole yet, or will be asked for in the next frame.
  bool busy() const override;
  /// Leaves out a text that is too long to be kept.
  ScreenSettings kept() const override {
    return {{"text", text_.size() <= kLongestKept ? text_ : ""}, {"runs", letters_}};
  }
  void restore(const ScreenSettings& kept) override;

 private:
  /// All that a look depends on.
  struct Request {
    char letter = 'A';
    std::string text;
    bool left_out = false;
    std::optional<int32_t> spectra_of;
    int32_t step = 0;
    std::shared_ptr<const RunSpec> spec;
    double at = 0;  ///< UI time
    session::Ticket ticket = 0;
    bool same(const Request& other) const {
      return letter == other.letter && text == other.text && left_out == other.left_out &&
             spectra_of == other.spectra_of && step == other.step && spec == other.spec;
    }
  };
  /// One of the models shown.
  struct Side {
    const RunView* run = nullptr;
    const RunInside* inside = nullptr;  ///< null: not there yet
    bool older = false;                 ///< another look is wanted than this one, and is not there yet
  };

  void take(const LabView& view, double now);
  void find_sides(const LabView& view, double now);
  void ask(ui::Ui& ui, const LabView& view, int cursor);
  void toggle(char letter, const LabView& view, double now);
  void draw_nothing(ui::Ui& ui, const ui::Rect& rect, const LabView& view);
  void draw_sides(ui::Ui& ui, ui::Rect rest);
  void draw_side(ui::Ui& ui, ui::Rect rest, const Side& side, bool alone);
  void draw_state(ui::Ui& ui, ui::Rect rest, const Side& side);
  const Side& detailed_side() const;
  Selection selection_in(const RunInside& inside) const;
  const RunInside* first_read() const;  ///< whose tokens are shown; null: none was read yet
  float head_height(ui::Ui& ui, float width) const;
  void draw_head(ui::Ui& ui, ui::Rect rest, const LabView& view);
  void draw_write_on(ui::Ui& ui, ui::Rect& row);
  void draw_tokens(ui::Ui& ui, const ui::Rect& rect, const RunInside& inside);
  void draw_save_menu(ui::Ui& ui, const ui::Rect& place);
  void save(const std::string& ending);
  // detail_panels.cpp
  void draw_details(ui::Ui& ui, ui::Rect rest, const Side& side);

  std::string text_;
  std::string letters_ = "A";
  bool left_out_ = false, spectra_ = false, writing_ = false;
  /// The text as the model has written on it last, of so many tokens before that.
  struct Written {
    std::string text;
    size_t tokens = 0;
    double at = 0;  ///< UI time
  };
  std::optional<Written> written_;
  int shows_ = 0;  ///< of Shows
  int head_ = 0, tab_ = 0;
  Selection selected_;
  char detailed_ = 0;        ///< the model that was chosen from last; 0: the first
  std::vector<Side> sides_;  ///< of this frame
  std::map<char, Request> asked_;
  std::map<char, std::string> refused_;
  std::optional<Request> waiting_;
  std::map<char, double> wanted_;  ///< UI time since which another look is wanted than the one that is shown
  bool due_ = false;
  double look_takes_ = 0;  ///< seconds of the last look
  double look_began_ = 0;  ///< UI time of the look that is under way; 0: none is
  ScreenRequests desk_;
};

}  // namespace normscope::inside

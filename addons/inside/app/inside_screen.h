// One or two models read a text that the user types: at the top the text and its tokens, below it each model's stream
// by sub-layer and token, with the numbers of each sub-layer next to it, at the bottom the chosen sub-layer and token:
// its heads, the parts of its state, the gradients of its layer, and the guess of each layer. State plus draw(): the
// trainer measures (session::Inquire), at once after each edit of the text and whenever a run has moved on. Numbers
// older than the request are drawn dimmed.
//
// Controls: inside/text, inside/learn, inside/leave_out, inside/write, inside/temperature, inside/seed, inside/spectrum, inside/shows, inside/run/A ...,
// inside/token, inside/grid/A ..., inside/head, inside/tab.
#pragma once

#include "addons/inside/training/inside.h"
#include "app/lab/transport.h"
#include "app/view/screen.h"

namespace normscope::inside {

enum class Shows : uint8_t { Length, Gradient, Says, Learns, Attribution, Heads };

/// A cell of the map. Row 0 is the embedding, row i the i-th sub-layer.
struct Selection {
  int row = -1, token = -1;  ///< -1: none yet
};

/// The lengths of states, or of their gradients, at both ends of the colour scale, which two models share. apart()
/// spreads the ends to at least a factor of two, so that states of equal length, after a norm, get equal colours.
struct Lengths {
  float low = 0, high = 0;
  void take(const Inside& found, Shows shows);
  Lengths apart() const;
  float share(float length) const;
};

struct GridInput {
  const RunInside& inside;
  Shows shows = Shows::Length;
  Lengths lengths;
  Selection selected;
  char letter = 'A';
  int columns = 4;  ///< columns of bars next to the map, at most
  int head = 0;     ///< the chosen head
};

/// The text of a token on one line: "↵" for a line break, "·" for a blank.
std::string word_of(const RunInside& inside, int32_t token);
/// "embedding" or the sub-layer's name.
std::string row_name(const Inside& found, int row);
int rows_of(const Inside& found);
/// Says how often a row's gradient and step are right, where that was measured, whether the tokens' states are one, which token the model foresaw worst, and which sub-layer turned its stream
/// most; a narrow line leaves the last ones out.
std::vector<std::string> sentences_of(const RunInside& inside, int row);
/// The layer of a row's sub-layer; 0: the embedding's row.
int layer_of(const Inside& found, int row);

/// Draws every head's attention as a small picture: layers across, heads down. Returns the head that the user chose.
struct HeadChoice {
  int row = 0, head = 0;
};
std::optional<HeadChoice> draw_all_heads(ui::Ui& ui, ui::Rect rest, const GridInput& given);

/// What the map is, and how to choose a cell of it.
const std::string& map_help();
/// Draws the map, and returns the cell that the user chose in this frame.
std::optional<Selection> draw_grid(ui::Ui& ui, ui::Rect rest, const GridInput& given);

/// Draws the numbers of each sub-layer in `rest`, a line of bars level with its row of the map in `cells`.
void draw_columns(ui::Ui& ui, const ui::Rect& rest, const ui::Rect& cells, const GridInput& given);
float columns_width(const GridInput& given);

inline constexpr float kHeadOfGrid = 30;
inline constexpr float kOlder = 0.6f;  ///< how much of the panel lies over what a newer look will replace
inline constexpr ui::TextStyle kTick{ui::Face::Sans, ui::type::tick}, kMono{ui::Face::Mono, ui::type::tick},
    kBody{ui::Face::Sans, ui::type::body};

inline constexpr size_t kLongestKept = 100'000;  ///< bytes of a text

class InsideScreen : public AppScreen {
 public:
  /// Fills `area`, the window below the top bar.
  /// `transport`: the Lab's; the models are read at the step of its cursor.
  ScreenRequests draw(ui::Ui& ui, const ui::Rect& area, const LabView& view, bool clock,
                      lab::TransportState& transport) override;
  /// Keeps the ticket of the InsideLook that this frame requested.
  void posted(const session::Command& command, session::Ticket ticket) override {
    if (waiting_ && std::holds_alternative<session::Inquire>(command)) waiting_->ticket = ticket;
  }
  /// Whether a requested look is unfinished, or the next frame will request one.
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
    InsideRequest asked{};  ///< but for the run and the step
    int32_t step = 0;
    std::shared_ptr<const RunSpec> spec;
    double at = 0;  ///< UI time
    session::Ticket ticket = 0;
    bool same(const Request& other) const {
      return letter == other.letter && asked == other.asked && step == other.step && spec == other.spec;
    }
  };
  /// One of the models shown.
  struct Side {
    const RunView* run = nullptr;
    const RunInside* inside = nullptr;  ///< null: not there yet
    const RunInside* newest = nullptr;  ///< may have the tokens alone; null: not even these
    bool older = false;                 ///< a newer look is wanted and not ready
  };

  void take(const LabView& view, double now);
  void find_sides(const LabView& view, double now);
  void ask(ui::Ui& ui, const LabView& view, int cursor);
  void toggle(char letter, const LabView& view, double now);
  void draw_nothing(ui::Ui& ui, const ui::Rect& rect, const LabView& view);
  void draw_sides(ui::Ui& ui, ui::Rect rest);
  void draw_side(ui::Ui& ui, ui::Rect rest, const Side& side, bool alone);
  void draw_state(ui::Ui& ui, ui::Rect rest, const Side& side);
  std::string waiting_words(const Side& side) const;
  const Side& detailed_side() const;
  Selection selection_in(const RunInside& inside) const;
  const RunInside* first_read() const;  ///< whose tokens are shown; null: there are none yet
  float head_height(ui::Ui& ui, float width) const;
  void draw_head(ui::Ui& ui, ui::Rect rest, const LabView& view);
  void draw_write_on(ui::Ui& ui, ui::Rect& row);
  void draw_draws(ui::Ui& ui, ui::Rect rest);
  void draw_tokens(ui::Ui& ui, const ui::Rect& rect, const RunInside& inside);
  void draw_save_menu(ui::Ui& ui, const ui::Rect& place);
  void save(const std::string& ending);
  void draw_details(ui::Ui& ui, ui::Rect rest, const Side& side);

  std::string text_;
  std::string letters_ = "A";
  bool left_out_ = false, spectra_ = false, writing_ = false;
  Draws draws_;  ///< of the tokens that a model writes
  /// The text with the token that the model wrote last, and the number of tokens before it.
  struct Continuation {
    std::string text;
    size_t tokens = 0;
    double at = 0;  ///< UI time
  };
  std::optional<Continuation> written_;
  int shows_ = 0;  ///< index of Shows
  int head_ = 0, tab_ = 0;
  Selection selected_;
  char detailed_ = 0;        ///< the model that was chosen from last; 0: the first
  std::vector<Side> sides_;  ///< of this frame
  std::map<char, Request> asked_;
  std::map<char, std::shared_ptr<const InquiryResult>> measured_;  ///< the newest look with its measurements
  std::map<char, std::string> refused_;
  std::optional<Request> waiting_;
  std::map<char, double> wanted_;  ///< by run: UI time at which the look that is shown became out of date
  bool due_ = false;
  double look_takes_ = 0;  ///< seconds of the last look
  double look_began_ = 0;  ///< UI time of the look that is under way; 0: none is
  ScreenRequests requests_;
};

// Draws the stream of a model as a map: a row for each sub-layer, the embedding at the bottom, a column for each
// token, and next to each row the numbers of its sub-layer. A cell shows the length of the state, how strongly the
// loss depends on it, the model's guess from this state, what a step against the gradient adds to that guess, or the
// sub-layer's part of the logit of the right symbol. Or it draws all heads, a small picture of each head's attention.

}  // namespace normscope::inside

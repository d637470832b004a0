// Shows two to eight runs side by side, live, saved or recorded elsewhere; one of them is the baseline.
// It is state plus draw() without a window: it reads a LabView, returns ScreenRequests, and shares the step cursor with
// the Lab. Comparing computes what it shows, off the thread that draws. draw_app draws it.
//
// Controls: compare/run/A ... H (baseline) with compare/run/A/replace and /remove, compare/where/1 ... 8,
// compare/settings, compare/seeds, compare/align, compare/range, compare/maps/quantity, compare/matrix, compare/factor,
// compare/place/A ..., compare/loss, compare/difference, compare/map/A ..., compare/end, each figure with /menu;
// compare/tab where panels share a cell.
#pragma once

#include <algorithm>

#include "addons/compare/app/figures.h"
#include "addons/recorded/training/log_reader.h"
#include "app/lab/transport.h"
#include "app/panels/panels.h"
#include "app/panels/plot_cell.h"
#include "app/ui/widgets.h"
#include "training/files/background.h"

namespace normscope::compare_screen {

/// A recorded run that a place shows.
struct KeptFile {
  std::string path;  ///< empty: no file
  size_t run = 0;
  char letter = 0;  ///< E to H; 0: unknown
  bool operator==(const KeptFile&) const = default;
};

/// The part of the Compare screen that a session and a link keep.
struct KeptChoice {
  char baseline = 'B';
  int align = 0, matrix = 0;
  panels::Metric metric = &kGradNorm;
  double factor = 4;
  std::vector<KeptFile> files{};  ///< by place
  bool operator==(const KeptChoice&) const = default;
};

ScreenSettings settings_of(const KeptChoice& choice);
KeptChoice choice_from(const ScreenSettings& settings);
/// Throws Error for settings that a link must not have, such as files.
void check_link(const ScreenSettings& settings);

/// Which run each of the eight places shows: live runs of the session under their letters, recorded runs in the free
/// places or in a place that the user chose. With live runs, E to H come first for recorded ones. Files are read on
/// threads of their own and followed while they grow.
class SideBySide {
 public:
  /// `wake` is called from a file's thread when the file has news; empty: update() reads.
  explicit SideBySide(std::function<void()> wake) : wake_(std::move(wake)) {}

  /// The content of a place, 0 to 7.
  struct Place {
    size_t number = 0;
    char letter = 'A';                    ///< of the live run that belongs here, or of the recorded one
    bool live = false, recorded = false;  ///< neither: the place is empty
    std::string name{};                   ///< of the run
    std::string path{};                   ///< of a recorded run
    std::string fault{};                  ///< why its file cannot be read, one line
    bool reading = false;                 ///< its file has not been looked at yet
  };

  /// Opens a log or a saved run in `place` (0 to 7), else in the first free place. Where no place is free it returns
  /// false and opens nothing: the user has to clear a place. Further runs of the file take further free places.
  bool open(const std::string& path, const LabView& view, std::optional<size_t> place = {});
  /// Clears a place; if it had a recorded run, its live run is shown again.
  void leave_out(size_t place);
  /// Shows the live run of this place again.
  void bring_back(size_t place);
  /// Puts a run of a file in a place, under `letter`; 0: the place's letter, or the first free one.
  void put(size_t place, const std::string& path, size_t run, char letter = 0);

  /// Takes in what the files have gained, once per frame.
  void update(const LabView& view);
  std::array<Place, compare::kMax> places(const LabView& view) const;
  /// The runs that can be compared, in the order of their places. `clock` is as for LiveRuns::take.
  std::vector<records::Recording> runs(const LabView& view, bool clock = true);
  /// A key that changes whenever runs() would change.
  std::string key(const LabView& view) const;

  struct Choice {
    std::string path, name;
    size_t run = 0;
  };
  /// Lists every run of every open file.
  std::vector<Choice> choices() const;
  /// Lists the files by place, to be opened again.
  std::vector<KeptFile> kept() const;

 private:
  struct File {
    std::unique_ptr<records::FollowedFile> source;
    std::shared_ptr<const records::FollowedNow> now;
    std::vector<records::Recording> runs;
    bool handed_out = false;  ///< places were given to its further runs
  };
  struct Slot {
    std::shared_ptr<File> file;
    size_t run = 0;
    bool hidden = false;     ///< the live run is left out
    char letter = 0;         ///< of the file's run
    bool makes_way = false;  ///< it was opened when there was no run of the session
  };
  void fill(size_t place, const std::shared_ptr<File>& file, size_t run, char letter = 0);
  /// The first free place for a recorded run; kMax: there is none.
  size_t free_place(const LabView& view) const;
  std::shared_ptr<File> file_of(const std::string& path);
  void hand_out(const std::shared_ptr<File>& file, const LabView& view);
  void make_way(const LabView& view);

  std::function<void()> wake_;
  std::vector<std::shared_ptr<File>> files_;
  std::array<Slot, compare::kMax> slots_;
  compare::LiveRuns live_;
};

// Makes comparisons off the drawing thread. The drawing thread asks in every frame and gets the newest finished
// comparison with its plots, so a frame in which nothing changed computes nothing. While runs train, comparisons take
// at most a quarter of one thread's time; a user's choice does not wait for that.

struct ComparisonView {
  compare::Comparison all;
  plot::PlotSpec loss, difference, end;
  std::vector<plot::PlotSpec> maps;    ///< by run; no heat map where there is nothing to show
  std::vector<compare::Loupe> loupes;  ///< by run
  std::vector<plot::PlotSpec> grids;   ///< the loupes as plots, for files
  double per_step = 1;                 ///< how much of the shared axis one step of the baseline takes
  Message error;                       ///< why there is no comparison, one line
};

/// Makes comparison and plots. It throws nothing: `error` says what is wrong.
ComparisonView show(std::vector<records::Recording> runs, const compare::Choice& choice) noexcept;

class Comparing {
 public:
  explicit Comparing(std::function<void()> wake);
  ~Comparing();
  Comparing(const Comparing&) = delete;
  Comparing& operator=(const Comparing&) = delete;

  /// The newest comparison that is ready, null before the first, and asks for another where the keys
  /// differ. `data` is the key of what was measured, `chosen` the key of the rest. `runs` is called when a comparison
  /// begins. Without `wake` the comparison is made at once.
  std::shared_ptr<const ComparisonView> newest(const std::string& data, const std::string& chosen,
                                               const compare::Choice& choice,
                                               const std::function<std::vector<records::Recording>()>& runs);

 private:
  struct Pause;
  struct TimedView {
    std::shared_ptr<const ComparisonView> shown;
    double seconds = 0;  ///< time to make it
  };
  std::function<void()> wake_;
  std::shared_ptr<Pause> pause_;
  Background<TimedView> background_;
  TimedView made_;
  std::string asked_, asked_choice_;  ///< keys of the comparison under way; empty: none is
  std::string made_key_, made_choice_;
};

class CompareScreen : public AppScreen {
 public:
  /// `wake`: see SideBySide.
  explicit CompareScreen(std::function<void()> wake);

  /// Fills `area`, the window below the top bar. `transport` is the Lab's: both screens have one cursor.
  ScreenRequests draw(ui::Ui&, const ui::Rect& area, const LabView&, bool clock,
                      lab::TransportState& transport) override;

  /// Opens a log or a saved run in the place whose "open" was pressed, else in a free place. If none is free, the next
  /// frame asks which place to clear.
  void open(const std::string& path, const LabView& view) override;

  KeptChoice kept_choice() const;
  void choose(const KeptChoice& choice);
  ScreenSettings kept() const override { return settings_of(kept_choice()); }
  void restore(const ScreenSettings& kept) override { choose(choice_from(kept)); }
  /// Leaves out the files; `open_link` keeps the files that are open.
  ScreenSettings linked() const override;
  void open_link(const ScreenSettings& link) override;

 private:
  struct Frame;  // passed around within one draw()

  void choose_baseline(char letter) {
    choice_.baseline = letter;
    baseline_chosen_ = true;
  }
  compare::Choice choice_of(const std::vector<SideBySide::Place>& shown) const;
  void complete(std::vector<view::SavePlot>&) const;
  void keys(Frame&, lab::TransportState&);
  void next_place(Frame&);
  void set_align(int align);
  void go_to(Frame&, double step);

  void draw_heads(Frame&, ui::Rect);
  void draw_labels(Frame&, ui::Rect);
  std::vector<SideBySide::Place> cards_of(const Frame&) const;
  void draw_card(Frame&, const ui::Rect&, const SideBySide::Place&);
  static std::string title_of(Frame&, size_t run, ui::TextStyle, float room);
  void draw_card_settings(Frame&, const ui::Rect&, size_t run, bool narrow);
  void draw_remove(Frame&, const ui::Rect&, const SideBySide::Place&);
  void draw_empty(Frame&, const ui::Rect&, const SideBySide::Place&, bool first);
  void draw_replace(Frame&, const ui::Rect& button, const SideBySide::Place&);
  void draw_list(Frame&, const std::string& name, const ui::Rect& button, const SideBySide::Place&);
  void draw_settings(Frame&);
  void ask_where(Frame&);
  void draw_time(Frame&, ui::Rect);
  void draw_loss(Frame&, const ui::Rect&);
  void draw_difference(Frame&, const ui::Rect&);
  void draw_maps(Frame&, const ui::Rect&, bool with_panel);
  void draw_maps_head(Frame&, const ui::Rect&, bool with_panel);
  void draw_map(Frame&, const ui::Rect&, size_t run, bool last);
  void time_hit(Frame&, const std::string& name, const plot::PlotHit&);
  void draw_right(Frame&, ui::Rect);
  void draw_places(Frame&, const ui::Rect&, bool with_panel);
  void draw_place_rows(Frame&, ui::Rect&);
  void draw_loupe(Frame&, ui::Rect);
  void draw_end(Frame&, const ui::Rect&, bool with_panel);
  void draw_end_row(Frame&, const ui::Rect&, const compare::EndRow&);

  SideBySide side_;
  Comparing comparing_;
  std::shared_ptr<const ComparisonView> shown_;
  panels::CellState cells_;
  plot::View across_;  // the steps that all plots over time show
  KeptChoice choice_;  // without the files
  char loupe_ = 0;
  bool baseline_chosen_ = false;  // by the user; otherwise the first of two runs
  int tab_ = 0;
  std::optional<std::pair<int32_t, int32_t>> range_;
  std::optional<double> hover_x_, hover_next_;
  std::optional<int> beyond_;  // the cursor beyond the live runs, where only recorded runs have come
  std::optional<size_t> open_into_;
  std::vector<std::string> unplaced_;  // files that wait for a place; the frame asks about the first
  bool asking_ = false;
  std::string search_;   // text to filter the list of runs by
  std::string refusal_;  // why the chosen axis is not available
};

struct CompareScreen::Frame {
  ui::Ui& ui;
  const LabView& view;
  ScreenRequests& desk;
  lab::TransportState& transport;
  ui::Size size;
  std::array<SideBySide::Place, compare::kMax> places;
  std::shared_ptr<const ComparisonView> shown;  // null or with an error: no comparison
  int step = 0;                                 // the cursor's step
  float pad_right = 16;                         // of all plots over time, so that their cursors align

  bool compact() const { return size == ui::Size::Compact; }
  bool has() const { return shown && shown->error.empty(); }
  const compare::Comparison& all() const { return shown->all; }
  /// The cursor on the shared axis.
  double x() const { return step * shown->per_step; }
  double loss_at(size_t run, size_t point) const { return all().losses[run].means[point]; }
  int32_t window_at(size_t run, size_t point) const {
    const compare::Track& loss = all().losses[run].shown;
    return std::min(compare::window_at(all().runs[run], loss.steps[point]), static_cast<int32_t>(point) + 1);
  }
  /// The run with this letter; none where it is not compared.
  std::optional<size_t> run_of(char letter) const {
    if (!has()) return {};
    for (size_t run = 0; run < all().runs.size(); ++run)
      if (all().letter(run) == letter) return run;
    return {};
  }
  /// The last of a run's points at or before the cursor. There is none before the first point, nor past the run's last
  /// step. A run that trained on since it was compared keeps its last point.
  std::optional<size_t> point_of(size_t run, const std::vector<double>& points) const {
    const compare::Track& loss = all().losses[run].shown;
    if (!loss.empty() && x() > loss.x.back() &&
        all().runs[run].seeds.front().history->last_step() <= loss.steps.back())
      return {};
    const auto after = std::ranges::upper_bound(points, x());
    if (after == points.begin()) return {};
    return static_cast<size_t>(after - points.begin()) - 1;
  }
};

using ui::fitting;

inline constexpr const char* kSettings = "compare/settings/all";  ///< the list of all settings that differ

/// Returns "warm-up 200" where several runs are "Post-LN, ...", else "Pre-LN".
inline std::string short_name(const compare::Comparison& all, size_t run) {
  const auto head = [&](size_t i) { return all.runs[i].name.substr(0, all.runs[i].name.find(", ")); };
  const std::string mine = head(run);
  for (size_t other = 0; other < all.runs.size(); ++other)
    if (other != run && head(other) == mine && mine.size() < all.runs[run].name.size())
      return all.runs[run].name.substr(mine.size() + 2);
  return mine;
}

}  // namespace normscope::compare_screen

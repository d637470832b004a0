// Makes comparisons off the thread that draws. That thread asks in every frame and gets the newest
// comparison that is ready, with its plots, so a frame in which nothing changed computes nothing. While runs train,
// comparisons take at most a quarter of one thread's time; a user's choice does not wait for that.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "addons/compare/app/comparison.h"
#include "addons/compare/app/figures.h"
#include "app/plot/plot_spec.h"
#include "engine/core/error.h"
#include "training/files/background.h"

namespace normscope::compare_screen {

/// A comparison and what is drawn of it.
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
  struct Made {
    std::shared_ptr<const ComparisonView> shown;
    double seconds = 0;  ///< seconds it took
  };
  std::function<void()> wake_;
  std::shared_ptr<Pause> pause_;
  Background<Made> background_;
  Made made_;
  std::string asked_, asked_choice_;  ///< keys of the comparison under way; empty: none is
  std::string made_key_, made_choice_;
};

}  // namespace normscope::compare_screen

// A figure is drawn as a PlotSpec: from the learner's own measurement, from measured.json, or both (the learner's as
// lines, the reference's range as bands). The player shows it, the report exports it, tests read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/course/check.h"
#include "app/course/curves.h"
#include "app/plot/plot_spec.h"

namespace normscope::course {

struct FigureData {
  const CurveSet* own = nullptr;       ///< the learner's; may be partial
  const Results* reference = nullptr;  ///< measured.json
  const std::map<std::string, experiments::ShareMap>* maps =
      nullptr;              ///< the learner's beta^2 maps by run: "A start"
  Changes changes{};        ///< the learner's changes with which `own` was measured
  double level = 0;         ///< loss of letter frequencies; 0: not known
  bool recorded = false;    ///< draws the mean of `reference` too, as far as `own` has not come
  std::string draw_only{};  ///< before the commitment: only this curve's first point
  std::vector<double> drawn_x{}, drawn_y{};  ///< the prediction
  std::optional<double> ball{};  ///< the rate to which the learner dragged it; none: the rate in use
};

/// The letter of the line's run, shown before its value. Empty for a curve over many settings, for a line in another
/// run's colour, and for a run without a letter.
std::string letter_of(const Lesson& lesson, const FigureLine& line);

/// Whether the numbers at the ends of a figure's lines are means of kLossWindow losses: true of losses over steps.
bool ends_in_means(const Figure& figure);
/// Whether a line of the figure shows final losses over a setting, whose points are such means.
bool is_of_means(const Lesson& lesson, const Figure& figure);

plot::PlotSpec figure_plot(const Lesson& lesson, const Figure& figure, const FigureData& data);

/// Whether the ranges of the five seeds are drawn behind the lines. A figure with a ball has none, because the
/// valleys of five seeds would cover the one that the ball is dragged along.
bool shows_ranges(const Figure& figure);
/// Whether the ranges of the seeds are bars in this figure, because its curves have too few points for an
/// area between them.
bool ranges_as_bars(const Figure& figure, const Results& results);

/// What a picture may show of a curve: the learner's own, or the mean over the seeds; null: nothing.
const std::vector<double>* seen_values(const std::string& curve, const FigureData& data);

/// The first point of a curve, where a drawn prediction starts.
std::optional<std::pair<double, double>> start_of(const Lesson& lesson, const std::string& curve,
                                                  const FigureData& data);

// A one-step curve: by how much one step would change the loss of its own batch at different learning rates.

/// Subtracts the loss before the step, so that the steps of several runs start at the same level.
CurveData measure_one_step(const Curve& curve, const experiments::StudyRun& run, experiments::RunStore& runs,
                           const experiments::OnStep& on_step);

/// The rate at which such a curve crosses the loss before the step from below, interpolated linearly between the two
/// measured points around it. None if it never falls, or never comes back.
std::optional<double> critical_rate_of(const CurveData& valley);

/// The rate at which the run, with the learner's changes, makes the step of that curve.
double rate_in_use(const Lesson& lesson, const Curve& curve, const Changes& changes);

/// Adds a ball at the measured point nearest to data.ball, a sentence on what the step would do to the loss of its
/// own batch at that rate, the level before the step, and marks at the rate in use and at the critical rate. The
/// learner drags the ball along the curve. Without a measured point it adds the level alone.
void add_ball(const Lesson& lesson, const Curve& curve, const CurveData& valley, const FigureData& data,
              plot::PlotSpec& plot);

}  // namespace normscope::course

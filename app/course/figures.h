// A figure is drawn as a PlotSpec: from the learner's own measurement, from measured.json, or both (the learner's as
// lines, the reference's range as bands). The player shows it, the report exports it, tests read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/course/check.h"
#include "app/plot/plot_spec.h"

namespace normscope::course {

struct FigureData {
  const CurveSet* own = nullptr;       ///< the learner's; may be partial
  const Results* reference = nullptr;  ///< measured.json
  const std::map<std::string, experiments::ShareMap>* maps =
      nullptr;                               ///< the learner's beta^2 maps by run: "A start"
  Changes changes{};                         ///< the changes that the own one was measured with
  double level = 0;                          ///< loss of letter frequencies; 0: not known
  std::string draw_only{};                   ///< before the commitment: only this curve's first point
  std::vector<double> drawn_x{}, drawn_y{};  ///< the prediction
  std::optional<double> ball{};              ///< the rate at which the learner left it; none: the rate in use
};

/// The letter before a line's value: its run's. It is empty for a line over many settings, for one
/// with another run's look, and for a run without a letter.
std::string letter_of(const Lesson& lesson, const FigureLine& line);

/// Whether the numbers at the ends of a figure's lines are means of kLossWindow losses, which they
/// are for losses over the steps of training.
bool ends_in_means(const Figure& figure);
/// Whether every point of a figure is such a mean, which is so for losses at the ends of runs over a
/// setting.
bool is_of_means(const Lesson& lesson, const Figure& figure);

plot::PlotSpec figure_plot(const Lesson& lesson, const Figure& figure, const FigureData& data);

/// Whether the ranges of the five seeds are drawn behind the lines: not behind a ball, which is dragged along
/// the step of one run, as the valleys of five seeds would cover it.
bool shows_ranges(const Figure& figure);
/// Whether the ranges of the seeds are bars in this figure, because its curves have too few points for an
/// area between them.
bool ranges_apart(const Figure& figure, const Results& results);

/// What a picture may show of a curve: the learner's own, or the mean over the seeds; null: nothing.
const std::vector<double>* seen_values(const std::string& curve, const FigureData& data);

/// The first point of a curve, where a drawn prediction starts.
std::optional<std::pair<double, double>> start_of(const Lesson& lesson, const std::string& curve,
                                                  const FigureData& data);

}  // namespace normscope::course

// A lesson's figure as a PlotSpec: from the learner's own measurement, from measured.json, or both (the own
// one as lines, the reference's range as bands). The player shows it, the report exports it, tests read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/course/check/check.h"
#include "app/plot/plot_spec.h"

namespace normscope::course {

struct FigureData {
  const CurveSet* own = nullptr;       ///< the learner's; may be partial
  const Results* reference = nullptr;  ///< measured.json
  const std::map<std::string, experiments::ShareMap>* maps =
      nullptr;                           ///< the learner's beta^2 maps by run: "A start"
  Changes changes;                       ///< with which the learner's was measured
  double level = 0;                      ///< loss of letter frequencies; 0: not known
  std::string draw_only;                 ///< before the commitment: nothing but this curve's first point
  std::vector<double> drawn_x, drawn_y;  ///< the prediction
};

/// The letter before a line's value: of the run that it is of. Empty for a line over many settings, for one that is
/// lent another run's look, and for a run without a letter.
std::string letter_of(const Lesson& lesson, const FigureLine& line);

/// Whether the numbers at the ends of a figure's lines are means of kLossWindow losses: losses over the steps of training.
bool ends_in_means(const Figure& figure);
/// Whether every point of a figure is one: the losses at the ends of runs, over a setting.
bool is_of_means(const Lesson& lesson, const Figure& figure);

plot::PlotSpec figure_plot(const Lesson& lesson, const Figure& figure, const FigureData& data);

/// The first point of a curve: where a drawn prediction starts.
std::optional<std::pair<double, double>> start_of(const Lesson& lesson, const std::string& curve,
                                                  const FigureData& data);

}  // namespace normscope::course

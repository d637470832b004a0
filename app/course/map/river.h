// A river: the beta^2 map of a run, drawn as a stream whose bands are the shares of the input and of each branch.
#pragma once

#include "app/course/exercises/challenge.h"
#include "app/plot/plot_spec.h"
#include "training/experiments/run_store.h"

namespace normscope::course {

/// Adds the river of a map. Column 0 is the input alone, column i is row i of the map over its sum. A map
/// with a row that has no sum, as one that is not finite, adds nothing. A river that `grows` is of a stream that nothing
/// rescales: every part keeps its variance, so a state is as wide as the variances of its parts together.
void add_river(const experiments::ShareMap& map, plot::PlotSpec& plot, const Words& words,
               bool grows = false);

}  // namespace normscope::course

// These tests hold the numbers that a sweep predicts for untrained networks: they need no run, they are the theory's for
// the very settings of a cell, and a cell that the theory does not speak of says why.
#include <cmath>
#include <string>
#include <vector>

#include "addons/sweep/app/screen/words.h"
#include "addons/sweep/app/sweep_writers.h"
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "training/data/task.h"
#include "training/measure/theory/theory.h"
#include "training/support/tiny.h"

namespace normscope::sweep {
namespace {

Grid untrained(const std::vector<std::string>& axes) {
  Plan plan;
  plan.set = test::tiny_set();
  const RunSpec base = base_of(plan);
  for (const std::string& axis : axes) plan.axes.push_back(axis_from(axis, base));
  const std::vector<CellRun> jobs = runs_of(plan);
  return grid_of(plan, jobs, std::vector<std::optional<RunNumbers>>(jobs.size()), predictions_of(plan, jobs));
}

}  // namespace

TEST_CASE("sweep: predicted numbers need no run and are those of the cell's own network") {
  const Grid grid = untrained({"model.init_scale=0.5,1", "model.placement=post,pre,hyper"});
  const std::vector<CellRun> jobs = runs_of(grid.plan);
  for (const CellRun& job : jobs) {
    const Cell& cell = grid.at(job.column, job.row);
    const double same =
        theory::agreement_of(*make_task(job.run.spec.data), job.run.spec.model.sequence).token;
    const theory::AtStart alone = theory::at_start(job.run.spec.model, same);
    CHECK(cell.predicted.objection == alone.objection);
    if (!alone.objection.empty()) continue;
    CHECK(value_of(cell, Metric::PredictedCosine) == alone.cosine);
    CHECK(value_of(cell, Metric::PredictedGradient) == alone.gradient);
  }
  // Larger weights make branches larger, so that Post-LN's tokens are more alike; Pre-LN's are less alike than Post-LN's.
  const auto cosine = [&](size_t column, size_t row) {
    return value_of(grid.at(column, row), Metric::PredictedCosine);
  };
  CHECK(cosine(1, 0) > cosine(0, 0) + 0.05);
  CHECK(cosine(1, 1) < cosine(1, 0));
}

TEST_CASE("sweep: table, JSON and sentence show what is predicted, or why nothing is") {
  const Grid grid = untrained({"model.init_scale=0.5,1", "model.placement=post,hyper"});
  const std::string table = to_text(grid, Metric::PredictedCosine);
  CHECK(test::contains(table, "· 0."));
  CHECK(test::contains(table, "· –"));
  CHECK(test::contains(table, "no prediction: there are several residual streams"));
  CHECK_FALSE(test::contains(to_text(grid, Metric::Loss), "no prediction"));
  const nlohmann::json json = to_json(grid);
  CHECK(json["cells"][0]["predicted"]["cosine"] == Approx(grid.at(0, 0).predicted.cosine));
  CHECK(json["cells"][2]["predicted"]["cosine"].is_null());
  CHECK(json["cells"][2]["predicted"]["objection"] == "there are several residual streams");
  CHECK(predicted_sentence(grid.at(0, 0)).starts_with("Before training, theory expects a cosine of 0."));
  CHECK(predicted_sentence(grid.at(0, 1)) == "No prediction: there are several residual streams");
  CHECK(std::isfinite(scale_of(grid, Metric::PredictedGradient).low));
}

}  // namespace normscope::sweep

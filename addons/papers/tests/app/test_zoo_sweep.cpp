// The zoo and a sweep find the runs that the other has trained.
#include <string>

#include "addons/papers/app/zoo/zoo.h"
#include "addons/sweep/app/cells.h"
#include "addons/sweep/app/sweep_plan.h"
#include "addons/sweep/app/sweep_writers.h"
#include "catch.hpp"
#include "folder.h"
#include "training/support/tiny.h"

namespace normscope::sweep {
namespace {

using experiments::ResultStore;
using test::Folder;

bool onwards(const experiments::Progress&) { return true; }

}  // namespace

TEST_CASE("sweep: what the zoo has trained is not trained again, nor the other way round") {
  const StudyFile animals = zoo::study_of(
      {.only = "post", .depths = {2}, .seeds = 2, .steps = 24, .warmup = 8, .set = test::tiny_set(0)});
  Plan plan;
  plan.set = test::tiny_set();
  plan.steps = 24;
  plan.seeds = 2;
  plan.axes = {axis_from("train.warmup=0,8", base_of(plan))};
  const auto visit = [&](ResultStore& store) { return train(study_of(runs_of(plan)), store, {}, onwards); };
  const auto json = [&](const experiments::StudyResults& all) {
    return to_json(grid_of(plan, runs_of(plan), all.runs)).dump(1);
  };
  ResultStore none("");
  const std::string whole = json(visit(none));

  const Folder folder;
  ResultStore first(folder.file("zoo")), second(folder.file("sweep"));
  REQUIRE(train(study_of(animals), first, {}, onwards).trained == 4);
  const experiments::StudyResults found = visit(first);
  CHECK(found.trained == 0);
  CHECK(found.stored == 4);
  CHECK(json(found) == whole);
  REQUIRE(visit(second).trained == 4);
  CHECK(train(study_of(animals), second, {}, onwards).trained == 0);
}

}  // namespace normscope::sweep

// These tests run normscope admin-fold as a user does: the same loss, a run that goes on, and what is refused.
// tests/training/run/test_admin_fold.cpp has the arithmetic.
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "app/support/program.h"
#include "catch.hpp"

using namespace normscope::test;
using nlohmann::json;

namespace {

std::string saved_run(const Folder& folder, const std::string& placement) {
  const std::string config = folder.write("tiny.toml", kTiny), run = folder.file(placement + ".safetensors");
  const Outcome outcome =
      run_program("train --config " + config + " --set model.placement=" + placement + " --save " + run);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return run;
}

double loss_of(const std::string& run) {
  const Outcome outcome = run_program("measure " + run + " --what loss --json");
  REQUIRE(outcome.code == 0);
  return json::parse(outcome.out)["rows"][0]["loss"];
}

}  // namespace

TEST_CASE("admin-fold: a Post-LN run with the same loss, which goes on") {
  const Folder folder;
  const std::string run = saved_run(folder, "admin"), folded = folder.file("folded.safetensors");
  const Outcome outcome = run_program("admin-fold " + run + " " + folded);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(contains(outcome.out, "Post-LN"));
  CHECK(contains(outcome.out, "4 sub-layers folded"));
  CHECK(loss_of(folded) == Approx(loss_of(run)).epsilon(1e-5));
  CHECK(run_program("train --resume " + folded + " --steps 14").code == 0);
  const Outcome twice = run_program("admin-fold " + folded + " " + folder.file("twice.safetensors"));
  CHECK(twice.code == 3);
  CHECK(contains(twice.err, "a run of Post-LN"));
  CHECK(is_one_error_line(twice));
}

TEST_CASE("admin-fold: what it refuses") {
  const Folder folder;
  const std::string out = folder.file("out.safetensors");
  const Outcome other = run_program("admin-fold " + saved_run(folder, "pre") + " " + out);
  CHECK(other.code == 3);
  CHECK(contains(other.err, "expected model.placement admin or admin-paper"));
  CHECK(is_one_error_line(other));
  CHECK_FALSE(std::filesystem::exists(out));
}

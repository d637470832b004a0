// What a branch keeps when the sub-layer below it is left out: ../../training/next_branch.cpp.
#include "training/experiments/run_numbers.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

double number_of(const RunSpec& spec, std::string_view name) {
  const auto run = make_run(spec);
  const experiments::EndNumber* number = experiments::end_number(name);
  return number ? number->measure(*run) : experiments::kUnknown;
}

}  // namespace

TEST_CASE("next branch: it changes by nothing where nothing was below, and less in Pre-LN than in Post-LN") {
  CHECK(number_of(spec_with("pre", {{"wiring.L*.attn", "before=ln branch=0"}}), "next_branch") == 0);
  const double pre = number_of(spec_with("pre", {{"model.layers", "8"}}), "next_branch");
  CHECK(pre > 0);
  CHECK(pre < number_of(spec_with("post", {{"model.layers", "8"}}), "next_branch"));
}

TEST_CASE("next branch: in Pre-LN the change falls with the number of branches below") {
  CHECK(number_of(spec_with("pre", {{"model.layers", "8"}}), "next_branch_power") < -0.3);
  // Two layers have no sub-layer from layer 3 on.
  CHECK(std::isnan(number_of(spec_with("pre", {{"model.layers", "2"}}), "next_branch_power")));
}

TEST_CASE("next branch: a model whose branches go into several streams has none") {
  for (const char* placement : {"hyper", "siamese"})
    for (const char* name : {"next_branch", "next_branch_power"})
      CHECK(std::isnan(number_of(small_spec(placement), name)));
}

}  // namespace normscope::test

// Fresh hyper-connections carry each stream on alone, and a copy of the embedding in each: both numbers are known then.
#include "catch.hpp"
#include "training/experiments/run_numbers.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

double number_of(Run& run, std::string_view name) {
  for (const experiments::EndNumber* number : experiments::kEndNumbers)
    if (number->name == name) return number->measure(run);
  return experiments::kUnknown;
}

}  // namespace

TEST_CASE("stream numbers: fresh streams go on alone, training makes them mix, one stream has neither",
          "[measure]") {
  const auto fresh = make_run(small_spec("hyper"));
  CHECK(number_of(*fresh, "stream_mixing") == 0);
  const double even = number_of(*fresh, "stream_share");
  CHECK(even >= 0.25);
  CHECK(even < 0.4);  // branches are written into all streams alike
  steps(*fresh, 20);
  CHECK(number_of(*fresh, "stream_mixing") > 1e-3);
  const auto one = make_run(small_spec("pre"));
  CHECK(std::isnan(number_of(*one, "stream_mixing")));
  CHECK(std::isnan(number_of(*one, "stream_share")));
}

}  // namespace normscope::test

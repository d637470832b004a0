// These tests cover the few numbers and the small picture that say what is in a tensor.
#include <algorithm>

#include "addons/tape-screen/training/tensor_summary.h"
#include "engine/support/helpers.h"

namespace normscope::test {

TEST_CASE("tensor summary: moments, extremes, histogram and what is not finite", "[tape]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TensorSummary s = summarise(std::vector<float>{3, -1, nan, 2, 4});
  CHECK(s.count == 5);
  CHECK(s.not_finite == 1);
  CHECK(s.first_not_finite == 2);
  CHECK(s.mean == 2);
  CHECK(s.deviation == Approx(std::sqrt(14.0 / 4)));
  CHECK(s.norm == Approx(std::sqrt(30.0)));
  CHECK(s.low == -1);
  CHECK(s.high == 4);
  CHECK(s.limit == 4);
  CHECK(s.histogram.front() == 1);
  CHECK(s.histogram.back() == 1);  // the largest belongs to the last part
  uint32_t sum = 0;
  for (const uint32_t n : s.histogram) sum += n;
  CHECK(sum == 4);
  CHECK(summarise(std::vector<float>(7, 2.5f)).histogram[0] == 7);
  CHECK(summarise(std::vector<float>{nan}).norm == 0);
  CHECK(summarise({}).first_not_finite == -1);

  std::vector<float> many(1000, 0.5f);
  many[17] = 100;
  CHECK(summarise(many).limit == 0.5);  // one of a thousand does not set the colours
}

TEST_CASE("heat map: a picture of more than its pixels keeps extremes", "[tape]") {
  std::vector<float> values(40 * 30, 0.1f);
  values[17 * 30 + 4] = -9;
  values[39 * 30 + 29] = std::numeric_limits<float>::quiet_NaN();
  const HeatMap map = heat_map(values, 30, 10, 6);
  REQUIRE(map.rows == 10);
  REQUIRE(map.columns == 6);
  CHECK(map.cells[4 * 6 + 0] == -9);  // rows 16 to 19, columns 0 to 4
  CHECK(std::isnan(map.cells.back()));
  CHECK(std::ranges::count(map.cells, 0.1f) == 58);
  const HeatMap whole = heat_map(values, 30, 100, 100);
  CHECK(whole.rows == 40);
  CHECK(same_bits(whole.cells, values));
  CHECK(heat_map({}, 30, 4, 4).cells.empty());
}

}  // namespace normscope::test

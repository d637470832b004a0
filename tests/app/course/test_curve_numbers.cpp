// Every number of the table (training/measure/numbers.h) can be a curve of a lesson, and what is none is met with the nearest.
#include "app/course/curves.h"
#include "catch.hpp"
#include "training/measure/numbers.h"

using namespace normscope;
using namespace normscope::course;

TEST_CASE("every number of a step can be a lesson's curve, and one of a layer a profile") {
  for (const normscope::Number* row : numbers()) {
    const std::string name = example_of(*row), by_layer = example_of(*row, true);
    const bool of_layer = name != by_layer;
    INFO(name);
    CHECK(unless_measured({.of = Curve::Of::Run, .y = name}).empty());
    CHECK_FALSE(unless_measured({.of = Curve::Of::Run, .y = by_layer}).empty() == of_layer);
    CHECK(unless_measured({.of = Curve::Of::Profile, .y = by_layer}).empty() == of_layer);
    CHECK(unless_measured({.of = Curve::Of::Run, .y = name + " / rate"}).empty() == !row->over);
    CHECK_FALSE(unless_measured({.of = Curve::Of::Run, .y = name + "s"}).empty());
  }
}

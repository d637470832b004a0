// A learner's own entries of the zoo.
#include "addons/papers/app/zoo/zoo.h"
#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(zoo) {
  fuzz::accepts([&] { zoo::parse_own(input, "zoo.json"); });
}

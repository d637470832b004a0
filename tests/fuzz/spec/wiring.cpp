// The wiring of a sub-layer, and the names of norms and placements.
#include "engine/model/wiring.h"

#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(wiring) {
  fuzz::accepts([&] { norm_from(input); });
  fuzz::accepts([&] { placement_from(input); });
  Wiring wiring;
  if (!fuzz::accepts([&] { wiring = wiring_from(input); })) return;
  const std::string written = to_string(wiring);
  fuzz::require(to_string(wiring_from(written)) == written,
                "a wiring is another one after its way to text and back");
}

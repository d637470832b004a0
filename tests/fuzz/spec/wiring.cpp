// The wiring of a sub-layer, and the names of norms and placements.
#include "engine/model/wiring.h"

#include "fuzz.h"

using namespace normscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::accepts([&] { norm_from(text); });
  fuzz::accepts([&] { placement_from(text); });
  Wiring wiring;
  if (!fuzz::accepts([&] { wiring = wiring_from(text); })) return 0;
  const std::string written = to_string(wiring);
  fuzz::require(to_string(wiring_from(written)) == written,
                "a wiring is another one after its way to text and back");
  return 0;
}

// The config.json of a published model: what is accepted is a model that can be.
#include "addons/published/training/family.h"

#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(published, fuzz::mutate_json) {
  if (!fuzz::shallow(input)) return;
  fuzz::accepts([&] {
    const InputValue config = InputValue::parse(input, "published config.json");
    const RunSpec spec = published::spec_of(published::family_of(config), config, "published config.json", 8);
    validate(spec.model);
    fuzz::require(spec.model.sequence >= 8 && spec.model.vocabulary >= 2, "a model that reads the text");
  });
}

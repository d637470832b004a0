// The config.json of a published model: what is accepted is a model that can be.
#include "training/published/family.h"

#include "fuzz.h"

using namespace normscope;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return fuzz::mutate_json(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view json = fuzz::text_of(data, size);
  if (!fuzz::shallow(json)) return 0;
  fuzz::accepts([&] {
    const InputValue config = InputValue::parse(json, "published config.json");
    const RunSpec spec = published::spec_of(published::family_of(config), config, "published config.json", 8);
    validate(spec.model);
    fuzz::require(spec.model.sequence >= 8 && spec.model.vocabulary >= 2, "a model that reads the text");
  });
  return 0;
}

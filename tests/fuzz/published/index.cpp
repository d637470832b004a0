// The index of a published model's shards: what is accepted names files of the same folder alone.
#include "training/published/weights.h"

#include <filesystem>

#include "fuzz.h"

using namespace normscope;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return fuzz::mutate_json(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view json = fuzz::text_of(data, size);
  if (!fuzz::shallow(json)) return 0;
  fuzz::accepts([&] {
    for (const auto& [tensor, file] : published::shards_of(json, "fuzz"))
      fuzz::require(!std::filesystem::path(file).has_parent_path() && file != "." && file != "..",
                    "a file of another folder");
  });
  return 0;
}

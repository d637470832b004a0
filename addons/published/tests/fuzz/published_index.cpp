// The index of a published model's shards: what is accepted names files of the same folder alone.
#include "addons/published/training/weights.h"

#include <filesystem>

#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(published_index, fuzz::mutate_json) {
  if (!fuzz::shallow(input)) return;
  fuzz::accepts([&] {
    for (const auto& [tensor, file] : published::shards_of(input, "fuzz"))
      fuzz::require(!std::filesystem::path(file).has_parent_path() && file != "." && file != "..",
                    "a file of another folder");
  });
}

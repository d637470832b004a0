// The container of weights, checkpoints and fixtures: every tensor of what is accepted, as every type.
#include "engine/io/safetensors.h"

#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(safetensors, fuzz::mutate_safetensors) {
  fuzz::accepts([&] {
    const SafetensorsFile file = SafetensorsFile::parse(fuzz::bytes_of(input), "fuzz.safetensors");
    size_t bytes = 0;
    for (const std::string& name : file.names()) {
      bytes += file.bytes(name).size();
      fuzz::accepts([&] { file.doubles(name); });
      fuzz::accepts([&] { file.floats(name); });
      fuzz::accepts([&] { file.int32s(name); });
      fuzz::accepts([&] { file.int64s(name); });
      fuzz::accepts([&] { file.require_shape(name, {2, 3}); });
    }
    fuzz::require(bytes < input.size(), "more data than the file has");
  });
}

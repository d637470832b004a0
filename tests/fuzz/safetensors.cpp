// The container of weights, checkpoints and fixtures: every tensor of what is accepted, as every type.
#include "training/io/safetensors.h"

#include "fuzz.h"

using namespace normscope;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return fuzz::mutate_safetensors(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::accepts([&] {
    const SafetensorsFile file = SafetensorsFile::parse({data, size}, "fuzz.safetensors");
    size_t bytes = 0;
    for (const std::string& name : file.names()) {
      bytes += file.bytes(name).size();
      fuzz::accepts([&] { file.doubles(name); });
      fuzz::accepts([&] { file.floats(name); });
      fuzz::accepts([&] { file.int32s(name); });
      fuzz::accepts([&] { file.int64s(name); });
      fuzz::accepts([&] { file.require_shape(name, {2, 3}); });
    }
    fuzz::require(bytes < size, "more data than the file has");
  });
  return 0;
}

// The gate of a checkpoint (what it says of itself, its history and its plateau) and that of a keyframe,
// without the network.
#include "fuzz.h"
#include "training/run/keyframes.h"
#include "training/run/saved_run.h"

using namespace normscope;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return fuzz::mutate_safetensors(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::accepts([&] {
    const SafetensorsFile file = SafetensorsFile::parse({data, size}, "fuzz.safetensors");
    fuzz::accepts([&] { read_saved_run(file); });
    fuzz::accepts([&] { read_keyframe(file); });
  });
  return 0;
}

// The gate of a checkpoint (what it says of itself, its history and its plateau) and that of a keyframe,
// without the network.
#include "fuzz.h"
#include "training/run/keyframes.h"
#include "training/run/saved_run.h"

using namespace normscope;

FUZZ_TARGET(checkpoint, fuzz::mutate_safetensors) {
  fuzz::accepts([&] {
    const SafetensorsFile file = SafetensorsFile::parse(fuzz::bytes_of(input), "fuzz.safetensors");
    fuzz::accepts([&] { read_saved_run(file); });
    fuzz::accepts([&] { read_keyframe(file); });
  });
}

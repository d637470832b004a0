// The gate of a checkpoint, without the network: what it says of itself, its history and its plateau.
#include "fuzz.h"
#include "training/run/saved_run.h"

using namespace normscope;

FUZZ_TARGET(checkpoint, fuzz::mutate_safetensors) {
  fuzz::accepts([&] {
    const SafetensorsFile file = SafetensorsFile::parse(fuzz::bytes_of(input), "fuzz.safetensors");
    fuzz::accepts([&] { read_saved_run(file); });
  });
}

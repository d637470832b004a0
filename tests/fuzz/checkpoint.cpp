// The gate of a checkpoint, without the network: what it says of itself, its history and its plateau.
#include "training/run/checkpoint.h"
#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(checkpoint, fuzz::mutate_safetensors) {
  fuzz::accepts([&] {
    const SafetensorsFile file = SafetensorsFile::parse(fuzz::bytes_of(input), "fuzz.safetensors");
    fuzz::accepts([&] { read_checkpoint(file); });
  });
}

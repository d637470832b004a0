// A pytorch_model.bin: of what is accepted every tensor is read.
#include "addons/published/training/torch_file.h"
#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(published_torch) {
  fuzz::accepts([&] {
    const auto bytes = fuzz::bytes_of(input);
    std::vector<float> room;
    for (const auto& [name, tensor] : published::tensors_of_torch(bytes, "fuzz"))
      if (tensor.type->read) tensor.numbers(0, tensor.size(), room);
  });
}

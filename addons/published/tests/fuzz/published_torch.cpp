// A pytorch_model.bin or a checkpoint: of what is accepted every tensor is read, and what it says of its model.
#include "addons/published/training/torch_file.h"
#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(published_torch) {
  fuzz::accepts([&] {
    const auto bytes = fuzz::bytes_of(input);
    std::vector<float> room;
    for (const auto& [name, tensor] : published::tensors_of_torch(bytes, "fuzz"))
      if (tensor.type->read) tensor.numbers(0, tensor.size(), room);
    if (const std::string json = published::config_of_torch(bytes, "fuzz"); !json.empty())
      InputValue::parse(json, "fuzz");
  });
}

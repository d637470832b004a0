// A published model whose first token has a massive state, as in large models: GPT-2's fixture with a long first
// row in its table of positions.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "folder.h"
#include "test_paths.h"

namespace normscope::test {

inline std::string massive_first(const Folder& folder) {
  const std::string model = folder.file("massive"), file = model + "/model.safetensors";
  std::filesystem::copy(NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers/gpt2", model);
  std::ifstream in(file, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto tensors =
      nlohmann::json::parse(bytes.begin() + 8, bytes.begin() + 8 + static_cast<std::ptrdiff_t>(header));
  for (const auto& [name, tensor] : tensors.items()) {
    if (!name.ends_with("wpe.weight")) continue;
    const size_t width = tensor["shape"][1].get<size_t>(),
                 at = 8 + header + tensor["data_offsets"][0].get<size_t>();
    for (size_t c = 0; c < width; ++c) {
      const float big = c % 2 ? 500.f : -500.f;
      std::memcpy(&bytes[at + c * sizeof big], &big, sizeof big);
    }
  }
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return model;
}

}  // namespace normscope::test

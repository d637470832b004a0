#include "app/bench/plain_parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/tape/store.h"

namespace normscope::bench {

PlainParameters::PlainParameters(const Model& m, const Store& store) {
  add(store, "emb.tokens");
  add(store, "emb.positions");
  for (int l = 1; l <= m.layers; ++l) {
    for (const char* name : {"attn.before.gain", "attn.before.bias", "ffn.before.gain", "ffn.before.bias",
                             "attn.wq", "attn.bq", "attn.wk", "attn.bk", "attn.wv", "attn.bv", "attn.wo",
                             "attn.bo", "ffn.w1", "ffn.b1", "ffn.w2", "ffn.b2"})
      add(store, fmt::format("L{:02}.{}", l, name));
  }
  add(store, "final.gain");
  add(store, "final.bias");
  add(store, "out.w", (m.vocabulary + 15) / 16 * 16);
}

void PlainParameters::add(const Store& store, const std::string& name, int64_t padded) {
  const int32_t index = store.find(name);
  const Shape shape = store.parameters()[static_cast<size_t>(index)].shape;
  const std::vector<float> from = store.read(index);
  const int64_t columns = shape.cols(), rows = shape.size() / columns, width = std::max(padded, columns);
  const auto n = static_cast<size_t>(rows * width);
  std::vector<float>& block = memory_.emplace_back(4 * n);
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(from.data() + i * columns, columns, block.data() + i * width);
  all_.push_back({block.data(), block.data() + n, block.data() + 2 * n, block.data() + 3 * n, n});
}

}  // namespace normscope::bench

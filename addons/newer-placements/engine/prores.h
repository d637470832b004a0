// Progressive residual warm-up: `config.of<ProResConfig>()`.
#pragma once

#include <cstdint>

namespace normscope {

struct ProResConfig {
  int32_t steps = 10;  ///< T: the branches of layer l have come in whole after T l steps
  bool operator==(const ProResConfig&) const = default;
};

}  // namespace normscope

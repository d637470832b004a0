// Settings that an add-on brings to a model: absent at first, each of its own type, copied with the model.
#include "catch.hpp"
#include "engine/model/model_config.h"

namespace normscope {
namespace {

struct Pictures {
  int width = 5;
  bool operator==(const Pictures&) const = default;
};
struct Words {
  int width = 7;
  bool operator==(const Words&) const = default;
};

}  // namespace

TEST_CASE("added settings: a model has every struct, with its defaults until a member is set", "[model]") {
  ModelConfig model;
  const ModelConfig& seen = model;
  CHECK(seen.of<Pictures>().width == 5);
  model.of<Pictures>().width = 3;
  CHECK(seen.of<Pictures>().width == 3);
  CHECK(seen.of<Words>().width == 7);
  ModelConfig copy = model;
  copy.of<Pictures>().width = 9;
  CHECK(seen.of<Pictures>().width == 3);
  model = copy;
  CHECK(seen.of<Pictures>().width == 9);
}

}  // namespace normscope

// What fixtures say of a convolutional network and of a parser.
#include <fmt/format.h>

#include "addons/systems/engine/convolutions.h"
#include "verify/fixture.h"

namespace normscope {
namespace {

constexpr int32_t kMaxSide = 1024;  // of an image

void read_convolutions(const InputValue& c, ModelConfig& m) {
  ImageConfig& images = m.of<ImageConfig>();
  m.sequence = 1;  // an image is a row of its own
  images.height = c.at("height").whole(1, kMaxSide);
  images.width = c.at("width").whole(1, kMaxSide);
  images.channels = c.at("channels").whole(1, 1024);
  images.channels_2 = c.at("channels_2").whole(1, 1024);
  images.window = c.at("window").whole(1, 31);
  m.classes = c.at("classes").whole(2, 65536);
}

FixtureInput images_of(const Fixture& f) {
  const ImageConfig& images = f.config.of<ImageConfig>();
  return {"source", "input/x", {f.batch, images.height, images.width}, 0, 255};
}

std::string describe_convolutions(const ModelConfig& c, const std::string& norms) {
  const ImageConfig& images = c.of<ImageConfig>();
  return fmt::format("convolutions, {}, {} x {} pixels, {} and {} channels, {} classes", norms, images.height,
                     images.width, images.channels, images.channels_2, c.classes);
}

void read_parser(const InputValue& c, ModelConfig& m) {
  read_sizes(c, m);
  m.sequence = c.at("features").whole(1, 4096);
  m.classes = c.at("classes").whole(2, 65536);
}

FixtureInput features_of(const Fixture& f) {
  return {"tokens", "input/x", {f.batch, f.length}, 0, f.config.vocabulary - 1};
}

std::string describe_parser(const ModelConfig& c, const std::string& norms) {
  return fmt::format("parser, {}, L={} d={} F={} V={}, {} transitions", norms, c.layers, c.d_model,
                     c.feed_forward, c.vocabulary, c.classes);
}

}  // namespace

constinit const FixtureForm convolutional_fixture{"conv", read_convolutions, images_of,
                                                  describe_convolutions};
constinit const FixtureForm parser_fixture{"parser", read_parser, features_of, describe_parser};

}  // namespace normscope

// The skip path's product, by hand, of histories that hold nothing but the sums.
#include "catch.hpp"
#include "engine/model/model_config.h"
#include "training/measure/skip_product.h"

namespace normscope::test {
namespace {

/// Two layers of a placement, with these mean squares at step 1 and, times four, at step 2.
struct TwoLayers {
  explicit TwoLayers(Placement placement) {
    config.layers = 2;
    set_placement(config, placement);
  }
  std::vector<double> product(std::map<std::string, double> squares) const {
    std::vector<StatInfo> layout;
    std::vector<double> first, second;
    for (const auto& [name, square] : squares) {
      layout.push_back({name, 1});
      first.push_back(square);
      second.push_back(4 * square);
    }
    History history(layout);
    history.append(1, 3.0, 1e-3, first);
    history.append(2, 3.0, 1e-3, second);
    const Series series = skip_product(history, config.stack(), config.d_model, "");
    return {series.values.begin(), series.values.end()};
  }
  ModelConfig config;
};

const std::map<std::string, double> kSums = {{"L01.attn.sum.mean_square", 2.25},
                                             {"L01.ffn.sum.mean_square", 4.0},
                                             {"L02.attn.sum.mean_square", 6.25},
                                             {"L02.ffn.sum.mean_square", 9.0},
                                             {"L01.ffn.out.mean_square", 1.44}};

}  // namespace

TEST_CASE("skip product: every norm between divides by its sigma", "[measure]") {
  // Between the sums of W2 in layer 1 and in layer 2 stand the norms of L01.ffn and L02.attn.
  const std::vector<double> post = TwoLayers(Placement::Post).product(kSums);
  REQUIRE(post.size() == 2);
  CHECK(post[0] == Approx(1 / (2.0 * 2.5)));
  CHECK(post[1] == Approx(1 / (4.0 * 5.0)));
  CHECK(TwoLayers(Placement::Pre).product(kSums) == std::vector<double>{1, 1});
}

TEST_CASE("skip product: scales of the skip multiply, and a second way adds", "[measure]") {
  TwoLayers scaled(Placement::Post);
  for (LayerWiring& layer : scaled.config.decoder.layers)
    layer.attention.skip = layer.feed_forward.skip = {Scale::Kind::Constant, 3.0f};
  CHECK(scaled.product(kSums)[0] == Approx(3.0 * 3.0 / (2.0 * 2.5)));  // of L02.attn and L02.ffn

  TwoLayers learned(Placement::Post);
  for (LayerWiring& layer : learned.config.decoder.layers)
    layer.attention.skip = layer.feed_forward.skip = {Scale::Kind::LearnedVector, 1.0f};
  auto squares = kSums;
  const double width = static_cast<double>(learned.config.d_model);
  squares["L02.attn.skip.weight_norm"] = 1.5 * std::sqrt(width);
  squares["L02.ffn.skip.weight_norm"] = 2.0 * std::sqrt(width);
  CHECK(learned.product(squares)[0] == Approx(1.5 * 2.0 / (2.0 * 2.5)));

  TwoLayers joined(Placement::Post);
  for (LayerWiring& layer : joined.config.decoder.layers) layer.feed_forward.bottom = true;
  CHECK(joined.product(kSums)[0] == Approx(1 / 2.0 * (1 / 2.5 + 1)));

  TwoLayers entered(Placement::Pre);
  entered.config.decoder.layers[1].attention.enter = NormKind::LayerNorm;  // reads what L01.ffn leaves
  CHECK(entered.product(kSums)[0] == Approx(1 / 1.2));
}

TEST_CASE("skip product: what has no sigma has no product", "[measure]") {
  TwoLayers tanh(Placement::Post);
  for (LayerWiring& layer : tanh.config.decoder.layers) layer.attention.stream = NormKind::DyT;
  CHECK(tanh.product(kSums).empty());
  CHECK(TwoLayers(Placement::Post).product({{"L01.attn.sum.mean_square", 1.0}}).empty());
}

}  // namespace normscope::test

// A passage: what a model is asked about a text.
#include "addons/published/training/passage.h"

#include "addons/published/tests/training/small_model.h"
#include "catch.hpp"
#include "engine/support/helpers.h"

namespace normscope::test {

TEST_CASE("passage: a decoder is asked for the next symbol, an encoder for each where it stands") {
  const Batch next = passage_batch(small_config(Placement::Pre), {3, 1, 4}),
              same = passage_batch(small_config(Placement::Pre, Architecture::Encoder), {3, 1, 4});
  CHECK(next.B == 1);
  CHECK(next.T == 3);
  CHECK(next.tokens == std::vector<int32_t>{3, 1, 4});
  CHECK(next.targets == std::vector<int32_t>{1, 4, -1});
  CHECK(same.tokens == same.targets);
}

TEST_CASE("passage: what a model cannot be asked is refused") {
  ModelConfig classifier = small_config(Placement::Pre, Architecture::Encoder);
  classifier.classes = 3;
  CHECK(error_of([&] { passage_batch(classifier, {3}); }) ==
        "[inside] the model says a class and no symbols: expected a language model");
  const ModelConfig decoder = small_config(Placement::Pre);
  CHECK(contains(error_of([&] { passage_batch(decoder, {3, 17}); }), "token 17"));
  CHECK(contains(error_of([&] { passage_batch(decoder, {3, -1}); }), "token -1"));
  CHECK(contains(error_of([&] { passage_batch(decoder, {}); }), "empty"));
  CHECK(contains(error_of([&] { passage_batch(decoder, std::vector<int32_t>(12)); }), "12 symbols"));
}

}  // namespace normscope::test

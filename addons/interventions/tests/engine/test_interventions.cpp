// What interventions change and what they leave: the loss of a fresh model, to the bit, and which gradients differ.
#include "engine/model/residual.h"
#include "engine/support/helpers.h"
#include "engine/support/placement_start.h"

namespace normscope::test {
namespace {

ModelConfig with_word(ResidualForm form) {
  ModelConfig c = config_of(Placement::Post);
  for (LayerWiring& layer : c.decoder.layers)
    for (Wiring* w : {&layer.attention, &layer.feed_forward}) w->added = word_of(form);
  return c;
}

double length_of(const std::vector<float>& x) {
  double squares = 0;
  for (const float v : x) squares += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(squares);
}

double gradient_of(const Start& start, const char* weight) {
  return length_of(start.program->read(weight, true));
}

}  // namespace

TEST_CASE("interventions: what changes the way back alone leaves the loss, to the bit") {
  const Start plain(config_of(Placement::Post));
  const double low = gradient_of(plain, "L01.ffn.w2"), top = gradient_of(plain, "L04.ffn.w2");
  for (const ResidualForm form : {ResidualForm::undivided_skip, ResidualForm::held_skip,
                                  ResidualForm::undivided_top, ResidualForm::centred_backward}) {
    INFO("form " << static_cast<int>(form));
    const Start changed(with_word(form));
    CHECK(changed.program->loss() == plain.program->loss());
    CHECK(gradient_of(changed, "L01.ffn.w2") != low);
  }
  const Start free(with_word(ResidualForm::undivided_skip)), held(with_word(ResidualForm::held_skip));
  CHECK(gradient_of(held, "L01.ffn.w2") < 0.8 * gradient_of(free, "L01.ffn.w2"));
  // The product of all sigmas reaches every layer where it stands at the top, and otherwise each layer its own norms'.
  ModelConfig undivided = config_of(Placement::Post);
  for (LayerWiring& layer : undivided.decoder.layers)
    layer.attention.stream = layer.feed_forward.stream = NormKind::Undivided;
  const Start all(with_word(ResidualForm::undivided_top)), own(undivided);
  CHECK(own.program->loss() == plain.program->loss());
  const double at_low = gradient_of(all, "L01.ffn.w2") / low, at_top = gradient_of(all, "L04.ffn.w2") / top;
  CHECK(at_top == Approx(at_low).epsilon(0.2));
  CHECK(at_top > 1.5);
  CHECK(gradient_of(own, "L04.ffn.w2") / top < 0.8 * at_top);
  CHECK(gradient_of(own, "L01.ffn.w2") / low > 1.5);
}

TEST_CASE("interventions: a centred branch gives nothing that the whole batch has in common") {
  for (const ResidualForm form : {ResidualForm::centred, ResidualForm::centred_forward}) {
    const Start start(with_word(form));
    const std::vector<float> branch = start.read(start.values.sublayers[2].branch);
    REQUIRE(branch.size() == 2 * 9 * 24);
    for (size_t i = 0; i < 9 * 24; ++i)
      CHECK(static_cast<double>(branch[i]) == Approx(-static_cast<double>(branch[9 * 24 + i])).margin(1e-6));
  }
}

TEST_CASE("interventions: a blind stack computes what differs less, a deaf one hears less of it") {
  ModelConfig pre = config_of(Placement::Pre);
  const Start plain(pre);
  const auto with = [&](const char* words) {
    ModelConfig c = pre;
    for (const StackSlotRow* slot : stack_slots())
      if (slot->key == "tokens") set_slot(c.decoder, *slot, words);
    return c;
  };
  const Start blind(with("blind:2")), deaf(with("deaf:2"));
  CHECK(deaf.program->loss() == plain.program->loss());
  CHECK(blind.program->loss() != plain.program->loss());
  // Of the last sub-layer's output the mean over all tokens is kept, and half of what differs from it: the op's part in
  // the function. Its gradient passes whole.
  const auto differing = [](std::vector<float> x, size_t width) {
    for (size_t j = 0; j < width; ++j) {
      double mean = 0;
      for (size_t i = j; i < x.size(); i += width) mean += static_cast<double>(x[i]);
      mean *= static_cast<double>(width) / static_cast<double>(x.size());
      for (size_t i = j; i < x.size(); i += width) x[i] -= static_cast<float>(mean);
    }
    return length_of(x);
  };
  const SublayerValues& last = blind.values.sublayers.back();
  CHECK(differing(blind.read(last.output), 24) ==
        Approx(differing(blind.read(last.sum), 24) / 2).epsilon(1e-5));
  // Of a gradient that passes more sums less is left.
  const auto heard = [&](const char* weight) {
    return gradient_of(deaf, weight) / gradient_of(plain, weight);
  };
  CHECK(heard("L01.ffn.w2") < heard("L02.ffn.w2"));
  CHECK(heard("L02.ffn.w2") < heard("L04.ffn.w2"));
  CHECK_THAT(error_of([&] { with("blind:0.5"); }),
             Catch::Contains("'blind:0.5'") && Catch::Contains("1 to 100"));
  CHECK_THAT(error_of([&] { with("numb:2"); }), Catch::Contains("'numb:2'"));
}

TEST_CASE(
    "interventions: a branch that reads the embedding gives it no gradient, and changes what it computes") {
  ModelConfig c = config_of(Placement::Post);
  LayerWiring& top = c.decoder.layers.back();
  for (Wiring* w : {&top.attention, &top.feed_forward}) w->added = word_of(ResidualForm::reads_embedding);
  const Start plain(config_of(Placement::Post)), reads(c);
  CHECK(reads.program->loss() != plain.program->loss());
  const std::string below = "emb.seen";
  CHECK(length_of(reads.program->read(below, true)) > 0);
}

TEST_CASE("interventions: a wiring without a norm on the stream is refused") {
  ModelConfig c = with_word(ResidualForm::undivided_top);
  for (LayerWiring& layer : c.decoder.layers) layer.attention.stream = NormKind::None;
  const std::string error = error_of([&] { Start start(c); });
  CHECK_THAT(error, Catch::Contains("decoder") && Catch::Contains("stream="));
}

}  // namespace normscope::test

// These tests cover wiring as data: presets, their text form, DeepNorm's constants, Admin's profile, the parameters
// that a model has.
#include "engine/model/wiring.h"
#include "engine/support/helpers.h"
#include "engine/support/model_fixture.h"

namespace normscope::test {
namespace {

std::set<std::string> names_of(Placement p, NormKind norm = NormKind::LayerNorm) {
  const Tiny tiny({.placement = p, .norm = norm, .layers = 1});
  std::set<std::string> names;
  for (const ParameterInfo& info : tiny.store->parameters()) names.insert(info.name);
  return names;
}

TEST_CASE("wiring: each preset has the norms and scales of its paper") {
  const StackContext context{true, 6, 0};
  const Wiring post = preset(Placement::Post, NormKind::LayerNorm, context);
  CHECK(
      (post.stream == NormKind::LayerNorm && post.before == NormKind::None && post.after == NormKind::None));
  const Wiring pre = preset(Placement::Pre, NormKind::Rms, context);
  CHECK((pre.before == NormKind::Rms && pre.stream == NormKind::None && pre.after == NormKind::None));
  const Wiring sandwich = preset(Placement::Sandwich, NormKind::LayerNorm, context);
  CHECK((sandwich.before == NormKind::LayerNorm && sandwich.after == NormKind::LayerNorm &&
         sandwich.stream == NormKind::None));
  const Wiring deepnorm = preset(Placement::DeepNorm, NormKind::LayerNorm, context);
  CHECK(deepnorm.skip.kind == Scale::Kind::Constant);
  CHECK(deepnorm.skip.value == Approx(std::pow(12.0, 0.25)));
  const Wiring admin = preset(Placement::Admin, NormKind::LayerNorm, context);
  CHECK((admin.stream == NormKind::LayerNorm && admin.skip.kind == Scale::Kind::LearnedVector));
  const Wiring rezero = preset(Placement::ReZero, NormKind::LayerNorm, context);
  CHECK((rezero.branch.kind == Scale::Kind::LearnedScalar && rezero.branch.value == 0.0f &&
         rezero.stream == NormKind::None));
  for (const Placement p : kPresets) {
    const StackWiring stack = preset_stack(p, NormKind::LayerNorm, context);
    CHECK(stack.layers.size() == 6);
    // Where the last norm stands on the residual stream, or there is none, no norm follows the last layer.
    const Wiring& last = stack.layers.back().feed_forward;
    const bool free_stream = last.stream == NormKind::None && has_norms(p);
    CHECK((stack.final != NormKind::None) == free_stream);
    CHECK(placement_of(stack, context) == p);
    CHECK(placement_from(to_string(p)) == p);
  }
}

TEST_CASE("wiring: DeepNorm's constants (Wang et al. 2022, table 1)") {
  const auto decoder = deepnorm_constants({true, 6, 0}), encoder = deepnorm_constants({false, 12, 0});
  CHECK(decoder.alpha == Approx(std::pow(12.0, 0.25)));
  CHECK(decoder.beta == Approx(std::pow(48.0, -0.25)));
  CHECK(encoder.alpha == Approx(std::pow(24.0, 0.25)));
  CHECK(encoder.beta == Approx(std::pow(96.0, -0.25)));
  const auto of_pair_encoder = deepnorm_constants({false, 18, 6}),
             of_pair_decoder = deepnorm_constants({true, 6, 18});
  CHECK(of_pair_encoder.alpha == Approx(0.81 * std::pow(std::pow(18.0, 4) * 6, 1.0 / 16)));
  CHECK(of_pair_encoder.beta == Approx(0.87 * std::pow(std::pow(18.0, 4) * 6, -1.0 / 16)));
  CHECK(of_pair_decoder.alpha == Approx(std::pow(18.0, 0.25)));
  CHECK(of_pair_decoder.beta == Approx(std::pow(72.0, -0.25)));
}

TEST_CASE("wiring: DeepNorm scales the initial weights of value, output and feed-forward only") {
  // A larger model, so that standard deviations can be told apart.
  TinyOptions o{.placement = Placement::Post, .layers = 2, .width = 48, .feed_forward = 96};
  const Tiny post(o);
  o.placement = Placement::DeepNorm;
  const Tiny deep(o);
  const float beta = static_cast<float>(deepnorm_constants({true, 2, 0}).beta);
  for (const char* name :
       {"L01.attn.wq", "L01.attn.wk", "L01.attn.wv", "L01.attn.wo", "L02.ffn.w1", "L02.ffn.w2"}) {
    INFO(name);
    const auto a = post.store->read(post.store->find(name)), b = deep.store->read(deep.store->find(name));
    const bool scaled = std::string(name).find("wq") == std::string::npos &&
                        std::string(name).find("wk") == std::string::npos;
    for (size_t i = 0; i < a.size(); i += 97)
      CHECK(b[i] == Approx(a[i] * (scaled ? beta : 1.0f)).epsilon(1e-5));
  }
}

TEST_CASE("wiring: a gated network has a third matrix in the arithmetic of a step") {
  const ModelConfig plain = tiny_config({});
  ModelConfig gated = plain;
  gated.gated = true;
  const double product =
      6.0 * plain.d_model * plain.feed_forward * (3 * plain.sequence);  // there, and both ways back
  CHECK(step_flop(gated, 3) - step_flop(plain, 3) == plain.layers * product);
}

TEST_CASE("init scale: the matrices of the sub-layers start so many times as large, and nothing else") {
  const TinyOptions plain{.placement = Placement::Pre};
  TinyOptions half = plain;
  half.change = [](ModelConfig& c) { c.init_scale = 0.5f; };
  const Tiny whole(plain), scaled(half);
  for (const ParameterInfo& p : whole.store->parameters()) {
    INFO(p.name);
    const auto a = whole.store->read(whole.store->find(p.name)),
               b = scaled.store->read(scaled.store->find(p.name));
    const bool matrix = p.name.find(".w") != p.name.npos && p.name.starts_with("L");
    REQUIRE(a.size() == b.size());
    for (size_t i = 0; i < a.size(); ++i) CHECK(b[i] == (matrix ? 0.5f * a[i] : a[i]));
  }
}

TEST_CASE("attention start: W_O of self-attention starts so many times as large, and nothing else") {
  const TinyOptions plain{.placement = Placement::Pre};
  TinyOptions half = plain;
  half.change = [](ModelConfig& c) { c.attention.start = 0.5f; };
  const Tiny whole(plain), scaled(half);
  for (const ParameterInfo& p : whole.store->parameters()) {
    INFO(p.name);
    const auto a = whole.store->read(whole.store->find(p.name)),
               b = scaled.store->read(scaled.store->find(p.name));
    REQUIRE(a.size() == b.size());
    for (size_t i = 0; i < a.size(); ++i) CHECK(b[i] == (p.name.ends_with(".wo") ? 0.5f * a[i] : a[i]));
  }
}

TEST_CASE("attention mixing: 1 records what is recorded without it, and 0 is a window of one symbol") {
  constexpr auto self = [](ModelConfig& c) { c.attention.mixing = 0; };
  constexpr auto window = [](ModelConfig& c) { c.attention.window = 1; };
  constexpr auto half = [](ModelConfig& c) { c.attention.mixing = 0.5f; };
  for (const int32_t classes : {0, 5}) {  // a decoder, and an encoder
    INFO(classes);
    const auto tiny = [&](void (*change)(ModelConfig&)) {
      auto t = std::make_unique<Tiny>(
          TinyOptions{.classes = classes, .optimizer = Optimizer::None, .change = change});
      t->fill(1);
      t->program->replay(t->inputs(1));
      return t;
    };
    const auto plain = tiny(nullptr), to_itself = tiny(self), one = tiny(window), mixed = tiny(half);
    for (const Node& node : plain->program->data().nodes)
      CHECK((!node.name.ends_with(".own") && !node.name.ends_with(".mixed")));
    // Zero times finite numbers, and one times the others, are exact.
    CHECK(to_itself->program->loss() == one->program->loss());
    CHECK(std::abs(mixed->program->loss() - plain->program->loss()) > 1e-5 * plain->program->loss());
    for (const ParameterInfo& p : plain->store->parameters()) {
      if (!p.trainable) continue;
      INFO(p.name);
      CHECK(to_itself->program->read(p.name, true) == one->program->read(p.name, true));
    }
  }
}

TEST_CASE(
    "wiring: behind SimpleNorm's norms the size of no matrix of a branch is seen, behind Res-Post-LN's it is") {
  // How far the loss moves, relatively, when a matrix is four times itself.
  const auto moved = [](Placement placement, const std::string& matrix) {
    Tiny tiny({.placement = placement,
               .norm = NormKind::Rms,
               .activation = Activation::Gelu,
               .optimizer = Optimizer::None,
               .change = [](ModelConfig& c) {
                 c.biases = Biases::None;
                 c.eps = 1e-12f;
               }});
    tiny.fill(1);
    tiny.program->replay(tiny.inputs(1));
    const double before = tiny.program->loss();
    change(*tiny.store, matrix, [](auto& weights) {
      for (float& w : weights) w *= 4;
    });
    tiny.program->replay(tiny.inputs(1));
    return std::abs(tiny.program->loss() - before) / before;
  };
  for (const char* matrix : {"attn.wq", "attn.wk", "attn.wv", "attn.wo", "ffn.w1", "ffn.w2"}) {
    INFO(matrix);
    CHECK(moved(Placement::SimpleNorm, fmt::format("L01.{}", matrix)) < 1e-5);
  }
  for (const char* matrix : {"L01.attn.wq", "L01.attn.wk", "L01.ffn.w1"}) {
    INFO(matrix);
    CHECK(moved(Placement::ResPost, matrix) > 1e-4);
  }
}

TEST_CASE("wiring: a norm may have an epsilon of its own, which another kind does not take over") {
  Wiring w = wiring_from("before=ln:0.001 stream=rms");
  CHECK(w.before == WiredNorm(NormKind::LayerNorm, 0.001f));
  CHECK(w.before == NormKind::LayerNorm);
  CHECK_FALSE(w == wiring_from("before=ln stream=rms"));
  w.before = NormKind::LayerNorm;
  CHECK(w == wiring_from("before=ln stream=rms"));
  for (const auto& [text, why] : {std::pair{"ln:", "does not hold a number"},
                                  {"ln:0", "expected an epsilon above 0"},
                                  {"ln:2", "expected an epsilon above 0"},
                                  {"dyt:0.1", "dyt divides by no deviation"},
                                  {"derf:0.1", "derf divides by no deviation"},
                                  {"none:0.1", "none divides by no deviation"},
                                  {"l:0.1", "'l' is not a norm"}}) {
    INFO(text);
    CHECK(contains(error_of([text = text] { wired_norm_from(text); }), why));
  }
}

TEST_CASE("wiring: as text and back") {
  for (const char* text :
       {"none", "stream=ln", "before=ln after=ln", "before=rms", "stream=ln skip=vector:1", "branch=scalar:0",
        "hidden=rms after=rms", "q=ln v=ln after=ln v-across-heads", "stream=simple skip=1.86",
        "before=rms:1e-06 q=ln:0.25 k=ln", "after=rms-simple stream=rms-simple branch=toward:0.05"}) {
    INFO(text);
    CHECK(to_string(wiring_from(text)) == text);
  }
  for (const Placement p : kPresets) {
    const Wiring w = preset(p, NormKind::LayerNorm, {true, 6, 0});
    CHECK(wiring_from(to_string(w)) == w);
  }
  for (const char* text :
       {"stream", "stream=foo", "skip=", "skip=nan", "skip=1.5x", "middle=ln", "branch=scalar:"}) {
    INFO(text);
    CHECK_THROWS_AS(wiring_from(text), Error);
  }
}

TEST_CASE("wiring: a model has exactly the parameters of its placement") {
  const std::set<std::string> post = names_of(Placement::Post), none = names_of(Placement::None);
  CHECK(post.count("L01.attn.stream.gain") == 1);
  CHECK(post.count("L01.ffn.stream.bias") == 1);
  CHECK(post.count("final.gain") == 0);
  CHECK(post.size() == none.size() + 4);
  const auto pre = names_of(Placement::Pre), rms = names_of(Placement::Pre, NormKind::Rms);
  CHECK(pre.count("final.gain") == 1);
  CHECK(pre.size() == none.size() + 6);
  CHECK(rms.size() == none.size() + 3);
  CHECK(names_of(Placement::Pre, NormKind::Simple) == none);
  CHECK(names_of(Placement::Sandwich).size() == none.size() + 10);
  CHECK(names_of(Placement::DeepNorm) == post);
  CHECK(names_of(Placement::Admin).count("L01.attn.skip") == 1);
  CHECK(names_of(Placement::ReZero).count("L01.ffn.branch") == 1);
}

TEST_CASE("wiring: models that differ in placement start from the same weights") {
  const Tiny post({.placement = Placement::Post}), pre({.placement = Placement::Pre});
  int shared = 0;
  for (const ParameterInfo& info : post.store->parameters()) {
    const int32_t other = pre.store->find(info.name);
    if (other < 0) continue;
    ++shared;
    CHECK(post.store->read(post.store->find(info.name)) == pre.store->read(other));
  }
  CHECK(shared == 2 + 2 * 12);  // embeddings; eight and four a layer
}

TEST_CASE("wiring: Admin's profile obeys its rule") {
  TinyOptions o{.placement = Placement::Admin, .layers = 3, .batch = 4};
  Tiny tiny(o);
  tiny.fill(1);
  const std::span<int32_t> batch = tiny.program->tokens("tokens");
  const std::vector<int32_t> tokens(batch.begin(), batch.end());
  const auto omega = profile_admin(*tiny.store, tiny_config(o), tokens, o.batch, o.sequence);
  REQUIRE(omega.size() == 6);
  CHECK(omega[0] == 1.0);
  // With all of them in force: omega²_{i+1} = Var(omega_i x_{i-1}) + Var(a_i).
  tiny.program->replay({.lr = 0});
  const auto read = [&](ValueId v) {
    return tiny.program->read(tiny.program->data().values[static_cast<size_t>(v)].name);
  };
  for (size_t i = 0; i < omega.size(); ++i) {
    const SublayerValues& s = tiny.model.sublayers[i];
    for (float v : tiny.store->read(tiny.store->find(s.name + ".skip")))
      CHECK(v == static_cast<float>(omega[i]));
    if (i + 1 < omega.size())
      CHECK(omega[i + 1] * omega[i + 1] ==
            Approx(omega[i] * omega[i] * variance(read(s.input)) + variance(read(s.branch))).epsilon(1e-4));
    if (i > 0) CHECK(omega[i] > omega[i - 1]);
  }
  // Without a learned skip there is nothing to profile.
  TinyOptions post = o;
  post.placement = Placement::Post;
  Tiny other(post);
  CHECK(profile_admin(*other.store, tiny_config(post), tokens, o.batch, o.sequence).empty());
}

TEST_CASE("wiring: Admin's profile counts the factor of a branch") {
  for (const char* factor : {"branch=3", "branch=scalar:3", "branch=vector:3"}) {
    INFO(factor);
    static std::string words;
    words = std::string("stream=ln skip=admin:1 ") + factor;
    const TinyOptions o{.layers = 3, .batch = 4, .change = [](ModelConfig& c) {
                          for (LayerWiring& layer : c.decoder.layers)
                            layer.attention = layer.feed_forward = wiring_from(words);
                        }};
    Tiny tiny(o);
    tiny.fill(1);
    const std::span<int32_t> batch = tiny.program->tokens("tokens");
    const auto omega =
        profile_admin(*tiny.store, tiny_config(o), {batch.begin(), batch.end()}, o.batch, o.sequence);
    REQUIRE(omega.size() == 6);
    tiny.program->replay({.lr = 0});
    const auto read = [&](ValueId v) {
      return tiny.program->read(tiny.program->data().values[static_cast<size_t>(v)].name);
    };
    for (size_t i = 0; i + 1 < omega.size(); ++i) {
      // What the branch brings to the sum is what is in it beside omega times the stream.
      std::vector<float> brought = read(tiny.model.sublayers[i].sum);
      const std::vector<float> stream = read(tiny.model.sublayers[i].input);
      for (size_t k = 0; k < brought.size(); ++k) brought[k] -= static_cast<float>(omega[i]) * stream[k];
      CHECK(omega[i + 1] * omega[i + 1] ==
            Approx(omega[i] * omega[i] * variance(stream) + variance(brought)).epsilon(1e-4));
    }
  }
}

TEST_CASE("model: impossible configurations are refused") {
  const auto refused = [](const std::function<void(ModelConfig&)>& change) {
    ModelConfig c = tiny_config({});
    change(c);
    return test::error_of([&] { validate(c); }, "");
  };
  CHECK(refused([](ModelConfig&) {}).empty());
  CHECK(test::contains(refused([](ModelConfig& c) { c.heads = 5; }), "heads"));
  CHECK(test::contains(refused([](ModelConfig& c) { c.layers = 0; }), "layers"));
  CHECK(test::contains(refused([](ModelConfig& c) { c.layers = 3; }), "wiring"));
  CHECK(test::contains(refused([](ModelConfig& c) { c.vocabulary = 0; }), "vocabulary"));
  CHECK(test::contains(refused([](ModelConfig& c) { c.dropout_residual = 1.0f; }), "dropout"));
  CHECK(test::contains(refused([](ModelConfig& c) { c.dropout_attention = std::nanf(""); }), "dropout"));
  const auto names = [&](const char* setting, const std::function<void(ModelConfig&)>& change) {
    INFO(setting);
    CHECK(refused(change).starts_with("[" + std::string(setting) + "] "));
  };
  names("model.kv_heads", [](ModelConfig& c) { c.attention.kv_heads = 2; });  // of three heads
  names("model.attention_pattern", [](ModelConfig& c) { c.attention.pattern = "wg"; });
  names("model.masked_head", [](ModelConfig& c) { c.masked_head = true; });
  const auto both = [](ModelConfig& c) {
    c.architecture = Architecture::EncoderDecoder;
    set_placement(c, Placement::Post);
  };
  CHECK(refused(both).empty());
  names("model.token_types", [&](ModelConfig& c) {
    both(c);
    c.token_types = 2;
  });
  names("model.embedding_width", [&](ModelConfig& c) {
    both(c);
    c.embedding_width = 8;
  });
}

// Settings that an add-on brings to a model: absent at first, each of its own type, copied with the model.

struct Pictures {
  int width = 5;
  bool operator==(const Pictures&) const = default;
};
struct Words {
  int width = 7;
  bool operator==(const Words&) const = default;
};

}  // namespace

TEST_CASE("added settings: a model has every struct, with its defaults until a member is set") {
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

}  // namespace normscope::test

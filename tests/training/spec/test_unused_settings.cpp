// These tests find out what a run takes notice of: every field of the table changes its bits, or is said not to be read
// and changes none; and what clipping, smoothing and dropout do to a whole run.
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

struct Case {
  std::string key, value;                                       ///< a value that is not the default
  std::vector<std::pair<std::string, std::string>> makes_read;  ///< what makes the run read it
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"train.momentum", "0.3", {{"train.optimizer", "momentum"}}},
      {"train.reference", "2", {{"train.schedule", "inverse-sqrt"}}},
      {"train.decay_end", "40", {{"train.schedule", "linear"}}},
      {"train.decay_end", "40", {{"train.schedule", "cosine"}}},
      {"train.decay_factor", "0.3", {{"train.schedule", "step"}, {"train.milestones", "2"}}},
      {"train.milestones", "2", {{"train.schedule", "step"}}},
      {"model.adanorm_scale", "1.5", {{"model.norm", "adanorm"}}},
      {"model.adanorm_slope", "0.2", {{"model.norm", "adanorm"}}},
      {"model.dyt_alpha", "0.8", {{"model.norm", "dyt"}}},
      {"model.dyt_alpha", "0.8", {{"model.norm", "derf"}}},
  };
  return all;
}

std::vector<float> all_weights(Run& run) {
  std::vector<float> all;
  for (size_t p = 0; p < run.store().parameters().size(); ++p)
    for (float w : run.store().read(static_cast<int32_t>(p))) all.push_back(w);
  return all;
}

/// The weights after a few steps.
std::vector<float> trained(const RunSpec& spec) {
  const auto run = make_run(spec, 4);
  return all_weights(*run);
}

bool matters(RunSpec spec, const std::string& key, const std::string& value) {
  const std::vector<float> before = trained(spec);
  set_field(spec, key, value);
  return !same_bits(before, trained(spec));
}

}  // namespace

TEST_CASE("fields: every one that is read changes the bits of a run") {
  std::istringstream words(
      "model.layers=3 model.d_model=24 model.heads=4 model.feed_forward=40 model.sequence=12 "
      "model.memory=8 model.norm=rms model.placement=pre model.init=normal002 model.init_scale=0.5 "
      "model.activation=gelu model.positions=none model.tied=false model.output_projection=false "
      "model.head_width=6 model.kv_heads=1 model.attention_scale=0.7 model.attention_cap=0.5 "
      "model.attention_window=3 model.attention_mixing=0.5 model.attention_start=0.5 model.gated=true model.biases=none model.embedding_scale=1.5 "
      "model.embedding_width=6 model.token_types=2 model.logit_scale=0.5 model.output_bias=true model.logit_cap=0.5 "
      "model.gain_offset=true "
      "model.eps=0.1 model.transfer=completep model.dropout_residual=0.2 model.dropout_attention=0.2 "
      "model.dropout_activation=0.2 train.batch=5 train.lr=0.001 train.warmup=3 train.warmup_target=1 "
      "train.schedule=cosine train.optimizer=sgd train.beta1=0.5 train.beta2=0.9 train.eps=0.001 "
      "train.bias_correction=false train.weight_decay=0.1 train.clip=0.01 train.qk_clip=0.0001 "
      "train.label_smoothing=0.1 data.name=copy data.consecutive=true data.seed=2 run.seed=2");
  std::map<std::string, std::string> others;
  for (std::string word; words >> word;)
    others[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  // Names, budgets and files; another architecture wants other data; the same numbers in less memory, or one more.
  const std::set<std::string> apart = {"model.architecture",    "train.steps",  "train.init_from",
                                       "train.reuse_gradients", "data.passage", "run.name",
                                       "train.critical_every"};
  const RunSpec spec = small_spec("post");
  for (const Field& field : spec_fields()) {
    const std::string key(field.key);
    INFO(key);
    const auto other = others.find(key);
    const bool is_unused = !unused_reason(spec, key).empty();
    const bool is_apart = apart.contains(key) || (field.file && !is_unused);
    CHECK((other != others.end()) + is_apart + is_unused == 1);
    if (other == others.end()) continue;
    CHECK(matters(spec, key, other->second));
  }
}

TEST_CASE("optimizers: each reads the settings that are said to be read, and no other") {
  // Catches a row of optimizers.def without one of its traits: the setting would be greyed out, or without effect.
  const auto weights_of = [](const RunSpec& spec) {
    const auto run = make_run(spec);
    steps(*run, 8);  // beyond RAdam's first steps
    return all_weights(*run);
  };
  const std::pair<const char*, const char*> others[] = {{"train.beta1", "0.5"},
                                                        {"train.beta2", "0.9"},
                                                        {"train.eps", "0.001"},
                                                        {"train.momentum", "0.3"},
                                                        {"train.bias_correction", "false"},
                                                        {"train.weight_decay", "0.1"}};
  for (const Optimizer optimizer : kOptimizers) {
    RunSpec spec = spec_with("pre", {{"train.optimizer", to_string(optimizer)}});
    const std::vector<float> before = weights_of(spec);
    for (const auto& [key, value] : others) {
      INFO(to_string(optimizer) << " and " << key);
      CHECK(same_bits(before, weights_of(with_fields(spec, {{key, value}}))) ==
            !unused_reason(spec, key).empty());
    }
  }
}

TEST_CASE("a run's clipping bounds its step, its smoothing is linear, each dropout is one of its own") {
  RunSpec spec = spec_with("post", {{"train.optimizer", "sgd"}, {"train.lr", "0.5"}});
  const auto length_of_first_step = [&] {
    const auto run = make_run(spec);
    const std::vector<float> before = all_weights(*run);
    run->step();
    const std::vector<float> after = all_weights(*run);
    double square = 0;
    for (size_t i = 0; i < before.size(); ++i)
      square += std::pow(static_cast<double>(after[i]) - static_cast<double>(before[i]), 2);
    return std::sqrt(square);
  };
  CHECK(length_of_first_step() > 0.5 * 0.2);
  set_field(spec, "train.clip", "0.1");
  CHECK(length_of_first_step() == Approx(0.5 * 0.1).epsilon(1e-4));

  const auto first_loss = [](const char* smoothing) {
    const auto run = make_run(spec_with("post", {{"train.label_smoothing", smoothing}}));
    run->step();
    return run->last_loss();
  };
  const double none = first_loss("0"), little = first_loss("0.1"), more = first_loss("0.4");
  CHECK(std::abs(little - none) > 1e-3);
  CHECK(more - none == Approx(4 * (little - none)).epsilon(1e-3));

  std::set<std::vector<float>> different;
  for (const char* key :
       {"model.dropout_residual", "model.dropout_attention", "model.dropout_activation", "run.name"}) {
    different.insert(trained(spec_with("post", {{key, "0.2"}})));
  }
  CHECK(different.size() == 4);
}

TEST_CASE("positions: learned ones move, sinusoids stand where the formula puts them, none are none") {
  const auto positions = [](const char* kind, bool after) {
    const auto run = make_run(spec_with("pre", {{"model.positions", kind}}));
    if (after) steps(*run, 4);
    const int32_t p = run->store().find("emb.positions");
    return p < 0 ? std::vector<float>{} : run->store().read(p);
  };
  const std::vector<float> waves = positions("sinusoidal", true);
  REQUIRE(waves.size() == 16 * 16);
  for (size_t t = 0; t < 16; ++t)
    for (size_t c = 0; c < 16; ++c) {
      const double x = static_cast<double>(t) * std::pow(10000.0, -static_cast<double>(c / 2) / 8);
      CHECK(waves[t * 16 + c] == Approx(c % 2 ? std::cos(x) : std::sin(x)).margin(1e-6));
    }
  CHECK_FALSE(same_bits(positions("learned", true), positions("learned", false)));
  CHECK(positions("none", false).empty());
  CHECK(matters(spec_with("pre", {{"model.positions", "none"}}), "model.positions", "sinusoidal"));
}

TEST_CASE("unused settings: a field is called so when it changes nothing, and not where it does") {
  for (const Case& c : cases()) {
    INFO(c.key);
    RunSpec spec = small_spec("post");
    CHECK_FALSE(unused_reason(spec, c.key).empty());
    CHECK_FALSE(matters(spec, c.key, c.value));
    for (const auto& [key, value] : c.makes_read) set_field(spec, key, value);
    CHECK(unused_reason(spec, c.key).empty());
    CHECK(matters(spec, c.key, c.value));
  }
  for (const char* key : {"train.beta1", "train.beta2", "train.eps", "train.bias_correction"}) {
    INFO(key);
    const std::string value = std::string(key) == "train.bias_correction" ? "false" : "0.5";
    RunSpec spec = small_spec("post");
    CHECK(unused_reason(spec, key).empty());
    CHECK(matters(spec, key, value));
    set_field(spec, "train.optimizer", "sgd");
    CHECK_FALSE(unused_reason(spec, key).empty());
    CHECK_FALSE(matters(spec, key, value));
  }
  RunSpec radam = spec_with("post", {{"train.optimizer", "radam"}});
  CHECK_FALSE(unused_reason(radam, "train.bias_correction").empty());
  CHECK_FALSE(matters(radam, "train.bias_correction", "false"));
}

TEST_CASE("unused settings: norms count where one stands, in either stack") {
  RunSpec spec = small_spec("rezero");
  CHECK_FALSE(unused_reason(spec, "model.norm").empty());
  CHECK_FALSE(matters(spec, "model.norm", "rms"));
  CHECK_FALSE(unused_reason(spec, "model.eps").empty());
  CHECK_FALSE(matters(spec, "model.eps", "0.5"));
  set_field(spec, "wiring.final", "adanorm");
  CHECK(unused_reason(spec, "model.norm").empty());
  CHECK(unused_reason(spec, "model.adanorm_slope").empty());
  CHECK(matters(spec, "model.eps", "0.5"));
  set_field(spec, "wiring.final", "dyt");
  CHECK_FALSE(unused_reason(spec, "model.eps").empty());
  CHECK_FALSE(matters(spec, "model.eps", "0.5"));
  spec = small_spec("none");
  set_field(spec, "model.architecture", "encoder-decoder");
  set_field(spec, "data.name", "translation");
  for (const char* key : {"model.encoder_layers", "model.encoder_placement", "model.shared_embedding"})
    CHECK(unused_reason(spec, key).empty());
  CHECK_FALSE(unused_reason(spec, "model.norm").empty());
  set_field(spec, "model.encoder_placement", "pre");
  CHECK(unused_reason(spec, "model.norm").empty());
}

TEST_CASE("unused settings: the reason names what decides and the way out") {
  CHECK(
      contains(unused_reason(small_spec(), "train.momentum"), "train.optimizer is adam: expected momentum"));
  CHECK(unused_reason(small_spec(), "model.encoder_layers") ==
        "model.architecture is decoder: expected encoder-decoder");
  for (const char* key : {"data.valid", "data.tokenizer", "model.pooling"})
    CHECK(contains(unused_reason(small_spec(), key), "data.name is corpus: expected "));
  CHECK(unused_reason(small_spec(), "data.seed").empty());
  CHECK_FALSE(unused_reason(spec_with("post", {{"data.name", "copy"}}), "data.seed").empty());
  // Most fields count in every run, and none of the table has a name that is not a field.
  int unused_here = 0;
  for (const Field& field : spec_fields())
    unused_here += !field.added && !unused_reason(small_spec(), field.key).empty();
  CHECK(unused_here == 18);
  CHECK(unused_reason(small_spec(), "wiring.L01.attn").empty());
}

}  // namespace normscope::test

// What inside_of says of the stream, of attention, of gradients and of what is left out, against plain double-precision
// computations on the tensors of a pass of its own.
#include <algorithm>

#include "addons/inside/tests/training/inside_fixture.h"
#include "addons/inside/tests/training/look_inside.h"
#include "addons/published/tests/training/opened_folder.h"
#include "engine/io/safetensors.h"
#include "engine/model/residual.h"
#include "engine/support/wrapped_backend.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

/// Within a share of the expected number.
bool close(double number, double expected, double share = 1e-5) {
  return std::abs(number - expected) <= share * std::max(1.0, std::abs(expected));
}

ModelConfig preset_config(const char* name) {
  ModelConfig config = preset_run(name).model;
  config.sequence = 11;
  config.vocabulary = 17;
  return config;
}

std::vector<ModelConfig> models() {
  std::vector<ModelConfig> all;
  for (const Placement placement : known({"pre", "post", "resi-dual", "b2t", "rezero", "hybridnorm"}))
    for (const Architecture architecture : {Architecture::Decoder, Architecture::Encoder})
      all.push_back(small_config(placement, architecture));
  for (const char* name : {"2017", "2026"}) all.push_back(preset_config(name));
  ModelConfig relative = small_config(Placement::Pre);
  relative.positions = positions_or("relative", relative.positions);
  all.push_back(relative);
  ModelConfig grouped = small_config(Placement::Pre);
  grouped.attention.kv_heads = 2;
  grouped.attention.window = 3;
  all.push_back(grouped);
  ModelConfig local = small_config(Placement::Pre, Architecture::Encoder);
  local.attention.window = 3;
  all.push_back(local);
  return all;
}

std::string words_of(const ModelConfig& config) {
  return fmt::format("{} {}", config.architecture == Architecture::Encoder ? "encoder" : "decoder",
                     to_string(placement_of(config.stack(), context_of(config, true))));
}

/// Over all pairs of different rows.
double mean_cosine(const std::vector<double>& x, size_t width) {
  double sum = 0;
  size_t pairs = 0;
  for (size_t a = 0; a < x.size(); a += width)
    for (size_t b = 0; b < x.size(); b += width) {
      if (a == b) continue;
      double dot = 0;
      for (size_t i = 0; i < width; ++i) dot += x[a + i] * x[b + i];
      sum += dot / (length(&x[a], width) * length(&x[b], width));
      ++pairs;
    }
  return sum / static_cast<double>(pairs);
}

TEST_CASE("inside: norms and cosines are those of the states, loss is that of the logits") {
  for (const ModelConfig& config : models()) {
    INFO(words_of(config));
    InsideModel model(config);
    const Inside inside = model.inside();
    Look look(model.store, config, model.text);
    look.replay();
    const auto width = static_cast<size_t>(config.d_model), tokens = kText.size();
    CHECK(inside.tokens == model.text.tokens);
    CHECK(inside.targets == model.text.targets);
    const std::vector<double> embedding = doubles(look.read(look.values().embedding));
    for (size_t t = 0; t < tokens; ++t)
      CHECK(close(inside.embedding[t], length(&embedding[t * width], width)));
    REQUIRE(inside.sublayers.size() == 2 * config.stack().layers.size());
    for (size_t i = 0; i < inside.sublayers.size(); ++i) {
      const Inside::Sublayer& s = inside.sublayers[i];
      CHECK(s.name == fmt::format("L{:02}.{}", i / 2 + 1, i % 2 ? "ffn" : "attn"));
      CHECK(s.layer == static_cast<int32_t>(i / 2 + 1));
      const std::vector<double> state = doubles(look.read(look.values().sublayers[i].output));
      REQUIRE(s.norms.size() == tokens);
      for (size_t t = 0; t < tokens; ++t) CHECK(close(s.norms[t], length(&state[t * width], width)));
      CHECK(close(s.token_cosine, mean_cosine(state, width)));
    }
    const std::vector<double> logits = doubles(look.read(look.values().logits));
    double sum = 0;
    int count = 0;
    for (size_t t = 0; t < tokens; ++t) {
      const size_t V = logits.size() / tokens;
      const std::vector<double> logs =
          log_softmax({&logits[t * V], &logits[t * V] + static_cast<std::ptrdiff_t>(V)});
      if (inside.targets[t] < 0) {
        CHECK(std::isnan(inside.token_loss[t]));
        continue;
      }
      const double loss = -logs[static_cast<size_t>(inside.targets[t])];
      CHECK(close(inside.token_loss[t], loss));
      sum += loss;
      ++count;
    }
    CHECK(count == (config.architecture == Architecture::Decoder ? 10 : 11));
    CHECK(close(inside.loss, sum / count));
  }
}

TEST_CASE(
    "inside: shares are variances of branches in Pre-LN, and the numbers of the live measurements everywhere") {
  for (const ModelConfig& config : models()) {
    INFO(words_of(config));
    InsideModel model(config);
    const Inside inside = model.inside();
    Look look(model.store, config, model.text);
    const std::vector<StatInfo> layout = look.layout();
    const std::vector<double> numbers = look.measure();
    const auto number = [&](const std::string& name) {
      const auto at = std::ranges::find(layout, name, &StatInfo::name);
      REQUIRE(at != layout.end());
      return numbers[static_cast<size_t>(at - layout.begin())];
    };
    const bool plain = placement_of(config.stack(), context_of(config, true)) == Placement::Pre;
    for (size_t i = 0; i < inside.sublayers.size(); ++i) {
      const Inside::Sublayer& s = inside.sublayers[i];
      REQUIRE(s.shares.size() == i + 2);
      double sum = 0;
      for (const double share : s.shares) sum += share;
      CHECK(close(sum, number(fmt::format("beta2.{}.sum", i + 1)), 1e-12));
      CHECK(s.layer_cosine == number(s.name + ".layer_cosine"));
      CHECK(s.branch_variance == number(s.name + ".branch.variance"));
      CHECK(s.input_variance == number(s.name + ".input.variance"));
      if (!plain) continue;
      const double whole = variance(look.read(look.values().sublayers[i].output));
      CHECK(close(s.shares[0], variance(look.read(look.values().embedding)) / whole));
      for (size_t j = 0; j <= i; ++j)
        CHECK(close(s.shares[j + 1], variance(look.read(look.values().sublayers[j].branch)) / whole));
      CHECK(close(s.branch_variance, variance(look.read(look.values().sublayers[i].branch))));
      CHECK(close(s.input_variance, variance(look.read(look.values().sublayers[i].input))));
    }
  }
}

TEST_CASE("inside: attention has the heads of the queries, rows of one, and its entropy") {
  for (const ModelConfig& config : models()) {
    INFO(words_of(config));
    InsideModel model(config);
    const Inside inside = model.inside();
    const size_t T = kText.size();
    REQUIRE(inside.attention.size() == config.stack().layers.size());
    for (const Inside::Attention& a : inside.attention) {
      CHECK(a.name == fmt::format("L{:02}.attn", a.layer));
      CHECK(a.heads == config.heads);
      REQUIRE(a.probabilities->size() == static_cast<size_t>(a.heads) * T * T);
      REQUIRE(a.entropy.size() == static_cast<size_t>(a.heads));
      REQUIRE(a.logit.size() == a.entropy.size());
      REQUIRE(a.first_mass.size() == a.entropy.size());
      for (size_t h = 0; h < a.first_mass.size(); ++h) {
        double mass = 0;
        for (size_t q = 0; q < T; ++q) mass += static_cast<double>((*a.probabilities)[(h * T + q) * T]);
        CHECK(close(a.first_mass[h], mass / static_cast<double>(T)));
        CHECK(std::isfinite(a.logit[h]));
      }
      for (size_t h = 0; h < a.entropy.size(); ++h) {
        double entropy = 0;
        for (size_t q = 0; q < T; ++q) {
          double sum = 0;
          for (size_t k = 0; k < T; ++k) {
            const double p = static_cast<double>((*a.probabilities)[(h * T + q) * T + k]);
            const bool hidden = (config.architecture == Architecture::Decoder && k > q) ||
                                (config.attention.window > 0 && (k + 3 <= q || q + 3 <= k));
            CHECK((p > 0) != hidden);
            sum += p;
            if (p > 0) entropy -= p * std::log(p) / static_cast<double>(T);
          }
          CHECK(close(sum, 1));
        }
        CHECK(close(a.entropy[h], entropy));
      }
    }
  }
}

TEST_CASE("inside: attention is the softmax of queries times keys") {
  InsideModel model(small_config(Placement::Pre));
  const Inside inside = model.inside();
  Look look(model.store, model.config, model.text);
  look.replay();
  const std::vector<double> q = doubles(look.program().read("L02.attn.q")),
                            k = doubles(look.program().read("L02.attn.k"));
  const size_t T = kText.size(), D = 24, width = 6;
  for (size_t h = 0; h < 4; ++h)
    for (size_t t = 0; t < T; ++t) {
      std::vector<double> scores;
      for (size_t s = 0; s <= t; ++s) {
        double dot = 0;
        for (size_t i = h * width; i < (h + 1) * width; ++i) dot += q[t * D + i] * k[s * D + i];
        scores.push_back(dot / std::sqrt(static_cast<double>(width)));
      }
      const std::vector<double> logs = log_softmax(scores);
      for (size_t s = 0; s <= t; ++s)
        CHECK(close((*inside.attention[1].probabilities)[(h * T + t) * T + s], std::exp(logs[s])));
    }
}

TEST_CASE("inside: padding counts in no entropy") {
  InsideModel model(small_config(Placement::Post, Architecture::Encoder));
  model.text.key_lengths = {6};
  std::fill(model.text.targets.begin() + 6, model.text.targets.end(), -1);
  const Inside inside = model.inside();
  const size_t T = kText.size();
  for (const Inside::Attention& a : inside.attention)
    for (size_t h = 0; h < a.entropy.size(); ++h) {
      double entropy = 0;
      for (size_t i = 0; i < 6 * T; ++i) {
        const double p = static_cast<double>((*a.probabilities)[h * T * T + i]);
        CHECK((p > 0) == (i % T < 6));
        if (p > 0) entropy -= p * std::log(p) / 6;
      }
      CHECK(close(a.entropy[h], entropy));
    }
}

TEST_CASE("inside: gradients are of every matrix, and those of a program of its own") {
  for (const ModelConfig& config : models()) {
    INFO(words_of(config));
    InsideModel model(config);
    const Inside inside = model.inside();
    Tape tape(model.store);
    const ModelValues values =
        record_transformer(tape, config, {.batch = 1, .sequence = 11, .training = false, .probes = false});
    Program program = seal(tape, {.loss = values.loss, .update = kNoOp});
    put(model.text, program);
    program.replay({});
    size_t matrices = 0;
    for (const ParameterInfo& p : model.store.parameters()) {
      if (!p.trainable || p.shape.rank != 2) continue;
      const std::vector<double> gradient = doubles(program.read(p.name, true));
      REQUIRE(matrices < inside.gradients.size());
      const Inside::Gradient& found = inside.gradients[matrices++];
      CHECK(found.name == p.name);
      CHECK(found.layer == p.layer);
      // A lane adds up at most 4096 / (4 * 4) squares and their product in float, then eight sums: (256 + 9) 2^-24, of
      // which the root takes half.
      CHECK(close(found.norm, length(gradient.data(), gradient.size()), 8e-6));
    }
    CHECK(matrices == inside.gradients.size());
    CHECK(matrices > 6 * config.stack().layers.size());
  }
}

/// Wires sub-layers so that they pass their input on: no norm, and nothing of the branch.
void silence(Wiring& wiring) {
  const bool parallel = wiring.parallel;
  wiring = {.branch = {Scale::Kind::Constant, 0}, .inner = wiring.inner};
  wiring.parallel = parallel;
}

TEST_CASE("inside: what is left out is what a wiring without it makes of the loss") {
  std::vector<ModelConfig> all = models();
  ModelConfig parallel = small_config(Placement::Pre);
  for (LayerWiring& layer : parallel.decoder.layers) layer.feed_forward.parallel = true;
  all.push_back(parallel);
  for (const ModelConfig& config : all) {
    INFO(words_of(config));
    InsideModel model(config);
    const Inside inside =
        model.inside({.gradients = false, .attention = false, .guesses = 0, .left_out = true});
    const size_t layers = config.stack().layers.size();
    REQUIRE(inside.left_out.size() == 3 * layers);
    for (size_t l = 0; l < layers; ++l)
      for (size_t part = 0; part < 3; ++part) {
        ModelConfig without = config;
        LayerWiring& wiring = without.stack().layers[l];
        if (part != 1) silence(wiring.attention);
        if (part != 0) silence(wiring.feed_forward);
        const Inside::LeftOut& left = inside.left_out[3 * l + part];
        constexpr const char* kParts[] = {".attn", ".ffn", ""};
        CHECK(left.name == fmt::format("L{:02}{}", l + 1, kParts[part]));
        CHECK(left.layer == static_cast<int32_t>(l + 1));
        const double expected = inside_of(model.store, without, model.text,
                                          {.gradients = false, .attention = false, .guesses = 0})
                                    .loss;
        CHECK(close(left.loss, expected, 1e-6));
        CHECK(std::abs(left.loss - inside.loss) > 1e-4);
      }
  }
}

TEST_CASE(
    "inside: a logit is the sum of what embedding and branches give it, and a branch of what its heads do") {
  for (const ModelConfig& config : models()) {
    INFO(words_of(config));
    InsideModel model(config);
    // Biases of norms belong to no branch, and the one behind the heads to no head.
    for (const ParameterInfo& info : model.store.parameters())
      if (info.name.ends_with("bias") || info.name.ends_with(".bo"))
        change(model.store, info.name, [](auto& values) { std::ranges::fill(values, 0.0f); });
    const Inside inside = model.inside();
    const bool two_streams = stream_layout(config.stack()).beside != NormKind::None;
    REQUIRE(inside.attributed.logit.empty() == two_streams);
    Look look(model.store, config, model.text);
    look.replay();
    const std::vector<float> logits = look.read(look.values().logits);
    const size_t V = static_cast<size_t>(config.vocabulary);
    for (size_t t = 0; t < inside.attributed.logit.size(); ++t) {
      double sum = static_cast<double>(inside.attributed.embedding[t]), mean = 0;
      for (const Inside::Sublayer& s : inside.sublayers) sum += static_cast<double>(s.attribution[t]);
      for (size_t v = 0; v < V; ++v) mean += static_cast<double>(logits[t * V + v]) / static_cast<double>(V);
      const auto symbol = static_cast<size_t>(inside.attributed.symbol[t]);
      CHECK((inside.targets[t] < 0 || inside.targets[t] == inside.attributed.symbol[t]));
      CHECK(close(inside.attributed.logit[t], static_cast<double>(logits[t * V + symbol]) - mean));
      CHECK(close(sum, inside.attributed.logit[t], 2e-5));
    }
    for (const Inside::Attention& attention : inside.attention) {
      const auto whole = std::ranges::find(inside.sublayers, attention.name, &Inside::Sublayer::name);
      for (size_t t = 0; t < whole->attribution.size(); ++t) {
        double sum = 0;
        for (size_t h = 0; h < static_cast<size_t>(attention.heads); ++h)
          sum += static_cast<double>(attention.attribution[h * inside.tokens.size() + t]);
        CHECK(close(sum, whole->attribution[t], 2e-5));
      }
    }
  }
}

TEST_CASE("inside: a head left out is a head whose values are zero, and its weights stay") {
  InsideModel model(small_config(Placement::Pre));
  const Inside inside = model.inside({.gradients = false, .heads_out = true});
  const auto heads = static_cast<size_t>(model.config.heads), D = static_cast<size_t>(model.config.d_model);
  REQUIRE(inside.left_out.size() == heads * model.config.stack().layers.size());
  const Inside::LeftOut& left = inside.left_out[heads + 1];
  CHECK(left.name == "L02.attn.head.2");
  for (const char* name : {"L02.attn.wv", "L02.attn.bv"})
    change(model.store, name, [&](auto& values) {
      for (size_t i = 0; i < values.size(); ++i)
        if (i % D / (D / heads) == 1) values[i] = 0;
    });
  CHECK(close(left.loss, model.inside({.gradients = false}).loss, 1e-6));
  CHECK(std::abs(left.loss - inside.loss) > 1e-4);
}

TEST_CASE("inside: only what is asked for is measured, and no bit of the weights changes") {
  InsideModel model(small_config(Placement::Pre));
  const Store before = model.store.clone();
  const Inside little = model.inside({.gradients = false, .attention = false, .guesses = 0}),
               much = model.inside({.left_out = true, .heads_out = true, .states = true});
  CHECK(first_difference(before, model.store) == "");
  CHECK((little.attention.empty() && little.gradients.empty() && little.lens.empty() &&
         little.left_out.empty() && little.embedding_state.empty()));
  CHECK_FALSE(
      (much.attention.empty() || much.gradients.empty() || much.lens.empty() || much.left_out.empty()));
  CHECK(little.loss == much.loss);
  CHECK(little.sublayers[3].norms == much.sublayers[3].norms);
  CHECK(length(doubles(much.sublayers[3].state).data(), static_cast<size_t>(model.config.d_model)) ==
        Approx(much.sublayers[3].norms[0]));
  CHECK(little.sublayers[3].shares == much.sublayers[3].shares);
}

TEST_CASE("inside: what is no single text of symbols is refused in one line") {
  const auto refused = [](ModelConfig config, Batch text) {
    const auto backend = make_cpu_backend(1);
    Store store(*backend);
    return error_of([&] { inside_of(store, config, text, {}); });
  };
  const ModelConfig small = small_config(Placement::Pre);
  const Batch text = passage_batch(small, kText);
  for (const Architecture architecture : architectures()) {
    if (architecture == Architecture::Decoder || architecture == Architecture::Encoder) continue;
    ModelConfig other = small;
    other.architecture = architecture;
    CHECK(refused(other, text) ==
          "[inside] the model reads no single text of symbols: expected a decoder or an encoder");
  }
  ModelConfig drawn = small;
  drawn.gaussian_input = true;
  CHECK(contains(refused(drawn, text), "expected a decoder or an encoder"));
  Batch beyond = text;
  beyond.tokens[2] = 17;
  CHECK(refused(small, beyond) ==
        "[inside] token 17 is beyond the model's table of symbols: expected 0 to 16");
  CHECK(refused(small, Batch(2, 4)) == "[inside] 2 texts were given: expected one");
  CHECK(refused(small, Batch(1, 12)) ==
        "[inside] the text has 12 symbols, and the model 11 positions: expected at most as many");
  CHECK(refused(small, Batch(1, 0)) == "[inside] the text is empty: expected at least one symbol");
}

TEST_CASE("inside: the gradient at a token's state is what its position and, at the top, a bias learn from") {
  // Positions are added to the first states as they are: row t has the gradient of token t's state. With one
  // target, only that token's last state has a gradient, which the last bias takes whole.
  InsideModel model(small_config(Placement::Pre));
  constexpr size_t kTarget = 4, kWidth = 24;
  for (size_t t = 0; t < model.text.targets.size(); ++t)
    if (t != kTarget) model.text.targets[t] = -1;
  Look look(model.store, model.config, shape_of(model.text), Look::Gradients::Kept);
  look.put(model.text);
  look.replay();
  const std::vector<double> places = doubles(look.program().read("emb.positions", true));
  const double bias = look.program().stat("L03.ffn.b2.grad_norm");
  const Inside inside = model.inside();
  REQUIRE(inside.embedding_gradients.size() == kText.size());
  for (size_t t = 0; t < kText.size(); ++t) {
    INFO("token " << t);
    CHECK(close(static_cast<double>(inside.embedding_gradients[t]), length(&places[t * kWidth], kWidth)));
    CHECK((inside.embedding_gradients[t] > 0) == (t <= kTarget));  // nothing after it reaches it
    const auto last = static_cast<double>(inside.sublayers.back().gradients.at(t));
    CHECK(close(last, t == kTarget ? bias : 0));
  }
  CHECK(bias > 1e-3);
  CHECK(model.inside({.gradients = false}).sublayers.back().gradients.empty());
}

// What is inside published models, against what the library transformers computes in float64: states, logits, loss.

namespace fs = std::filesystem;

/// One text of a folder.
struct Reference {
  const SafetensorsFile& file;
  size_t text, T;

  std::vector<double> part(const std::string& name) const {
    const std::vector<double> all = file.doubles(name);
    const auto size = static_cast<std::ptrdiff_t>(all.size() / 2);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(text) * size;
    return {begin, begin + size};
  }
  std::vector<int32_t> numbers(const std::string& name) const {
    const std::vector<int32_t> all = file.int32s(name);
    const auto size = static_cast<std::ptrdiff_t>(T), at = static_cast<std::ptrdiff_t>(text) * size;
    return {all.begin() + at, all.begin() + at + size};
  }
  /// Compares to a part of the largest one.
  void check_norms(const std::vector<float>& norms, const std::string& name) const {
    INFO(name);
    const std::vector<double> states = part(name);
    const size_t width = states.size() / T;
    std::vector<double> expected;
    for (size_t t = 0; t < T; ++t) expected.push_back(length(&states[t * width], width));
    const double largest = *std::ranges::max_element(expected);
    REQUIRE(norms.size() == T);
    for (size_t t = 0; t < T; ++t) CHECK(std::abs(norms[t] - expected[t]) < 1e-5 * largest);
  }
};

/// The sum of the losses of its targets.
double check_text(const Reference& reference, Store& store, const ModelConfig& config) {
  Batch text(1, static_cast<int32_t>(reference.T));
  text.tokens = reference.numbers("input/x");
  text.targets = reference.numbers("input/y");
  CHECK(text.targets == passage_batch(config, text.tokens).targets);
  const Inside inside = inside_of(store, config, text, {.gradients = false});
  reference.check_norms(inside.embedding, "hidden/00");
  for (size_t l = 1; l <= inside.sublayers.size() / 2; ++l)
    reference.check_norms(inside.sublayers[2 * l - 1].norms, fmt::format("hidden/{:02}", l));
  const std::vector<double> logits = reference.part("logits");
  const size_t V = logits.size() / reference.T;
  double sum = 0;
  for (size_t t = 0; t < reference.T; ++t) {
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(t * V);
    const std::vector<double> logs = log_softmax({begin, begin + static_cast<std::ptrdiff_t>(V)});
    const Inside::Guess& guess = inside.lens.back().guesses[t * 5];
    CHECK(std::abs(guess.probability - std::exp(*std::ranges::max_element(logs))) < 1e-5);
    CHECK(std::abs(guess.probability - std::exp(logs[static_cast<size_t>(guess.token)])) < 1e-5);
    if (text.targets[t] < 0) continue;
    const double loss = -logs[static_cast<size_t>(text.targets[t])];
    CHECK(std::abs(inside.token_loss[t] - loss) < 1e-5);
    sum += loss;
  }
  CHECK(std::abs(inside.loss * static_cast<double>(reference.T - 1) - sum) < 1e-4);
  return sum;
}

TEST_CASE("inside: published decoders have the states, logits and losses that the library computes") {
  int families = 0;
  for (const auto& entry : fs::directory_iterator(
           fs::path(NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers"))) {
    if (!fs::exists(entry.path() / "config.json")) continue;
    const SafetensorsFile file = SafetensorsFile::load((entry.path() / "reference.safetensors").string());
    if (file.contains("input/key_len")) continue;  // BERT reads types beside its symbols
    INFO(entry.path());
    ++families;
    const auto T = static_cast<size_t>(file.shape("input/x")[1]);
    const published::PublishedModel model = published::open(entry.path().string(), static_cast<int32_t>(T));
    const auto backend = make_cpu_backend(1);
    Store store(*backend);
    published::declare(model, store);
    published::load(model, store);
    double sum = 0;
    for (const size_t text : {0, 1}) sum += check_text({file, text, T}, store, model.spec.model);
    CHECK(std::abs(sum / static_cast<double>(2 * (T - 1)) - file.doubles("loss")[0]) < 1e-6);
  }
  CHECK(families >= 17);
}

// What the programs of inside_of hold: no room for what nobody asked for.

/// The CPU, and keeps where the programs that it was given have their values.
class Watching final : public WrappedBackend {
 public:
  std::vector<MemoryPlan> plans;
  std::vector<size_t> probabilities;  ///< of each program, how many values of attention have room

  std::unique_ptr<Executable> lower(ProgramData& program) override {
    plans.push_back(program.plan);
    probabilities.push_back(0);
    for (size_t v = 0; v < program.values.size(); ++v)
      if (program.values[v].name.ends_with(".probabilities") && program.plan.value_offset[v] != kNoOffset)
        ++probabilities.back();
    return cpu_->lower(program);
  }
};

}  // namespace

TEST_CASE("inside: no program has room for gradients or probabilities that nobody asked for") {
  Watching backend;
  Store store(backend);
  const ModelConfig config = small_config(Placement::Pre);
  Tape tape(store);
  record_transformer(tape, config, {.batch = 1, .sequence = config.sequence});
  store.materialize(3);
  const Batch text = passage_batch(config, kText);
  inside_of(store, config, text, {.gradients = false, .attention = false, .left_out = true});
  CHECK(backend.plans.size() == 1 + 4 + 9);  // the look, the end of the model at each layer, what is left out
  for (const MemoryPlan& plan : backend.plans) CHECK(plan.gradients == 0);
  for (const size_t count : backend.probabilities) CHECK(count == 0);
  inside_of(store, config, text, {.guesses = 0});
  REQUIRE(backend.plans.size() == 15);
  CHECK(backend.plans.back().gradients > 0);
  CHECK(backend.probabilities.back() == 3);
}

TEST_CASE(
    "inside: a look without a backward pass has no room for gradients, without probabilities none for them") {
  InsideModel model(small_config(Placement::Pre));
  const BatchShape shape = shape_of(model.text);
  using enum Look::Gradients;
  const Look least(model.store, model.config, shape, None, false), seen(model.store, model.config, shape),
      norms(model.store, model.config, shape, Norms, false),
      back(model.store, model.config, shape, Kept, false);
  const auto plan = [](const Look& look) { return look.program().data().plan; };
  CHECK(plan(least).gradients == 0);
  CHECK(plan(back).gradients > 0);
  CHECK(plan(seen).activations >= plan(least).activations + 3 * 4 * 11 * 11);
  CHECK(plan(norms).gradients < plan(back).gradients / 2);
  // Activations' gradients share their places: beside the gradients of parameters and states there is room for a few
  // alone.
  Tape tape(model.store);
  const ModelValues values =
      record_transformer(tape, model.config, {.batch = 1, .sequence = 11, .training = false});
  const Program every = seal(tape, {.loss = values.loss, .update = kNoOp});
  CHECK(plan(back).gradients < every.data().plan.gradients);
}

// A look inside has the spectra of a run's next update.

TEST_CASE("examine: a look inside has the spectra of one layer, only where it is asked, and changes no bit") {
  const auto run = make_run(small_spec("pre"), 6), other = make_run(small_spec("pre"), 6);
  const std::vector<MatrixSpectra> all = next_spectra(*other);
  size_t seen = 0;
  for (const int32_t layer : {0, 1, 2}) {
    INFO(layer);
    const auto inside = look_inside(*run, {.spectra_of = layer});
    CHECK(inside->spectra_of == layer);
    CHECK_FALSE(inside->spectra.empty());
    for (const MatrixSpectra& m : inside->spectra) {
      INFO(m.name);
      CHECK(m.layer == layer);
      const MatrixSpectra& same = matrix_of(all, m.name);
      CHECK(m.update.values == same.update.values);
      CHECK(m.weights.values == same.weights.values);
      ++seen;
    }
  }
  CHECK(seen == all.size());
  const auto plain = look_inside(*run);
  CHECK_FALSE(plain->spectra_of);
  CHECK(plain->spectra.empty());
  steps(*run, 2);
  steps(*other, 2);
  const int32_t matrix = run->store().find("L02.ffn.w2");
  CHECK(run->store().read(matrix) == other->store().read(matrix));
}

// A published model that became a run is looked into as every run.

using namespace test;
using test_opened_folder::loss_of_folder, test_opened_folder::near, test_opened_folder::FolderModel;

TEST_CASE("published run: looking inside says what the run's own step says, and changes no bit") {
  for (const char* name : {"gpt2", "llama", "olmo2", "gemma2", "pythia"}) {
    INFO(name);
    FolderModel opened(name);
    const auto seen = opened.run(), alone = opened.run();
    const auto inside = look_inside(*seen, {.left_out = true});
    seen->step();
    alone->step();
    CHECK(seen->losses() == alone->losses());
    CHECK(near(inside->found.loss, static_cast<double>(alone->losses()[0])));
    CHECK(inside->found.tokens == std::vector<int32_t>{5, 17, 3, 5, 9, 4, 8});
    CHECK(inside->words.at(17) == "17");
    CHECK(inside->step == 0);
    const auto other = look_inside(*seen, {.text = "5 5 5"});
    CHECK(other->found.tokens.size() == 3);
    CHECK(other->step == 1);
    CHECK(contains(error_of([&] { look_inside(*seen, {.text = "5"}); }), "1 tokens: expected 2 to "));
    CHECK(contains(error_of([&] { look_inside(*seen, {.text = "dog"}); }), "is no number of a token"));
  }
}

TEST_CASE("published run: an encoder is asked for each token where it stands, and learns hidden ones") {
  for (const char* name : {"bert", "roberta"}) {
    FolderModel opened(name);
    const auto run = opened.run();
    const auto inside = look_inside(*run);
    CHECK(inside->found.targets == inside->found.tokens);
    CHECK(near(inside->found.loss, loss_of_folder(name, inside->found.tokens)));
    for (int i = 0; i < 5; ++i) run->step();
    CHECK(run->state() != RunState::NonFinite);
  }
}

TEST_CASE("inside: what is drawn has the probabilities of the softmax at its temperature") {
  const std::vector<float> logits{0.5f, -1.0f, 2.0f, 0.0f};
  CHECK(drawn_symbol(logits, {}, 3) == 2);
  for (const double temperature : {0.5, 1.0, 3.0}) {
    constexpr int kDraws = 20'000;
    std::vector<double> scaled, counts(4);
    for (const float logit : logits) scaled.push_back(static_cast<double>(logit) / temperature);
    for (uint64_t place = 0; place < kDraws; ++place)
      counts[static_cast<size_t>(drawn_symbol(logits, {temperature, 5}, place))] += 1.0 / kDraws;
    const std::vector<double> logs = log_softmax(scaled);
    for (size_t v = 0; v < 4; ++v) {  // four standard deviations
      const double p = std::exp(logs[v]);
      CHECK(std::abs(counts[v] - p) < 4 * std::sqrt(p * (1 - p) / kDraws));
    }
  }
}

TEST_CASE("inside: a drawn continuation follows from its temperature, its seed and the place in the text") {
  InsideModel model(small_config(Placement::Pre));
  const auto written = [&](const Draws& draws) {
    return continued(model.store, model.config, {3, 1}, 7, draws);
  };
  const Draws draws{1, 7};
  std::vector<int32_t> text{3, 1};
  while (text.size() < 9) {  // one look at a time, as the window writes
    model.text = passage_batch(model.config, text);
    text.push_back(model.inside({.gradients = false, .guesses = 0, .draws = draws}).next);
  }
  CHECK(text == written(draws));
  CHECK(text != written({1, 8}));
  CHECK(written({1e-4, 7}) == written({}));
}

}  // namespace normscope::test

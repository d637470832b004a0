// The logit lens: what comes after the last layer gives the model's own logits from the last layer's state, for every
// placement and every published family; and from an earlier state what plain double-precision arithmetic gives.
#include "addons/inside/tests/training/inside_fixture.h"
#include "addons/published/training/published.h"
#include "engine/model/residual.h"
#include "engine/support/helpers.h"
#include "engine/tape/seal.h"
#include "test_paths.h"
#include "training/measure/look.h"

namespace normscope::test {
namespace {
namespace fs = std::filesystem;

/// Feeds the last state of a pass to the end of the model.
void end_is_the_model(Store& store, const ModelConfig& config, const Batch& text) {
  Look look(store, config, text);
  look.replay();
  const SublayerValues& last = look.values().sublayers.back();
  Tape tape(store);
  const ModelValues end = record_end(tape, config, record_options(shape_of(text), false));
  Program program = seal(tape, {.loss = end.loss, .backward = false});
  put(text, program);
  std::ranges::copy(look.read(last.output), program.floats("state").begin());
  CHECK((last.second != kNone) == (stream_layout(config.stack()).beside != NormKind::None));
  if (last.second != kNone) std::ranges::copy(look.read(last.second), program.floats("state.second").begin());
  program.replay({});
  CHECK(same_bits(program.read("logits"), look.read(look.values().logits)));
  CHECK(program.loss() == look.program().loss());
}

/// Compares the last lens with what the model says.
void lens_ends_in_the_model(Store& store, const ModelConfig& config, const Batch& text) {
  const Inside inside = inside_of(store, config, text, {.gradients = false, .guesses = 3});
  const size_t layers = config.stack().layers.size(), T = text.tokens.size();
  REQUIRE(inside.lens.size() == layers + 1);
  for (size_t l = 0; l <= layers; ++l) {
    CHECK(inside.lens[l].name == (l == 0 ? "embedding" : fmt::format("L{:02}", l)));
    CHECK(inside.lens[l].layer == static_cast<int32_t>(l));
  }
  CHECK(inside.lens.back().loss == inside.loss);
  // ProRes: before the first step no branch has come in.
  const bool speaks = to_string(config.stack().layers[0].feed_forward).find("prores") == std::string::npos;
  CHECK((inside.lens[0].loss != inside.loss) == speaks);
  Look look(store, config, text);
  look.replay();
  const std::vector<float> logits = look.read(look.values().logits);
  const size_t V = logits.size() / T;
  for (size_t t = 0; t < T; ++t) {
    const std::vector<double> row(logits.begin() + static_cast<std::ptrdiff_t>(t * V),
                                  logits.begin() + static_cast<std::ptrdiff_t>((t + 1) * V));
    const std::vector<double> logs = log_softmax(row);
    std::vector<double> sorted = row;
    std::ranges::sort(sorted, std::greater<>());
    for (size_t g = 0; g < std::min<size_t>(3, V); ++g) {
      const Inside::Guess& guess = inside.lens.back().guesses[t * std::min<size_t>(3, V) + g];
      CHECK(row[static_cast<size_t>(guess.token)] == sorted[g]);
      CHECK(std::abs(guess.probability - std::exp(logs[static_cast<size_t>(guess.token)])) < 1e-6);
    }
    const float right = inside.lens.back().right[t];
    if (text.targets[t] < 0)
      CHECK(std::isnan(right));
    else
      CHECK(std::abs(right - std::exp(logs[static_cast<size_t>(text.targets[t])])) < 1e-6);
  }
}

void both(Store& store, const ModelConfig& config, const Batch& text) {
  end_is_the_model(store, config, text);
  lens_ends_in_the_model(store, config, text);
}

/// LayerNorm of the rows of x in double precision.
std::vector<double> normalised(std::vector<double> x, size_t D, const std::vector<double>& gain,
                               const std::vector<double>& bias) {
  for (size_t at = 0; at < x.size(); at += D) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < D; ++i) mean += x[at + i] / static_cast<double>(D);
    for (size_t i = 0; i < D; ++i) square += std::pow(x[at + i] - mean, 2) / static_cast<double>(D);
    for (size_t i = 0; i < D; ++i)
      x[at + i] = (x[at + i] - mean) / std::sqrt(square + 1e-5) * gain[i] + bias[i];
  }
  return x;
}

}  // namespace

TEST_CASE("lens: from the last layer it is the model itself, for every placement") {
  for (const Placement placement : kPresets)
    for (const Architecture architecture : {Architecture::Decoder, Architecture::Encoder}) {
      INFO(to_string(placement));
      InsideModel model(small_config(placement, architecture));
      both(model.store, model.config, model.text);
    }
}

TEST_CASE("lens: from the last layer it is the model itself, for every head") {
  ModelConfig narrow = small_config(Placement::Post), capped = small_config(Placement::Pre),
              untied = small_config(known({"post", "resi-dual"}).back()),
              offset = small_config(Placement::Pre),
              masked = small_config(Placement::Post, Architecture::Encoder), classes = masked,
              pooled = masked, albert = masked, bare = masked;
  narrow.embedding_width = albert.embedding_width = bare.embedding_width = 12;
  capped.logit_cap = 2;
  untied.tied_output = false;
  offset.gain_offset = true;
  masked.masked_head = albert.masked_head = true;
  classes.classes = pooled.classes = 5;
  pooled.pooling = Pooling::Mean;
  for (const ModelConfig& config : {narrow, capped, untied, offset, masked, classes, pooled, albert, bare}) {
    InsideModel model(config);
    both(model.store, config, model.text);
  }
  InsideModel padded(pooled);
  padded.text.key_lengths = {6};
  both(padded.store, pooled, padded.text);
}

TEST_CASE("lens: from the last layer it is the model itself, for every published family", "[published]") {
  int families = 0;
  for (const auto& entry : fs::directory_iterator(
           fs::path(NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers"))) {
    if (!fs::exists(entry.path() / "config.json")) continue;
    INFO(entry.path());
    ++families;
    const published::PublishedModel model = published::open(entry.path().string(), 11);
    const auto backend = make_cpu_backend(1);
    Store store(*backend);
    published::declare(model, store);
    published::load(model, store);
    both(store, model.spec.model, passage_batch(model.spec.model, kText));
  }
  CHECK(families >= 19);
}

TEST_CASE("lens: an earlier state goes through the last norm and the output layer") {
  for (const Placement placement : known({"pre", "post", "resi-dual"})) {
    INFO(to_string(placement));
    InsideModel model(small_config(placement));
    const Inside inside = model.inside();
    Look look(model.store, model.config, model.text);
    look.replay();
    const size_t D = 24, V = 17, T = kText.size();
    const auto read = [&](ValueId value) {
      const std::vector<float> x = look.read(value);
      return std::vector<double>(x.begin(), x.end());
    };
    const std::vector<double> table = model.parameter("emb.tokens");
    std::vector<double> second = read(look.values().embedding);
    for (size_t l = 0; l <= 3; ++l) {
      std::vector<double> state = read(look.values().embedding);
      if (l > 0) {
        state = read(look.values().sublayers[2 * l - 1].output);
        for (const size_t i : {2 * l - 2, 2 * l - 1}) {
          const std::vector<double> branch = read(look.values().sublayers[i].branch);
          for (size_t k = 0; k < second.size(); ++k) second[k] += branch[k];
        }
      }
      if (placement == Placement::Pre)
        state = normalised(state, D, model.parameter("final.gain"), model.parameter("final.bias"));
      if (is(placement, "resi-dual")) {
        const std::vector<double> joins =
            normalised(second, D, model.parameter("second.gain"), model.parameter("second.bias"));
        for (size_t k = 0; k < state.size(); ++k) state[k] += joins[k];
      }
      double loss = 0;
      for (size_t t = 0; t + 1 < T; ++t) {
        std::vector<double> row(V, 0);
        for (size_t v = 0; v < V; ++v)
          for (size_t i = 0; i < D; ++i) row[v] += state[t * D + i] * table[v * D + i];
        const std::vector<double> logs = log_softmax(row);
        const size_t target = static_cast<size_t>(model.text.targets[t]);
        CHECK(std::abs(inside.lens[l].right[t] - std::exp(logs[target])) < 1e-5);
        const auto best = static_cast<int32_t>(std::ranges::max_element(row) - row.begin());
        CHECK(inside.lens[l].guesses[t * 5].token == best);
        loss -= logs[target] / static_cast<double>(T - 1);
      }
      CHECK(std::abs(inside.lens[l].loss - loss) < 1e-4);
    }
  }
}

TEST_CASE("lens: there are no more guesses than symbols") {
  InsideModel model(small_config(Placement::Pre));
  const Inside inside = model.inside({.guesses = 100});
  REQUIRE(inside.lens[1].guesses.size() == kText.size() * 17);
  double sum = 0;
  for (size_t v = 0; v < 17; ++v) sum += static_cast<double>(inside.lens[1].guesses[v].probability);
  CHECK(std::abs(sum - 1) < 1e-5);
}

// The backward lens: what a small step of the weights themselves does to the logit lens, and what plain
// double-precision arithmetic makes of the gradients.

namespace {

/// The gains of all symbols at a token, which a lens with as many changes as symbols has in both lists.
std::vector<double> gains_at(const Inside::BackwardLens& lens, size_t token) {
  std::vector<double> gains(17, std::numeric_limits<double>::quiet_NaN());
  for (size_t i = 0; i < gains.size(); ++i) {
    const Inside::Change& raised = lens.raised[token * 17 + i];
    gains[static_cast<size_t>(raised.token)] = static_cast<double>(raised.nats);
    const Inside::Change& lowered = lens.lowered[token * 17 + 16 - i];  // the same, the other way round
    CHECK(lowered.nats == raised.nats);
    if (i > 0) CHECK(raised.nats <= lens.raised[token * 17 + i - 1].nats);
  }
  return gains;
}

double largest_of(const std::vector<double>& numbers) {
  double largest = 0;
  for (const double x : numbers) largest = std::max(largest, std::abs(x));
  return largest;
}

/// The first token's state after a sub-layer, and what the logit lens reads there, as logarithms.
struct ReadState {
  std::vector<double> state, logs;
};
ReadState read_state(InsideModel& model, size_t sublayer) {
  Look look(model.store, model.config, model.text);
  look.replay();
  const LayerState state{"", 0, look.read(look.values().sublayers[sublayer].output), {}};
  const Inside::Lens lens = lens_of(model.store, model.config, model.text, state, 17);
  ReadState read{{state.state.begin(), state.state.begin() + 24}, std::vector<double>(17)};
  for (size_t g = 0; g < 17; ++g)
    read.logs[static_cast<size_t>(lens.guesses[g].token)] =
        std::log(static_cast<double>(lens.guesses[g].probability));
  return read;
}

}  // namespace

TEST_CASE("backward lens: it is what a step of gradient descent does to the logit lens") {
  // Only the first token is asked, so only its branches have a gradient, which the bias of a branch takes whole: a step
  // of the bias moves the branch along -d, and changes no earlier sub-layer.
  for (const Placement placement : known({"pre", "post", "deepnorm", "admin", "rezero-post", "b2t", "mix"})) {
    InsideModel model(small_config(placement));
    model.text = passage_batch(model.config, {3, 1});
    const Inside inside = model.inside({.guesses = 0, .changes = 17});
    REQUIRE(inside.backward_lens.size() == 7);
    Look look(model.store, model.config, shape_of(model.text), Look::Gradients::Kept);
    look.put(model.text);
    look.replay();
    for (size_t i = 0; i < 6; ++i) {
      const Inside::BackwardLens& lens = inside.backward_lens[i + 1];
      INFO(to_string(placement) << " " << lens.name);
      CHECK(lens.name == inside.sublayers[i].name);
      const std::string bias = lens.name + (i % 2 ? ".b2" : ".bo");
      look.replay();
      const std::vector<float> gradient = look.program().read(bias, true);
      const int32_t parameter = model.store.find(bias);
      const std::vector<float> kept = model.store.read(parameter);
      const auto stepped = [&](double rate) {
        std::vector<float> moved = kept;
        for (size_t k = 0; k < moved.size(); ++k) moved[k] -= static_cast<float>(rate) * gradient[k];
        model.store.write(parameter, moved);
        ReadState read = read_state(model, i);
        model.store.write(parameter, kept);
        return read;
      };
      const auto moved_by = [](const ReadState& to, const ReadState& from) {
        std::vector<double> by;
        for (size_t k = 0; k < 24; ++k) by.push_back(to.state[k] - from.state[k]);
        return length(by.data(), 24);
      };
      const ReadState before = stepped(0);
      double rate = 0.1 / length(doubles(gradient).data(), 24);
      rate *= 0.01 * length(before.state.data(), 24) /
              moved_by(stepped(rate), before);  // a hundredth of its length
      const ReadState there = stepped(rate), back = stepped(-rate);
      std::vector<double> gains;
      for (size_t v = 0; v < 17; ++v) gains.push_back((there.logs[v] - back.logs[v]) / 2);
      const std::vector<double> said = gains_at(lens, 0);
      CHECK(largest_of(said) > 1e-3);
      for (size_t v = 0; v < 17; ++v) CHECK(std::abs(said[v] - gains[v]) < 0.01 * largest_of(gains));
      CHECK(lens.raised[17].token == -1);  // of the second token nothing is asked
      CHECK(std::isnan(lens.raised[17].nats));
    }
  }
}

TEST_CASE("backward lens: it is the last norm's derivative, against the gradient, times the output layer") {
  ModelConfig config = small_config(Placement::Pre);
  config.sequence = 70;  // more tokens than are read at once
  InsideModel model(config);
  std::vector<int32_t> text;
  for (int32_t t = 0; t < 70; ++t) text.push_back((t * t + 3 * t) % 17);
  model.text = passage_batch(config, text);
  const Inside inside = model.inside({.changes = 17});
  Look look(model.store, config, shape_of(model.text), Look::Gradients::Norms);
  look.put(model.text);
  look.replay();
  const ModelValues& values = look.values();
  std::vector<std::vector<double>> gradients{
      doubles(look.read_gradient(values.embedding))};  // of a sum: its branch's
  for (const SublayerValues& s : values.sublayers) gradients.push_back(doubles(look.read_gradient(s.output)));
  look.replay();
  const std::vector<double> table = model.parameter("emb.tokens"), gain = model.parameter("final.gain"),
                            bias = model.parameter("final.bias");
  const size_t D = 24, V = 17;
  for (size_t i = 0; i < gradients.size(); ++i)
    for (const size_t t : {0, 5, 63, 64, 68}) {
      INFO(inside.backward_lens[i].name << " at " << t);
      const ValueId state = i == 0 ? values.embedding : values.sublayers[i - 1].output;
      const std::vector<double> all = doubles(look.read(state));
      const std::vector<double> x(all.begin() + static_cast<std::ptrdiff_t>(t * D),
                                  all.begin() + static_cast<std::ptrdiff_t>((t + 1) * D));
      double mean = 0, square = 0, along = 0, sum = 0;
      for (const double e : x) mean += e / static_cast<double>(D);
      for (const double e : x) square += (e - mean) * (e - mean) / static_cast<double>(D);
      const double sigma = std::sqrt(square + 1e-5);
      std::vector<double> u(D);
      for (size_t k = 0; k < D; ++k)
        u[k] = -gradients[i][t * D + k] * 0.01 * length(x.data(), D) / length(&gradients[i][t * D], D);
      for (size_t k = 0; k < D; ++k) {
        sum += u[k] / static_cast<double>(D);
        along += u[k] * (x[k] - mean) / sigma / static_cast<double>(D);
      }
      const std::vector<double> y = normalised(x, D, gain, bias);
      std::vector<double> logits(V, 0), gains(V, 0);
      for (size_t v = 0; v < V; ++v)
        for (size_t k = 0; k < D; ++k) {
          logits[v] += y[k] * table[v * D + k];
          gains[v] += gain[k] / sigma * (u[k] - sum - (x[k] - mean) / sigma * along) * table[v * D + k];
        }
      double expected = 0;
      const std::vector<double> logs = log_softmax(logits);
      for (size_t v = 0; v < V; ++v) expected += std::exp(logs[v]) * gains[v];
      const std::vector<double> said = gains_at(inside.backward_lens[i], t);
      for (size_t v = 0; v < V; ++v)
        CHECK(std::abs(said[v] - (gains[v] - expected)) < 2e-3 * largest_of(said));
    }
}

TEST_CASE("backward lens: a model with more than one stream has none, and without gradients there is none") {
  for (const Placement placement : known({"resi-dual", "siamese", "hyper"})) {
    INFO(to_string(placement));
    CHECK(InsideModel(small_config(placement)).inside({.changes = 2}).backward_lens.empty());
  }
  InsideModel model(small_config(Placement::Pre));
  CHECK(model.inside({.gradients = false, .changes = 2}).backward_lens.empty());
  CHECK(model.inside({.changes = 2}).backward_lens[1].raised.size() == 2 * kText.size());
}

}  // namespace normscope::test

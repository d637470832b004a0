// These tests hold the live measurements against plain double-precision computations on the same recorded tensors, for
// every placement, with gains, biases and scales pushed away from their start; and the measurements on request against
// theory.
#include <algorithm>

#include "engine/model/residual.h"
#include "training/measure/live_numbers.h"
#include "training/measure/look.h"
#include "training/run/evaluate.h"
#include "training/support/small_runs.h"

using namespace normscope;
using namespace normscope::test;

namespace {

ModelConfig small_model(Placement placement, NormKind norm = NormKind::LayerNorm) {
  return tiny_config({.placement = placement, .norm = norm, .layers = 3, .sequence = 9});
}

/// A model that was replayed once on a batch of three sequences.
struct ReplayedModel : DisturbedModel {
  explicit ReplayedModel(const ModelConfig& c) : DisturbedModel(c, {.batch = 3, .sequence = 11}) {
    replay(random_batch(config, 3, 11, 9));
  }
};

/// Sends components through a norm that reads `from`, with mean and sigma recomputed.
void normalise(std::vector<std::vector<double>>& components, const std::vector<double>& from, NormKind kind,
               const std::vector<double>& gain) {
  const size_t D = gain.size();
  const bool rms = !is_centred(kind);
  for (size_t t = 0; t < from.size(); t += D) {
    double mean = 0, square = 0;
    for (size_t k = 0; k < D && !rms; ++k) mean += from[t + k] / static_cast<double>(D);
    for (size_t k = 0; k < D; ++k) square += std::pow(from[t + k] - mean, 2) / static_cast<double>(D);
    const double sigma = std::sqrt(square + 1e-5);
    for (std::vector<double>& c : components) {
      double centre = 0;
      for (size_t k = 0; k < D && !rms; ++k) centre += c[t + k] / static_cast<double>(D);
      for (size_t k = 0; k < D; ++k) c[t + k] = gain[k] * (c[t + k] - centre) / sigma;
    }
  }
}

using Components = std::vector<std::vector<double>>;

/// Adds a component of one stream, times the weight of each position, to one of another.
void weigh(const DisturbedModel& f, ValueId weights, size_t place, size_t count,
           const std::vector<double>& from, std::vector<double>& to) {
  const bool shared = f.program->data().values[static_cast<size_t>(weights)].shape.rank == 2;
  const size_t D = static_cast<size_t>(f.config.d_model), T = from.size() / D;
  const std::vector<double> w = f.first(weights, shared ? count : count * T);
  to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) to[i] += w[(shared ? 0 : i / D * count) + place] * from[i];
}

/// Carries the components through every stream as tensors.
std::vector<std::vector<double>> beta2_of_streams(const DisturbedModel& f) {
  const size_t n = static_cast<size_t>(f.config.d_model) * 11;
  const bool of_depth = stream_layout(f.config.decoder).over_depth();
  const std::vector<double> input = f.first(f.model.embedding, n);
  std::vector<Components> streams(of_depth ? 1 : static_cast<size_t>(stream_layout(f.config.decoder).count),
                                  {input});
  std::vector<std::vector<double>> beta2;
  for (const SublayerValues& s : f.model.sublayers) {
    const size_t own = streams[0].size(), count = streams.size();
    const std::vector<double> branch = f.first(s.branch, n), zero(n, 0.0);
    if (of_depth) {
      for (Components& stream : streams) stream.push_back(zero);
      streams.emplace_back(own + 1, zero);
      streams.back().back() = branch;
    } else {
      std::vector<Components> next(count, Components(own + 1, zero));
      for (size_t j = 0; j < count; ++j) {
        for (size_t i = 0; i < count; ++i)
          for (size_t c = 0; c < own; ++c)
            weigh(f, s.carry, i * count + j, count * count, streams[i][c], next[j][c]);
        weigh(f, s.write, j, count, branch, next[j][own]);
      }
      streams = next;
    }
    const std::vector<double> out = f.first(s.output, n);
    beta2.emplace_back();
    for (size_t c = 0; c <= own; ++c) {
      std::vector<double> read;
      for (size_t i = 0; i < streams.size(); ++i) weigh(f, s.read, i, streams.size(), streams[i][c], read);
      beta2.back().push_back(variance(read) / variance(out));
    }
  }
  return beta2;
}

/// 1 - SiLU(a) of a sub-layer's layer, from the parameter.
double gpas_factor(const DisturbedModel& f, const std::string& sublayer) {
  const double a = f.parameter(sublayer.substr(0, sublayer.rfind('.')) + ".gpas", 1, 0.0)[0];
  return 1 - a / (1 + std::exp(-a));
}

constexpr size_t kTarget = 11, kSource = 9;  // of the first sequence, and of what a translation reads

/// Beta^2 of the first sequence, from the definition, in double: of each stack the rows of its own triangle.
std::map<std::string, std::vector<std::vector<double>>> reference_beta2(const DisturbedModel& f) {
  if (!stream_layout(f.config.decoder).one()) return {{"", beta2_of_streams(f)}};
  const size_t D = static_cast<size_t>(f.config.d_model);
  std::map<std::string, std::vector<std::vector<double>>> beta2;
  Components components, layer_input;
  for (const SublayerValues& s : f.model.sublayers) {
    const std::string stack = s.name.substr(0, s.name.find('L'));
    const size_t n = D * (stack == "enc." ? kSource : kTarget);
    if (beta2[stack].empty()) components = {f.first(stack.empty() ? f.model.embedding : s.input, n)};
    const Wiring& wiring = wiring_of(f.config, s);
    const std::vector<double> sum = f.first(s.sum, n), out = f.first(s.output, n);
    if (s.name.ends_with(".attn")) layer_input = components;
    if (wiring.enter != NormKind::None)
      normalise(components, f.first(s.input, n), wiring.enter, f.parameter(s.name + ".enter.gain", D, 1.0));
    const double constant = wiring.skip.kind == Scale::Kind::Constant ? wiring.skip.value : 1.0;
    std::vector<double> skip = f.parameter(s.name + ".skip", D, constant);
    const double of_branch = wiring.branch.kind == Scale::Kind::Constant ? wiring.branch.value : 1.0;
    std::vector<double> branch = f.parameter(s.name + ".branch", D, of_branch);
    for (size_t i = 0; i < D && wiring.branch.kind == Scale::Kind::Toward; ++i) {
      branch[i] = std::abs(branch[i]);
      skip[i] = 1 - branch[i];
    }
    const std::vector<double> gain = f.parameter(s.name + ".stream.gain", D, 1.0);
    const double gpas = gpas_factor(f, s.name);
    for (std::vector<double>& c : components)
      for (size_t i = 0; i < n; ++i) c[i] *= skip[i % D] * gpas;
    for (size_t j = 0; j < layer_input.size() && wiring.bottom; ++j)
      for (size_t i = 0; i < n; ++i) components[j][i] += layer_input[j][i];
    components.push_back(f.first(s.branch, n));
    for (size_t i = 0; i < n; ++i)
      components.back()[i] *= branch[i % D] * (wiring.stream == NormKind::None ? gpas : 1);
    if (wiring.stream != NormKind::None) normalise(components, sum, wiring.stream, gain);
    std::vector<double>& row = beta2[stack].emplace_back();
    for (const std::vector<double>& c : components) row.push_back(variance(c) / variance(out));
  }
  return beta2;
}

/// Returns how many rows the triangle of each stack has.
std::map<std::string, size_t> check_beta2(const DisturbedModel& f) {
  LiveMeasurements live(*f.program, f.model, f.config);
  std::vector<double> numbers(live.layout().size());
  live.measure(numbers);
  CHECK(live.residual() <= 1e-5);
  std::map<std::string, size_t> counts;
  for (const auto& [stack, rows] : reference_beta2(f))
    for (const std::vector<double>& row : rows) {
      const size_t i = ++counts[stack];
      double sum = 0;
      for (size_t j = 0; j < row.size(); ++j) {
        const double beta2 = number(live, numbers, fmt::format("{}beta2.{}.{}", stack, i, j));
        CHECK(std::abs(beta2 - row[j]) <= 1e-5 * (1 + row[j]));
        sum += beta2;
      }
      CHECK(std::abs(number(live, numbers, fmt::format("{}beta2.{}.sum", stack, i)) - sum) <= 1e-9);
    }
  if (counts.contains("dec.")) CHECK(number(live, numbers, "dec.L02.cross.attention_entropy") > 0.1);
  return counts;
}

TEST_CASE("residual dependency equals its definition in double precision, for every placement") {
  for (Placement placement : kPresets)
    for (NormKind norm : {NormKind::LayerNorm, NormKind::Simple, NormKind::Rms}) {
      INFO(to_string(placement) << " with " << short_name(norm));
      check_beta2(ReplayedModel(small_model(placement, norm)));
    }
}

TEST_CASE("the weights that several streams are read with are their means over the positions") {
  for (const Placement placement : known({"hyper", "mhc", "mhc-lite", "attn-res", "depth-average"})) {
    INFO(to_string(placement));
    const ReplayedModel f(small_model(placement, NormKind::LayerNorm));
    LiveMeasurements live(*f.program, f.model, f.config);
    std::vector<double> numbers(live.layout().size());
    live.measure(numbers);
    size_t behind = 1;
    for (const SublayerValues& s : f.model.sublayers) {
      const size_t count = stream_layout(f.config.decoder).over_depth() ? ++behind : 4;
      const bool shared = f.program->data().values[static_cast<size_t>(s.read)].shape.rank == 2;
      const std::vector<double> weights = f.first(s.read, shared ? count : count * 11);
      double sum = 0;
      for (size_t i = 0; i < count; ++i) {
        double mean = 0;
        for (size_t at = i; at < weights.size(); at += count)
          mean += weights[at] / static_cast<double>(weights.size() / count);
        const double read = number(live, numbers, fmt::format("{}.read.{}", s.name, i + 1));
        CHECK(read == Approx(mean).epsilon(1e-6).margin(1e-9));
        sum += read;
      }
      if (is(placement, "attn-res")) CHECK(sum == Approx(1).epsilon(1e-5));
    }
  }
}

TEST_CASE("residual dependency equals its definition where GPAS scales what a skip carries") {
  if (known({"gpas"}).empty()) return;
  for (Placement placement : {Placement::Post, Placement::DeepNorm, Placement::Admin, Placement::B2T}) {
    INFO(to_string(placement));
    ModelConfig config = small_model(placement, NormKind::LayerNorm);
    for (LayerWiring& layer : config.decoder.layers)
      for (Wiring* w : {&layer.attention, &layer.feed_forward}) *w = wiring_from(to_string(*w) + " gpas");
    check_beta2(ReplayedModel(config));
  }
}

TEST_CASE("the components add up to the state under every kind of norm") {
  for (NormKind norm : kNormKinds) {
    if (norm == NormKind::None) continue;
    for (Placement placement : {Placement::Post, Placement::Admin, Placement::DeepNorm}) {
      INFO(to_string(placement) << " with " << short_name(norm));
      ModelConfig config = small_model(placement, norm);
      config.adanorm_scale = 1.5f;
      config.adanorm_slope = 0.2f;
      const ReplayedModel f(config);
      LiveMeasurements live(*f.program, f.model, f.config);
      std::vector<double> numbers(live.layout().size());
      live.measure(numbers);
      CHECK(live.residual() <= 1e-5);
    }
  }
}

TEST_CASE("cosines, entropy and variances equal their definitions") {
  const ReplayedModel f(small_model(Placement::Admin));
  LiveMeasurements live(*f.program, f.model, f.config);
  std::vector<double> numbers(live.layout().size());
  live.measure(numbers);
  const size_t D = 24, T = 11;
  const SublayerValues& s = f.model.sublayers[2];  // L02.attn
  const std::vector<double> x = f.first(s.input, D * T), y = f.first(s.output, D * T);
  const auto cosine = [&](const double* a, const double* b) {
    double ab = 0, aa = 0, bb = 0;
    for (size_t k = 0; k < D; ++k) {
      ab += a[k] * b[k];
      aa += a[k] * a[k];
      bb += b[k] * b[k];
    }
    return ab / std::sqrt(aa * bb);
  };
  double tokens = 0, layers = 0;
  for (size_t t = 0; t < T; ++t) {
    layers += cosine(&x[t * D], &y[t * D]) / T;
    for (size_t u = 0; u < T; ++u)
      if (t != u) tokens += cosine(&y[t * D], &y[u * D]) / (T * (T - 1));
  }
  CHECK(number(live, numbers, "L02.attn.token_cosine") == Approx(tokens).margin(1e-6));
  CHECK(number(live, numbers, "L02.attn.layer_cosine") == Approx(layers).margin(1e-6));

  const std::vector<float> p = f.program->read("L02.attn.heads.probabilities");
  double entropy = 0;
  for (size_t i = 0; i < 3 * T * T; ++i)
    if (p[i] > 0) entropy -= p[i] * std::log(static_cast<double>(p[i])) / (3.0 * T);
  CHECK(entropy > 0.1);
  CHECK(number(live, numbers, "L02.attn.attention_entropy") == Approx(entropy).epsilon(1e-6));

  const std::vector<double> branch = f.first(s.branch, D * T), skip = f.parameter("L02.attn.skip", D, 1.0);
  std::vector<double> scaled = x;
  for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= skip[i % D];
  CHECK(number(live, numbers, "L02.attn.branch.variance") == Approx(variance(branch)).epsilon(1e-5));
  CHECK(number(live, numbers, "L02.attn.input.variance") == Approx(variance(scaled)).epsilon(1e-5));
}

TEST_CASE("row sums of beta^2 are near one at initialisation") {
  const auto backend = make_cpu_backend(2);
  for (Placement placement : {Placement::Post, Placement::Pre}) {
    ModelConfig config;
    config.vocabulary = 29;
    set_placement(config, placement);
    const Batch batch = random_batch(config, 4, 64, 2);
    Store store = initial_store(*backend, config, batch, 2);
    const auto beta2 = residual_dependency(store, config, batch);
    double mean = 0;
    for (const auto& row : beta2)
      for (double b : row) mean += b / static_cast<double>(beta2.size());
    INFO(to_string(placement) << " mean row sum " << mean);
    CHECK(mean > 0.85);
    CHECK(mean < 1.2);
  }
}

TEST_CASE("one-position gradients: the last layer is constant in depth for Post-LN and falls for Pre-LN") {
  // Theorem 1 of Xiong et al. in the theory's setting; three depths and one seed suffice to tell exponents 0
  // and -1/2 apart.
  const auto backend = make_cpu_backend(2);
  const auto last_layer = [&](Placement placement, int layers) {
    ModelConfig config;
    config.layers = layers;
    config.heads = 1;
    config.feed_forward = config.d_model;
    config.vocabulary = 64;
    config.sequence = 32;
    config.init = InitRule::Theory;
    config.gaussian_input = true;
    config.tied_output = false;
    config.output_projection = false;
    set_placement(config, placement);
    const Batch batch = random_batch(config, 2, 32, 4);
    Store store = initial_store(*backend, config, batch, 4);
    return gradient_profile(store, config, batch, 8).at(fmt::format("L{:02}.ffn.w2", layers));
  };
  const auto exponent = [&](Placement placement) {
    std::vector<double> x, y;
    for (int layers : {2, 6, 18}) {
      x.push_back(std::log(layers));
      y.push_back(std::log(last_layer(placement, layers)));
    }
    return linear_fit(x, y).slope;
  };
  CHECK(std::abs(exponent(Placement::Post)) < 0.15);
  CHECK(std::abs(exponent(Placement::Pre) + 0.5) < 0.15);
}

TEST_CASE("output change grows with the perturbation and leaves the store as it was") {
  const auto backend = make_cpu_backend(1);
  const ModelConfig config = small_model(Placement::Post);
  const Batch batch = random_batch(config, 2, 11, 1);
  Store store = initial_store(*backend, config, batch, 1);
  const std::vector<float> before = store.read(store.find("L01.attn.wq"));
  const double small = output_change(store, config, batch, 0.01, 1),
               large = output_change(store, config, batch, 0.1, 1);
  CHECK(small > 1e-6);
  CHECK(large > 20 * small);
  CHECK(large < 2.5);
  CHECK(store.read(store.find("L01.attn.wq")) == before);
  // Matrices of a layer that are 0 everywhere have noise of size 0. Nothing else may have any: neither the embedding nor
  // the output, which are not 0 here.
  for (size_t p = 0; p < store.parameters().size(); ++p) {
    const ParameterInfo& info = store.parameters()[p];
    if (info.layer > 0 && info.shape.rank == 2)
      store.write(static_cast<int32_t>(p), std::vector<float>(static_cast<size_t>(info.shape.size()), 0.0f));
  }
  CHECK(output_change(store, config, batch, 0.1, 1) == 0);
}

// The sequence that beta^2 and the other live measurements are taken on is the same at every step and for every run, so
// that only the weights can move the numbers.

namespace {

std::vector<float> frame_at(const Run& run, int32_t step) {
  std::vector<float> all;
  int32_t found = 0;
  REQUIRE(run.history()->frame(step, all, found));
  REQUIRE(found == step);
  return all;
}

/// The live numbers of a run at a step, in the layout's order. Those of its update follow, which are of the
/// step's batch.
std::vector<float> live_at(const Run& run, int32_t step) {
  const std::vector<float> all = frame_at(run, step);
  const std::vector<StatInfo>& layout = run.history()->layout();
  const auto end =
      std::ranges::find_if(layout, [](const StatInfo& stat) { return stat.name.ends_with(".spike_ratio"); });
  return {all.begin() + run.history()->find("L01.attn.token_cosine"), all.begin() + (end - layout.begin())};
}

}  // namespace

TEST_CASE("measured sequence: with weights that stand still every number stands still") {
  RunSpec spec = small_spec("post");
  set_field(spec, "train.lr", "1e-30");  // far below the spacing of any weight that is not zero
  const auto run = make_run(spec, 4);
  const Series loss = run->history()->loss();
  CHECK(loss.values[0] != loss.values[1]);  // the batches do change
  for (int32_t step = 2; step <= 4; ++step) CHECK(same_bits(live_at(*run, step), live_at(*run, 1)));
}

TEST_CASE("measured sequence: seed, batch size and text to come do not choose it") {
  const auto a = make_run(small_spec("pre")), b = make_run(spec_with("pre", {{"train.batch", "7"}}));
  a->step();
  b->step();
  CHECK(same_bits(live_at(*a, 1), live_at(*b, 1)));
  const auto other = make_run(small_spec("pre", 2));  // another network on the same sequence
  const Batch one = measured_row(a->task(), 16), two = measured_row(other->task(), 16);
  CHECK(one.tokens == two.tokens);
}

TEST_CASE("measured sequence: a step's numbers are of the weights that its gradient is of") {
  const auto run = make_run(small_spec("post"));
  Look sequence(run->store(), run->spec().model, measured_row(run->task(), 16));
  for (int32_t step = 1; step <= 3; ++step) {
    const std::vector<double> before = sequence.measure();
    run->step();
    const std::vector<float> recorded = live_at(*run, step);
    REQUIRE(recorded.size() == before.size());
    for (size_t i = 0; i < before.size(); ++i) CHECK(recorded[i] == static_cast<float>(before[i]));
    CHECK(static_cast<float>(sequence.measure()[0]) != recorded[0]);
    CHECK(sequence.residual() < 1e-5);
  }
}

TEST_CASE("measured sequence: both stacks of a translation") {
  const auto run = make_run(
      spec_with("pre", {{"model.architecture", "encoder-decoder"}, {"data.name", "translation"}}), 2);
  for (const char* name : {"enc.beta2.4.sum", "dec.beta2.6.sum"})  // 2 layers: 2 and 3 sub-layers each
    CHECK(std::isfinite(frame_at(*run, 2).at(static_cast<size_t>(run->history()->find(name)))));
  Look sequence(run->store(), run->spec().model, measured_row(run->task(), 16));
  sequence.measure();
  CHECK(sequence.residual() < 1e-5);
}

// These tests hold live measurements of an encoder-decoder (residual dependency of each stack, cross-attention a branch
// of its own) against the definition in double precision on the same tensors; and what they cost.

ModelConfig both_stacks(Placement encoder, Placement decoder) {
  ModelConfig config = small_model(decoder);
  config.architecture = Architecture::EncoderDecoder;
  config.encoder_layers = 2;
  config.decoder = preset_stack(decoder, config.norm, context_of(config, true));
  config.encoder = preset_stack(encoder, config.norm, context_of(config, false));
  return config;
}

struct Translation : DisturbedModel {
  explicit Translation(const ModelConfig& c)
      : DisturbedModel(c,
                       {.batch = 3, .sequence = kTarget, .source_sequence = static_cast<int32_t>(kSource)}) {
    int32_t k = 0;
    for (const char* input : {"tokens", "targets", "source"})
      for (int32_t& token : program->tokens(input)) token = ++k * 7 % 17;
    program->replay({.seed = 1, .lr = 0.0f});
  }
};

}  // namespace

TEST_CASE("residual dependency of both stacks equals its definition, cross-attention a branch of its own") {
  for (auto [encoder, decoder] : {std::pair{Placement::Post, Placement::Post},
                                  {Placement::Pre, Placement::Pre},
                                  {Placement::Post, Placement::Pre},
                                  {Placement::Admin, Placement::DeepNorm},
                                  {Placement::Sandwich, Placement::ReZero}}) {
    INFO(to_string(encoder) << " encoder, " << to_string(decoder) << " decoder");
    const Translation f(both_stacks(encoder, decoder));
    // 2 layers of two sub-layers, 3 of three: cross-attention is a branch of its own.
    CHECK(check_beta2(f) == std::map<std::string, size_t>{{"enc.", 4}, {"dec.", 9}});
  }
}

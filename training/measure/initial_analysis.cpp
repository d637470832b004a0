#include "training/measure/initial_analysis.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/tape/backend.h"
#include "engine/tape/program.h"
#include "engine/tape/seal.h"
#include "training/measure/look.h"

namespace normscope {
namespace {

uint32_t bounded(uint32_t word, int32_t bound) {
  return static_cast<uint32_t>(uint64_t{word} * static_cast<uint64_t>(bound) >> 32);
}

/// Standard normal numbers for one purpose, as Store draws them.
std::vector<float> normals(const std::string& name, int64_t size, uint64_t seed) {
  return initial_values(name, {size}, {Init::Kind::Normal, 1.0}, seed);
}

/// The final state with each token's mean removed, scaled to unit variance.
std::vector<double> normalised_state(const std::vector<float>& x, size_t width) {
  std::vector<double> out(x.begin(), x.end());
  double square = 0;
  for (size_t r = 0; r < out.size(); r += width) {
    double mean = 0, row = 0;
    for (size_t c = 0; c < width; ++c) mean += out[r + c];
    mean /= static_cast<double>(width);
    for (size_t c = 0; c < width; ++c) row += (out[r + c] -= mean) * out[r + c];
    square += row;
  }
  const double scale = square > 0 ? std::sqrt(static_cast<double>(out.size()) / square) : 0;
  for (double& v : out) v *= scale;
  return out;
}

std::vector<double> final_state(Store& store, const ModelConfig& config, const Batch& batch) {
  Look look(store, config, batch);
  look.replay();
  return normalised_state(look.read(look.values().hidden), static_cast<size_t>(config.d_model));
}

/// Holds for "L03.ffn.w2", "enc.L03.ffn.w2"; not for "emb.tokens", "out.w".
bool in_a_layer(std::string_view name) {
  const std::string_view rest = name.substr(name.find('L') < name.size() ? name.find('L') : name.size());
  return rest.size() > 2 && std::isdigit(static_cast<unsigned char>(rest[1])) &&
         std::isdigit(static_cast<unsigned char>(rest[2]));
}

double standard_deviation(const std::vector<float>& x) {
  double mean = 0, square = 0;
  for (float v : x) mean += v;
  mean /= static_cast<double>(x.size());
  for (float v : x) square += (v - mean) * (v - mean);
  return std::sqrt(square / static_cast<double>(x.size()));
}

}  // namespace

Batch random_batch(const ModelConfig& config, int32_t B, int32_t T, uint64_t seed) {
  Batch batch(B, T);
  for (const auto& [name, numbers] :
       {std::pair("measure.tokens", &batch.tokens), {"measure.targets", &batch.targets}})
    for (size_t i = 0; i < numbers->size(); ++i)
      (*numbers)[i] = static_cast<int32_t>(
          bounded(random_word(i, site_of(name), 0, Purpose::Batch, seed), config.vocabulary));
  if (config.gaussian_input) batch.x = normals("measure.x", int64_t{B} * T * config.d_model, seed);
  return batch;
}

Store initial_store(Backend& backend, const ModelConfig& config, const Batch& batch, uint64_t seed) {
  Store store(backend);
  Tape tape(store);
  record_transformer(tape, config, record_options(shape_of(batch), false));
  store.materialize(seed);
  if (!config.gaussian_input) profile_admin(store, config, batch.tokens, batch.B, batch.T);
  return store;
}

double GradientProfile::at(const std::string& name) const {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return norms[i];
  fail("measure", "there is no gradient of '{}'", name);
}

GradientProfile gradient_profile(Store& store, const ModelConfig& config, const Batch& batch,
                                 int32_t positions) {
  Tape tape(store);
  RecordOptions options = record_options(shape_of(batch), false);
  options.row_weights = true;
  const ModelValues model = record_transformer(tape, config, options);
  Program program = seal(tape, {.loss = model.loss, .update = kNoOp});
  put(batch, program);

  const ProgramData& data = program.data();
  GradientProfile profile;
  for (int32_t p : data.parameter_order)
    profile.names.push_back(store.parameters()[static_cast<size_t>(p)].name);
  profile.norms.assign(profile.names.size(), 0.0);
  const std::span<float> weights = program.floats("weights");
  const int32_t count = std::max(positions, 1);
  for (int32_t k = 0; k < count; ++k) {
    std::ranges::fill(weights, positions > 0 ? 0.0f : 1.0f);
    // The middle of each of `count` equal parts of the batch.
    if (positions > 0)
      weights[(static_cast<size_t>(k) * 2 + 1) * weights.size() / (2 * static_cast<size_t>(count))] = 1.0f;
    program.replay({});
    for (size_t p = 0; p < profile.norms.size(); ++p) {
      const double norm = program.stats()[static_cast<size_t>(data.grad_norm_stat) + p];
      profile.norms[p] += norm * norm / count;
    }
  }
  for (double& norm : profile.norms) norm = std::sqrt(norm);
  return profile;
}

std::string predicting_prefix(const ModelConfig& config) {
  return config.architecture == Architecture::EncoderDecoder ? "dec." : "";
}

std::vector<std::vector<double>> residual_dependency(Store& store, const ModelConfig& config,
                                                     const Batch& batch) {
  Look look(store, config, batch);
  const std::vector<double> numbers = look.measure();
  return shares_in(look.layout(), numbers, config);
}

std::vector<std::vector<double>> shares_in(std::span<const StatInfo> layout, std::span<const double> numbers,
                                           const ModelConfig& config) {
  const std::string begin = predicting_prefix(config) + "beta2.";
  std::vector<std::vector<double>> beta2;
  for (size_t k = 0; k < numbers.size(); ++k) {
    const std::string& name = layout[k].name;
    if (!name.starts_with(begin)) continue;
    if (name.ends_with(".sum"))
      beta2.emplace_back();
    else
      beta2.back().push_back(numbers[k]);
  }
  return beta2;
}

double sum_of_own_shares(const std::vector<std::vector<double>>& beta2) {
  if (beta2.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const std::vector<double>& row : beta2) sum += row.back();
  return sum;
}

double output_change(const Store& store, const ModelConfig& config, const Batch& batch, double relative,
                     uint64_t seed) {
  Store before = store.clone(), after = store.clone();
  for (size_t p = 0; p < after.parameters().size(); ++p) {
    const ParameterInfo& info = after.parameters()[p];
    // Matrices of the sub-layers only: x_0 is the input that both networks share.
    if (info.shape.rank != 2 || !info.trainable || !in_a_layer(info.name)) continue;
    std::vector<float> w = after.read(static_cast<int32_t>(p));
    const double size = relative * standard_deviation(w);
    const std::vector<float> noise = normals(info.name + ".perturb", info.shape.size(), seed);
    for (size_t i = 0; i < w.size(); ++i) w[i] += static_cast<float>(size * noise[i]);
    after.write(static_cast<int32_t>(p), w);
  }
  return output_difference(before, after, config, batch);
}

double output_difference(Store& before, Store& after, const ModelConfig& config, const Batch& batch) {
  const std::vector<double> a = final_state(before, config, batch), b = final_state(after, config, batch);
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

LinearFit linear_fit(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() != y.size() || x.size() < 2)
    fail("fit", "{} and {} points: expected as many, two at least", x.size(), y.size());
  const double n = static_cast<double>(x.size());
  double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mx += x[i] / n;
    my += y[i] / n;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    xy += (x[i] - mx) * (y[i] - my);
    yy += (y[i] - my) * (y[i] - my);
  }
  LinearFit fit;
  fit.slope = xx > 0 ? xy / xx : 0;
  fit.r2 = xx > 0 && yy > 0 ? xy * xy / (xx * yy) : 0;
  return fit;
}

}  // namespace normscope

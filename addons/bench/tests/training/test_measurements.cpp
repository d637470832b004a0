// These tests hold measurements of a run on request against plain double-precision computations on tensors of its own
// validation batches, and against what the theory says of them.
#include <algorithm>

#include "addons/bench/training/measurements.h"
#include "engine/support/named_placements.h"
#include "reference/ops.h"
#include "training/measure/look.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

using Doubles = std::vector<double>;

/// A program of its own that has read one of the run's batches, and of a training batch has the gradients.
std::pair<Program, BatchShape> with_batch(Run& run, uint64_t i, Split split) {
  const RunSpec& spec = run.spec();
  const int32_t B = spec.train.batch, T = spec.model.sequence;
  const BatchShape shape = run.task().shape(spec.seed, i, split, B, T);
  Tape tape(run.store());
  const ModelValues values = record_transformer(tape, spec.model, record_options(shape, false));
  Program program = seal(tape, {.loss = values.loss, .backward = split == Split::Train, .update = kNoOp});
  run.task().fill(spec.seed, i, split, B, T, inputs_of(program, shape));
  program.replay({});
  return {std::move(program), shape};
}

/// What is asked for of the validation batches, one array a batch.
std::vector<std::map<std::string, Doubles>> tensors_of(Run& run, const std::vector<std::string>& names) {
  std::vector<std::map<std::string, Doubles>> all;
  for (uint64_t i = 1; i <= 2; ++i) {
    const Program program = with_batch(run, i, Split::Validation).first;
    for (all.emplace_back(); const std::string& name : names) {
      const std::vector<float> x = program.read(name);
      all.back()[name] = Doubles(x.begin(), x.end());
    }
  }
  return all;
}

/// The rows of a tensor in the validation batches.
std::vector<Doubles> rows_of(Run& run, const std::string& name) {
  std::vector<Doubles> rows;
  for (const auto& batch : tensors_of(run, {name}))
    for (auto row = batch.at(name).begin(); row != batch.at(name).end(); row += 16)
      rows.emplace_back(row, row + 16);
  return rows;
}

double mean(const Doubles& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

/// The largest singular value of the Jacobian of one normalised row, by power iteration on J^T J
/// with central differences of the reference.
double jacobian_norm(NormKind kind, const Doubles& x, double eps) {
  const auto n = static_cast<int64_t>(x.size());
  const auto f = [&](const Doubles& at) {
    return reference::layer_norm<double>(kind, at, {}, {}, n, eps).out;
  };
  std::vector<Doubles> columns;
  for (size_t j = 0; j < x.size(); ++j) {
    Doubles up(x), down(x);
    const double h = 1e-5;
    up[j] += h;
    down[j] -= h;
    Doubles a = f(up), b = f(down);
    for (size_t i = 0; i < a.size(); ++i) a[i] = (a[i] - b[i]) / (2 * h);
    columns.push_back(a);
  }
  Doubles v(x.size());
  for (size_t j = 0; j < v.size(); ++j) v[j] = std::sin(1.0 + 3.7 * static_cast<double>(j));
  double norm = 0;
  for (int round = 0; round < 200; ++round) {
    Doubles y(x.size(), 0.0), z(x.size(), 0.0);
    for (size_t j = 0; j < v.size(); ++j)
      for (size_t i = 0; i < y.size(); ++i) y[i] += columns[j][i] * v[j];
    for (size_t j = 0; j < v.size(); ++j)
      for (size_t i = 0; i < y.size(); ++i) z[j] += columns[j][i] * y[i];
    norm = 0;
    for (double e : z) norm += e * e;
    norm = std::sqrt(norm);
    for (size_t j = 0; j < v.size(); ++j) v[j] = z[j] / norm;
  }
  return std::sqrt(norm);
}

template <typename Row>
const Row& row_of(const std::vector<Row>& rows, const std::string& name) {
  for (const Row& row : rows)
    if (row.name == name) return row;
  throw Error("no row " + name);
}

}  // namespace

TEST_CASE("examine: the Jacobian of every norm with statistics has the spectral norm 1/sigma") {
  for (const NormKind kind : kNormKinds) {
    const char* const norm = short_name(kind);
    INFO(norm);
    if (kind == NormKind::None || !traits_of(kind).has_statistics || traits_of(kind).has_factor) continue;
    const auto run = make_run(spec_with("post", {{"model.norm", norm}}), 12);
    const std::vector<NormJacobian> measured = jacobian_norms(*run);
    CHECK(measured.size() == 4);
    Doubles norms;
    for (const Doubles& row : rows_of(*run, "L02.attn.sum")) norms.push_back(jacobian_norm(kind, row, 1e-5));
    const NormJacobian& one = row_of(measured, "L02.attn.stream");
    CHECK(one.mean == Approx(mean(norms)).epsilon(1e-4));
    CHECK(one.largest == Approx(std::ranges::max(norms)).epsilon(1e-4));
    CHECK(one.largest > 1.01 * one.mean);
  }
}

TEST_CASE("examine: DyT's Jacobian is alpha times the steepest slope, no 1/sigma") {
  const auto run = make_run(spec_with("pre", {{"model.norm", "dyt"}}), 10);
  const double alpha = static_cast<double>(run->store().read(run->store().find("L02.ffn.before.alpha"))[0]);
  Doubles steepest;
  for (const Doubles& row : rows_of(*run, "L02.attn.sum")) {  // what the norm before the next branch reads
    steepest.push_back(0);
    for (double x : row)
      steepest.back() = std::max(steepest.back(), alpha / std::pow(std::cosh(alpha * x), 2));
  }
  const NormJacobian one = row_of(jacobian_norms(*run), "L02.ffn.before");
  CHECK(one.mean == Approx(mean(steepest)).epsilon(1e-5));
  CHECK(one.largest <= alpha * (1 + 1e-6));
  // A slope that diverged is not taken for one of zero.
  run->store().write(run->store().find("L02.ffn.before.alpha"), std::vector<float>{NAN});
  CHECK(std::isnan(row_of(jacobian_norms(*run), "L02.ffn.before").mean));
}

TEST_CASE("examine: Derf's Jacobian is alpha times the bell curve nearest its shift") {
  const auto run = make_run(spec_with("pre", {{"model.norm", "derf"}}), 10);
  const auto number = [&](const char* name) {
    return static_cast<double>(run->store().read(run->store().find(name))[0]);
  };
  run->store().write(run->store().find("L02.ffn.before.shift"), std::vector<float>{0.7f});
  const double alpha = number("L02.ffn.before.alpha"), shift = number("L02.ffn.before.shift");
  Doubles steepest, unshifted;
  for (const Doubles& row : rows_of(*run, "L02.attn.sum")) {
    steepest.push_back(0);
    unshifted.push_back(0);
    for (double x : row) {
      const double bell = 2 / std::sqrt(std::acos(-1.0)) * alpha;
      steepest.back() = std::max(steepest.back(), bell * std::exp(-std::pow(alpha * x + shift, 2)));
      unshifted.back() = std::max(unshifted.back(), bell * std::exp(-std::pow(alpha * x, 2)));
    }
  }
  const NormJacobian one = row_of(jacobian_norms(*run), "L02.ffn.before");
  CHECK(one.mean == Approx(mean(steepest)).epsilon(1e-5));
  CHECK(std::abs(one.mean - mean(unshifted)) > 1e-3 * one.mean);
}

TEST_CASE("examine: concentration of the row norms") {
  const auto run = make_run(small_spec("pre"), 5);
  Doubles squares;
  for (const Doubles& row : rows_of(*run, "L02.ffn.sum"))
    squares.push_back(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
  const double mean_square = mean(squares);
  for (double epsilon : {0.1, 0.3}) {
    double above = 0;
    for (double z : squares) above += z > (1 + epsilon) * mean_square ? 1 : 0;
    const std::vector<Concentration> measured = concentrations(*run, epsilon, 0.125);
    CHECK(measured.size() == 4);
    const Concentration& one = row_of(measured, "L02.ffn");
    CHECK(one.mean == Approx(mean_square).epsilon(1e-6));
    CHECK(one.delta == Approx(above / static_cast<double>(squares.size())).epsilon(1e-9));
    CHECK(one.delta > 0);
    // The smallest bound that 1/8 of the rows may exceed: nothing smaller will do.
    int64_t beyond = 0, nearly = 0;
    for (double z : squares) {
      beyond += z > (1 + one.epsilon) * mean_square * (1 + 1e-6);
      nearly += z > (1 + one.epsilon) * mean_square * (1 - 1e-6);
    }
    CHECK(8 * beyond <= static_cast<int64_t>(squares.size()));
    CHECK(8 * nearly > static_cast<int64_t>(squares.size()));
  }
  // A wider model is more concentrated (norm-science B.8).
  RunSpec wide = spec_with("pre", {{"model.d_model", "256"}});
  CHECK(row_of(concentrations(*make_run(wide)), "L02.ffn").delta <
        row_of(concentrations(*make_run(small_spec("pre"))), "L02.ffn").delta);
}

TEST_CASE("examine: the norm of the mean gradient and the mean of the norms") {
  const auto run = make_run(small_spec("post"), 4);
  constexpr int32_t kBatches = 5;
  Doubles mean;
  double norms = 0;
  for (uint64_t i = 5; i < 5 + kBatches; ++i) {
    const std::vector<float> g = with_batch(*run, i, Split::Train).first.read("L01.ffn.w2", true);
    mean.resize(g.size(), 0.0);
    double square = 0;
    for (size_t k = 0; k < g.size(); ++k) {
      mean[k] += static_cast<double>(g[k]) / kBatches;
      square += static_cast<double>(g[k]) * static_cast<double>(g[k]);
    }
    norms += std::sqrt(square) / kBatches;
  }
  double square = 0;
  for (double g : mean) square += g * g;
  const MeanGradient one = row_of(mean_gradients(*run, kBatches), "L01.ffn.w2");
  CHECK(one.norm_of_mean == Approx(std::sqrt(square)).epsilon(1e-9));
  CHECK(one.mean_of_norms == Approx(norms).epsilon(1e-9));
  CHECK(one.norm_of_mean < 0.99 * one.mean_of_norms);
  for (const MeanGradient& g : mean_gradients(*run, 1)) CHECK(g.norm_of_mean == Approx(g.mean_of_norms));
  CHECK_THROWS_AS(mean_gradients(*run, 0), Error);
}

TEST_CASE("examine: the largest attention logit, of whole and of windowed attention") {
  const size_t window = GENERATE(as<size_t>(), 16, 4);
  const bool alibi = GENERATE(false, true);
  INFO("window " << window << ", ALiBi " << alibi);
  RunSpec spec = small_spec("pre");
  if (window < 16) set_field(spec, "model.attention_window", std::to_string(window));
  spec.model.positions = positions_or(alibi ? "alibi" : "learned", spec.model.positions);
  set_field(spec, "train.lr", "0.02");
  const auto run = make_run(spec, 40);
  double largest = -INFINITY, square = 0, count = 0;
  for (const auto& batch : tensors_of(*run, {"L02.attn.q", "L02.attn.k"})) {
    const Doubles &q = batch.at("L02.attn.q"), &k = batch.at("L02.attn.k");
    for (size_t b = 0; b < 4; ++b)
      for (size_t h = 0; h < 2; ++h)
        for (size_t t = 0; t < 16; ++t)
          for (size_t s = t < window ? 0 : t - window + 1; s <= t; ++s) {
            double logit = 0;
            for (size_t j = 0; j < 8; ++j)
              logit += q[(b * 16 + t) * 16 + h * 8 + j] * k[(b * 16 + s) * 16 + h * 8 + j] / std::sqrt(8.0);
            if (row_of(spec.model.positions).alibi)
              logit -= (h == 0 ? 1 / 16.0 : 1 / 256.0) * static_cast<double>(t - s);
            largest = std::max(largest, logit);
            square += logit * logit;
            count += 1;
          }
  }
  const LogitSize one = row_of(logit_sizes(*run), "L02.attn");
  CHECK(one.largest == Approx(largest).epsilon(1e-6));
  CHECK(one.root_mean_square == Approx(std::sqrt(square / count)).epsilon(1e-6));
}

TEST_CASE("examine: the rate that a layer feels is its next update over its weights") {
  const auto run = make_run(small_spec("pre"), 6);
  const std::vector<UpdateRatio> update_ratio = update_ratios(*run);
  const auto before = run->store().clone();
  run->step();
  double update = 0, weight = 0, size = 0;
  for (const ParameterInfo& info : run->store().parameters()) {
    if (!info.name.starts_with("L02.")) continue;
    const std::vector<float> a = before.read(before.find(info.name)),
                             b = run->store().read(run->store().find(info.name));
    for (size_t i = 0; i < a.size(); ++i) {
      update += std::pow(static_cast<double>(b[i]) - static_cast<double>(a[i]), 2);
      weight += std::pow(static_cast<double>(b[i]), 2);
      size += 1;
    }
  }
  const UpdateRatio& one = row_of(update_ratio, "L02");
  CHECK(update_ratio.size() == 3);  // what stands outside the layers, and two layers
  CHECK(one.update == Approx(std::sqrt(update / size)).epsilon(1e-4));
  CHECK(one.weight == Approx(std::sqrt(weight / size)).epsilon(1e-6));
  CHECK(one.ratio() == Approx(std::sqrt(update / weight)).epsilon(1e-4));
}

TEST_CASE("examine: what is measured of the next update is what the step then measures of itself") {
  const auto run = make_run(small_spec("pre"), 6);
  const std::vector<UpdateNumbers> next = next_update(*run);
  CHECK(run->steps_done() == 6);
  run->step();
  const auto newest = [&](const std::string& name) {
    return static_cast<double>(run->history()->series(run->history()->find(name)).values.back());
  };
  REQUIRE(next.size() >= 4);  // two layers, embeddings, what follows the layers
  for (const UpdateNumbers& u : next) {
    INFO(u.name);
    CHECK(u.spike_ratio == newest(u.name + ".spike_ratio"));
    CHECK(u.update_cosine == newest(u.name + ".update_cosine"));
  }
  CHECK(row_of(next, "L02").update_cosine != row_of(next, "L01").update_cosine);
}

TEST_CASE("examine: padding counts for nothing") {
  const Folder folder;
  std::string text;  // rows of 2 to 12 letters
  for (int i = 0; i < 60; ++i)
    text +=
        (i % 2 ? "up\t" : "down\t") + std::string(static_cast<size_t>(2 + i % 11), i % 2 ? 'u' : 'd') + "\n";
  const RunSpec spec =
      spec_with("post", {{"model.architecture", "encoder"}, {"data.labels", folder.write("rows.tsv", text)}});
  Run run(spec, make_task(spec.data), shared_backend());
  steps(run, 3);
  Doubles all, counted;
  const int32_t count = std::min(4, run.task().validation_batches(4, 16));
  for (uint64_t i = 1; i <= static_cast<uint64_t>(count); ++i) {
    auto [program, shape] = with_batch(run, i, Split::Validation);
    const BatchView to = inputs_of(program, shape);
    const std::vector<float> x = program.read("L01.attn.sum"),
                             inverse = program.read("L01.attn.stream.inverse_sigma");
    REQUIRE(to.key_lengths.size() == static_cast<size_t>(shape.rows));
    for (size_t r = 0; r < inverse.size(); ++r) {
      const auto length = static_cast<size_t>(shape.length);
      all.push_back(static_cast<double>(inverse[r]));
      if (static_cast<int32_t>(r % length) < to.key_lengths[r / length]) counted.push_back(all.back());
    }
  }
  REQUIRE(counted.size() < all.size());
  REQUIRE(std::abs(mean(counted) / mean(all) - 1) > 1e-3);
  CHECK(row_of(jacobian_norms(run), "L01.attn.stream").mean == Approx(mean(counted)).epsilon(1e-6));
}

TEST_CASE("examine: both stacks of an encoder-decoder") {
  const auto run =
      make_run(spec_with("post", {{"model.architecture", "encoder-decoder"}, {"data.name", "copy"}}), 3);
  CHECK(logit_sizes(*run).size() == 6);
  CHECK(concentrations(*run).size() == 10);
  CHECK(jacobian_norms(*run).size() == 10);
  for (const MeanGradient& g : mean_gradients(*run, 2)) CHECK(std::isfinite(g.mean_of_norms));
  CHECK(row_of(update_ratios(*run), "dec.L02").ratio() > 0);
}

TEST_CASE("examine: no bit of the run changes") {
  const auto looked_at = make_run(small_spec("admin")), alone = make_run(small_spec("admin"));
  for (int i = 0; i < 3; ++i) {
    steps(*looked_at, 3);
    steps(*alone, 3);
    mean_gradients(*looked_at, 2);
    logit_sizes(*looked_at);
    jacobian_norms(*looked_at);
    concentrations(*looked_at);
    update_ratios(*looked_at);
  }
  CHECK(first_difference(looked_at->store(), alone->store()) == "");
}

TEST_CASE("examine: the norms of networks whose rows have no positions") {
  const RunSpec images = with_fields(
      preset_run("convnet"), {{"model.channels", "2"}, {"model.channels_2", "3"}, {"data.digits", "48"}});
  const RunSpec trees = with_fields(
      preset_run("parser"),
      {{"model.layers", "2"}, {"model.d_model", "4"}, {"model.feed_forward", "8"}, {"train.batch", "16"}});
  for (const RunSpec& spec : {images, trees}) {
    INFO(get_field(spec, "model.architecture"));
    Run run(spec, make_task(spec.data), shared_backend());
    const std::vector<NormJacobian> norms = jacobian_norms(run);
    CHECK(norms.size() == 2);
    for (const NormJacobian& norm : norms) {
      INFO(norm.name);
      CHECK(norm.mean > 0);
      CHECK(norm.largest >= norm.mean);
      CHECK(std::isfinite(norm.largest));
    }
    CHECK(logit_sizes(run).empty());
    CHECK(concentrations(run).empty());
    for (const UpdateRatio& f : update_ratios(run)) CHECK(std::isfinite(f.update));
  }
}

}  // namespace normscope::test

// These tests hold what is measured of an update against closed forms and against its definition, number by number in
// double precision, under every optimizer. None of it changes a bit of a run.
#include <numbers>

#include "engine/cpu/measure_rows.h"
#include "training/measure/spectrum.h"
#include "training/support/small_runs.h"

namespace normscope::test_update_metrics {

using namespace normscope::test;

namespace {

RunSpec spec_of(const std::string& optimizer, const char* decay = "0", const char* clip = "0") {
  RunSpec spec =
      spec_with("pre", {{"train.optimizer", optimizer}, {"train.weight_decay", decay}, {"train.clip", clip}});
  if (!keeps_second_moment(spec.train.optimizer)) set_field(spec, "train.lr", "0.05");
  return spec;
}

/// An eps below all gradients: key biases have nothing but rounding, about as large as the usual eps.
RunSpec bare_spec(const std::string& optimizer) {
  return with_fields(spec_of(optimizer), {{"train.eps", "1e-15"}});
}

double newest(const Run& run, const std::string& name) {
  const int32_t stat = run.history()->find(name);
  INFO(name);
  REQUIRE(stat >= 0);
  return static_cast<double>(run.history()->series(stat).values.back());
}

/// The layers, and what stands outside them, as the history names them.
std::vector<std::string> parts(const Run& run) {
  const std::string ending = ".update_cosine";
  std::vector<std::string> names;
  for (const StatInfo& stat : run.history()->layout())
    if (stat.name.ends_with(ending)) names.push_back(stat.name.substr(0, stat.name.size() - ending.size()));
  return names;
}

/// Calls body(parameter, gradient, before, after, v) for every number of a part in the last step.
using Body = std::function<void(const ParameterInfo&, double, double, double, double)>;
void each_number(Run& run, const Store& before, const std::string& part, const Body& body) {
  for (const ParameterInfo& info : run.store().parameters()) {
    if (!info.trainable || !info.name.starts_with(part + ".")) continue;
    const int32_t at = run.store().find(info.name);
    const std::vector<float> g = run.program().read(info.name, true),
                             w0 = before.read(before.find(info.name)), w1 = run.store().read(at),
                             v = run.store().read(at, Store::Block::V);
    for (size_t i = 0; i < g.size(); ++i)
      body(info, static_cast<double>(g[i]), static_cast<double>(w0[i]), static_cast<double>(w1[i]),
           static_cast<double>(v[i]));
  }
}

/// The share of a part's numbers that have a gradient: a silent unit's have none.
double share_reached(Run& run, const std::string& part) {
  double reached = 0, all = 0;
  each_number(run, run.store(), part, [&](const ParameterInfo&, double g, double, double, double) {
    reached += g != 0;
    all += 1;
  });
  return reached / all;
}

}  // namespace

TEST_CASE("updates: plain SGD goes straight down, its momentum turns away") {
  const auto sgd = make_run(spec_of("sgd"), 5), momentum = make_run(spec_of("momentum"));
  momentum->step();
  REQUIRE(parts(*sgd).size() >= 4);
  for (const std::string& part : parts(*sgd)) {
    INFO(part);
    CHECK(newest(*sgd, part + ".update_cosine") == Approx(1).margin(1e-5));
    CHECK(newest(*momentum, part + ".update_cosine") ==
          Approx(1).margin(1e-5));  // there is nothing to remember yet
    CHECK(std::isnan(newest(*sgd, part + ".spike_ratio")));
    CHECK(std::isnan(newest(*momentum, part + ".spike_ratio")));
  }
  steps(*momentum, 4);
  for (const char* part : {"L01", "L02"})
    CHECK(newest(*momentum, std::string(part) + ".update_cosine") < 0.999);
}

TEST_CASE("updates: Adam's first step has the gradient's signs, and gradients as large as remembered") {
  const auto run = make_run(bare_spec("adam"));
  const Store before = run->store().clone();
  run->step();
  for (const char* part : {"L01", "L02"}) {
    double sizes = 0, squares = 0, count = 0;
    each_number(*run, before, part, [&](const ParameterInfo&, double g, double, double, double) {
      sizes += std::abs(g);
      squares += g * g;
      count += g != 0;
    });
    const double cosine = sizes / std::sqrt(count * squares);
    CHECK(cosine < 0.95);
    CHECK(newest(*run, std::string(part) + ".update_cosine") == Approx(cosine).epsilon(1e-3));
    CHECK(newest(*run, std::string(part) + ".spike_ratio") ==
          Approx(std::sqrt(share_reached(*run, part))).epsilon(1e-3));
  }
}

TEST_CASE("updates: a gradient ten times those before it makes a spike of a known height") {
  constexpr int kSteps = 10;
  for (const double times : {1.0, 10.0}) {
    const auto run = make_run(bare_spec("adamw"), kSteps);
    const auto next = run->fork(run->spec());
    next->step();  // the gradient that the run's own next step will have
    const double beta = static_cast<double>(run->spec().train.beta2), past = 1 - std::pow(beta, kSteps);
    for (const ParameterInfo& info : run->store().parameters()) {
      if (!info.trainable) continue;
      std::vector<float> v =
          next->program().read(info.name, true);  // then v, had all gradients been a part of it
      for (float& x : v) x = static_cast<float>(past * std::pow(static_cast<double>(x) / times, 2));
      run->store().write(run->store().find(info.name), v, Store::Block::V);
    }
    run->step();
    const double joined = beta * past + (1 - beta) * times * times, now = 1 - std::pow(beta, kSteps + 1);
    const double height = times / std::sqrt(joined / now);
    CHECK(height == Approx(times == 1 ? 1 : 3.0240).epsilon(1e-3));
    for (const char* part : {"L01", "L02"}) {
      INFO(part << " " << times);
      const double measured =
          newest(*run, std::string(part) + ".spike_ratio") / std::sqrt(share_reached(*run, part));
      CHECK(measured == Approx(height).epsilon(2e-3));
      if (times == 1) continue;
      CHECK(std::abs(measured - times) > 1);                      // v without this gradient
      CHECK(std::abs(measured - times / std::sqrt(joined)) > 1);  // without the correction of its bias
    }
  }
}

TEST_CASE("updates: both numbers are those of their definition under every optimizer") {
  for (const Optimizer optimizer : kOptimizers) {
    const RunSpec spec = spec_of(to_string(optimizer), "0.1", "0.5");
    const auto run = make_run(spec, 6);
    const Store before = run->store().clone();
    run->step();
    StepInputs in;
    set_update_rule(in, spec.train, 7);
    const double factor = run->program().stat("clip.factor"), eps = static_cast<double>(in.eps);
    CHECK(factor < 0.99);
    for (const std::string& part : parts(*run)) {
      INFO(to_string(optimizer) << " " << part);
      double gg = 0, gs = 0, ss = 0, ratio = 0, unclipped = 0, alone = 0, counted = 0;
      each_number(*run, before, part, [&](const ParameterInfo& p, double g, double w0, double w1, double v) {
        gg += g * g;
        gs += g * (w0 - w1);
        ss += (w0 - w1) * (w0 - w1);
        const SecondMoments kept = traits_of(update_op(optimizer)).second_moments;
        if (kept == SecondMoments::None || (kept == SecondMoments::NotOfMatrices && p.hidden)) return;
        const double corrected = std::max(v / static_cast<double>(in.bias_correction2), eps * eps);
        const double decay = static_cast<double>(in.l2) * w0;
        ratio += std::pow(factor * g + decay, 2) / corrected;
        unclipped += std::pow(g + decay, 2) / corrected;
        alone += std::pow(factor * g, 2) / corrected;
        counted += 1;
      });
      CHECK(newest(*run, part + ".update_cosine") == Approx(gs / std::sqrt(gg * ss)).margin(1e-5));
      const double spike = newest(*run, part + ".spike_ratio");
      REQUIRE(std::isnan(spike) == (counted == 0));
      if (counted == 0) continue;
      CHECK(spike == Approx(std::sqrt(ratio / counted)).epsilon(1e-4));
      CHECK(spike != Approx(std::sqrt(unclipped / counted)).epsilon(1e-2));
      if (optimizer == Optimizer::Adam && part == "L01")  // whose decay joins the gradient
        CHECK(spike != Approx(std::sqrt(alone / counted)).epsilon(1e-3));
    }
  }
}

TEST_CASE("updates: looking at them changes no bit of a run, and what is off is unknown") {
  for (const Optimizer optimizer : kOptimizers) {
    INFO(to_string(optimizer));
    const auto measured = make_run(spec_of(to_string(optimizer), "0.1", "0.5")),
               plain = make_run(spec_of(to_string(optimizer), "0.1", "0.5"));
    plain->measure_live(false);
    steps(*measured, 8);
    steps(*plain, 8);
    CHECK(first_difference(measured->store(), plain->store()) == "");
    CHECK(same_bits(losses(*measured), losses(*plain)));
    CHECK(std::isfinite(newest(*measured, "L01.update_cosine")));
    CHECK(std::isnan(newest(*plain, "L01.update_cosine")));
  }
  const auto run = make_run(spec_of("adam"));
  run->step();
  run->measure_live(false);
  run->step();
  CHECK(std::isnan(newest(*run, "L02.spike_ratio")));
  run->measure_live(true);
  run->step();
  CHECK(std::isfinite(newest(*run, "L02.spike_ratio")));
}

TEST_CASE("updates: every stack has its layers, and a saved run its numbers") {
  const auto translates =
      make_run(spec_with("post", {{"model.architecture", "encoder-decoder"}, {"data.name", "copy"}}), 2);
  for (const char* name : {"enc.L01.spike_ratio", "dec.L02.update_cosine"})
    CHECK(std::isfinite(newest(*translates, name)));
  CHECK(translates->history()->find("L01.spike_ratio") < 0);

  const auto loaded = reloaded(*translates);
  CHECK(newest(*loaded, "dec.L02.update_cosine") == newest(*translates, "dec.L02.update_cosine"));
  CHECK(newest(*loaded, "enc.L01.spike_ratio") == newest(*translates, "enc.L01.spike_ratio"));
}

TEST_CASE("updates: the sums over a parameter are those of doubles, whatever its length") {
  for (const int64_t n : {int64_t{1}, int64_t{7}, int64_t{64}, int64_t{4097}, int64_t{9000}}) {
    std::vector<float> g, before, after, second;
    for (int64_t i = 0; i < n; ++i) {
      const auto x = static_cast<double>(i);
      g.push_back(static_cast<float>(std::sin(x + 1)));
      before.push_back(static_cast<float>(std::cos(3 * x)));
      after.push_back(static_cast<float>(std::cos(3 * x) - 0.01 * std::sin(2 * x + 1)));
      second.push_back(i % 5 == 0 ? 0.0f : static_cast<float>(0.5 + 0.4 * std::sin(5 * x)));
    }
    cpu::UpdateRows rows{g.data(), before.data(), after.data(), second.data(), 0.5f, 0.1f, 2.0f, 0.25f};
    const cpu::UpdateSums sums = cpu::update_sums(rows, n);
    double ratio = 0, gradient = 0, product = 0, step = 0;
    for (size_t i = 0; i < g.size(); ++i) {
      const auto x = static_cast<double>(g[i]), w = static_cast<double>(before[i]),
                 s = w - static_cast<double>(after[i]);
      ratio += std::pow(0.5 * x + 0.1 * w, 2) / std::max(2.0 * static_cast<double>(second[i]), 0.25);
      gradient += x * x;
      product += x * s;
      step += s * s;
    }
    INFO(n);
    CHECK(sums.ratio == Approx(ratio).epsilon(1e-5));
    CHECK(sums.gradient == Approx(gradient).epsilon(1e-5));
    CHECK(sums.product == Approx(product).epsilon(1e-4).margin(1e-6));
    CHECK(sums.step == Approx(step).epsilon(1e-4));
    rows.second = nullptr;
    CHECK(cpu::update_sums(rows, n).ratio == 0);
  }
  const float nothing[3] = {};
  const cpu::UpdateSums still = cpu::update_sums({nothing, nothing, nothing, nothing}, 3);
  CHECK(still.ratio == 0);  // neither gradient nor moment: not 0 / 0
}

// Singular values to matrices that were built from known ones, and what a Spectrum says to its formulas.

using Doubles = std::vector<double>;

/// These singular values: a diagonal whose neighbouring rows, then columns, are rotated, some times over.
Doubles built(const Doubles& values, size_t rows, size_t cols) {
  Doubles a(rows * cols, 0.0);
  for (size_t i = 0; i < values.size(); ++i) a[i * cols + i] = values[i];
  const auto turn = [&](size_t p, size_t q, size_t step, size_t count, double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    for (size_t i = 0; i < count; ++i) {
      double &x = a[p + i * step], &y = a[q + i * step];
      const double kept = c * x - s * y;
      y = s * x + c * y;
      x = kept;
    }
  };
  double angle = 0.3;
  for (int round = 0; round < 4; ++round) {
    for (size_t i = 0; i + 1 < rows; ++i) turn(i * cols, (i + 1) * cols, 1, cols, angle += 0.7);
    for (size_t j = 0; j + 1 < cols; ++j) turn(j, j + 1, cols, rows, angle += 0.9);
  }
  return a;
}

void check_values(const Doubles& found, const Doubles& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    INFO(i << " of " << found.size());
    CHECK(std::abs(found[i] - expected[i]) <= 3e-14 * expected.front());
  }
}

TEST_CASE("singular values: those that a matrix was built from, of any shape, large, small, alike and none") {
  const Doubles apart{5, 3, 1e-3, 1e-7, 0}, alike{2, 2, 2, 1.999, 1};
  for (const Doubles& values : {apart, alike}) {
    check_values(singular_values(built(values, 5, 5), 5, 5), values);
    check_values(singular_values(built(values, 9, 5), 9, 5), values);
    check_values(singular_values(built(values, 5, 12), 5, 12), values);
  }
  check_values(singular_values({3, 4}, 2, 1), {5});
  check_values(singular_values({3, 4}, 1, 2), {5});
  CHECK(singular_values(Doubles(6, 0.0), 2, 3) == Doubles{0, 0});
  for (const double scale : {1e-200, 1e200}) {  // whose squares are not numbers
    Doubles scaled = built(apart, 6, 5);
    for (double& x : scaled) x *= scale;
    check_values(singular_values(scaled, 6, 5), {5 * scale, 3 * scale, 1e-3 * scale, 1e-7 * scale, 0});
  }
  for (const double broken : singular_values({1, std::numeric_limits<double>::infinity(), 0, 1}, 2, 2))
    CHECK(std::isnan(broken));
}

TEST_CASE("singular values: they are no eigenvalues, and no lengths of rows") {
  // [1 1; 0 1] has the eigenvalue 1 twice, and rows of length sqrt(2) and 1.
  check_values(singular_values({1, 1, 0, 1}, 2, 2), {std::numbers::phi, 1 / std::numbers::phi});
}

TEST_CASE("singular values: as many as a layer's matrix has") {
  Doubles values;
  for (int i = 0; i < 48; ++i) values.push_back(std::exp(-0.3 * i));
  check_values(singular_values(built(values, 48, 96), 48, 96), values);
}

TEST_CASE("a spectrum: stable and effective rank, norm, and where a part of the values lies") {
  const Spectrum one{{7, 0, 0, 0}}, even{{2, 2, 2, 2}}, mixed{{4, 2, 1, 1, 0}};
  CHECK(one.stable_rank() == Approx(1));
  CHECK(one.effective_rank() == Approx(1));
  CHECK(even.stable_rank() == Approx(4));
  CHECK(even.effective_rank() == Approx(4));
  CHECK(mixed.norm() == Approx(std::sqrt(22)));
  CHECK(mixed.stable_rank() == Approx(22.0 / 16));
  CHECK(mixed.effective_rank() == Approx(22.0 * 22 / (256 + 16 + 1 + 1)));
  CHECK(mixed.share_at(1) == 1);
  CHECK(mixed.share_at(0.75) == 0.5);
  CHECK(mixed.share_at(0.5) == 0.25);
  CHECK(mixed.share_at(0.125) == 0.125);  // between two
  CHECK(mixed.share_at(0) == 0);
  const Spectrum nothing{{0, 0}};
  CHECK(std::isnan(nothing.stable_rank()));
  CHECK(std::isnan(nothing.effective_rank()));
}

}  // namespace normscope::test_update_metrics

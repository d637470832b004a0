// These tests cover the critical rate: bisection on functions whose crossing is known; no bit of a run changes; a run's
// own number against the double reference model along the very update, against the curvature there, and against the
// largest eigenvalue of the Hessian where theory ties them.
#include <new>

#include "engine/support/store_values.h"
#include "engine/support/wrapped_backend.h"
#include "training/support/critical_bits.h"
#include "training/support/lab_runs.h"

// The limited backend is the CPU as a device of little memory that may be lost: the first upload beyond what a test
// allows is the last call that succeeds.

namespace normscope::test {

class LimitedBackend final : public WrappedBackend {
 public:
  std::function<void()> refuse_memory;    ///< throws where there is none for a Store; empty: there is
  std::function<void()> refuse_programs;  ///< the same of a program
  int uploads_left = 1 << 30;
  size_t taken() const { return *taken_; }  ///< floats of Stores, now

  std::unique_ptr<Memory> allocate(size_t floats) override {
    if (refuse_memory) refuse_memory();
    return std::make_unique<Counted>(cpu_->allocate(floats), taken_);
  }
  void upload(Memory& to, size_t offset, std::span<const float> from) override {
    if (uploads_left-- <= 0) lost_ = true;
    cpu_->upload(to, offset, from);
  }
  std::unique_ptr<Executable> lower(ProgramData& program) override {
    if (refuse_programs) refuse_programs();
    return cpu_->lower(program);
  }
  void wait() override {
    if (lost_) throw DeviceError("[cuda] " + error());
  }
  std::string error() const override { return lost_ ? "the device fell off" : ""; }

 private:
  class Counted final : public Memory {
   public:
    Counted(std::unique_ptr<Memory> memory, std::shared_ptr<size_t> taken)
        : memory_(std::move(memory)), taken_(std::move(taken)) {
      *taken_ += floats();
    }
    ~Counted() override { *taken_ -= floats(); }
    size_t floats() const override { return memory_->floats(); }
    float* data() const override { return memory_->data(); }

   private:
    std::unique_ptr<Memory> memory_;
    std::shared_ptr<size_t> taken_;
  };

  std::shared_ptr<size_t> taken_ = std::make_shared<size_t>(0);
  bool lost_ = false;
};

namespace {

using reference::Decoder, reference::DecoderResult, reference::DecoderSpec, reference::Parameters;

double dot(const Parameters& a, const Parameters& b) {
  double sum = 0;
  for (const auto& [name, values] : a)
    for (size_t i = 0; i < values.size(); ++i) sum += values[i] * b.at(name)[i];
  return sum;
}

/// a + c b.
Parameters moved(Parameters a, double c, const Parameters& b) {
  for (auto& [name, values] : a)
    for (size_t i = 0; i < values.size(); ++i) values[i] += c * b.at(name)[i];
  return a;
}

DecoderSpec reference_of(const RunSpec& spec, int32_t step) {
  DecoderSpec s = reference::spec_of(spec.model, spec.train.batch, spec.model.sequence);
  s.smoothing = static_cast<double>(spec.train.label_smoothing);
  s.seed = spec.seed;
  s.step = static_cast<uint32_t>(step);
  return s;
}

/// A step's loss in double along the update that the run made: phi(c) = L(from + c update).
class Ray {
 public:
  /// Takes the run's next step.
  explicit Ray(Run& run) : from_(parameters_of(run.store())) {
    run.step();
    update_ = moved(parameters_of(run.store()), -1, from_);
    const auto tokens = run.program().tokens("tokens"), targets = run.program().tokens("targets");
    tokens_.assign(tokens.begin(), tokens.end());
    targets_.assign(targets.begin(), targets.end());
    spec_ = reference_of(run.spec(), run.steps_done());
    rate_ = learning_rate(run.spec().train.schedule, run.steps_done());
    multiple_ = critical_of(run) / rate_;
  }

  double multiple() const { return multiple_; }  ///< what the run measured, over its rate
  double rate() const { return rate_; }
  const Parameters& update() const { return update_; }
  DecoderResult result(const Parameters& at, bool slopes = true) const {
    return Decoder(spec_, at).run(tokens_, targets_, {}, slopes);
  }
  Parameters gradient() const { return result(from_).gradients; }
  Parameters gradient_at(double c, const Parameters& along) const {
    return result(moved(from_, c, along)).gradients;
  }
  double loss(double c) const { return result(moved(from_, c, update_), false).loss; }
  /// Phi'(c), by the reference's gradient.
  double slope(double c) const { return dot(result(moved(from_, c, update_)).gradients, update_); }
  /// Phi''(0): the Hessian between two updates, by central differences of gradients.
  double curvature() const {
    const double h = 1e-4 * multiple_;
    return (slope(h) - slope(-h)) / (2 * h);
  }
  /// The largest |phi'''| of points spread over the way to the crossing.
  double most_third() const {
    constexpr int kPoints = 8;
    const double h = 0.01 * multiple_;
    double most = 0;
    for (int i = 0; i <= kPoints; ++i) {
      const double c = multiple_ * i / kPoints;
      most = std::max(most, std::abs(slope(c + h) - 2 * slope(c) + slope(c - h)) / (h * h));
    }
    return most;
  }
  /// The crossing itself, looked for in a wider interval than the run's bisection leaves.
  double crossing() const {
    const double start = loss(0);
    double low = multiple_ / (1.05 * kBracket), high = multiple_ * 1.05 * kBracket;
    REQUIRE(loss(low) <= start);
    REQUIRE(loss(high) > start);
    for (int i = 0; i < 24; ++i) {
      const double middle = (low + high) / 2;
      (loss(middle) <= start ? low : high) = middle;
    }
    return (low + high) / 2;
  }
  /// The largest eigenvalue of the Hessian at the weights before the update, its direction, and how far the
  /// Hessian turns that direction away from itself, over the eigenvalue: 0 where it is an eigenvector.
  struct Top {
    double value = 0, residual = 0;
    Parameters direction;
  };
  /// Does power iteration; the Hessian times a vector is a central difference of gradients in double.
  Top top(int iterations = 60) const {
    Top found{0, 0, update_};
    for (int i = 0; i < iterations; ++i) {
      const double norm = std::sqrt(dot(found.direction, found.direction)), h = 1e-4;
      for (auto& [name, values] : found.direction)
        for (double& x : values) x /= norm;
      const Parameters after = result(moved(from_, h, found.direction)).gradients;
      Parameters product = moved(after, -1, result(moved(from_, -h, found.direction)).gradients);
      for (auto& [name, values] : product)
        for (double& x : values) x /= 2 * h;
      found.value = dot(found.direction, product);
      const Parameters rest = moved(product, -found.value, found.direction);
      found.residual = std::sqrt(dot(rest, rest)) / std::abs(found.value);
      if (found.residual < 1e-4) break;
      found.direction = std::move(product);
    }
    return found;
  }
  const Parameters& from() const { return from_; }

 private:
  DecoderSpec spec_;
  Parameters from_, update_;
  std::vector<int32_t> tokens_, targets_;
  double rate_ = 0, multiple_ = 0;
};

/// `check_against_curvature`: the crossing c of phi(0) + c phi'(0) + c^2/2 phi''(0) is -2 phi'(0) / phi''(0). By
/// Taylor's theorem the true one is off by c^2/3 |phi'''| / phi'' at some place before it; 3 % more for float
/// arithmetic and the interpolation inside the last interval. Returns that bound as a share of c.
double check_against_curvature(const Ray& ray) {
  const double c = ray.multiple(), curvature = ray.curvature();
  REQUIRE(curvature > 0);
  const double quadratic = -2 * ray.slope(0) / curvature;
  const double bound = c * ray.most_third() / (3 * curvature) + 0.03;
  INFO("measured " << c << ", from the curvature " << quadratic << ", bound " << bound);
  CHECK(std::abs(c - quadratic) <= bound * c);
  return bound;
}

TEST_CASE("critical multiple: a quadratic's is exact, another's within a part, in six passes") {
  for (const double crossing : {0.02, 0.3, 1.0, 1.7, 40.0, 900.0}) {
    INFO(crossing);
    int passes = 0;
    const auto quadratic = [&](double c) {
      ++passes;
      return 3.0 - c + c * c / crossing;
    };
    CHECK(critical_multiple(3.0, quadratic) == Approx(crossing).epsilon(1e-9));
    CHECK(passes <= kCriticalPasses);
    const auto steep = [&](double c) { return 3.0 - c + std::pow(c, 9) / std::pow(crossing, 8); };
    const double found = critical_multiple(3.0, steep);
    CHECK(found > crossing / kBracket);
    CHECK(found < crossing * kBracket);
    for (const double beyond :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      const double last = critical_multiple(3.0, [&](double c) { return c > crossing ? beyond : 3.0 - c; });
      CHECK(last <= crossing);
      CHECK(last > crossing / kBracket);
    }
  }
}

TEST_CASE("critical multiple: at the ends of what is tried it is a bound") {
  CHECK(critical_multiple(3.0, [](double c) { return 3.0 - c; }) == kMaxMultiple);
  CHECK(critical_multiple(3.0, [](double) { return 3.0; }) == kMaxMultiple);  // not raised
  CHECK(critical_multiple(3.0, [](double c) { return 3.0 + c; }) == kMinMultiple);
  const auto crossing_at = [](double at) { return [at](double c) { return 3.0 - c + c * c / at; }; };
  CHECK(critical_multiple(3.0, crossing_at(0.9 * kMinMultiple)) == kMinMultiple);
  CHECK(critical_multiple(3.0, crossing_at(1.1 * kMaxMultiple)) == kMaxMultiple);
}

TEST_CASE("critical rate: no bit of a run changes, and it is measured when it is due") {
  std::vector<RunSpec> specs = {
      spec_with("post", {{"model.dropout_residual", "0.1"}, {"model.dropout_attention", "0.1"}}),
      spec_with("pre",
                {{"train.optimizer", "momentum"}, {"train.clip", "0.5"}, {"train.label_smoothing", "0.1"}}),
      spec_with("admin", {{"train.optimizer", "adamw"}, {"train.weight_decay", "0.1"}}),
      spec_with("post", {{"model.architecture", "encoder-decoder"}, {"data.name", "reverse"}})};
  if (find_field("model.memory"))
    specs.push_back(spec_with("pre", {{"model.memory", "8"}, {"train.reuse_gradients", "false"}}));
  for (const RunSpec& spec : specs) {
    INFO(default_name(spec) << ", " << get_field(spec, "model.architecture"));
    check_critical_rate_is_watched(spec);
  }
}

TEST_CASE("critical rate: switched off with the other measurements, and none without a rate") {
  const RunSpec spec = spec_with("pre", {{"train.critical_every", "1"}});
  const auto off = make_run(spec);
  off->measure_live(false);
  steps(*off, 2);
  CHECK(std::isnan(critical_of(*off)));
  const auto run = make_run(spec);
  run->edit("train.lr", "0");
  run->step();
  CHECK(std::isnan(critical_of(*run)));
}

TEST_CASE("critical rate: where the loss in double crosses its start along the update") {
  // Catches another batch, other dropout masks, weights before or behind the wrong step, half an update.
  const std::vector<RunSpec> specs = {
      spec_with("post", {{"train.optimizer", "sgd"}, {"train.lr", "0.1"}}),
      spec_with("pre", {{"train.optimizer", "momentum"}, {"train.lr", "0.02"}}),
      spec_with("pre", {{"train.lr", "0.02"}, {"train.warmup", "10"}, {"train.label_smoothing", "0.1"}}),
      spec_with("post", {{"train.lr", "0.02"},
                         {"train.warmup", "10"},
                         {"model.dropout_residual", "0.2"},
                         {"model.dropout_attention", "0.2"},
                         {"model.dropout_activation", "0.2"}})};
  for (RunSpec spec : specs) {
    spec.model.activation = Activation::Gelu;
    spec.train.critical_every = 1;
    INFO(default_name(spec) << ", " << to_string(spec.train.optimizer));
    const auto run = make_run(spec);
    for (int32_t step = 1; step <= 3; ++step) {
      INFO("step " << step);
      const Ray ray(*run);
      REQUIRE(ray.multiple() > kMinMultiple);
      REQUIRE(ray.multiple() < kMaxMultiple);
      CHECK(ray.multiple() == Approx(ray.crossing()).epsilon(0.02));
    }
  }
}

/// Nearly even targets, so that SGD comes near a minimum, where the loss is nearly quadratic.
RunSpec near_a_minimum() {
  return spec_with("pre", {{"model.activation", "gelu"},
                           {"train.optimizer", "sgd"},
                           {"train.lr", "0.3"},
                           {"train.label_smoothing", "0.99"},
                           {"train.steps", "200"},
                           {"train.critical_every", "1"}});
}

TEST_CASE("critical rate: 2 over the curvature along the update") {
  const RunSpec spec = near_a_minimum();
  const auto run = make_run(spec);
  check_against_curvature(Ray(*run));
  steps(*run, 99);
  const NextCurvature straight = next_curvature(*run);
  const Ray sgd(*run);
  CHECK(straight.update.critical_rate == Approx(sgd.multiple() * sgd.rate()).epsilon(1e-6));
  CHECK(straight.gradient.curvature == Approx(straight.update.curvature).epsilon(1e-6));  // plain SGD
  // A factor of two, 1 / (ĝᵀHĝ) or 4 / (ĝᵀHĝ), would not pass.
  CHECK(check_against_curvature(sgd) < 0.4);
  // Of plain SGD the update is -rate g, and phi''(0) / (phi'(0) / -rate) is ĝᵀHĝ.
  const double along = sgd.curvature() / (sgd.rate() * -sgd.slope(0));
  CHECK(-sgd.slope(0) == Approx(dot(sgd.update(), sgd.update()) / sgd.rate()).epsilon(0.01));
  CHECK(along == Approx(sgd.curvature() / dot(sgd.update(), sgd.update())).epsilon(0.01));
  const Ray::Top top = sgd.top();
  CHECK(top.residual < 0.01);  // an upper bound of `along` only where it is the largest
  CHECK(along <= top.value * (1 + 1e-6));
  // The same weights under Adam: its first update is -rate P^-1 g, P the size of each gradient plus ε, and 2 / η_c is
  // the curvature of the preconditioned Hessian P^-1/2 H P^-1/2 along P^1/2 times the update.
  RunSpec under_adam = with_fields(run->spec(), {{"train.optimizer", "adam"}, {"train.lr", "0.001"}});
  const auto fork = run->fork(under_adam);
  const NextCurvature bent = next_curvature(*fork);
  const Ray adam(*fork);
  const double bound = check_against_curvature(adam);
  CHECK(bound < 0.4);
  Parameters scaled = adam.gradient();  // P times the update
  for (auto& [name, values] : scaled)
    for (size_t i = 0; i < values.size(); ++i)
      values[i] =
          (std::abs(values[i]) + static_cast<double>(under_adam.train.eps)) * adam.update().at(name)[i];
  const double length = dot(adam.update(), scaled);
  CHECK(-adam.slope(0) == Approx(length / adam.rate()).epsilon(0.01));
  CHECK(2 / (adam.multiple() * adam.rate()) == Approx(adam.curvature() / length).epsilon(bound + 0.02));
  CHECK(bent.update.curvature == Approx(2 / (adam.multiple() * adam.rate())).epsilon(1e-6));
  // Along the gradient it is ĝᵀHĝ of the reference in double, whatever the optimizer is.
  const Parameters g = adam.gradient(), ahead = adam.gradient_at(1e-3, g),
                   behind = adam.gradient_at(-1e-3, g);
  const double along_gradient = (dot(ahead, g) - dot(behind, g)) / (2e-3 * dot(g, g));
  CHECK(bent.gradient.curvature == Approx(along_gradient).epsilon(0.1));
  CHECK(std::abs(bent.update.curvature - along_gradient) > 0.5 * along_gradient);
  CHECK(std::abs(dot(adam.update(), sgd.update())) <
        0.999 * std::sqrt(dot(adam.update(), adam.update()) * dot(sgd.update(), sgd.update())));
}

TEST_CASE("critical rate: along the top eigenvector of the Hessian it is 2 over the largest eigenvalue") {
  // Near a minimum the weights are pushed along the top eigenvector v, of eigenvalue λ: the gradient there is λ times
  // the push along v plus what was left of it, so plain SGD steps along v, and no other rate than 2 / λ is critical. λ
  // comes from power iteration on the reference model in double, the rate from the engine's own search.
  const RunSpec spec = near_a_minimum();
  const auto run = make_run(spec, 120);
  const auto plain = run->fork(run->spec()), pushed = run->fork(run->spec());
  const Ray::Top below = Ray(*plain).top();
  REQUIRE(below.residual < 0.01);
  constexpr double kPush = 0.1;
  for (const auto& [name, v] : below.direction)
    change(pushed->store(), name, [&](auto& weights) {
      for (size_t i = 0; i < weights.size(); ++i) weights[i] += static_cast<float>(kPush * v[i]);
    });
  const Ray ray(*pushed);
  const Ray::Top top = ray.top();
  REQUIRE(top.residual < 0.01);
  const double cosine = std::abs(dot(ray.update(), top.direction)) /
                        std::sqrt(dot(ray.update(), ray.update()) * dot(top.direction, top.direction));
  const double bound = check_against_curvature(ray), sharpness = 2 / (ray.multiple() * ray.rate());
  INFO("2 over the critical rate " << sharpness << ", largest eigenvalue " << top.value << ", cosine "
                                   << cosine << ", bound " << bound);
  // What of the step is not along v, 1 - cosine², bends between nothing and as much as v; 3 % for float arithmetic.
  const double aside = 1 - cosine * cosine;
  CHECK(aside < 0.1);
  CHECK(bound < 0.3);
  CHECK(sharpness <= top.value * (1 + bound));
  CHECK(sharpness >= top.value * (1 - aside) * (1 - bound));
}

TEST_CASE("critical rate: an edit that switches it on counts from the start") {
  RunSpec spec = small_spec("pre");
  CHECK(critical_every(spec, {}) == 0);
  CHECK(critical_every(spec, {{9, "train.lr", "1e-3"}, {12, "train.critical_every", "0"}}) == 0);
  CHECK(critical_every(spec, {{9, "train.critical_every", "10"}}) == 10);
  CHECK(critical_every(spec, {{9, "train.critical_every", "10"}, {12, "train.critical_every", "4"}}) == 4);
  spec.train.critical_every = 3;
  CHECK(critical_every(spec, {{9, "train.critical_every", "0"}}) == 3);
}

TEST_CASE("critical rate: what it costs is said in passes and time") {
  CHECK(critical_cost_text(1) == "6 forward passes every step: about 200 % more time");
  CHECK(critical_cost_text(10) == "6 forward passes every 10 steps: about 20 % more time");
  CHECK(critical_cost_text(500) == "6 forward passes every 500 steps: less than 1 % more time");
}

// These tests cover the critical rate's own memory: a run that has none for it trains on, one that is switched off
// gives it back, and no step is lost with a device that falls off while it is measured.

RunSpec watched(int32_t every) {
  RunSpec spec = small_spec("post");
  spec.train.critical_every = every;
  return spec;
}

std::vector<float> critical_rates(const History& history) {
  return history.series(history.find(kCriticalStat)).values;
}

/// Demands a frame of every step from 1 to n.
void check_frames(const History& history, int32_t n) {
  for (int32_t step = 1; step <= n; ++step) {
    INFO("step " << step);
    std::vector<float> stats;
    int32_t found = 0;
    CHECK(history.frame(step, stats, found));
    CHECK(found == step);
  }
}

void no_device_memory() { throw DeviceError("[memory] a GPU has no 3 MB left: expected a smaller model"); }
void no_host_memory() { throw Error("[memory] 3 MB cannot be allocated: expected a smaller model"); }
void no_memory() { throw std::bad_alloc(); }

}  // namespace

TEST_CASE("critical rate: without memory for it a run trains on to the same bits, and says so once") {
  const auto plain = make_run(small_spec("post"), 12);
  for (const auto& refuse : {no_device_memory, no_host_memory, no_memory})
    for (const bool program : {false, true}) {
      INFO((program ? "its program" : "its weights"));
      LimitedBackend limited;
      Run run(watched(5), small_task(), limited);
      const size_t before = limited.taken();
      (program ? limited.refuse_programs : limited.refuse_memory) = refuse;
      run.step();
      const std::string notice = run.take_notice();
      INFO(notice);
      CHECK(notice.find("the critical rate is left out: [") == 0);
      CHECK(test::contains(notice, "memory"));
      CHECK(limited.taken() == before);
      limited.refuse_programs = limited.refuse_memory = nullptr;
      steps(run, 11);  // not tried again
      CHECK(run.take_notice().empty());
      CHECK(first_difference(plain->store(), run.store()) == "");
      CHECK(same_bits(plain->history()->loss().values, run.history()->loss().values));
      check_frames(*run.history(), 12);
      for (const float rate : critical_rates(*run.history())) CHECK(std::isnan(rate));
      run.edit("train.critical_every", "0");
      run.edit("train.critical_every", "1");
      run.step();
      CHECK(std::isfinite(critical_rates(*run.history()).back()));
      CHECK(run.take_notice().empty());
    }
}

TEST_CASE("critical rate: what is switched off gives its memory back") {
  LimitedBackend limited;
  Run run(watched(1), small_task(), limited);
  const size_t before = limited.taken();
  run.step();
  const size_t measuring = limited.taken();
  CHECK(measuring == 2 * before);  // a Store beside the run's
  run.edit("train.critical_every", "0");
  CHECK(limited.taken() == before);
  run.edit("train.critical_every", "2");
  steps(run, 2);
  CHECK(limited.taken() == measuring);
  run.measure_live(false);
  CHECK(limited.taken() == before);
  run.measure_live(true);
  steps(run, 2);
  CHECK(limited.taken() == measuring);
  run.schedule_edits({{run.steps_done() + 2, "train.critical_every", "0"}});
  run.step();
  CHECK(limited.taken() == measuring);
  run.step();
  CHECK(limited.taken() == before);
}

TEST_CASE("critical rate: a device that is lost while it is measured takes no step along") {
  const auto plain = make_run(watched(1), 10);
  for (const int32_t passes : {0, 3}) {  // of the step in which it is lost
    LimitedBackend limited;
    Run run(watched(1), small_task(), limited);
    steps(run, 6);
    limited.uploads_left = passes;
    CHECK_THROWS_AS(run.step(), DeviceError);
    CHECK(run.steps_done() == 6);
    CHECK(run.take_notice().empty());
    run.recover_on(shared_backend(), "it fell off");
    while (run.steps_done() < 10) run.step();
    check_frames(*run.history(), 10);
    CHECK(same_bits(plain->history()->loss().values, run.history()->loss().values));
    CHECK(same_bits(critical_rates(*plain->history()), critical_rates(*run.history())));
  }
}

TEST_CASE("critical rate: a Lab whose device has no memory for it stays there and says so") {
  LabOptions options = quiet();
  options.sample_text = false;
  options.validation_every = 0;
  options.backend = {.cuda = true};
  LimitedBackend* limited = nullptr;
  options.open_backend = [&](BackendChoice) {
    auto made = std::make_unique<LimitedBackend>();
    limited = made.get();
    return made;
  };
  LabOf lab({small_spec("post"), small_spec("pre")}, options);
  REQUIRE(view_after(lab, session::PlayTo{4})->step == 4);
  limited->refuse_memory = no_device_memory;
  lab.post(session::EditField{1, "train.critical_every", "1"});
  const auto view = view_after(lab, session::PlayTo{8});
  CHECK(view->backend.cuda);
  CHECK(view->backend_note.empty());
  CHECK(view->step == 8);
  INFO(view->message);
  CHECK(view->message.find("run B: the critical rate is left out: [memory] a GPU has no 3 MB left") == 0);
  for (size_t i = 0; i < 2; ++i) {
    check_frames(*view->runs[i].history, 8);
    CHECK(same_bits(losses(view->runs[i]), alone(small_spec(i == 0 ? "post" : "pre"), 8)));
  }
}

// These tests cover Run::step_along: the loss of a step's batch, had the step been made at other rates.

TEST_CASE("one step at other rates: its losses begin at the run's own, and no bit of the run changes") {
  const std::vector<RunSpec> specs = {
      spec_with("post", {{"model.dropout_residual", "0.1"}, {"model.dropout_attention", "0.1"}}),
      spec_with("pre", {{"train.optimizer", "momentum"}, {"train.clip", "0.5"}, {"train.warmup", "10"}}),
      spec_with("admin", {{"train.optimizer", "adamw"}, {"train.critical_every", "3"}})};
  for (const RunSpec& spec : specs) {
    INFO(default_name(spec));
    const auto plain = make_run(spec, 12), run = make_run(spec, 6);
    const double rate = learning_rate(spec.train.schedule, 7);
    const std::vector<double> rates{0, rate / 2, rate, 3 * rate};
    const std::vector<double> losses = run->step_along(rates);
    CHECK(run->take_notice().empty());
    REQUIRE(losses.size() == rates.size());
    CHECK(static_cast<float>(losses[0]) == run->history()->loss().values[6]);
    CHECK(losses[1] != losses[0]);
    CHECK(losses[3] != losses[2]);
    steps(*run, 5);
    CHECK(first_difference(plain->store(), run->store()) == "");
    CHECK(same_bits(plain->history()->loss().values, run->history()->loss().values));
  }
}

TEST_CASE("one step at other rates: it crosses the loss before the step where the critical rate says") {
  for (RunSpec spec : {spec_with("post", {{"train.optimizer", "sgd"}, {"train.lr", "0.1"}}),
                       spec_with("pre", {{"train.lr", "0.02"}, {"train.warmup", "10"}})}) {
    spec.model.activation = Activation::Gelu;
    spec.train.critical_every = 1;
    INFO(default_name(spec));
    const auto look = make_run(spec, 2), run = make_run(spec, 1);
    const double critical = critical_of(*look);
    // The bracket that bisection leaves around it, and a place half-way down.
    const std::vector<double> losses =
        run->step_along(std::vector<double>{0, critical / 2, critical / kBracket, critical * kBracket});
    CHECK(losses[1] < losses[0]);
    CHECK(losses[2] <= losses[0]);
    CHECK(losses[3] > losses[0]);
    CHECK(critical_of(*run) == critical);
  }
}

TEST_CASE("one step at other rates: refused without rates, without an update and of a broken run") {
  const auto run = make_run(spec_with("pre", {}));
  CHECK_THROWS_WITH(run->step_along({}), "[rates] there are none: expected one at least");
  CHECK(run->steps_done() == 0);
  run->edit("train.lr", "0");
  CHECK_THROWS_WITH(run->step_along(std::vector<double>{0, 0.1}),
                    "[step] it has no update: expected a learning rate above 0");
  const auto wild = make_run(spec_with("post", {{"train.optimizer", "sgd"}, {"train.lr", "100"}}));
  for (int step = 0; step < 50 && !wild->non_finite(); ++step) wild->step();
  REQUIRE(wild->non_finite());
  CHECK_THROWS_WITH(wild->step_along(std::vector<double>{0}),
                    "[step] the run is not finite: expected one that can make a step");
}

TEST_CASE("one step at other rates: without memory the step is made, and the losses are refused") {
  const auto plain = make_run(small_spec("post"));
  LimitedBackend limited;
  Run run(small_spec("post"), small_task(), limited);
  const size_t before = limited.taken();
  limited.refuse_memory = [] { throw Error("[memory] 3 MB cannot be allocated: expected a smaller model"); };
  CHECK_THROWS_WITH(run.step_along(std::vector<double>{0, 0.1}),
                    Catch::Contains("[step] no other rate was tried: ") && Catch::Contains("3 MB"));
  limited.refuse_memory = nullptr;
  CHECK(run.step_along(std::vector<double>{0, 0.1}).size() == 2);
  CHECK(limited.taken() == before);  // the copy is gone
  steps(*plain, 2);
  CHECK(first_difference(plain->store(), run.store()) == "");
}

}  // namespace normscope::test

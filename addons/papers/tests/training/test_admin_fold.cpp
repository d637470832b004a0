// A trained run of Admin and the file with its omegas folded into plain Post-LN compute the same.
#include <algorithm>
#include <random>

#include "addons/papers/training/admin_fold.h"
#include "addons/papers/training/attention_balance.h"
#include "engine/io/safetensors.h"
#include "test_paths.h"
#include "training/measure/look.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

const std::string kRun = "test_admin_fold_run.safetensors", kFolded = "test_admin_fold.safetensors";

RunSpec preset_spec(const std::string& preset, Architecture architecture = Architecture::Decoder) {
  RunSpec spec = small_spec(preset);
  if (architecture == Architecture::EncoderDecoder) {
    set_field(spec, "model.architecture", "encoder-decoder");
    set_field(spec, "data.name", "translation");
  }
  if (architecture == Architecture::Encoder) set_field(spec, "model.architecture", "encoder");
  set_field(spec, "train.lr", "0.02");  // omega has to move
  return spec;
}

std::vector<float> logits(Run& run, const Task& task) {
  const BatchShape shape = task.shape(1, 7, Split::Validation, 2, run.spec().model.sequence);
  Tape tape(run.store());
  const ModelValues values = record_transformer(tape, run.spec().model, record_options(shape, false));
  Program program = seal(tape, {.backward = false});
  task.fill(1, 7, Split::Validation, 2, run.spec().model.sequence, inputs_of(program, shape));
  program.replay({});
  return program.read(tape.value(values.logits).name);
}

/// Trains, saves, folds and loads, and has the relative distance of the logits.
struct FoldFixture {
  explicit FoldFixture(const RunSpec& spec) : task(small_task(spec.data)) {
    run = make_run(spec);
    steps(*run, 25);
    run->save(kRun);
    result = fold_admin(kRun, kFolded);
    loaded = Run::load(kFolded, task, shared_backend());
    distance = relative_difference(logits(*loaded, *task), logits(*run, *task));
  }
  ~FoldFixture() {
    std::remove(kRun.c_str());
    std::remove(kFolded.c_str());
  }
  std::shared_ptr<const Task> task;
  std::unique_ptr<Run> run, loaded;
  AdminFold result;
  double distance = 0;
};

std::string refusal(const std::string& in) {
  return test::error_of([&] { fold_admin(in, kFolded); }, "");
}

TEST_CASE("admin-fold: a decoder becomes Post-LN with the same outputs", "[fold]") {
  const FoldFixture folded(preset_spec("admin"));
  CHECK(folded.result.sublayers == 4);
  CHECK(folded.result.untied);
  const ModelConfig& model = folded.loaded->spec().model;
  CHECK(placement_of(model.stack(), context_of(model, true)) == Placement::Post);
  CHECK(folded.loaded->store().find("L01.attn.skip") < 0);
  CHECK(folded.distance <= 1e-5);
  // The omegas are not ones, and leaving them out is another model.
  const auto& store = folded.run->store();
  double away = 0;
  for (float w : store.read(store.find("L02.ffn.skip")))
    away = std::max(away, std::abs(static_cast<double>(w) - 1));
  CHECK(away > 0.05);
  auto without = make_run(preset_spec("post"));
  for (size_t p = 0; p < without->store().parameters().size(); ++p)
    without->store().write(static_cast<int32_t>(p),
                           store.read(store.find(without->store().parameters()[p].name)));
  CHECK(relative_difference(logits(*without, *folded.task), logits(*folded.run, *folded.task)) > 1e-2);
  // It is a run like any other: it goes on.
  steps(*folded.loaded, 2);
  CHECK(std::isfinite(folded.loaded->mean_loss(1)));
  CHECK(folded.loaded->steps_done() == 27);
}

TEST_CASE("admin-fold: an encoder-decoder, whose stacks part with their shared embedding", "[fold]") {
  const FoldFixture folded(preset_spec("admin", Architecture::EncoderDecoder));
  CHECK(folded.result.sublayers == 2 * 2 + 2 * 3);
  CHECK(folded.result.unshared);
  CHECK(folded.loaded->store().find("enc.emb.tokens") >= 0);
  CHECK(folded.distance <= 1e-5);
}

TEST_CASE("admin-fold: the paper's rule, RMS norms, an encoder, one stack of two", "[fold]") {
  CHECK(FoldFixture(preset_spec("admin-paper")).distance <= 1e-5);
  const FoldFixture encoder(
      with_fields(preset_spec("admin", Architecture::Encoder),
                  {{"model.norm", "rms"}, {"model.tied", "false"}, {"model.positions", "sinusoidal"}}));
  CHECK_FALSE(encoder.result.untied);
  CHECK(encoder.distance <= 1e-5);
  const FoldFixture one(
      with_fields(preset_spec("pre", Architecture::EncoderDecoder), {{"model.encoder_placement", "admin"}}));
  CHECK(one.result.sublayers == 4);
  CHECK(one.distance <= 1e-5);
}

TEST_CASE("admin-fold: a run with a memory, which begins empty", "[fold]") {
  const FoldFixture folded(with_fields(preset_spec("admin"), {{"model.memory", "8"}}));
  CHECK(folded.distance <= 1e-5);
  CHECK(SafetensorsFile::load(kRun).contains("memory/lengths"));
  CHECK_FALSE(SafetensorsFile::load(kFolded).contains("memory/lengths"));
  CHECK_FALSE(SafetensorsFile::load(kFolded).contains("m/memory/lengths"));
  steps(*folded.loaded, 2);
  CHECK(std::isfinite(folded.loaded->mean_loss(1)));
}

TEST_CASE("admin-fold: what it refuses, in one line", "[fold]") {
  RunSpec simple = with_fields(preset_spec("admin"), {{"model.norm", "simple"}});
  for (const auto& [spec, words] : std::vector<std::pair<RunSpec, std::string>>{
           {preset_spec("pre"), "is a run of Pre-LN"}, {simple, "no gain"}}) {
    auto run = make_run(spec, 1);
    run->save(kRun);
    const std::string error = refusal(kRun);
    INFO(error);
    CHECK(test::contains(error, words));
    CHECK_FALSE(test::contains(error, "\n"));
  }
  std::remove(kRun.c_str());
  CHECK(test::contains(refusal(std::string(NORMSCOPE_FIXTURES) + "/decoder-admin.safetensors"),
                       "no saved run"));
  CHECK_FALSE(refusal("there-is-no-such-file").empty());
  std::FILE* written = std::fopen(kFolded.c_str(), "rb");
  CHECK(written == nullptr);
  if (written) std::fclose(written);
}

// The balanced-mass factor against the norm of softmax's Jacobian over all vectors of signs.

/// The largest sum of absolute values that diag(p) - p p' makes of a vector of signs.
double norm_by_all_signs(const std::vector<float>& p) {
  double most = 0;
  for (uint32_t signs = 0; signs < 1u << p.size(); ++signs) {
    const auto sign = [&](size_t i) { return (signs >> i & 1u) != 0 ? 1.0 : -1.0; };
    double mean = 0, sum = 0;
    for (size_t i = 0; i < p.size(); ++i) mean += static_cast<double>(p[i]) * sign(i);
    for (size_t i = 0; i < p.size(); ++i) sum += static_cast<double>(p[i]) * std::abs(sign(i) - mean);
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

TEST_CASE("attention balance: it is the norm of softmax's Jacobian, from below, and exact with one heavy key",
          "[measure]") {
  CHECK(balanced_mass({1.0f}) == 0);
  CHECK(balanced_mass({0.5f, 0.5f}) == 1);
  CHECK(balanced_mass({0.75f, 0.25f}) == Approx(0.75));
  std::mt19937 random(7);
  for (int trial = 0; trial < 40; ++trial) {
    std::normal_distribution<float> logit(0.0f, 1.0f + 0.1f * static_cast<float>(trial));
    std::vector<float> p(10);
    float sum = 0;
    for (float& e : p) sum += e = std::exp(logit(random));
    for (float& e : p) e /= sum;
    const double exact = norm_by_all_signs(p), found = balanced_mass(p);
    INFO("trial " << trial);
    CHECK(found <= exact + 1e-6);
    if (*std::max_element(p.begin(), p.end()) >= 0.5f)
      CHECK(found == Approx(exact).margin(1e-6));
    else
      CHECK(found >= 8.0 / 9 - 1e-6);
  }
}

}  // namespace normscope::test

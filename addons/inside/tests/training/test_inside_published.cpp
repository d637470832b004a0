// A published model that became a run is looked into as every run.
#include <cmath>
#include <filesystem>
#include <memory>

#include "addons/inside/tests/training/look_inside.h"
#include "addons/published/training/published.h"
#include "addons/published/training/published_run.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/support/helpers.h"
#include "folder.h"
#include "test_paths.h"
#include "training/measure/look.h"
#include "training/measure/passage.h"
#include "training/run/run.h"

namespace normscope::test_inside_published {
using namespace test;
namespace {
namespace fs = std::filesystem;

const fs::path kFolder = fs::path(NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers");
constexpr const char* kPassage = "5 17 3 5 9 4 8";

struct Opened {
  explicit Opened(const char* name, const char* passage = kPassage)
      : spec(published::run_of((kFolder / name).string(), passage)), task(make_task(spec.data)) {
    fit_to_data(spec, *task);
  }
  std::unique_ptr<Run> run() { return std::make_unique<Run>(spec, task, *backend); }

  std::unique_ptr<Backend> backend = make_cpu_backend(1);
  RunSpec spec;
  std::shared_ptr<const Task> task;
};

/// Allows what another order of a few float sums makes.
bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

/// The loss of the folder's own weights on the passage, without a run.
double loss_of_folder(const char* name, const std::vector<int32_t>& tokens) {
  const auto backend = make_cpu_backend(1);
  const published::PublishedModel model =
      published::open((kFolder / name).string(), static_cast<int32_t>(tokens.size()));
  Store store(*backend);
  published::declare(model, store);
  published::load(model, store);
  Look look(store, model.spec.model, passage_batch(model.spec.model, tokens));
  look.replay();
  return look.program().loss();
}

}  // namespace

TEST_CASE("published run: looking inside says what the run's own step says, and changes no bit") {
  for (const char* name : {"gpt2", "llama", "olmo2", "gemma2", "pythia"}) {
    INFO(name);
    Opened opened(name);
    const auto seen = opened.run(), alone = opened.run();
    const auto inside = look_inside(*seen, "", true);
    seen->step();
    alone->step();
    CHECK(seen->losses() == alone->losses());
    CHECK(near(inside->found.loss, static_cast<double>(alone->losses()[0])));
    CHECK(inside->found.tokens == std::vector<int32_t>{5, 17, 3, 5, 9, 4, 8});
    CHECK(inside->words.at(17) == "17");
    CHECK(inside->step == 0);
    const auto other = look_inside(*seen, "5 5 5", false);
    CHECK(other->found.tokens.size() == 3);
    CHECK(other->step == 1);
    CHECK(contains(error_of([&] { look_inside(*seen, "5", false); }), "1 tokens: expected 2 to "));
    CHECK(contains(error_of([&] { look_inside(*seen, "dog", false); }), "is no number of a token"));
  }
}

TEST_CASE("published run: an encoder is asked for each token where it stands, and learns hidden ones") {
  for (const char* name : {"bert", "roberta"}) {
    Opened opened(name);
    const auto run = opened.run();
    const auto inside = look_inside(*run, "", false);
    CHECK(inside->found.targets == inside->found.tokens);
    CHECK(near(inside->found.loss, loss_of_folder(name, inside->found.tokens)));
    for (int i = 0; i < 5; ++i) run->step();
    CHECK(run->state() != RunState::NonFinite);
  }
}

}  // namespace normscope::test_inside_published

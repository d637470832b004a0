// A published model of the fixtures, opened as a run, beside the loss of its folder's own weights.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "addons/published/training/passage.h"
#include "addons/published/training/published.h"
#include "engine/cpu/backend_cpu.h"
#include "test_paths.h"
#include "training/measure/look.h"
#include "training/run/run.h"

namespace normscope::test_opened_folder {

inline const std::filesystem::path kFolder =
    std::filesystem::path(NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers");
constexpr const char* kPassage = "5 17 3 5 9 4 8";

struct FolderModel {
  explicit FolderModel(const char* name, const char* passage = kPassage)
      : spec(published::run_of((kFolder / name).string(), passage)), task(make_task(spec.data)) {
    fit_to_data(spec, *task);
  }
  std::unique_ptr<Run> run() { return std::make_unique<Run>(spec, task, *backend); }

  std::unique_ptr<Backend> backend = make_cpu_backend(1);
  RunSpec spec;
  std::shared_ptr<const Task> task;
};

/// Allows what another order of a few float sums makes.
inline bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

/// The loss of the folder's own weights on the passage, without a run.
inline double loss_of_folder(const char* name, const std::vector<int32_t>& tokens) {
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

}  // namespace normscope::test_opened_folder

// These tests hold the spectrum of a run's next update to the step that the run then takes.
#include "training/support/small_runs.h"

namespace normscope::test {
TEST_CASE("examine: the spectrum of the next update is that of the step taken, and Adam's is uneven") {
  const auto spectra_of = [](const char* optimizer) {
    const auto run = make_run(spec_with("pre", {{"train.optimizer", optimizer}}), 6);
    const Store& store = run->store();
    const std::vector<float> before = store.read(store.find("L02.ffn.w2"));
    const std::vector<MatrixSpectra> all = next_spectra(*run);
    CHECK(all.size() >= 12);  // six matrices in each of two layers
    CHECK(run->steps_done() == 6);
    run->step();
    const std::vector<float> after = store.read(store.find("L02.ffn.w2"));
    double update = 0, weights = 0;
    for (size_t i = 0; i < before.size(); ++i) {
      update += std::pow(static_cast<double>(after[i]) - static_cast<double>(before[i]), 2);
      weights += std::pow(static_cast<double>(before[i]), 2);
    }
    const MatrixSpectra& one = matrix_of(all, "L02.ffn.w2");
    CHECK(one.update.norm() == Approx(std::sqrt(update)).epsilon(1e-12));
    CHECK(one.weights.norm() == Approx(std::sqrt(weights)).epsilon(1e-12));
    CHECK(one.ratio() == Approx(std::sqrt(update / weights)).epsilon(1e-12));
    return all;
  };
  for (const MatrixSpectra& m : spectra_of("adam")) {
    if (m.layer == 0) continue;
    INFO(m.name);
    CHECK(m.update.share_at(0.5) < 0.5);
    CHECK(m.update.effective_rank() < 0.6 * static_cast<double>(m.update.values.size()));
  }
  for (const Optimizer optimizer : kOptimizers) spectra_of(to_string(optimizer));
}

}  // namespace normscope::test

// A look inside has the spectra of a run's next update.
#include "addons/inside/tests/training/look_inside.h"
#include "catch.hpp"
#include "training/session/analysis.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

const MatrixSpectra& matrix_of(const std::vector<MatrixSpectra>& all, const std::string& name) {
  const auto at = std::ranges::find(all, name, &MatrixSpectra::name);
  REQUIRE(at != all.end());
  return *at;
}

}  // namespace

TEST_CASE("examine: a look inside has the spectra of one layer, only where it is asked, and changes no bit",
          "[examine]") {
  const auto run = make_run(small_spec("pre")), other = make_run(small_spec("pre"));
  steps(*run, 6);
  steps(*other, 6);
  const std::vector<MatrixSpectra> all = next_spectra(*other);
  size_t seen = 0;
  for (const int32_t layer : {0, 1, 2}) {
    INFO(layer);
    const auto inside = look_inside(*run, "", false, layer);
    CHECK(inside->spectra_of == layer);
    CHECK_FALSE(inside->spectra.empty());
    for (const MatrixSpectra& m : inside->spectra) {
      INFO(m.name);
      CHECK(m.layer == layer);
      const MatrixSpectra& same = matrix_of(all, m.name);
      CHECK(m.update.values == same.update.values);
      CHECK(m.weights.values == same.weights.values);
      ++seen;
    }
  }
  CHECK(seen == all.size());
  const auto plain = look_inside(*run, "", false);
  CHECK_FALSE(plain->spectra_of);
  CHECK(plain->spectra.empty());
  steps(*run, 2);
  steps(*other, 2);
  const int32_t matrix = run->store().find("L02.ffn.w2");
  CHECK(run->store().read(matrix) == other->store().read(matrix));
}

}  // namespace normscope::test

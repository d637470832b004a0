// These tests run normscope measure: tables, JSON, and what is refused.
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "app/cli/options.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "training/session/analysis.h"

using namespace normscope::test;
using nlohmann::json;

namespace {

std::string saved_run(const Folder& folder) {
  const std::string config = folder.write("tiny.toml", std::string(kTiny) + "[run]\nname = \"small\"\n");
  const Outcome outcome = run_program("train --config " + config + " --save " + folder.file("x.safetensors") +
                                      " --save-every 4 --keep 2");
  REQUIRE(outcome.code == 0);
  return folder.file("x.safetensors");
}

json measured(const std::string& arguments) {
  const Outcome outcome = run_program("measure " + arguments + " --json");
  INFO(arguments << " gave " << outcome.err);
  REQUIRE(outcome.code == 0);
  return json::parse(outcome.out);
}

double value_of(const json& result, const std::string& column, const std::string& name,
                const std::string& what) {
  for (const json& row : result["rows"])
    if (row[column] == name) return row[what];
  FAIL("no row " << name);
  return 0;
}

}  // namespace

TEST_CASE("measure: every measurement as a table and as JSON") {
  const Folder folder;
  const std::string run = saved_run(folder), before = read_all(run);
  const json ablation = measured(run + " --without L01.attn,L02");
  CHECK(ablation["what"] == "ablation");
  CHECK(ablation["step"] == 12);
  CHECK(ablation["run"] == "small");
  CHECK(ablation["rows"].size() == 1 + 2 + 4 + 1 + 1);
  const double whole = value_of(ablation, "left_out", "nothing", "loss");
  for (const json& row : ablation["rows"])
    CHECK(double(row["change"]) == Approx(double(row["loss"]) - whole).margin(1e-12));
  CHECK(value_of(measured(run + " --what loss"), "left_out", "nothing", "loss") == whole);
  CHECK(value_of(measured(run + " --what loss --without L01.attn,L02"), "left_out", "L01.attn,L02", "loss") ==
        value_of(ablation, "left_out", "L01.attn,L02", "loss"));

  CHECK(measured(run + " --what jacobian")["rows"].size() == 4);  // Post-LN: one a sub-layer
  CHECK(measured(run + " --what logits")["rows"].size() == 2);
  CHECK(measured(run + " --what felt-rate")["rows"].size() == 3);
  const json update = measured(run + " --what update");
  CHECK(value_of(update, "layer", "L02", "spike_ratio") > 0.1);
  CHECK(std::abs(value_of(update, "layer", "emb", "update_cosine")) < 1);
  const json spectrum = measured(run + " --what spectrum");
  CHECK(spectrum["rows"].size() >= 12);
  for (const json& row : spectrum["rows"]) {
    INFO(row["matrix"]);
    CHECK(double(row["ratio"]) ==
          Approx(double(row["update"]["norm"]) / double(row["weights"]["norm"])).epsilon(1e-9));
    CHECK(row["update"]["singular_values"].size() == row["weights"]["singular_values"].size());
    CHECK(double(row["update"]["stable_rank"]) <= double(row["update"]["effective_rank"]));
  }
  const json curvature = measured(run + " --what curvature");
  for (const char* along : {"update", "gradient"})
    CHECK(value_of(curvature, "along", along, "curvature") ==
          Approx(2 / value_of(curvature, "along", along, "critical_rate")));
  const json gradients = measured(run + " --what gradients --batches 3");
  CHECK(gradients["batches"] == 3);
  CHECK(value_of(gradients, "parameter", "L01.ffn.w2", "norm_of_mean") <
        value_of(gradients, "parameter", "L01.ffn.w2", "mean_of_norms"));
  const json concentration = measured(run + " --what concentration --epsilon 0.2 --delta 0.25");
  CHECK(concentration["asked_epsilon"] == 0.2);
  CHECK(concentration["rows"].size() == 4);

  for (const char* what : {"ablation", "jacobian", "concentration", "gradients", "logits", "felt-rate",
                           "update", "spectrum", "curvature", "loss"}) {
    const Outcome table = run_program("measure " + run + " --what " + what);
    INFO(what);
    CHECK(table.code == 0);
    CHECK(contains(table.out, "\nL0") + contains(table.out, "\nnothing") +
              contains(table.out, "\ngradient ") >
          0);
  }
  CHECK(read_all(run) == before);  // nothing was written
}

TEST_CASE("measure: the spectrum has the numbers that the window shows Inside") {
  using namespace normscope;
  const Folder folder;
  const std::string file = saved_run(folder);
  const json printed = measured(file + " --what spectrum")["rows"];
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  const auto run = Run::load(file, cli::task_of(Run::saved_spec(file)), *backend);
  size_t seen = 0;
  for (int32_t layer = 0; layer <= run->spec().model.layers; ++layer) {
    for (const MatrixSpectra& m : next_spectra(*run, layer)) {
      INFO(m.name);
      const auto row = std::ranges::find_if(printed, [&](const json& r) { return r["matrix"] == m.name; });
      REQUIRE(row != printed.end());
      CHECK(double((*row)["ratio"]) == m.ratio());
      CHECK((*row)["update"]["singular_values"].get<std::vector<double>>() == m.update.values);
      CHECK((*row)["weights"]["singular_values"].get<std::vector<double>>() == m.weights.values);
      ++seen;
    }
  }
  CHECK(seen == printed.size());
}

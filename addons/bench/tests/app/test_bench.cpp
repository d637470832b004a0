// These tests run normscope bench and step its models.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "addons/bench/app/stepper.h"
#include "app/cli/options.h"
#include "app/support/commands.h"
#include "engine/cpu/backend_cpu.h"
#include "training/measure/step/profile.h"
#include "training/run/footprint.h"
#include "training/run/run.h"
#include "training/session/analysis.h"
#include "training/spec/update_rule.h"

using namespace normscope;
using namespace normscope::test;

TEST_CASE("every op that ends a step has a cost") {
  // This catches an optimizer's op whose OpRules have no `passes`: its rate would be zero.
  const bench::Model& model = bench::models()[0];
  for (const Optimizer optimizer : kOptimizers) {
    INFO(to_string(optimizer));
    bench::Stepper stepper(bench::config_of(model), bench::shape_of(model), 1,
                           {.update = update_op(optimizer)});
    double bytes = 0;
    for (const InstructionProfile& row : profile(*stepper.program, stepper.inputs, 1))
      if (row.op == update_op(optimizer)) bytes += row.cost.bytes;
    CHECK(bytes > 0);
  }
}

TEST_CASE("the systems that are no plain transformers step, and their ops have a cost") {
  std::map<OpKind, double> bytes;
  for (const char* name : {"memory", "convnet", "parser"}) {
    INFO(name);
    bench::Model model = bench::model_of(name);
    CHECK(bench::targets_of(model) ==
          std::map<std::string, int64_t>{{"memory", 16 * 64}, {"convnet", 32}, {"parser", 1024}}[name]);
    CHECK(bench::gflop_of(model) > 0);
    model.batch = 2;
    bench::Stepper stepper(model, 1);
    for (const InstructionProfile& row : profile(*stepper.program, stepper.inputs, 1))
      if (row.phase != Phase::Update) bytes[row.op] += row.cost.bytes;
    CHECK(std::isfinite(stepper.program->loss()));
    CHECK(stepper.program->loss() > 0);
    if (model.memory > 0) {  // a full one, and not of zeros
      const auto lengths = stepper.program->tokens("memory_lengths");
      CHECK(std::vector<int32_t>(lengths.begin(), lengths.end()) == std::vector<int32_t>(2, 64));
      CHECK(stepper.program->floats("L06.memory").back() != 0);
    }
  }
  for (const OpKind op :
       {OpKind::Conv2d, OpKind::MaxPool, OpKind::Concat, OpKind::RelativeAttention, OpKind::Embedding}) {
    INFO(to_string(op));
    CHECK(bytes[op] > 0);
  }
  CHECK_THROWS_WITH(bench::model_of("lessons"),
                    Catch::Contains("there is no model lessons: expected lesson, deep"));
}

TEST_CASE("the sources' encoder-decoder fits 24 GB, with room when gradients are reused") {
  const auto all = bench::models();
  const auto encdec = std::ranges::find(all, std::string("encdec"), &bench::Model::name);
  REQUIRE(encdec != all.end());
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  const Footprint keep = footprint_of(bench::config_of(*encdec), bench::shape_of(*encdec), *backend, false);
  const Footprint reuse = footprint_of(bench::config_of(*encdec), bench::shape_of(*encdec), *backend);
  INFO(footprint_table(keep));
  CHECK(keep.peak() < size_t{24} << 30);
  CHECK(reuse.gradients == keep.reused_gradients);
  CHECK(reuse.gradients < keep.gradients / 2);
  CHECK(keep.peak() - reuse.peak() == keep.gradients - reuse.gradients);
}

TEST_CASE("commands: bench", "[listing]") { check_commands("commands"); }

// These tests run normscope measure: tables, JSON, and what is refused.

using nlohmann::json;

namespace {

std::string saved_run(const Folder& folder) {
  const std::string config = folder.write("tiny.toml", std::string(kTiny) + "[run]\nname = \"small\"\n");
  const Outcome outcome = run_program("train --config " + config + " --save " + folder.file("x.safetensors") +
                                      " --save-every 4 --keep 2");
  REQUIRE(outcome.code == 0);
  return folder.file("x.safetensors");
}

}  // namespace

TEST_CASE("measure: the spectrum has the numbers that the window shows Inside") {
  using namespace normscope;
  const Folder folder;
  const std::string file = saved_run(folder);
  const json printed = json::parse(run_program("measure " + file + " --what spectrum --json").out)["rows"];
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

TEST_CASE("commands: measure", "[listing]") { check_commands("measure"); }

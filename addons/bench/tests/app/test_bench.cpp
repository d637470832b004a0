// These tests run normscope bench and step its models.
#include <nlohmann/json.hpp>

#include "addons/bench/app/stepper.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/core/machine.h"
#include "engine/cpu/backend_cpu.h"
#include "training/measure/step/profile.h"
#include "training/run/footprint.h"
#include "training/run/run.h"
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

TEST_CASE("bench prints one JSON object") {
  const Outcome outcome = run_program("bench --model lesson --budget 0.001 --threads 2 --json");
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  CHECK(json["right"] == true);
  REQUIRE(json["models"].size() == 1);
  for (const char* key : {"name", "tokens_per_s", "ms", "gflops", "share_of_sgemm", "memory_bytes"})
    CHECK(json["models"][0].contains(key));
  CHECK(json["models"][0]["gflop"].get<double>() == Approx(2.15).margin(0.01));
  CHECK(json["models"][0]["plan"]["peak_bytes"].get<double>() >
        json["models"][0]["memory_bytes"].get<double>());
  CHECK_FALSE(json["machine"]["compiler"].get<std::string>().empty());
}

TEST_CASE("bench measures a network without sub-layers, which has no live measurements") {
  const Outcome outcome = run_program("bench --model convnet --budget 0.001 --threads 2 --json");
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  const nlohmann::json row = nlohmann::json::parse(outcome.out)["models"].at(0);
  CHECK(row["right"] == true);
  CHECK_FALSE(row.contains("live_ms"));
  CHECK(row["tokens_per_s"].get<double>() * row["ms"].get<double>() == Approx(1e3 * 32));
}

TEST_CASE("bench prints the plan of a named model first, and what a crowded machine costs") {
  const Outcome outcome = run_program("bench --model lesson --crowded --budget 0.001 --threads 2");
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(contains(outcome.out, "before anything is allocated"));
  CHECK(outcome.out.find("activations") < outcome.out.find("Training steps"));
  for (const char* line :
       {"one thread more than cores", "beside 1 busy process ", "beside 8 busy processes", "same", "other"})
    CHECK(contains(outcome.out, line));
}

TEST_CASE("bench says of every load what a fair share makes of a step, and how far off it is") {
  const Outcome outcome = run_program("bench --model lesson --crowded --budget 0.001 --threads 1 --json");
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  const nlohmann::json rows = nlohmann::json::parse(outcome.out)["crowded"];
  REQUIRE(rows.size() == 9);
  std::map<std::string, std::vector<int>> busy;
  for (const auto& row : rows) {
    INFO(row.dump());
    const int n = row["busy"];
    const double fair = row["fair"], ratio = row["ratio"];
    busy[row["group"]].push_back(n);
    CHECK(ratio == Approx(row["ms"].get<double>() / row["alone_ms"].get<double>()));
    CHECK(row["over_fair"].get<double>() == Approx(ratio / fair));
    const double shared = n == 0 ? 1 : std::max(1.0, (n + 1.0) / usable_cores());
    CHECK((fair == Approx(shared) || (row["group"] == "other" && fair == Approx(std::max(2.0, shared)))));
  }
  CHECK(busy["same"] == std::vector<int>{0, 1, 2, 4, 8});
  CHECK(busy["other"] == std::vector<int>{1, 2, 4, 8});
}

TEST_CASE("bench measures in turn what standard input names") {
  const Folder folder;
  const std::string command = "bench --turns --budget 0.001 --threads 2";
  const Outcome outcome = run_program(command, "", folder.write("turns", "micro16\nsgemm\nmicro16\n"));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  std::istringstream lines(outcome.out);
  std::vector<nlohmann::json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(nlohmann::json::parse(line));
  REQUIRE(rows.size() == 3);
  CHECK(rows[1]["name"] == "sgemm");
  CHECK(rows[0]["tokens_per_s"].get<double>() > 0);
  CHECK(rows[2]["loss"].get<double>() < rows[0]["loss"].get<double>());  // the same model trained on
  const Outcome unknown = run_program(command, "", folder.write("unknown", "micro16\nkitchen\n"));
  CHECK(unknown.code == 2);
  CHECK(is_one_error_line(unknown));
  CHECK(contains(unknown.err, "kitchen"));
}

TEST_CASE("bench measures the products of one shape") {
  const Outcome outcome = run_program("bench --gemm --shape 130 70 520 --budget 0.001 --threads 2 --json");
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  const nlohmann::json rows = nlohmann::json::parse(outcome.out)["gemm"];
  REQUIRE(rows.size() == 3);
  constexpr const char* kLayouts[] = {"NN", "NT", "TN"};
  for (size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i]["m"] == 130);
    CHECK(rows[i]["layout"] == kLayouts[i]);
    CHECK(rows[i]["error"].get<double>() < 1e-6);
  }
  CHECK(run_program("bench --shape 64 64 64").code == 2);
  CHECK(run_program("bench --gemm --shape 0 64 64").code == 2);
}

TEST_CASE("bench deals the chunks of a step out to more threads than there are") {
  const Outcome outcome = run_program("bench --scaling --model lesson --budget 0.001 --threads 1 --json");
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  const nlohmann::json rows = nlohmann::json::parse(outcome.out)["scaling"];
  REQUIRE(rows.size() == 5);
  CHECK(rows[0]["threads"] == 1);
  CHECK(rows[0]["faster"].get<double>() == Approx(1));
  CHECK(rows[0].contains("measured_ms"));
  for (size_t i = 1; i < rows.size(); ++i) {  // no more than its threads; how much less is what it is for
    CHECK(rows[i]["faster"].get<double>() > 0);
    CHECK(rows[i]["faster"].get<double>() <= rows[i]["threads"].get<double>());
  }
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

TEST_CASE("bench --backend cuda without the library is one line and its own exit code") {
  const Folder folder;
  const Outcome missing =
      run_program("bench --backend cuda", "env NORMSCOPE_CUDA_LIBRARY='" + folder.file("none.so") + "'");
  CHECK(missing.code == 8);
  CHECK(is_one_error_line(missing));
}

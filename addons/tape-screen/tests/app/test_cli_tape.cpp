// These tests demand that normscope tape prints everything of the tape and of the program, as text and as JSON.
#include <nlohmann/json.hpp>

#include "addons/tape-screen/training/listing.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/tape/tape.h"
#include "test_paths.h"
#include "training/run/run.h"
#include "training/spec/spec.h"
#include "training/support/tiny.h"

using namespace normscope;
using namespace normscope::test;
using nlohmann::json;

namespace {

json tape_json(const std::string& arguments) {
  const Outcome outcome = run_program("tape --json " + arguments);
  INFO(arguments << " gave " << outcome.err);
  REQUIRE(outcome.code == 0);
  return json::parse(outcome.out);
}

size_t lines_between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t begin = text.find("\n" + from + "\n"), end = text.find("\n\n" + to + "\n");
  REQUIRE(begin != text.npos);
  REQUIRE(end != text.npos);
  const auto at = [&](size_t i) { return text.begin() + static_cast<std::ptrdiff_t>(i); };
  return static_cast<size_t>(std::count(at(begin + 1), at(end), '\n'));
}

}  // namespace

TEST_CASE("tape: the default configuration's text names every op, parameter and instruction of its program") {
  const Outcome outcome = run_program("tape");
  REQUIRE(outcome.code == 0);
  const RunSpec spec = preset_run("pre");
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  Run run(spec, make_task(spec.data), *backend);
  const ProgramData& program = run.program().data();
  std::set<OpKind> ops;
  for (const Instruction& i : program.instructions) ops.insert(i.op);
  CHECK(ops.size() > 8);
  for (OpKind op : ops) {
    INFO(to_string(op));
    CHECK(contains(outcome.out, std::string(" ") + to_string(op) + " "));
  }
  CHECK(contains(outcome.out, "\n  L03.attn.wq "));
  CHECK(contains(outcome.out, " d_out "));
  CHECK(contains(outcome.out, " add"));
  CHECK(lines_between(outcome.out, "tape", "program") == program.nodes.size());
  CHECK(lines_between(outcome.out, "program", "stats") == program.instructions.size());

  const json one = tape_json("")["runs"].at(0);
  for (const json& node : one["nodes"])
    if (node["name"] == "L03.attn.heads") CHECK(node["shape"] == json::parse("[16, 64, 64]"));
  CHECK(one["program"] == "training");
  CHECK(one["parameters"].size() == program.store->parameters().size());
  CHECK(one["values"].size() == program.values.size());
  CHECK(one["nodes"].size() == program.nodes.size());
  CHECK(one["instructions"].size() == program.instructions.size());
  CHECK(one["stats"].size() == program.stats.size());
  CHECK(one["totals"]["floats"]["gradients"] == program.plan.gradients);
  CHECK(one["totals"]["floats"]["workspace"] == program.plan.workspace);
}

TEST_CASE("tape: the JSON is one object, and every place in it lies in its block") {
  const Folder folder;
  const std::string config =
      folder.write("tiny.toml", std::string(kTiny) + "[run.A]\n[run.C]\nmodel.placement = \"pre\"\n");
  const json all = tape_json("--config " + config);
  CHECK(all["format"] == "normscope tape 1");
  REQUIRE(all["runs"].size() == 2);
  CHECK(all["runs"][1]["run"] == "C");
  for (const json& run : all["runs"]) {
    const json& blocks = run["totals"]["floats"];
    CHECK(run["totals"]["forward"].get<size_t>() + run["totals"]["backward"].get<size_t>() +
              run["totals"]["update"].get<size_t>() ==
          run["instructions"].size());
    for (const json& i : run["instructions"])
      for (const json& operand : i["operands"]) {
        INFO(i.dump());
        const json& place = operand["place"];
        if (place.is_null()) continue;
        CHECK(place["offset"].get<size_t>() < blocks[place["block"].get<std::string>()].get<size_t>());
      }
  }
}

TEST_CASE("tape: programs without backward have no gradient") {
  for (const char* program : {"evaluation", "measurement"}) {
    INFO(program);
    const json one =
        tape_json(std::string("--preset post --set model.layers=2 --program ") + program)["runs"][0];
    CHECK(one["totals"]["backward"] == 0);
    CHECK(one["totals"]["update"] == 0);
    CHECK(one["totals"]["forward"] == one["instructions"].size());
    for (const json& value : one["values"]) CHECK(value["gradient"].is_null());
  }
}

TEST_CASE("tape: one step, with every op beside its gradient, its memory and its checks") {
  const std::string small = "--preset post" + tiny_options() + " --after 2 ";
  const json one = tape_json(
      small +
      "--fold --memory --check all --check 'L01.ffn.1/L01.ffn.w1[3,7]' --instruction L02.ffn.stream")["runs"]
                                                                                                     [0];
  CHECK(one["step"] == 3);
  const json& fold = one["fold"];
  CHECK(fold["lines"].size() == one["nodes"].size());
  CHECK(fold["not_finite"].is_null());
  CHECK(fold["roof"]["flops"] > 0);
  for (const json& line : fold["lines"])
    for (const char* side : {"forward", "backward"}) {
      INFO(line.dump());
      CHECK(line[side]["seconds"] > 0);
      CHECK(line[side]["least_seconds"] > 0);
      const size_t index = line[side]["instruction"];
      CHECK(one["instructions"][index]["name"] == line["name"]);
      CHECK(one["instructions"][index]["phase"] == side);
      CHECK(line["gradient_norm"] > 0);
    }
  CHECK(fold["groups"].size() == 6);
  CHECK(one["memory"]["planned"] <= one["memory"]["apart"]);
  CHECK(one["memory"]["instructions"] == one["instructions"].size());
  const json& last = one["checks"].back();
  CHECK(last["element"] == 3 * 32 + 7);
  std::set<std::string> ops;
  for (const json& check : one["checks"]) ops.insert(check["op"].get<std::string>());
  for (const char* op : {"embedding", "linear", "attention", "layer_norm", "relu", "add", "softmax_xent"})
    CHECK(ops.contains(op));
  REQUIRE(one["shown"].size() == 2);  // forward and backward
  CHECK(one["shown"][1]["title"] == "Layer norm");
  for (const json& tensor : one["shown"][1]["tensors"]) CHECK(tensor["histogram"].size() == 48);

  const std::string text = run_program("tape " + small + "--fold --layers --check all").out;
  CHECK(contains(text, "\nL02 "));
  CHECK_FALSE(contains(text, "L02.ffn"));  // closed
  CHECK(contains(text, "every number of this step is finite"));
  CHECK_FALSE(contains(text, "\nparameters\n"));  // not the listing
}

TEST_CASE("tape: changes against the first run") {
  const std::string runs = "--run A=post --run B=pre --set model.layers=2 --changes";
  const json both = tape_json(runs)["runs"];
  REQUIRE(both.size() == 2);
  CHECK_FALSE(both[0].contains("changes"));
  const json& changes = both[1]["changes"];
  CHECK(changes["came"] > 0);
  CHECK(changes["went"] > 0);
  CHECK(changes["same"].get<size_t>() + changes["came"].get<size_t>() + changes["rewired"].get<size_t>() ==
        both[1]["instructions"].size());
  CHECK(contains(run_program("tape " + runs).out, "L01.attn.stream"));
}

TEST_CASE("tape: the rules are the page of the ops") {
  CHECK(run_program("tape --rules").out == read_all(std::string(NORMSCOPE_SOURCE_DIR) + "/docs/ops.md"));
}

// These tests demand that normscope tape prints everything of the tape and of the program, as text and as JSON.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "addons/tape-screen/training/listing.h"
#include "app/support/commands.h"
#include "engine/cpu/backend_cpu.h"
#include "training/run/run.h"

using namespace normscope;
using namespace normscope::test;
using nlohmann::json;

namespace {

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

  const json one = json::parse(run_program("tape --json").out)["runs"].at(0);
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

TEST_CASE("commands: tape", "[listing]") { check_commands("commands"); }

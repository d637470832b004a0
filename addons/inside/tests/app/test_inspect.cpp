// These tests open published models and saved runs by normscope inspect: a text by its own tokenizer, and what is said
// of it as tables, as JSON and as a picture.
#include <nlohmann/json.hpp>

#include "addons/published/tests/massive.h"
#include "app/support/commands.h"
#include "catch.hpp"
#include "engine/io/safetensors.h"
#include "test_paths.h"

using namespace normscope;
using namespace normscope::test;

namespace {

const std::string kModels = NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers/";

nlohmann::json inspected(const std::string& arguments) {
  const Outcome outcome = run_program("inspect " + arguments + " --json");
  INFO(arguments << ": " << outcome.err);
  CHECK(outcome.err.empty());
  REQUIRE(outcome.code == 0);
  return nlohmann::json::parse(outcome.out);
}

}  // namespace

TEST_CASE("inspect: of files without a head it says what needs none") {
  const Folder folder;
  std::filesystem::copy_file(kModels + "bert/config.json", folder.file("config.json"));
  const SafetensorsFile whole = SafetensorsFile::load(kModels + "bert/model.safetensors");
  SafetensorsWriter bare;
  std::map<std::string, std::vector<float>> kept;
  for (const std::string& name : whole.names())
    if (!name.starts_with("cls.")) bare.add(name, whole.shape(name), kept[name] = whole.floats(name));
  bare.write(folder.file("model.safetensors"));
  const std::string text = " --ids '5 17 3 5 9' --leave-out";
  const auto all = inspected(folder.path.string() + text), before = inspected(kModels + "bert" + text);
  CHECK(all["loss"].is_null());
  for (const char* key : {"lens", "gradients", "left_out"}) CHECK_FALSE(all.contains(key));
  CHECK(all["sublayers"][3]["norms"] == before["sublayers"][3]["norms"]);
  CHECK(all["attention"] == before["attention"]);
  const Outcome tables = run_program("inspect " + folder.path.string() + text);
  CHECK(tables.code == 0);
  CHECK(contains(tables.out, "the files have no head that says tokens: no loss, no gradients"));
  CHECK_FALSE(contains(tables.out, "perplexity"));
}

TEST_CASE("inspect: a token that dominates is named, and the shares are medians by token") {
  const Folder folder;
  const std::string text = massive_first(folder) + " --ids '5 17 3 5 9 4'";
  const auto all = inspected(text), plain = inspected(kModels + "gpt2 --ids '5 17 3 5 9 4'");
  CHECK(plain["dominant"].is_null());
  CHECK(all["dominant"]["position"] == 1);
  CHECK(all["dominant"]["times"].get<double>() > 10);
  const auto &last = all["sublayers"].back(), &before = plain["sublayers"].back();
  CHECK(last["beta2"].get<double>() < 0.01 * before["beta2"].get<double>());
  CHECK(last["beta2_median"].get<double>() > 0.3 * before["beta2_median"].get<double>());
  const Outcome tables = run_program("inspect " + text);
  CHECK(contains(tables.out, "1: 5 dominates: after "));
  CHECK(contains(tables.out, "median over the tokens"));
  CHECK_FALSE(contains(run_program("inspect " + kModels + "gpt2 --ids '5 17 3'").out, "dominates"));
}

TEST_CASE("commands: inspect", "[listing]") { check_commands("commands"); }

// These tests cover studies as files: what comes with the program, a grid for each part, the page, the command.
#include <nlohmann/json.hpp>

#include "addons/papers/app/study_file.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "test_paths.h"
#include "training/support/tiny.h"

namespace normscope::test {
namespace {

/// Two parts, of three cells and of four, which have two runs in common.
std::string small_study() {
  std::string set = "[";
  for (const std::string& one : tiny_set()) set += (set.size() > 1 ? ", \"" : "\"") + one + "\"";
  set += "]";
  return "title = \"Small\"\nquestion = \"Which rate?\"\nfound = [\"Nothing yet.\"]\nsources = [\"A book\"]\n"
         "[[part]]\nname = \"one\"\ntitle = \"First\"\naxes = [\"train.lr=1e-3,3e-3,1e-2\"]\nset = " +
         set +
         "\nsteps = 8\nseeds = 1\n[[part]]\nname = \"two\"\ntitle = \"Second\"\n"
         "axes = [\"train.lr=1e-3,3e-3\", \"train.warmup=0,4\"]\nset = " +
         set + "\nsteps = 8\nseeds = 2\n";
}

}  // namespace

TEST_CASE("study: every one that comes with the program can be read and asks for runs", "[study]") {
  const std::string folder = NORMSCOPE_SOURCE_DIR "/addons/papers/studies";
  const std::vector<std::string> names = sweep::study_names(folder);
  CHECK(names.size() >= 2);
  for (const std::string& name : names) {
    INFO(name);
    const sweep::StudyFile study = sweep::read_study(folder, name);
    const auto runs = sweep::study_of(study).runs;
    for (const experiments::StudyRun& run : runs) CHECK(run.refused.empty());
    CHECK(sweep::study_of(sweep::quick(study)).runs.size() < runs.size());
    const std::string manual = read_all(NORMSCOPE_SOURCE_DIR "/addons/papers/README.md"),
                      page = read_all(NORMSCOPE_SOURCE_DIR "/addons/papers/docs/studies/" + name + ".md");
    CHECK(contains(manual, "| `" + name + "` | " + study.question));
    CHECK(contains(manual, "[" + name + "](docs/studies/" + name + ".md)"));
    CHECK(page.starts_with("# " + study.title + "\n\n" + study.question + "\n"));
    for (const std::string& line : study.found) CHECK(contains(page, line));
  }
}

TEST_CASE("study: the transfer to other depths has been asked of every placement that it has rules for",
          "[study]") {
  std::set<std::string> asked;
  for (const char* name : {"depth-transfer", "placements-transfer"})
    for (const experiments::StudyRun& run :
         sweep::study_of(sweep::read_study(NORMSCOPE_SOURCE_DIR "/addons/papers/studies", name)).runs) {
      const RunSpec& spec = run.spec;
      const std::string placement = get_field(spec, "model.placement");
      if (spec.model.transfer == Transfer::CompleteP) asked.insert(placement);
      CHECK((placement == "fixup") == (spec.model.init == InitRule::FixUp));
    }
  for (const Placement placement : placements()) {
    if (placement == Placement::Custom) continue;
    INFO(to_string(placement));
    ModelConfig config = preset_run("pre").model;
    set_placement(config, placement);
    config.vocabulary = 29;
    config.transfer = Transfer::CompleteP;
    bool has_rules = true;
    try {
      validate(config);
    } catch (const Error&) {
      has_rules = false;
    }
    CHECK(has_rules == (std::string(to_string(placement)) != "ngpt"));
    CHECK(asked.contains(to_string(placement)) == has_rules);
  }
}

TEST_CASE("study: the command trains what its parts need once, and writes page, pictures and numbers",
          "[study]") {
  const Folder folder;
  folder.write("small.toml", small_study());
  const std::string command =
      "study small --studies " + folder.file(".") + " --store " + folder.file("store");
  const Outcome counted = run_program(command + " --dry-run");
  CHECK(counted.code == 0);
  CHECK(test::contains(counted.out, "2 grids"));
  const Outcome done = run_program(command + " --out " + folder.file("out"));
  CHECK(done.code == 0);
  const auto json = nlohmann::json::parse(read_all(folder.file("out/small.json")));
  CHECK(json["format"] == "normscope study 1");
  REQUIRE(json["parts"].size() == 2);
  CHECK(json["parts"][0]["sweep"]["cells"].size() == 3);
  CHECK(json["parts"][1]["sweep"]["cells"].size() == 4);
  // The cells without warm-up are the same runs in both parts, and so are their losses.
  CHECK(json["parts"][0]["sweep"]["cells"][1]["loss"] != json["parts"][0]["sweep"]["cells"][2]["loss"]);
  const std::string page = read_all(folder.file("out/small.md"));
  for (const char* words :
       {"# Small", "Which rate?", "- Nothing yet.", "## First", "## Second", "small-one.svg", "- A book"})
    CHECK(test::contains(page, words));
  CHECK(std::filesystem::exists(folder.file("out/small-two.svg")));
  const Outcome again = run_program(command + " --stored");
  CHECK(again.code == 0);
  CHECK(test::contains(again.out, "Second"));
}

TEST_CASE("study: a part shows a number of its runs' history beside the loss", "[study]") {
  const Folder folder;
  std::string text = small_study();
  text.replace(text.find("seeds = 1"), 9, "seeds = 2\nmeasure = \"L*.attn.out.mean_square\"");
  folder.write("small.toml", text);
  const std::string command = "study small --studies " + folder.file(".") + " --store " +
                              folder.file("store") + " --out " + folder.file("out");
  const Outcome done = run_program(command);
  REQUIRE(done.code == 0);
  CHECK(test::contains(done.out, "L*.attn.out.mean_square at the end, the largest"));
  CHECK(std::filesystem::exists(folder.file("out/small-one-measured.svg")));
  CHECK_FALSE(std::filesystem::exists(folder.file("out/small-two-measured.svg")));
  CHECK(test::contains(read_all(folder.file("out/small.md")), "small-one-measured.svg"));
  const auto json = nlohmann::json::parse(read_all(folder.file("out/small.json")));
  const auto& sweep = json["parts"][0]["sweep"];
  CHECK(sweep["measure"] == "L*.attn.out.mean_square");
  CHECK_FALSE(json["parts"][1]["sweep"].contains("measure"));
  for (const auto& cell : sweep["cells"]) {
    double sum = 0;
    for (const auto& run : cell["runs"]) sum += run["measured"].get<double>();
    CHECK(sum > 0);
    CHECK(cell["measured"].get<double>() == Approx(sum / 2));
  }
  CHECK(sweep["cells"][0]["measured"] != sweep["cells"][2]["measured"]);
  // The same numbers come from the store, without a run.
  const Outcome again = run_program(command + " --stored");
  CHECK(again.code == 0);
  CHECK(nlohmann::json::parse(read_all(folder.file("out/small.json"))) == json);
}

TEST_CASE("study: the largest of the numbers that match, known ones alone", "[study]") {
  const double nan = experiments::kUnknown;
  const experiments::Moment numbers{
      {"L01.attn.head.1.logit", "L02.attn.head.1.logit", "L02.attn.out.mean_square", "critical.rate"},
      {3, nan, 9, 0.25}};
  CHECK(experiments::largest(numbers, "largest_logit") == 3);
  CHECK(experiments::largest(numbers, "critical_rate") == 0.25);
  CHECK(experiments::largest(numbers, "L*.attn.*") == 9);
  CHECK(experiments::largest(numbers, "L*.attn.head.*.logit") == 3);
  CHECK(std::isnan(experiments::largest(numbers, "L02.attn.head.*.logit")));
  CHECK(std::isnan(experiments::largest(numbers, "L*.attn")));
  CHECK(experiments::is_number_of_the_end("L*.attn.out.mean_square"));
  CHECK(experiments::is_number_of_the_end("L*.ffn.w2.grad_norm"));
  CHECK(experiments::is_number_of_the_end("L*.spike_ratio"));
  CHECK(experiments::is_number_of_the_end("dec.L*.update_cosine"));
  CHECK_FALSE(experiments::is_number_of_the_end("L*.attn.colour"));
  CHECK_FALSE(experiments::is_number_of_the_end("L*.attn.spike_ratio"));
}

}  // namespace normscope::test

// These tests run normscope sweep and normscope study as a user does: files, exit codes, and the commands that it prints, executed.
#include <nlohmann/json.hpp>

#include "addons.h"
#include "app/support/program.h"
#include "app/support/stored_files.h"
#include "catch.hpp"
#include "test_paths.h"
#include "training/support/tiny.h"

namespace normscope::test {
namespace {

const std::string kSmallStudy = tiny_options();
/// Six cells, and one seed more in two of them: eight runs.
const std::string kSweepProgram = "sweep" + kSmallStudy +
                                  " --axis train.lr=1e-3:1e-2:log3 --axis train.warmup=0,8 --steps 12"
                                  " --more-seeds 1@train.lr=0.0032:1e-2,train.warmup=8";

/// What one machine comes to without a store.
const std::string& whole_json() {
  static const std::string json = [] {
    const Folder folder;
    const Outcome all = run_program(kSweepProgram + " --store none --json " + folder.file("a.json"));
    CHECK(all.code == 0);
    return read_all(folder.file("a.json"));
  }();
  return json;
}

/// Lets bash run a script in a folder where `normscope` is this program, and `parallel` what GNU parallel
/// -q does: the line with {} replaced, once for every word that is read.
Outcome run_script(const Folder& folder, const std::string& script) {
  namespace fs = std::filesystem;
  fs::create_directories(folder.file("bin"));
  if (!fs::exists(folder.file("bin/normscope"))) {
    fs::create_symlink(NORMSCOPE_PROGRAM, folder.file("bin/normscope"));
    folder.write(
        "bin/parallel",
        "#!/bin/bash\n[ \"$1\" = -q ] || exit 9\nshift\nwhile read -r n; do \"${@//\\{\\}/$n}\" </dev/null || "
        "exit; done\n");
    fs::permissions(folder.file("bin/parallel"), fs::perms::owner_all);
  }
  folder.write("script", script);
  const std::string command = fmt::format(
      "cd '{0}' && PATH='{0}/bin':$PATH bash -e ./script >out 2>err </dev/null", folder.file("."));
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_all(folder.file("out")),
          read_all(folder.file("err"))};
}

/// The line of a script that it only tells of: "#   normscope sweep ...".
std::string told_lines(const std::string& script) {
  std::istringstream in(script);
  std::string lines;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("#   ")) lines += line.substr(4) + "\n";
  return lines;
}

}  // namespace

TEST_CASE("sweep writes table, JSON, CSV and SVG, and trains nothing twice") {
  const Folder folder;
  const std::string outputs =
      fmt::format(" --store {0}/runs --json {0}/a.json --csv {0}/a.csv --svg {0}/a.svg", folder.file("."));
  const Outcome first = run_program(kSweepProgram + outputs);
  REQUIRE(first.code == 0);
  CHECK(contains(first.out, "across: learning rate; up: warm-up, steps"));
  CHECK(contains(first.out, "\n8 runs trained, 0 taken from"));
  CHECK(read_all(folder.file("a.json")) == whole_json());
  const nlohmann::json json = nlohmann::json::parse(whole_json());
  CHECK(json["format"] == "normscope sweep 1");
  CHECK(json["complete"] == true);
  CHECK(json["cells"].size() == 6);
  CHECK(json["cells"][4]["runs"].size() == 2);
  const std::string csv = read_all(folder.file("a.csv"));
  CHECK(std::ranges::count(csv, '\n') == 9);
  CHECK(read_all(folder.file("a.svg")).ends_with("</svg>\n"));

  const Outcome second = run_program(kSweepProgram + outputs + " --metric beta2");
  CHECK(second.code == 0);
  CHECK(contains(second.out, "\n0 runs trained, 8 taken from"));
  CHECK(read_all(folder.file("a.json")) == whole_json());
  const Outcome dry = run_program(kSweepProgram + " --seeds 2 --dry-run --store " + folder.file("runs"));
  CHECK(contains(
      dry.out,
      "6 cells, 14 runs: 8 are in the store, 0 cannot be trained, 6 are to be trained here\nabout "));
  // Cells that differ in what a run does not read show one run.
  const Outcome alike = run_program("sweep" + kSmallStudy +
                                    " --axis train.schedule=constant,linear --axis train.decay_end=10,12"
                                    " --steps 12 --dry-run --store " +
                                    folder.file("alike"));
  CHECK(contains(alike.out,
                 "4 cells, 3 runs: 0 are in the store, 0 cannot be trained, 3 are to be trained here"));
}

TEST_CASE("sweep prints itself as a command that is the same sweep") {
  const Folder folder;
  const std::string line = run_program(kSweepProgram + " --print-command command").out;
  INFO(line);
  REQUIRE(line.starts_with("normscope sweep --set model.layers=2 "));
  CHECK(contains(line, " --more-seeds 1@train.lr=0.0032:0.01,train.warmup=8\n"));
  const std::string arguments = line.substr(10, line.size() - 11);
  CHECK(run_program(arguments + " --print-command command").out == line);
  const Outcome again = run_script(folder, line.substr(0, line.size() - 1) + " --store none --json a.json\n");
  CHECK(again.code == 0);
  CHECK(read_all(folder.file("a.json")) == whole_json());
  // Stars, blanks and names in a line for a shell.
  const std::string odd =
      run_program(
          "sweep --axis 'wiring.L*.attn=stream=ln q=ln,before=ln' --axis model.placement=post,pre "
          "--more-seeds '2@model.placement=pre,wiring.L*.attn=before=ln' --print-command command")
          .out;
  REQUIRE(odd.starts_with("normscope sweep "));
  CHECK(run_program(odd.substr(10, odd.size() - 11) + " --print-command command").out == odd);
}

TEST_CASE("the printed job array, executed task by task, is the sweep to the byte") {
  const Folder folder;
  const std::string script = run_program(kSweepProgram + " --print-command slurm --tasks 3").out;
  INFO(script);
  CHECK(contains(script, "#SBATCH --array=0-2\n"));
  const std::string gpu = run_program(kSweepProgram + " --print-command slurm --backend cuda --tf32").out;
  CHECK(contains(gpu, "#SBATCH --gres=gpu:1\n"));
  CHECK(contains(gpu, "--backend cuda"));
  for (const char* task : {"2", "0", "1"}) {
    const Outcome done =
        run_script(folder, std::string("export SLURM_ARRAY_TASK_ID=") + task + "\n" + script);
    REQUIRE(done.code == 0);
  }
  const Outcome shown = run_script(folder, told_lines(script));
  CHECK(shown.code == 0);
  CHECK(contains(shown.out, "\n0 runs trained, 8 taken from"));
  CHECK(read_all(folder.file("sweep.json")) == whole_json());
}

TEST_CASE("the printed lines for GNU parallel, executed, are the sweep to the byte") {
  const Folder folder;
  const std::string lines = run_program(kSweepProgram + " --print-command parallel --tasks 2").out;
  const Outcome done = run_script(folder, lines);
  INFO(lines << done.out << done.err);
  CHECK(done.code == 0);
  CHECK(read_all(folder.file("sweep.json")) == whole_json());
}

TEST_CASE("sweep: Ctrl+C keeps what was trained") {
  const Folder folder;
  const Outcome stopped = run_program("sweep" + kSmallStudy + " --axis train.steps=12,1000000 --store " +
                                          folder.file("runs") + " --json " + folder.file("a.json"),
                                      "timeout --foreground --preserve-status -s INT 2");
  CHECK(stopped.code == 130);
  CHECK(is_one_error_line(stopped));
  CHECK(contains(read_all(folder.file("a.json")), "\"complete\": false"));
  CHECK(listing(folder.file("runs")).size() == 1);
}

TEST_CASE("a store that is only asked stays as it is, and a folder that was named is never trimmed") {
  namespace fs = std::filesystem;
  const Folder folder;
  const std::string two = "sweep" + kSmallStudy + " --axis train.lr=1e-3,1e-2 --steps 12 --store ";
  const std::string store = folder.file("st");
  REQUIRE(run_program(two + store).code == 0);
  // More than the cache's limit, in sparse files that are called as results are.
  for (const char* name : {"0123456789abcde1-mine.safetensors", "fedcba9876543210-zoo.safetensors"}) {
    folder.write(std::string("st/") + name, "");
    fs::resize_file(store + "/" + name, uintmax_t{3} << 30);
  }
  const auto before = listing(store);
  REQUIRE(before.size() == 4);
  for (const std::string& query : {two + store + " --stored", two + store + " --dry-run"}) {
    const Outcome outcome = run_program(query);
    INFO(query << " gave " << outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    CHECK(listing(store) == before);
  }
  CHECK(contains(run_program(two + store + " --stored").out, "0 runs trained, 2 taken from"));
  CHECK(run_program(two + store).code == 0);
  CHECK(listing(store).size() == 4);
  // Where there is none, none is made.
  for (const char* how : {" --stored", " --dry-run"}) {
    const Outcome outcome = run_program(two + folder.file("none") + how);
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.err, "none is not there"));
    CHECK(run_program("sweep" + kSmallStudy + " --axis train.lr=1e-3 --steps 12" + how,
                      "env XDG_CACHE_HOME=" + folder.file("cache"))
              .code == 0);
  }
  CHECK_FALSE(fs::exists(folder.file("none")));
  CHECK_FALSE(fs::exists(folder.file("cache/normscope/results")));
}

TEST_CASE(
    "a store that fills up costs no run that was trained: the table is there, and 5 where it was asked for") {
  namespace fs = std::filesystem;
  const Folder folder;
  const std::string two = "sweep" + kSmallStudy + " --axis train.lr=1e-3,1e-2 --steps 12 --csv ";
  const Outcome whole = run_program(two + folder.file("whole.csv") + " --store " + folder.file("st"));
  REQUIRE(whole.code == 0);
  // Every result of a second store lies on a device that is always full; so does every one of the cache.
  const std::string cache = folder.file("cache"), named = folder.file("named");
  for (const std::string& store : {named, cache + "/normscope/results"})
    make_full_store(folder.file("st"), store);
  const auto table = [](const Outcome& outcome) {
    const size_t at = outcome.out.find("final loss");
    return outcome.out.substr(at, outcome.out.find("runs trained") - at);
  };
  const auto csv = [&](const char* name) { return read_all(folder.file(name)); };
  const Outcome to_named = run_program(two + folder.file("named.csv") + " --store " + named);
  CHECK(to_named.code == 5);
  CHECK(contains(to_named.err, "No space left on device"));
  CHECK(contains(to_named.err, "the same command trains them again"));
  CHECK(table(to_named) == table(whole));
  CHECK(csv("named.csv") == csv("whole.csv"));
  const Outcome to_cache = run_program(two + folder.file("cache.csv"), "env XDG_CACHE_HOME=" + cache);
  CHECK(to_cache.code == 0);
  CHECK(contains(to_cache.err, "No space left on device"));
  CHECK(table(to_cache) == table(whole));
  CHECK(csv("cache.csv") == csv("whole.csv"));
}

namespace {

const std::string kSmall =
    " --set model.layers=2 --set model.d_model=16 --set model.heads=2 --set model.feed_forward=32"
    " --set model.sequence=16 --set train.batch=4";

/// A study of `runs` distinct runs on a model that costs nothing.
struct Small {
  std::string name, line;
  int runs;
};
const Small kSweep{"sweep", "sweep --axis model.placement=post,pre --steps 12 --seeds 2" + kSmall, 4};
const Small kCompare{
    "compare", "compare --run A=post --run B=post --set B:model.placement=pre --steps 12 --seeds 2" + kSmall,
    4};

/// The sweep, and the lines "RUNS COMMAND OPTION..." of the file tests/studies of add-ons.
std::vector<Small> studies() {
  std::vector<Small> all{kSweep};
  std::istringstream lines(text_with_addons("", "tests/studies"));
  Small study;
  for (std::string rest; lines >> study.runs >> study.name && std::getline(lines, rest);) {
    study.line = study.name + rest + kSmall;
    all.push_back(study);
  }
  return all;
}

std::string told(int trained, int taken) {
  return fmt::format("\n{} runs trained, {} taken from", trained, taken);
}

}  // namespace

TEST_CASE("every study counts, trains what is missing, shows what is stored and prints itself") {
  for (const Small& study : studies()) {
    INFO(study.name);
    const Folder folder;
    const std::string place = " --out " + folder.file("out") + " --store " + folder.file("runs");
    const Outcome dry = run_program(study.line + " --dry-run" + place);
    CHECK(dry.code == 0);
    CHECK(contains(dry.out,
                   fmt::format("{} runs: 0 are in the store, 0 cannot be trained, {} are to be trained",
                               study.runs, study.runs)));
    CHECK_FALSE(std::filesystem::exists(folder.file("out")));
    const Outcome first = run_program(study.line + place);
    REQUIRE(first.code == 0);
    CHECK(contains(first.out, told(study.runs, 0)));
    const std::string file = folder.file("out/" + study.name);
    const std::string json = read_all(file + ".json"), csv = read_all(file + ".csv");
    CHECK(nlohmann::json::parse(json)["complete"] == true);
    CHECK(std::ranges::count(csv, '\n') == study.runs + 1);
    CHECK(read_all(file + ".md").starts_with("# "));
    const Outcome stored = run_program(study.line + " --stored" + place);
    CHECK(stored.code == 0);
    CHECK(contains(stored.out, told(0, study.runs)));
    CHECK(read_all(file + ".json") == json);
    CHECK(read_all(file + ".csv") == csv);
    const std::string line = run_program(study.line + " --print-command command").out;
    REQUIRE(line.starts_with("normscope "));
    CHECK(run_program(line.substr(10, line.size() - 11) + " --print-command command").out == line);
    CHECK(contains(run_program(study.line + " --print-command slurm").out,
                   fmt::format("#SBATCH --array=0-{}\n", study.runs - 1)));
  }
}

TEST_CASE("shards of every study, copied together, are the study to the byte") {
  for (const Small& study : studies()) {
    INFO(study.name);
    const Folder folder;
    REQUIRE(run_program(fmt::format("{0} --store none --out {1}/out --json {1}/whole.json", study.line,
                                    folder.file(".")))
                .code == 0);
    for (const char* shard : {"0/2", "1/2"})
      CHECK(run_program(fmt::format("{0} --shard {1} --store {2}/part{3} --out {2}/out", study.line, shard,
                                    folder.file("."), shard[0]))
                .code == 0);
    for (const char* part : {"part0", "part1"}) test::take_results(folder.file(part), folder.file("all"));
    const Outcome merged = run_program(fmt::format("{0} --store {1}/all --out {1}/out --json {1}/merged.json",
                                                   study.line, folder.file(".")));
    CHECK(contains(merged.out, told(0, study.runs)));
    CHECK(read_all(folder.file("merged.json")) == read_all(folder.file("whole.json")));
  }
}

TEST_CASE("what compare trained is found by a sweep, and its log and pictures come from what is stored") {
  if (!has_command("compare")) return;
  const Folder folder;
  const std::string store = " --store " + folder.file("runs");
  const auto compare = [&](const std::string& out) {
    return run_program(kCompare.line + store + " --out " + folder.file(out));
  };
  REQUIRE(compare("first").code == 0);
  CHECK(contains(run_program(kSweep.line + store).out, told(0, 4)));
  const Outcome again = compare("second");
  CHECK(contains(again.out, told(0, 4)));
  for (const char* name : {"runs.jsonl", "lab-light.png", "lab-dark.png", "compare.json", "compare.csv"}) {
    INFO(name);
    const std::string file = read_all(folder.file(std::string("first/") + name));
    CHECK(file.size() > 100);
    CHECK(read_all(folder.file(std::string("second/") + name)) == file);
  }
}

TEST_CASE("what a sweep trained alone has no history: compare trains it again, to the same losses") {
  if (!has_command("compare")) return;
  const Folder folder;
  const std::string store = " --store " + folder.file("runs");
  REQUIRE(run_program(kSweep.line + store + " --json " + folder.file("sweep.json")).code == 0);
  const Outcome compared = run_program(kCompare.line + store + " --out " + folder.file("out"));
  CHECK(contains(compared.out, told(4, 0)));
  const auto sweep = nlohmann::json::parse(read_all(folder.file("sweep.json")));
  const auto table = nlohmann::json::parse(read_all(folder.file("out/compare.json")));
  REQUIRE(table["runs"].size() == 4);
  // Seed after seed here, cell after cell there.
  CHECK(table["runs"][1]["loss"].get<double>() ==
        Approx(sweep["cells"][1]["runs"][0]["loss"].get<double>()).epsilon(1e-6));
  CHECK(table["runs"][2]["loss"].get<double>() ==
        Approx(sweep["cells"][0]["runs"][1]["loss"].get<double>()).epsilon(1e-6));
}

}  // namespace normscope::test

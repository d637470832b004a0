// These tests run `normscope compare FILE...`: what it prints and writes, which runs it takes, and what it refuses.
#include "catch.hpp"

#include <nlohmann/json.hpp>

#include "addons/compare/app/commands/compare_study.h"
#include "app/support/program.h"
#include "app/support/well_formed.h"
#include "training/measure/history.h"

namespace normscope::test {
namespace {

/// Runs of two layers; from step 5 on, W_K of layer 2 has an 8 times smaller gradient in all but A.
std::string log_of_runs(const std::string& letters, int steps, double loss = 3) {
  std::string text;
  for (int step = 1; step <= steps; ++step)
    for (const char letter : letters)
      text += fmt::format(
          "{{\"run\":\"{}\",\"seed\":1,\"step\":{},\"loss\":{},\"lr\":0.001,\"grad_norm\":{{\"L01.attn.wk\":0.1,"
          "\"L01.ffn.w2\":0.1,\"L02.attn.wk\":{},\"L02.ffn.w2\":0.1}},\"mean_square\":{{\"L01.ffn.sum\":1}}}}\n",
          letter, step, loss + 0.1 * (letter - 'A'), letter != 'A' && step >= 5 ? 0.0125 : 0.1);
  return text;
}

Outcome called(const std::string& arguments) {
  return run_program("compare " + arguments, "env -u DISPLAY -u WAYLAND_DISPLAY");
}

}  // namespace

TEST_CASE("compare FILE: settings, table and first place on the terminal, without training") {
  const Folder folder;
  const std::string a = folder.write("a.jsonl", log_of_runs("A", 30)),
                    b = folder.write("b.jsonl", log_of_runs("B", 30, 2.5));
  const Outcome outcome = called(a + " " + b);
  CHECK(outcome.code == 0);
  CHECK(outcome.err.empty());
  CHECK(contains(outcome.out, "B and A part at step 5 in layer 2, W_K: its gradient size is 8× smaller"));
  CHECK(contains(outcome.out, "mean of up to the last 25 steps, 1 seed each"));
  CHECK(contains(outcome.out, "2.60"));
  CHECK(contains(outcome.out, "B ends 0.40 below A: one seed, luck cannot be told (data: not in its log)."));
  // The baseline is a choice.
  CHECK(contains(called(a + " " + b + " --baseline B").out,
                 "A and B part at step 5 in layer 2, W_K: its gradient size "
                 "is 8× larger"));
  CHECK(called(a + " " + b + " --baseline 2").out == called(a + " " + b + " --baseline B").out);
}

TEST_CASE("compare FILE: a log with several runs gives them all, FILE:LETTER picks one") {
  const Folder folder;
  const std::string log = folder.write("runs.jsonl", log_of_runs("ABC", 12)),
                    other = folder.write("other.jsonl", log_of_runs("AB", 12));
  const auto runs = [&](const std::string& arguments) {
    const Outcome outcome = called(arguments + " --json");
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return nlohmann::json::parse(outcome.out).at("runs");
  };
  CHECK(runs(log).size() == 3);
  CHECK(runs(log + " " + other + ":B").size() == 4);
  const nlohmann::json two = runs(log + ":C " + other + ":A");
  REQUIRE(two.size() == 2);
  CHECK(two[1].at("source") == "other.jsonl");

  CHECK(runs(log + " " + other).size() == 5);
  Outcome outcome = called(log + " " + log + " " + log);
  CHECK(outcome.code == 2);
  CHECK(is_one_error_line(outcome));
  CHECK(contains(outcome.err, "9 runs to compare: expected 2 to 8; FILE:LETTER picks one"));
  CHECK(contains(outcome.err, "runs.jsonl has A, B, C"));
  outcome = called(log + ":A");
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "1 run to compare"));
  outcome = called(log + ":D " + other);
  CHECK(outcome.code == 2);
  CHECK(contains(outcome.err, "has no run D: expected one of A, B, C"));
}

TEST_CASE("compare FILE: a diverged run is said to be one, and lines that cannot be read are counted") {
  const Folder folder;
  const auto log = [](const std::string& more, bool finite) {
    std::string text;
    for (int step = 1; step <= 60; ++step)
      text +=
          fmt::format("{{\"step\":{},\"loss\":{}{}}}\n", step, step <= 40 || finite ? "2.5" : "NaN", more);
    return text;
  };
  const std::string whole = folder.write("whole.jsonl", log("", true));
  for (const char* beside :
       {"", ",\"done\":false", ",\"lrs\":[0.1]", ",\"gpu\":{\"name\":\"x\"}", ",\"host\":\"ü\""}) {
    const Outcome outcome = called(folder.write("nan.jsonl", log(beside, false)) + " " + whole);
    INFO(beside << outcome.err);
    CHECK(outcome.err.empty());
    CHECK(contains(outcome.out, "not finite at step 41, 1 seed"));
    CHECK_FALSE(contains(outcome.out, "learns"));
  }
  const std::string torn = folder.write("torn.jsonl", log("", true) + "{\"step\":61,\"loss\":\"low\"}\n");
  const Outcome outcome = called(torn + " " + whole);
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.err,
                 "torn.jsonl: 1 of 61 lines cannot be read and are left out; line 61: loss is \"low\""));
  CHECK(contains(outcome.out,
                 "A: 1 of 61 lines of its log cannot be read and is left out; line 61: loss is \"low\""));
  const nlohmann::json json = nlohmann::json::parse(called(torn + " " + whole + " --json").out);
  CHECK(json.at("runs")[0].at("unread") == 1);
  CHECK(json.at("runs")[0].at("faults").size() == 1);
  CHECK(json.at("runs")[1].at("unread") == 0);
}

TEST_CASE("compare FILE: JSON and Markdown to standard output or a file, figures and numbers into a folder") {
  const Folder folder;
  const std::string files =
      folder.write("a.jsonl", log_of_runs("A", 12)) + " " + folder.write("b.jsonl", log_of_runs("B", 12));
  const nlohmann::json json = nlohmann::json::parse(called(files + " --json").out);
  CHECK(json.at("format") == "normscope comparison 1");
  CHECK(json.at("places")[0].at("step") == 5);
  CHECK(called(files + " --markdown").out.starts_with("# Comparison\n"));

  const std::string out = folder.file("out");
  Outcome outcome = called(files + " --json " + folder.file("c.json") + " --markdown " + folder.file("c.md") +
                           " --svg --csv " + out + " --png --out " + out);
  CHECK(outcome.code == 0);
  CHECK(nlohmann::json::parse(read_all(folder.file("c.json"))) == json);
  for (const char* name : {"loss", "difference", "gradient-B", "end"}) {
    CHECK(well_formed(read_all(out + "/" + name + ".svg")));
    CHECK(read_all(out + "/" + name + ".png").starts_with("\x89PNG"));
    CHECK(read_all(out + "/" + name + ".csv").size() > 20);
    CHECK(contains(read_all(folder.file("c.md")), std::string("![](out/") + name + ".svg)"));
    CHECK(contains(outcome.out, std::string("wrote ") + out + "/" + name + ".svg\n"));
  }
  CHECK(read_all(out + "/settings.csv").starts_with("key,setting,A,B\n"));
  const std::string one = folder.file("all.svg");
  CHECK(called(files + " --svg " + one).code == 0);
  CHECK(well_formed(read_all(one)));
}

TEST_CASE("compare FILE: another metric, range and factor") {
  const Folder folder;
  const std::string files =
      folder.write("a.jsonl", log_of_runs("A", 30)) + " " + folder.write("b.jsonl", log_of_runs("B", 30));
  const auto json = [&](const std::string& options) {
    return nlohmann::json::parse(called(files + " --json " + options).out);
  };
  CHECK(json("--metric gradient:attn.wk").at("maps")[0].at("log10_ratio")[1][10].get<double>() ==
        Approx(std::log10(0.125)).margin(1e-5));
  CHECK(json("--metric update-ratio").at("maps")[0].at("lacks") == "update ratio of W₂: not in its log");
  CHECK(json("--from 10 --to 20").at("losses")[0].at("step").size() == 11);
  CHECK(json("--from 10").at("places")[0].at("step") == 10);
  CHECK(json("--factor 9").at("places")[0].at("parts") == false);
}

TEST_CASE("compare FILE: a run that stands where a name may stand is not taken for an output") {
  const Folder folder;
  const std::string a = folder.write("a.jsonl", log_of_runs("A", 6)),
                    both = a + " " + folder.write("b.jsonl", log_of_runs("B", 6)), before = read_all(a);
  CHECK(called("--json " + both).code == 2);
  CHECK(called(both + " --markdown " + a).code == 2);
  CHECK(read_all(a) == before);
}

TEST_CASE("compare FILE: a broken line is named and left out") {
  const Folder folder;
  const std::string a = folder.write("a.jsonl",
                                     log_of_runs("A", 6) + "{\"run\":\"A\",\"step\n" + log_of_runs("A", 8)),
                    b = folder.write("b.jsonl", log_of_runs("B", 6));
  const Outcome outcome = called(a + " " + b);
  CHECK(outcome.code == 0);
  CHECK(is_one_error_line(outcome));
  CHECK(contains(outcome.err, "a.jsonl: 1 of 15 lines cannot be read and are left out; line 7"));
}

TEST_CASE("compare FILE: what compare trained is compared, seed by seed, with its settings") {
  const Folder folder;
  const std::string config =
      folder.write("tiny.toml", std::string(kTiny) + "[run.A]\n[run.B]\nmodel.placement = \"pre\"\n");
  REQUIRE(called("--threads 1 --config " + config + " --seeds 2 --out " + folder.file("out")).code == 0);
  const Outcome outcome = called(folder.file("out/runs.jsonl") + " --json");
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  REQUIRE(json.at("runs").size() == 2);
  for (const nlohmann::json& run : json.at("runs")) CHECK(run.at("seeds") == nlohmann::json({1, 2}));
  CHECK(json.at("settings")[0].at("key") == "model.placement");
  CHECK(json.at("differences")[1].at("against") == "same seed");
  CHECK(json.at("differences")[1].at("at_end").size() == 2);
  CHECK(json.at("maps")[0].at("layers") == 2);
  CHECK(json.at("maps")[0].at("step").size() == 12);
}

TEST_CASE("compare FILE: saved runs have their whole history, and one is the same as itself") {
  const Folder folder;
  const std::string a = folder.file("a.safetensors"), b = folder.file("b.safetensors"),
                    config = folder.write("tiny.toml", std::string(kTiny) + "[run.A]\n");
  REQUIRE(run_program("train --threads 1 --config " + config + " --save " + a).code == 0);
  const std::string log = folder.file("b.jsonl");
  REQUIRE(run_program("train --threads 1 --config " + config + " --set train.lr=0.01 --save " + b +
                      " --log " + log)
              .code == 0);
  CHECK(contains(called(a + " " + a).out, "These runs are the same to the bit."));
  const Outcome outcome = called(a + " " + b + " --metric update-ratio --json");
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  CHECK(json.at("maps")[0].at("lacks") == "");
  CHECK(json.at("settings").size() == 1);
  CHECK(json.at("settings")[0].at("key") == "train.lr");
  CHECK(json.at("places")[0].at("equal_until").get<int>() >=
        1);  // the first step has the same weights and batch
  // A log of the same program trained on the same batches, whichever of the two says its version.
  const nlohmann::json beside = nlohmann::json::parse(called(a + " " + log + " --json").out);
  REQUIRE(beside.at("settings").size() == 1);
  CHECK(beside.at("settings")[0].at("key") == "train.lr");
  CHECK(beside.at("differences")[1].at("against") == "same seed");
}

}  // namespace normscope::test

// What compare keeps of the runs that it trains.

namespace normscope::test {
namespace {

const std::string kSmall =
    " --set model.layers=2 --set model.d_model=16 --set model.heads=2 --set model.feed_forward=32"
    " --set model.sequence=16 --set train.batch=4";

const std::string kCompare =
    "compare --run A=post --run B=post --set B:model.placement=pre --steps 12 --seeds 2" + kSmall;

}  // namespace

TEST_CASE("compare --stored keeps the log and the pictures of before where runs are missing") {
  const Folder folder;
  const std::string line = kCompare + " --out " + folder.file("out");
  REQUIRE(run_program(line).code == 0);
  const std::string log = read_all(folder.file("out/runs.jsonl"));
  CHECK(log.size() > 1000);
  const Outcome missing = run_program(line + " --stored --store " + folder.file("none"));
  CHECK(contains(missing.out, "runs are missing"));
  CHECK(read_all(folder.file("out/runs.jsonl")) == log);
}

TEST_CASE("compare counts the histories of all seeds, each as far as it is kept") {
  const auto bytes = [](int32_t steps, int32_t seeds) {
    ConfigRun run{'A', tiny_spec("post", steps), {}};
    return commands::CompareStudy({run}, seeds, false).history_bytes();
  };
  CHECK(bytes(20, 1) > 20 * 100);
  CHECK(bytes(20, 7) == 7 * bytes(20, 1));
  CHECK(bytes(10'000'000, 2) == 2 * static_cast<int64_t>(kHistoryBudget));
}

}  // namespace normscope::test

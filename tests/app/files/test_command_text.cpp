// These tests cover the line that reproduces the runs: read back it gives the same specifications, and trained it gives
// the same numbers to the bit, edits and forks included.
#include <algorithm>

#include "training/files/command_text.h"

#include <nlohmann/json.hpp>

#include "app/support/live_lab.h"
#include "app/support/program.h"
#include "training/files/windows_quoted.h"
#include "training/session/session_file.h"

using namespace normscope;
using fixture::LiveDriver;

namespace {

// Cuts the arguments of a line as a shell would (single quotes only).
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\'')
      quoted = !quoted;
    else if (line[i] == '\\' && !quoted)
      words.back() += line[++i];
    else if (line[i] == ' ' && !quoted)
      words.emplace_back();
    else
      words.back() += line[i];
  }
  return words;
}

std::vector<ConfigRun> read_back(const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  std::vector<std::string> presets;
  for (size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "--run") presets.push_back(words[i + 1]);
  std::vector<ConfigRun> runs = runs_from(presets);
  if (runs.empty())
    for (RunSpec& spec : default_comparison())
      runs.push_back({static_cast<char>('A' + runs.size()), std::move(spec), {}});
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "--set") apply_set(runs, words[i + 1]);
    if (words[i] == "--edit") apply_edit(runs, words[i + 1]);
  }
  return runs;
}

void check_round_trip(const std::vector<ConfigRun>& runs) {
  for (const char* command : {"normscope", "normscope train"}) {
    const std::string line = command_of(runs, command);
    INFO(line);
    CHECK_FALSE(test::contains(line, "\n"));
    const std::vector<ConfigRun> back = read_back(line);
    REQUIRE(back.size() == runs.size());
    for (size_t i = 0; i < runs.size(); ++i) {
      CHECK(back[i].letter == runs[i].letter);
      CHECK(back[i].spec == runs[i].spec);
      CHECK(back[i].spec.name == runs[i].spec.name);
      CHECK(back[i].edits == runs[i].edits);
    }
  }
}

std::vector<ConfigRun> default_config() {
  std::vector<ConfigRun> runs;
  for (RunSpec& spec : default_comparison())
    runs.push_back({static_cast<char>('A' + runs.size()), std::move(spec), {}});
  return runs;
}

}  // namespace

TEST_CASE("the default comparison is the bare command") {
  CHECK(command_of(default_config()) == "normscope");
}

TEST_CASE("the line of any runs gives them back") {
  std::vector<ConfigRun> runs = default_config();
  check_round_trip(runs);
  runs[1].edits = {{17, "train.lr", "0.001"}, {30, "train.warmup", "10"}};
  check_round_trip(runs);
  for (ConfigRun& run : runs) {
    set_field(run.spec, "model.d_model", "48");
    set_field(run.spec, "model.heads", "3");
  }
  set_field(runs[2].spec, "model.layers", "3");
  runs[0].spec.name = "it's mine";
  check_round_trip(runs);
  runs.push_back({'D', preset_run("rezero"), {}});
  check_round_trip(runs);
  RunSpec custom = default_comparison()[0];
  custom.model.stack().layers[1].attention.stream = NormKind::None;
  custom.model.stack().layers[1].attention.before = NormKind::Rms;
  check_round_trip({{'A', custom, {}}});
  for (const std::string& name : preset_names()) check_round_trip({{'A', preset_run(name), {}}});
}

TEST_CASE("what no run takes notice of is not told, and refused when it is set") {
  std::vector<ConfigRun> runs{{'A', preset_run("post"), {}}, {'B', preset_run("post"), {}}};
  set_field(runs[1].spec, "train.momentum", "0.3");
  const auto line = [&] { return command_of(runs, "normscope train"); };
  CHECK(line() == "normscope train --run A=post --run B=post");
  const auto refusal = [&](const std::string& set) {
    return test::error_of([&] { require_read(runs, {set}); }, "");
  };
  CHECK(test::contains(
      refusal("train.momentum=0.3"),
      "--set 'train.momentum=0.3' would change nothing: train.optimizer is adam: expected momentum"));
  CHECK_FALSE(refusal("B:model.encoder_layers=3").empty());
  CHECK(refusal("train.lr=0.3").empty());
  CHECK(refusal("A:wiring.final=ln").empty());
  runs[1].edits = {{7, "train.optimizer", "momentum"}};
  CHECK(test::contains(line(), "B:train.momentum=0.3"));  // it will count
  CHECK(refusal("B:train.momentum=0.3").empty());
  CHECK_FALSE(refusal("A:train.momentum=0.3").empty());
  CHECK(refusal("train.momentum=0.3").empty());  // one of its runs is enough
  runs[1].edits.clear();
  set_field(runs[1].spec, "train.optimizer", "momentum");
  check_round_trip(runs);
}

TEST_CASE("a launcher that PATH leads to is called by its name, another one by its path") {
  const test::Folder folder;
  const std::string launcher = folder.write("normscope", "#!/bin/sh\n");
  std::filesystem::permissions(launcher, std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH"), before = program_word();
  const test::Variable called("NORMSCOPE_LAUNCHER", launcher);
  CHECK(program_word() == launcher);
  {
    const test::Variable first("PATH", std::filesystem::path(launcher).parent_path().string() + ":" + path);
    CHECK(program_word() == "normscope");
  }
  const test::Variable gone("NORMSCOPE_LAUNCHER", folder.file("gone"));
  CHECK(program_word() == before);
}

TEST_CASE("a letter may be left out: a fork is D, and a lesson's Pre-LN C") {
  const ConfigRun a{'A', preset_run("post"), {}}, b{'B', preset_run("post-warmup"), {}};
  check_round_trip({a, {'C', preset_run("pre"), {}}});
  check_round_trip({a, b, {'D', preset_run("pre"), {{3, "train.lr", "0.001"}}}});
}

TEST_CASE("arguments that cannot be used are refused by name") {
  std::vector<ConfigRun> runs = default_config();
  CHECK_THROWS_AS(runs_from({"B=post"}), Error);
  CHECK_THROWS_AS(runs_from({"A=post", "C=pre", "B=pre"}), Error);
  CHECK_THROWS_AS(runs_from({"A=post", "A=pre"}), Error);
  CHECK_THROWS_AS(runs_from({"A=nothing"}), Error);
  CHECK_THROWS_AS(runs_from({"post"}), Error);
  CHECK_THROWS_AS(apply_set(runs, "train.lr"), Error);
  CHECK_THROWS_AS(apply_set(runs, "D:train.lr=1"), Error);
  CHECK_THROWS_AS(apply_edit(runs, "A:train.lr=1"), Error);
}

TEST_CASE("A word for the command line of Windows comes back as it was") {
  const auto quoted = [](const std::string& word) { return windows_quoted(word); };
  CHECK(quoted("C:\\texts\\a.txt") == "C:\\texts\\a.txt");
  CHECK(quoted("") == "\"\"");
  CHECK(quoted("C:\\my texts\\") == "\"C:\\my texts\\\\\"");
  CHECK(quoted("C:\\Übung") == "\"C:\\Übung\"");
  CHECK(quoted("say \"so\"") == "\"say \\\"so\\\"\"");
  CHECK(quoted("a\\\"b") == "\"a\\\\\\\"b\"");
  CHECK(windows_quoted(std::wstring(L"C:\\\u0141\\\"so\"\\")) == L"\"C:\\\u0141\\\\\\\"so\\\"\\\\\"");
  CHECK(windows_quoted(std::wstring(L"--window")) == L"--window");
}

TEST_CASE("the copied line trains the same runs to the bit") {
  LiveDriver lab;
  lab.train(6);
  lab.lab.post(session::EditField{0, "train.lr", "0.001"});
  session::ForkRequest fork;
  fork.spec = *lab.view().runs[0].spec;
  set_field(fork.spec, "model.placement", "pre");
  fork.note = "norms moved";
  lab.settle();
  lab.train(4);
  lab.lab.post(fork);
  lab.train(10);
  const LabView& view = lab.view();
  REQUIRE(view.runs.size() == 4);
  const std::string line = command_of(session_of(view), "train");
  INFO(line);
  const test::Folder folder;
  const test::Outcome outcome =
      test::run_program(line + " --steps 20 --threads 1 --log '" + folder.file("log.jsonl") + "'");
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  std::map<char, std::vector<float>> losses;
  std::istringstream lines(test::read_all(folder.file("log.jsonl")));
  for (std::string text; std::getline(lines, text);) {
    const auto json = nlohmann::json::parse(text);
    if (json.contains("loss") && json.contains("step") && json.contains("lr"))
      losses[json["run"].get<std::string>()[0]].push_back(json["loss"].get<float>());
  }
  for (const RunView& run : view.runs) {
    INFO(run.letter);
    const std::vector<float> shown = run.history->loss().values;
    const std::vector<float>& trained = losses[run.letter];
    REQUIRE(trained.size() == 20);
    REQUIRE(shown.size() <= 20);
    CHECK(std::equal(shown.rbegin(), shown.rend(), trained.rbegin()));
  }
}

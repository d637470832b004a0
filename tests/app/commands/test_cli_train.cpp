// These tests run normscope train: its log, its checkpoints, its edits, and Ctrl+C.
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "app/commands/report.h"
#include "app/support/program.h"
#include "app/support/refused.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/support/helpers.h"
#include "test_paths.h"
#include "training/files/config_file.h"
#include "training/measure/step/profile.h"
#include "training/run/footprint.h"
#include "training/run/run.h"

using namespace normscope::test;
using nlohmann::json;

namespace {

/// Keeps the lines of steps, without what follows their steps.
std::vector<json> steps_of(const std::vector<json>& lines, const std::string& run = "A") {
  std::vector<json> steps;
  for (const json& line : lines) {
    if (line.contains("step") && line["run"] == run) steps.push_back(line);
  }
  return steps;
}

Outcome train(const std::string& arguments) {
  Outcome outcome = run_program("train " + arguments);
  INFO(arguments << " gave " << outcome.out << outcome.err);
  CHECK(outcome.code == 0);
  return outcome;
}

}  // namespace

TEST_CASE(
    "the log has the critical rate at the steps at which it is measured, and --plan says what it costs") {
  const Folder folder;
  const std::string config = folder.write("tiny.toml", std::string(kTiny) + "critical_every = 5\n");
  CHECK(contains(train("--config " + config + " --plan").out,
                 "critical rate: 6 forward passes every 5 steps: about 40 % more time"));
  const std::string off = folder.write("off.toml", kTiny);
  const auto evaluation = [&](const std::string& arguments) {  // the plan's line
    const std::string plan = train(arguments + " --plan").out;
    const size_t at = plan.find("\nevaluation");
    REQUIRE(at != plan.npos);
    return plan.substr(at + 1, plan.find('\n', at + 1) - at - 1);
  };
  CHECK(evaluation("--config " + off) != evaluation("--config " + config));
  CHECK(evaluation("--config " + off + " --edit 7:train.critical_every=5") ==
        evaluation("--config " + config));
  train("--config " + off + " --save " + folder.file("half.safetensors") +
        " --edit 20:train.critical_every=5");
  const std::string resumed = "--resume " + folder.file("half.safetensors") + " --steps 30";
  CHECK(contains(train(resumed + " --plan").out, "critical rate: 6 forward passes every 5 steps"));
  CHECK(contains(train(resumed + " --set train.critical_every=3 --plan").out, "every 3 steps"));
  train("--config " + config + " --log " + folder.file("out.jsonl"));
  const std::vector<json> steps = steps_of(read_log(folder.file("out.jsonl")));
  REQUIRE(steps.size() == 12);
  for (size_t i = 0; i < steps.size(); ++i) {
    REQUIRE(steps[i].contains("critical_rate") == (i % 5 == 0));
    if (i % 5 == 0) CHECK(steps[i]["critical_rate"].get<double>() >= steps[i]["lr"].get<double>() / 64);
  }
}

TEST_CASE("the log is JSON lines with the documented fields") {
  const Folder folder;
  const std::string config = folder.write(
      "tiny.toml", std::string(kTiny) + "warmup = 4\n[run.A]\n[run.C]\nmodel.placement = \"pre\"\n");
  const Outcome outcome = train("--config " + config + " --log " + folder.file("log/out.jsonl"));
  CHECK(contains(outcome.out, "verdict"));

  const std::vector<json> lines = read_log(folder.file("log/out.jsonl"));
  REQUIRE(lines.size() == 2 * 12 + 2);
  for (const char* run : {"A", "C"}) {
    const std::vector<json> steps = steps_of(lines, run);
    REQUIRE(steps.size() == 12);
    for (size_t i = 0; i < steps.size(); ++i) {
      CHECK(steps[i]["step"] == i + 1);
      CHECK(steps[i]["seed"] == 1);
      CHECK(steps[i]["loss"].get<double>() > 0);
      CHECK(steps[i]["lr"].get<double>() == Approx(3e-3 * std::min(1.0, double(i + 1) / 4)));
      const json& norms = steps[i]["grad_norm"];
      for (const char* name : {"L01.attn.wq", "L01.attn.wo", "L02.ffn.w1", "L02.ffn.w2"}) {
        INFO(name);
        REQUIRE(norms.contains(name));
        CHECK(norms[name].get<double>() > 0);
      }
      CHECK_FALSE(norms.contains("L01.attn.bq"));
      // Two norms a layer, wherever they stand in it.
      std::map<std::string, int> gains;
      for (const auto& [name, norm] : norms.items())
        if (name.starts_with("L") && name.ends_with(".gain"))
          gains[name.substr(0, 3)] += norm.get<double>() > 0;
      CHECK(gains == std::map<std::string, int>{{"L01", 2}, {"L02", 2}});
      CHECK_FALSE(steps[i]["mean_square"].empty());
      const json &logits = steps[i]["largest_logit"], &masses = steps[i]["first_mass"];
      CHECK(logits["L02.attn"].get<double>() ==
            std::max(logits["L02.attn.head.1"].get<double>(), logits["L02.attn.head.2"].get<double>()));
      CHECK(masses["L01.attn"].get<double>() ==
            Approx((masses["L01.attn.head.1"].get<double>() + masses["L01.attn.head.2"].get<double>()) / 2));
      CHECK(steps[i]["attention_entropy"].size() == 2 * (1 + 2));
      CHECK(steps[i]["longest"].size() == 4);  // of each sub-layer
      for (const auto& [name, share] : steps[i]["token_share"].items()) CHECK(share.get<double>() > 0);
    }
    CHECK(steps.back().contains("validation"));
    CHECK_FALSE(steps.front().contains("validation"));
  }
  for (size_t i = lines.size() - 2; i < lines.size(); ++i) {
    const json& last = lines[i];
    CHECK(last["state"].is_string());
    CHECK(last["name"].is_string());
    CHECK(last["result"]["step"] == 12);
    CHECK(last["result"]["window"] == 12);
    CHECK(last["result"]["loss"].get<double>() > 0);
    CHECK(last["result"]["unigram"].get<double>() > 1);
    CHECK(last["result"]["validation"].get<double>() > 0);
    CHECK(last["spec"]["model.d_model"] == "16");
    CHECK(last["edits"].empty());
  }
}

TEST_CASE("the same run gives the same log; a resumed one goes on with the same bits") {
  const Folder folder;
  const std::string config = "--config " + folder.write("tiny.toml", kTiny);
  train(config + " --log " + folder.file("straight.jsonl"));
  train(config + " --threads 1 --log " + folder.file("again.jsonl"));
  const std::vector<json> straight = steps_of(read_log(folder.file("straight.jsonl")));
  CHECK(straight == steps_of(read_log(folder.file("again.jsonl"))));

  train(config + " --steps 7 --save " + folder.file("x.safetensors"));
  train("--resume " + folder.file("x.safetensors") + " --steps 12 --log " + folder.file("rest.jsonl"));
  const std::vector<json> rest = steps_of(read_log(folder.file("rest.jsonl")));
  REQUIRE(rest.size() == 5);
  for (size_t i = 0; i < rest.size(); ++i) CHECK(rest[i] == straight[i + 7]);
}

TEST_CASE("a checkpoint that cannot be used exits with 3") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "a line of text number " + std::to_string(i) + "\n";
  const std::string mine = folder.write("mine.txt", text);
  train("--config " + folder.write("tiny.toml", kTiny) + " --text " + mine + " --steps 2 --save " +
        folder.file("x.safetensors"));
  const std::string bytes = read_all(folder.file("x.safetensors"));
  const std::string other = folder.write("other.txt", text + "one line more\n");
  for (const std::string& bad : {
           folder.file("absent"),
           folder.write("half", bytes.substr(0, bytes.size() / 2)),
           folder.write("foreign", "no tensors here"),
           std::string(NORMSCOPE_FIXTURES "/decoder-pre.safetensors"),
           folder.file("x.safetensors") + " --text " + other,
       }) {
    const Outcome outcome = run_program("train --steps 4 --resume " + bad);
    INFO(bad << " gave " << outcome.err);
    CHECK(outcome.code == 3);
    CHECK(is_one_error_line(outcome));
  }
  CHECK(run_program("train --steps 4 --resume " + folder.file("x.safetensors")).code == 0);
}

TEST_CASE("an edit acts from its step on, from the command line as from the file") {
  const Folder folder;
  const std::string config = folder.write("tiny.toml", kTiny);
  const std::string edited =
      folder.write("edited.toml",
                   std::string(kTiny) + "[run]\nedits = [{ step = 6, key = \"train.lr\", value = 1e-4 }]\n");
  train("--config " + config + " --edit 6:lr=1e-4 --log " + folder.file("line.jsonl"));
  train("--config " + edited + " --log " + folder.file("file.jsonl"));
  const std::vector<json> steps = steps_of(read_log(folder.file("line.jsonl")));
  REQUIRE(steps.size() == 12);
  int changed = 0;
  for (const json& step : steps) changed += step["lr"].get<double>() == Approx(1e-4);
  CHECK(steps[4]["lr"].get<double>() == Approx(3e-3));
  CHECK(steps[6]["lr"].get<double>() == Approx(1e-4));
  CHECK(changed >= 6);
  CHECK(steps == steps_of(read_log(folder.file("file.jsonl"))));
  CHECK(read_log(folder.file("line.jsonl")).back()["edits"].size() == 1);
}

TEST_CASE("fields set on the command line") {
  const Folder folder;
  const std::string config = folder.write("tiny.toml", kTiny);
  train("--config " + config + " --set model.placement=pre --set train.warmup=5 --seed 9 --steps 3 --log " +
        folder.file("log"));
  const std::vector<json> lines = read_log(folder.file("log"));
  REQUIRE(lines.size() == 4);
  CHECK(lines.back()["spec"]["model.placement"] == "pre");
  CHECK(lines.back()["spec"]["train.warmup"] == "5");
  CHECK(lines.back()["seed"] == 9);
}

// --foreground: timeout would otherwise signal its whole group too, and a second Ctrl+C ends the program at once.
TEST_CASE("Ctrl+C finishes the step, closes the log and saves") {
  const Folder folder;
  const std::string config = folder.write("tiny.toml", kTiny);
  const std::string checkpoint = folder.file("x.safetensors");
  const Outcome outcome = run_program(
      "train --config " + config + " --steps 9000000 --log " + folder.file("log") + " --save " + checkpoint,
      "timeout --foreground --preserve-status -s INT 2");
  CHECK(outcome.code == 130);
  CHECK(is_one_error_line(outcome));
  const std::vector<json> lines = read_log(folder.file("log"));
  REQUIRE(lines.size() > 1);
  const int done = lines.back()["result"]["step"];
  CHECK(done == static_cast<int>(lines.size()) - 1);
  CHECK(run_program("train --resume " + checkpoint + " --steps " + std::to_string(done + 1)).code == 0);
}

TEST_CASE("a resumed run finds its text where --text says that it is now") {
  const Folder folder;
  std::string words;
  for (int i = 0; i < 3000; ++i) words += "a line of text number " + std::to_string(i) + "\n";
  const std::string text = folder.write("mine.txt", words), saved = folder.file("x.safetensors");
  train("--config " + folder.write("tiny.toml", kTiny) + " --text " + text + " --steps 2 --save " + saved);
  std::filesystem::rename(text, folder.file("moved.txt"));
  CHECK(run_program("train --steps 4 --resume " + saved).code == 3);
  CHECK(run_program("train --steps 4 --resume " + saved + " --text " + folder.file("moved.txt")).code == 0);
}

// The memory plan of a run, its refusal, and the profile of its step.

using namespace normscope;

TEST_CASE("the plan is what the program then takes, and it allocates nothing") {
  RunSpec spec = preset_run("pre");
  spec.data.context = spec.model.sequence;
  const std::shared_ptr<const Task> task = make_task(spec.data);
  const std::unique_ptr<Backend> backend = make_cpu_backend(2);
  Run run(spec, task, *backend);
  const Footprint need = footprint_of(run.spec(), *task, *backend);
  const MemoryPlan& plan = run.program().data().plan;
  CHECK(need.parameters == 4 * run.store().size());
  CHECK(need.optimizer == 8 * run.store().size());
  CHECK(need.activations == 4 * plan.activations);
  CHECK(need.gradients == 4 * plan.gradients);
  CHECK(need.workspace == 4 * (plan.inputs + plan.workspace));
  REQUIRE(!need.largest.empty());
  CHECK(need.largest.front().bytes >= need.largest.back().bytes);
}

TEST_CASE("shares of a profile sum to one and every node is in it") {
  RunSpec spec = preset_run("pre");
  spec.data.context = spec.model.sequence;
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  Run run(spec, make_task(spec.data), *backend);
  run.step();
  const auto rows = profile(run.program(), StepInputs{}, 3);
  CHECK(rows.size() == run.program().data().instructions.size());
  double sum = 0, flop = 0;
  std::map<Phase, int> phases;
  for (const InstructionProfile& row : rows) {
    CHECK(row.seconds >= 0);
    sum += row.share;
    flop += row.cost.flop;
    ++phases[row.phase];
  }
  CHECK(sum == Approx(1.0));
  CHECK(phases.size() == 3);
  CHECK(flop == Approx(step_flop(run.spec().model, run.spec().train.batch)));
}

TEST_CASE("a run that does not fit the machine is refused with the largest tensors") {
  const std::string huge =
      "train --preset pre --set model.layers=24 --set model.d_model=1024 --set model.feed_forward=8192 "
      "--set model.sequence=512 --set train.batch=4096 ";
  for (const std::string option : {"", "--plan"}) {
    const Outcome outcome = run_program(huge + option);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 7);
    CHECK(outcome.out.find("largest tensors") != std::string::npos);
    CHECK(outcome.err.find("this machine has") != std::string::npos);
  }
  CHECK(run_program("train --preset pre --plan").code == 0);
}

TEST_CASE("a run reuses gradients as its plan says, and takes the same steps without") {
  RunSpec spec = preset_run("pre");
  spec.data.context = spec.model.sequence;
  const std::shared_ptr<const Task> task = make_task(spec.data);
  const std::unique_ptr<Backend> backend = make_cpu_backend(2);
  Run run(spec, task, *backend);
  const Footprint need = footprint_of(run.spec(), *task, *backend);
  CHECK(need.gradients == 4 * run.program().data().plan.gradients);
  set_field(spec, "train.reuse_gradients", "false");
  Run keep(spec, task, *backend);
  for (int i = 0; i < 3; ++i) {
    run.step();
    keep.step();
  }
  CHECK(run.last_loss() == keep.last_loss());
  CHECK(run.history()->loss().values == keep.history()->loss().values);
}

// Encoders and encoder-decoders on the command line and in files. Fine-tuning on labels: tests/refusals/saved-run.txt.

TEST_CASE("labels: a long line is refused, and nothing is lost") {
  const Folder folder;
  const auto train = [&](const std::string& name, const std::string& content) {
    return "train --preset pre --labels " + folder.write(name, content);
  };
  refuses(train("d.tsv", "a\t" + std::string(10'000'000, 'x') + "\n"), 3, "line 1 has 10000002 bytes");
  // Nothing is lost: what stands where the run was to be saved is still there.
  const std::string kept = folder.write("kept.safetensors", "dear weights");
  refuses("train --preset pre --set model.d_model=66 --save " + kept, 2, "heads");
  refuses(train("i.tsv", "one column\n") + " --save " + kept, 3, "one column");
  CHECK(read_all(kept) == "dear weights");
}

TEST_CASE("a configuration holds an encoder-decoder with wirings of its own") {
  ConfigRun run;
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"model.architecture", "encoder-decoder"},
                                                        {"data.name", "translation"},
                                                        {"model.encoder_layers", "3"},
                                                        {"model.encoder_placement", "pre"},
                                                        {"wiring.enc.L02.ffn", "before=rms"},
                                                        {"wiring.dec.L01.cross", "before=ln after=ln"}})
    set_field(run.spec, key, value);
  const std::vector<ConfigRun> runs = {run};
  const std::string text = write_config(runs);
  INFO(text);
  const auto back = parse_config(text, "both.toml");
  REQUIRE(back.size() == 1);
  CHECK(back[0].spec == run.spec);
  const auto placed =
      parse_config("[data]\nlabels = \"p.tsv\"\nvalid = \"/v.tsv\"\n[model]\narchitecture = \"encoder\"\n",
                   "x.toml", "/folder");
  CHECK(placed[0].spec.data.labels_path == "/folder/p.tsv");
  CHECK(placed[0].spec.data.valid_path == "/v.tsv");
}

TEST_CASE("what learned the language alone and not from its sources does not count as learning") {
  RunSpec spec;
  complete(spec);
  const auto task = make_task(spec.data);
  History history(std::vector<StatInfo>{{"loss", 0}});
  history.append(1, 2.1, 1e-3, std::vector<double>{2.1});
  const auto verdict = [&](double source_use) {
    return commands::result_of({'A', 1}, spec, {}, RunState::Learning, history, *task, 2.1, 0, source_use)
        .verdict;
  };
  CHECK(verdict(0) == "not decided");
  history.add_event({1, RunEvent::Kind::LeftPlateau, ""});
  CHECK(verdict(0) == "ignores the source");
  CHECK(verdict(0.09) == "ignores the source");
  CHECK(verdict(0.11) == "learns since step 1");
  CHECK(verdict(std::nan("")) == "learns since step 1");  // reads no source
}

// These tests run the command line on encoders and encoder-decoders: pairs, labels, fine-tuning, translate, bleu, and
// what it refuses.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "app/commands/report.h"
#include "app/support/refused.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "skip.h"
#include "training/files/config_file.h"
#include "training/run/run.h"
#include "addons/translation/training/tokenizer.h"

using namespace normscope;
using namespace normscope::test;

namespace {

constexpr const char* kSmall =
    " --threads 1 --set model.layers=2 --set model.d_model=16 --set model.heads=2 --set model.feed_forward=32"
    " --set model.sequence=16 ";

std::string pairs_text() {
  static const char* const kWords[][2] = {
      {"Hund", "dog"}, {"Katze", "cat"}, {"Haus", "house"}, {"schläft", "sleeps"}};
  std::string text;
  for (unsigned i = 0; i < 120; ++i) {
    std::string source, target;
    for (unsigned w = 0; w < 1 + i % 5; ++w) {
      const auto& word = kWords[(i * 7 + w * 3 + i / 11) % 4];
      source += std::string(w ? " " : "") + word[0];
      target += std::string(w ? " " : "") + word[1];
    }
    text += source + "\t" + target + "\n";
  }
  return text;
}

std::string labels_text() {
  std::string text;
  for (int i = 0; i < 60; ++i) text += (i % 2 ? "up\thigher " : "down\tlower ") + std::to_string(i) + "\n";
  return text;
}

/// What follows the header of a saved run: weights, moments, losses.
std::string tensor_bytes(const std::string& path) {
  const std::string file = read_all(path);
  uint64_t header = 0;
  if (file.size() < sizeof header) return {};
  std::memcpy(&header, file.data(), sizeof header);
  return file.substr(std::min<size_t>(file.size(), sizeof header + header));
}

}  // namespace

TEST_CASE("pairs: train, stop, go on, average, translate, score") {
  if (!tokenizer_unavailable().empty()) SKIP_CASE(tokenizer_unavailable());
  const Folder folder;
  const std::string pairs = folder.write("pairs.tsv", pairs_text()), run = folder.file("run.safetensors");
  const std::string common =
      std::string("train --preset pre") + kSmall + "--pairs " + pairs +
      " --tokens 128 --set data.vocabulary=60 --set train.lr=1e-2 --validate-every 10 ";
  const Outcome first = run_program(common + "--steps 30 --save " + run + " --save-every 10 --keep 2");
  REQUIRE(first.code == 0);
  CHECK(contains(first.out, "step 20  validation"));
  CHECK(contains(first.out, "←"));
  CHECK(std::filesystem::exists(run + ".bpe.model"));
  CHECK_FALSE(std::filesystem::exists(folder.file("run-000010.safetensors")));
  CHECK(std::filesystem::exists(folder.file("run-000020.safetensors")));

  // The state at step 20, gone on with: the same tensors, byte for byte (the events say that it was resumed).
  const std::string again = folder.file("again.safetensors");
  const Outcome second = run_program("train --resume " + folder.file("run-000020.safetensors") +
                                     " --threads 2 --steps 30 --validate-every 10 --save " + again);
  INFO(second.err);
  REQUIRE(second.code == 0);
  CHECK(tensor_bytes(again).size() > 10'000);
  CHECK((tensor_bytes(again) == tensor_bytes(run)));

  const std::string translate = "translate --beam 3 --threads 1 ";
  const Outcome a = run_program(translate + run), b = run_program(translate + again);
  CHECK(a.code == 0);
  CHECK(contains(a.out, "BLEU "));
  CHECK(a.out == b.out);

  const std::string input = folder.write("input.txt", "Hund schläft\nKatze\n"),
                    reference = folder.write("ref.txt", "dog sleeps\ncat\n");
  const Outcome averaged =
      run_program(translate + run + " " + folder.file("run-000020.safetensors") + " --input " + input +
                  " --reference " + reference + " --out " + folder.file("out.txt"));
  CHECK(averaged.code == 0);
  const std::string endless = folder.write("long.txt", [] {
    std::string text;
    for (int i = 0; i < 40; ++i) text += "Hund ";
    return text + "\nKatze\n";
  }());
  const Outcome shortened = run_program(translate + run + " --input " + endless);
  CHECK(shortened.code == 0);
  CHECK(contains(shortened.err, "1 of 2 sentences are cut after 16 pieces"));
  const Outcome scored = run_program("bleu " + folder.file("out.txt") + " " + reference);
  CHECK(scored.code == 0);
  CHECK(contains(averaged.out, scored.out));
}

TEST_CASE("pairs: what a killed run saved last is whole and goes on with the same bits") {
  if (!tokenizer_unavailable().empty()) SKIP_CASE(tokenizer_unavailable());
  const Folder folder;
  const std::string saved = folder.file("killed.safetensors");
  const std::string command =
      std::string("train --preset post") + kSmall + "--pairs " + folder.write("pairs.tsv", pairs_text()) +
      " --tokens 64 --set data.vocabulary=60 --steps 1000000 --save-every 3 --save " + saved;
  for (int seconds = 1; seconds < 60 && !std::filesystem::exists(saved); seconds *= 3)
    CHECK(run_program(command, "timeout -s KILL " + std::to_string(seconds)).code == 137);
  REQUIRE(std::filesystem::exists(saved));
  const RunSpec spec = Run::saved_spec(saved);
  const std::shared_ptr<const Task> task = make_task(spec.data);
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  const std::unique_ptr<Run> resumed = Run::load(saved, task, *backend);
  REQUIRE(resumed->steps_done() > 0);
  Run straight(spec, task, *backend);
  for (int i = 0; i < 7; ++i) resumed->step();
  while (straight.steps_done() < resumed->steps_done()) straight.step();
  for (size_t p = 0; p < straight.store().parameters().size(); ++p) {
    INFO(straight.store().parameters()[p].name);
    for (const Store::Block block : {Store::Block::Value, Store::Block::M, Store::Block::V})
      CHECK(straight.store().read(static_cast<int32_t>(p), block) ==
            resumed->store().read(static_cast<int32_t>(p), block));
  }
}

TEST_CASE("a masked language model is fine-tuned on labels") {
  const Folder folder;
  const std::string labels = folder.write("labels.tsv", labels_text()), run = folder.file("mlm.safetensors");
  const Outcome first = run_program(std::string("train --preset pre") + kSmall +
                                    "--set model.architecture=encoder --steps 12 --save " + run);
  REQUIRE(first.code == 0);
  const Outcome second = run_program(std::string("train --preset pre") + kSmall + "--labels " + labels +
                                     " --init-from " + run + " --steps 40");
  CHECK(second.code == 0);
  CHECK(contains(second.out, "accuracy"));
  refuses("train --preset pre --labels " + labels + " --init-from " + folder.file("none"), 3, "no such file");
  const Outcome pooled = run_program(std::string("train --preset pre") + kSmall + "--labels " + labels +
                                     " --init-from " + run + " --set model.pooling=mean --steps 20");
  CHECK(pooled.code == 0);
  refuses("train --preset pre --labels " + labels + " --init-from " + run + kSmall +
              "--set model.d_model=32 --steps 1",
          2, "expected a model of the same sizes");
  refuses("translate " + run, 3, "expected a run on sentence pairs");
  // The made-up sets are in the same bytes.
  const Outcome made_up =
      run_program(std::string("train --preset pre") + kSmall +
                  "--set model.architecture=encoder --set data.name=mood --init-from " + run + " --steps 3");
  CHECK(made_up.code == 0);
  CHECK(contains(made_up.out, "accuracy"));
}

TEST_CASE("a long line and a label of the validation alone are refused, and nothing is lost") {
  const Folder folder;
  const auto train = [&](const std::string& name, const std::string& content) {
    return "train --preset pre --pairs " + folder.write(name, content);
  };
  refuses(train("d.tsv", "a\t" + std::string(10'000'000, 'x') + "\n"), 3, "line 1 has 10000002 bytes");
  refuses("train --preset pre --labels " + folder.write("f.tsv", labels_text()) + " --valid " +
              folder.write("g.tsv", "sideways\tlower 3\n"),
          3, "the label 'sideways' occurs in the validation lines only");
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
  const auto placed = parse_config(
      "[data]\npairs = \"p.tsv\"\nvalid = \"/v.tsv\"\n[model]\narchitecture = \"encoder-decoder\"\n",
      "x.toml", "/folder");
  CHECK(get_field(placed[0].spec, "data.pairs") == "/folder/p.tsv");
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

// These tests run the command line on encoders and encoder-decoders: labels, fine-tuning, and what it refuses.
#include <unistd.h>

#include "app/commands/report.h"
#include "app/support/refused.h"
#include "catch.hpp"
#include "training/files/config_file.h"
#include "training/run/run.h"

using namespace normscope;
using namespace normscope::test;

namespace {

constexpr const char* kSmall =
    " --threads 1 --set model.layers=2 --set model.d_model=16 --set model.heads=2 --set model.feed_forward=32"
    " --set model.sequence=16 ";

std::string labels_text() {
  std::string text;
  for (int i = 0; i < 60; ++i) text += (i % 2 ? "up\thigher " : "down\tlower ") + std::to_string(i) + "\n";
  return text;
}

}  // namespace

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
    return "train --preset pre --labels " + folder.write(name, content);
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

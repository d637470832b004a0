// Encoders and encoder-decoders on the command line and in files. Fine-tuning on labels: tests/refusals/saved-run.txt.
#include <unistd.h>

#include "app/commands/report.h"
#include "app/support/refused.h"
#include "catch.hpp"
#include "training/files/config_file.h"
#include "training/run/run.h"

using namespace normscope;
using namespace normscope::test;

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

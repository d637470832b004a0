// The command line on encoders and encoder-decoders: pairs, labels, fine-tuning, translate, bleu, and what it
// refuses.
#include <unistd.h>

#include <string>

#include "app/config/config_file.h"
#include "app/program.h"
#include "catch.hpp"
#include "engine/data/tokenizer.h"

using namespace normscope;
using namespace normscope::test;

namespace {

constexpr const char* kSmall =
    " --threads 1 --set model.layers=2 --set model.width=16 --set model.heads=2 --set model.feed_forward=32"
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

void refuses(const std::string& arguments, int code, const std::string& words) {
  const Outcome outcome = run_program(arguments);
  INFO(arguments << ": " << outcome.out << outcome.err);
  CHECK(outcome.code == code);
  CHECK(holds(outcome.err, words));
  CHECK(is_one_error_line(outcome));
}

}  // namespace

TEST_CASE("pairs: train, stop, go on, average, translate, score") {
  if (!tokenizer_unavailable().empty()) return;
  const Folder folder;
  const std::string pairs = folder.write("pairs.tsv", pairs_text()), run = folder.file("run.safetensors");
  const std::string common =
      std::string("train --preset pre") + kSmall + "--pairs " + pairs +
      " --tokens 128 --set data.vocabulary=60 --set train.rate=1e-2 --validate-every 10 ";
  const Outcome first = run_program(common + "--steps 30 --save " + run + " --save-every 10 --keep 2");
  INFO(first.out << first.err);
  REQUIRE(first.code == 0);
  CHECK(holds(first.out, "step 20  validation"));
  CHECK(holds(first.out, "←"));
  CHECK(std::filesystem::exists(run + ".bpe.model"));
  CHECK_FALSE(std::filesystem::exists(folder.file("run-000010.safetensors")));
  CHECK(std::filesystem::exists(folder.file("run-000020.safetensors")));

  // Killed after step 20 and gone on: the same file.
  const std::string again = folder.file("again.safetensors");
  const Outcome second = run_program("train --resume " + folder.file("run-000020.safetensors") +
                                     " --threads 2 --steps 30 --save " + again);
  INFO(second.err);
  REQUIRE(second.code == 0);
  const std::string translate = "translate --beam 3 --threads 1 ";
  const Outcome a = run_program(translate + run), b = run_program(translate + again);
  INFO(a.out << a.err);
  CHECK(a.code == 0);
  CHECK(holds(a.out, "BLEU "));
  CHECK(a.out == b.out);

  const std::string input = folder.write("input.txt", "Hund schläft\nKatze\n"),
                    reference = folder.write("ref.txt", "dog sleeps\ncat\n");
  const Outcome averaged =
      run_program(translate + run + " " + folder.file("run-000020.safetensors") + " --input " + input +
                  " --reference " + reference + " --out " + folder.file("out.txt"));
  INFO(averaged.out << averaged.err);
  CHECK(averaged.code == 0);
  const Outcome scored = run_program("bleu " + folder.file("out.txt") + " " + reference);
  CHECK(scored.code == 0);
  CHECK(holds(averaged.out, scored.out));
}

TEST_CASE("a masked language model is fine-tuned on labels") {
  const Folder folder;
  const std::string labels = folder.write("labels.tsv", labels_text()), run = folder.file("mlm.safetensors");
  const Outcome first = run_program(std::string("train --preset pre") + kSmall +
                                    "--set model.architecture=encoder --steps 12 --save " + run);
  INFO(first.out << first.err);
  REQUIRE(first.code == 0);
  const Outcome second = run_program(std::string("train --preset pre") + kSmall + "--labels " + labels +
                                     " --init-from " + run + " --steps 40");
  INFO(second.out << second.err);
  CHECK(second.code == 0);
  CHECK(holds(second.out, "accuracy"));
  refuses("train --preset pre --labels " + labels + " --init-from " + folder.file("none"), 2, "no such file");
  refuses("train --preset pre --labels " + labels + " --init-from " + run + kSmall +
              "--set model.width=32 --steps 1",
          2, "expected a model of the same sizes");
  refuses("translate " + run, 3, "expected a run on sentence pairs");
}

TEST_CASE("files and combinations that cannot be are refused in a line") {
  const Folder folder;
  const auto train = [&](const std::string& name, const std::string& content) {
    return "train --preset pre --pairs " + folder.write(name, content);
  };
  refuses(train("a.tsv", "one column\n"), 3, "line 1 has one column");
  refuses(train("b.tsv", "a\tb\n\xff\tc\n"), 3, "line 2 is not UTF-8");
  refuses(train("c.tsv", ""), 3, "is empty");
  refuses(train("d.tsv", "a\t" + std::string(10'000'000, 'x') + "\n"), 3, "line 1 has 10000002 bytes");
  refuses("train --preset pre --pairs " + folder.file("none.tsv"), 3, "no such file");
  refuses("train --preset pre --labels " + folder.write("e.tsv", "x\ta\nx\tb\nx\tc\nx\td\nx\te\n"), 3,
          "1 different labels");
  refuses("train --preset pre --set model.architecture=encoder-decoder", 2, "cannot learn corpus");
  refuses("train --preset pre --set data.name=translation", 2, "a decoder cannot learn translation");
  refuses("train --preset pre --pairs x --labels y", 2, "expected one of them");
  refuses("train --preset pre --pairs x --tokens 5", 2, "--tokens 5");
  refuses("bleu " + folder.write("x", "a\n") + " " + folder.write("y", ""), 3,
          "1 translations and 0 references");
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
  CHECK(placed[0].spec.data.pairs_path == "/folder/p.tsv");
  CHECK(placed[0].spec.data.valid_path == "/v.tsv");
}

// These tests run the command line on treebanks: train with scores in output, log and table, parse, what is refused.
#include <algorithm>

#include "addons/systems/training/conllu.h"
#include "addons/systems/training/image_task.h"
#include "app/support/commands.h"
#include "app/support/refused.h"
#include "training/io/input_kinds.h"

namespace normscope::test::cli_parse_tests {
namespace {

constexpr const char* kSmall =
    " --threads 1 --set model.layers=1 --set model.d_model=8 --set model.feed_forward=16 --set train.batch=32 ";

}  // namespace

TEST_CASE("a parser is trained on CoNLL-U, scored and asked to parse") {
  const Folder folder;
  const std::string trees = folder.write("train.conllu", conllu_text(made_treebank(2, 0, 60))),
                    valid = folder.write("valid.conllu", conllu_text(made_treebank(2, 60, 12))),
                    run = folder.file("run.safetensors"), log = folder.file("log"),
                    out = folder.file("out.conllu");
  const Outcome trained = run_program("train --treebank " + trees + " --valid " + valid + kSmall +
                                      "--steps 6 --validate-every 3 --log " + log + " --save " + run);
  REQUIRE(trained.code == 0);
  CHECK(contains(trained.out, "step 3  validation "));
  CHECK(contains(trained.out, "  UAS "));
  CHECK(contains(trained.out, "LAS"));  // of the table
  const auto lines = read_log(log);
  REQUIRE(lines.size() == 7);
  CHECK_FALSE(lines[1].contains("uas"));
  for (const size_t measured : {size_t{2}, size_t{5}}) {
    REQUIRE(lines[measured].contains("uas"));
    CHECK(lines[measured]["las"].get<double>() <= lines[measured]["uas"].get<double>());
    CHECK(lines[measured]["uas"].get<double>() <= 100);
  }
  CHECK(lines[6]["result"].contains("las"));

  // The trees of the validation, in a file and on standard output.
  const Outcome parsed = run_program("parse " + run + " --out " + out);
  CHECK(parsed.code == 0);
  CHECK(contains(parsed.out, "12 sentences ("));
  CHECK(contains(parsed.out, "without punctuation"));
  const std::vector<DependencyTree> read = read_conllu(out);
  REQUIRE(read.size() == 12);
  CHECK(read[3].words[0].form == made_tree(2, 63).words[0].form);
  const Outcome printed = run_program("parse " + run + " --input " + valid);
  CHECK(printed.out == read_all(out));
  CHECK(contains(printed.err, "12 sentences ("));

  // Sentences that nobody has parsed yet have no score.
  std::vector<DependencyTree> bare = made_treebank(2, 60, 3);
  for (DependencyTree& tree : bare)
    for (TreeWord& word : tree.words) {
      word.head = kNoHead;
      word.label = "_";
    }
  const Outcome unscored =
      run_program("parse " + run + " --input " + folder.write("bare.conllu", conllu_text(bare)));
  CHECK(unscored.code == 0);
  CHECK_FALSE(contains(unscored.err, "UAS"));
  CHECK(parse_conllu(unscored.out, "out") == std::vector<DependencyTree>(read.begin(), read.begin() + 3));

  // Resumed it is the same run; another treebank is refused.
  CHECK(run_program("train --resume " + run + " --steps 8 --save " + run).code == 0);
  folder.write("train.conllu", conllu_text(made_treebank(3, 0, 60)));
  CHECK(run_program("parse " + run).code == 3);
}

TEST_CASE("trees that are not projective are counted once before training, sentences without tags refused") {
  const Folder folder;
  std::vector<DependencyTree> trees = made_treebank(2, 0, 20);
  DependencyTree& crossed = trees.emplace_back();
  for (const int32_t head : {3, 4, 0, 3})
    crossed.words.push_back({.form = "word", .upos = "X", .head = head, .label = head == 0 ? "root" : "dep"});
  const auto crossing =
      std::ranges::count_if(trees, [](const DependencyTree& tree) { return !is_projective(heads_of(tree)); });
  REQUIRE(crossing > 0);
  const std::string run = folder.file("run-A.safetensors"),
                    valid = folder.write("valid.conllu", conllu_text(made_treebank(2, 60, 5)));
  const Outcome trained = run_program(
      "train --treebank " + folder.write("train.conllu", conllu_text(trees)) + " --valid " + valid + kSmall +
      "--run A=parser --run B=parser --steps 1 --save " + folder.file("run.safetensors"));
  const std::string said =
      std::to_string(crossing) + " of 21 trees are not projective and are left out of training\n";
  CHECK(trained.code == 0);
  CHECK(trained.out.find(said) < trained.out.find("validation"));
  CHECK(trained.out.find(said) == trained.out.rfind(said));

  std::vector<DependencyTree> bare = made_treebank(2, 60, 3);
  for (TreeWord& word : bare[1].words) word.upos = word.xpos = "_";
  refuses("parse " + run + " --input " + folder.write("bare.conllu", conllu_text(bare)), 3,
          "sentence 2 of 3");
  bare[1].words.back().xpos = "NN";
  CHECK(run_program("parse " + run + " --input " + folder.write("bare.conllu", conllu_text(bare))).code == 0);
}

// What the reader of CoNLL-U says of tests/refusals/conllu.txt, and where parse is interrupted.

TEST_CASE("refusals: the reader of trees says in one line what is wrong with an input") {
  check_reader(
      {"conllu", [](const std::string& text) { parse_conllu(text, "t.conllu", TreeColumns::Required); }});
}

TEST_CASE("interrupt: parse says that it was interrupted") {
  const Folder folder;
  const std::string parser = folder.file("parser.safetensors");
  const std::string trees = folder.write("trees.conllu", conllu_text(made_treebank(2, 0, 60)));
  // So wide that no machine parses them all before it is interrupted.
  REQUIRE(run_program("train --treebank " + trees + " --valid " + trees +
                      " --threads 1 --set model.layers=1 --set model.d_model=64 --set model.feed_forward=512 "
                      "--set train.batch=32 --steps 1 --save " +
                      parser)
              .code == 0);
  const std::string many = folder.write("many.conllu", conllu_text(made_treebank(2, 0, 100'000)));
  const Outcome parsed = interrupted_after(
      "2", "parse " + parser + " --threads 1 --input " + many + " --out " + folder.file("out.conllu"));
  CHECK(parsed.code == 130);
  // Behind the line that comes where the sentences under way take more than a second.
  CHECK(parsed.err.ends_with("normscope: interrupted\n"));
  CHECK_FALSE(std::filesystem::exists(folder.file("out.conllu")));
}

TEST_CASE("files: the limits of images and trees are those that README.md states", "[gate]") {
  check_stated_limit("systems", "images and their labels", input::kIdx.limit);
  check_stated_limit("systems", "treebank", input::kTable.limit);
  CHECK(input::kIdx.limit == 2'000'000'000);
}

TEST_CASE("commands: interrupts and images", "[listing]") { check_commands("commands"); }

}  // namespace normscope::test::cli_parse_tests

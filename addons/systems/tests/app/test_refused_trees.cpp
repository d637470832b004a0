// What the reader of CoNLL-U says of tests/refusals/conllu.txt, and where parse is interrupted.
#include "addons/systems/training/conllu.h"
#include "addons/systems/training/image_task.h"
#include "app/support/refused_inputs.h"
#include "catch.hpp"
#include "test_paths.h"

namespace normscope::test {

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
  const std::string page = read_all(NORMSCOPE_SOURCE_DIR "/addons/systems/README.md");
  for (const auto& [row, size] :
       {std::pair{"images and their labels", "| 2 GB |"}, {"treebank", "| 2 GB |"}}) {
    INFO(row);
    const size_t at = page.find(std::string("\n| ") + row);
    REQUIRE(at != page.npos);
    CHECK(contains(page.substr(at, page.find('\n', at + 1) - at), size));
  }
  CHECK(input::kIdx.limit == 2'000'000'000);
  CHECK(input::kTable.limit == 2'000'000'000);
}

}  // namespace normscope::test

// These tests run the command line on sentence pairs: train, translate, bleu, and where learned pieces are written.
#include <sys/stat.h>

#include "addons/translation/training/tokenizer.h"
#include "app/support/commands.h"
#include "skip.h"
#include "training/files/config_file.h"

namespace normscope::test::cli_pairs {

namespace fs = std::filesystem;

TEST_CASE("pairs: the program has the SentencePiece that it says it was built with", "[cli]") {
  const Outcome outcome = run_program("--version");
  CHECK(contains(outcome.out, "SentencePiece: yes") == tokenizer_unavailable().empty());
}

TEST_CASE("pairs: learned pieces are the person's own, and go through no link to nothing") {
  if (!tokenizer_unavailable().empty()) SKIP_CASE(tokenizer_unavailable());
  const Folder folder;
  const std::vector<std::string_view> text(40, "the quick brown fox jumps over the lazy dog");
  const Tokenizer pieces = Tokenizer::train(text, 40);
  const std::string path = folder.file("x.model"), dangling = folder.file("link"), full = folder.file("full");
  pieces.save(path);
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0600);
  fs::create_symlink(folder.file("nowhere"), dangling);
  CHECK_THROWS_WITH(pieces.save(dangling), Catch::Contains("is not there"));
  CHECK_FALSE(fs::exists(folder.file("nowhere")));
  fs::create_symlink("/dev/full", full);
  CHECK_THROWS_WITH(pieces.save(full), Catch::Contains("No space left"));
  CHECK(fs::is_symlink(full));
}

TEST_CASE("files: the limits of pieces are those that README.md states", "[gate]") {
  check_stated_limit("translation", "tokenizer", input::kTokenizer.limit);
}

TEST_CASE("pairs: a file finds its own") {
  const auto placed = parse_config("[data]\npairs = \"p.tsv\"\n[model]\narchitecture = \"encoder-decoder\"\n",
                                   "x.toml", "/folder");
  CHECK(get_field(placed[0].spec, "data.pairs") == "/folder/p.tsv");
}

TEST_CASE("commands: sentence pairs", "[listing]") {
  if (!tokenizer_unavailable().empty()) SKIP_CASE(tokenizer_unavailable());
  check_commands("pairs");
}

TEST_CASE("commands: average", "[listing]") { check_commands("average"); }

TEST_CASE("commands: pairs of Debian's package descriptions", "[listing]") {
  if (std::system("python3 -c 'import lzma' 2>/dev/null") != 0) SKIP_CASE("there is no Python 3 with lzma");
  check_commands("debian-pairs");
}

}  // namespace normscope::test::cli_pairs

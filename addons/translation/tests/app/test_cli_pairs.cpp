// These tests run the command line on sentence pairs: train, translate, bleu, and where learned pieces are written.
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "addons/translation/training/tokenizer.h"
#include "app/cli/specs.h"
#include "app/support/program.h"
#include "app/support/refused.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "skip.h"
#include "test_paths.h"
#include "training/files/config_file.h"
#include "training/run/run.h"
#include "training/session/analysis.h"

namespace normscope::test::cli_pairs {
namespace {

namespace fs = std::filesystem;

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

std::string noun_pairs() {
  std::string text;
  for (const char* noun : {"Hund\tdog", "Katze\tcat", "Maus\tmouse", "Vogel\tbird"})
    for (int i = 0; i < 30; ++i) text += std::string(noun) + "\n";
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

TEST_CASE("pairs: the program has the SentencePiece that it says it was built with", "[cli]") {
  const Outcome outcome = run_program("--version");
  CHECK(contains(outcome.out, "SentencePiece: yes") == tokenizer_unavailable().empty());
}

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

TEST_CASE("learned pieces are written where the command line says, never where a file says") {
  if (!tokenizer_unavailable().empty()) SKIP_CASE(tokenizer_unavailable());
  const Folder folder;
  const std::string pieces = folder.file("pieces.model"), saved = folder.file("x.safetensors");
  folder.write("pairs.tsv", noun_pairs());
  const std::string named = folder.write(
      "named.toml",
      "[model]\nlayers = 1\nd_model = 16\nheads = 2\nfeed_forward = 32\nsequence = 16\narchitecture = "
      "\"encoder-decoder\"\n[train]\nbatch = 4\nsteps = 2\n[data]\nvocabulary = 40\npairs = \"pairs.tsv\"\n"
      "tokenizer = \"pieces.model\"\n");
  const std::string train = "train --config " + named;
  for (const std::string& command :
       {train + " --plan", train, train + " --profile",
        "compare --threads 1 --out " + folder.file("out") + " --config " + named}) {
    if (!has_command(command.substr(0, command.find(' ')))) continue;
    const Outcome outcome = run_program(command);
    INFO(command << outcome.err);
    CHECK(outcome.code == 0);
    CHECK_FALSE(fs::exists(pieces));
  }
  REQUIRE(run_program(train + " --save " + saved).code == 0);
  CHECK_FALSE(fs::exists(pieces));
  CHECK(fs::exists(saved + ".bpe.model"));  // beside what --save names
  const auto mode = fs::status(saved + ".bpe.model").permissions();
  CHECK((mode & fs::perms::mask) == (fs::perms::owner_read | fs::perms::owner_write));
  fs::remove(saved + ".bpe.model");
  if (has_command("measure")) CHECK(run_program("measure --what loss " + saved).code == 0);
  CHECK(run_program("translate --limit 1 " + saved).code == 0);
  CHECK_FALSE(fs::exists(saved + ".bpe.model"));
  CHECK(run_program(train + " --plan --set data.tokenizer=" + pieces).code == 0);
  CHECK_FALSE(fs::exists(pieces));
  CHECK(run_program(train + " --set data.tokenizer=" + pieces).code == 0);
  CHECK(fs::exists(pieces));
}

TEST_CASE("pairs: on the command line they are all that train needs, and a file finds its own") {
  if (!tokenizer_unavailable().empty()) SKIP_CASE(tokenizer_unavailable());
  const Folder folder;
  const std::string saved = folder.file("x.safetensors");
  const Outcome pairs =
      run_program("train --pairs " + folder.write("pairs.tsv", noun_pairs()) + " --steps 1 --save " + saved);
  INFO(pairs.err);
  CHECK(pairs.code == 0);
  CHECK(contains(pairs.out, "Pre-LN"));
  const std::string text = folder.file("text.safetensors");
  REQUIRE(run_program(std::string("train --preset pre") + kSmall + "--steps 1 --save " + text).code == 0);
  refuses("translate " + text, 3, "expected a run on sentence pairs");
  refuses("train --steps 4 --resume " + text + " --pairs x", 2, "--pairs");
  refuses("train --preset pre --pairs " + folder.write("d.tsv", "a\t" + std::string(10'000'000, 'x') + "\n"),
          3, "line 1 has 10000002 bytes");
  const auto placed = parse_config("[data]\npairs = \"p.tsv\"\n[model]\narchitecture = \"encoder-decoder\"\n",
                                   "x.toml", "/folder");
  CHECK(get_field(placed[0].spec, "data.pairs") == "/folder/p.tsv");
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
  const std::string page = read_all(NORMSCOPE_SOURCE_DIR "/addons/translation/README.md");
  for (const auto& [row, size] : {std::pair{"tokenizer", "| 64 MB |"}}) {
    INFO(row);
    const size_t at = page.find(std::string("\n| ") + row);
    REQUIRE(at != page.npos);
    CHECK(contains(page.substr(at, page.find('\n', at + 1) - at), size));
  }
  CHECK(input::kTokenizer.limit == 64'000'000);
}

}  // namespace normscope::test::cli_pairs

// These tests run normscope average.

using namespace normscope;
using namespace normscope::test;

TEST_CASE("average: the mean of kept states is a run that goes on") {
  const Folder folder;
  const std::string config = folder.write("tiny.toml", std::string(kTiny) + "[run]\nname = \"small\"\n"),
                    run = folder.file("x.safetensors"), out = folder.file("mean.safetensors");
  REQUIRE(run_program("train --config " + config + " --save " + run + " --save-every 4 --keep 2").code == 0);
  const std::string kept = folder.file("x-000008.safetensors") + " " + folder.file("x-000012.safetensors");
  const Outcome outcome = run_program("average " + kept + " --out " + out);
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(contains(outcome.out, "mean weights of 2 states, step 12"));
  const auto loss = [&](const std::string& file) {
    const std::unique_ptr<Backend> backend = make_cpu_backend(1);
    return loss_without(*Run::load(file, cli::task_of(Run::saved_spec(file)), *backend), {});
  };
  const double mean = loss(out), last = loss(run), earlier = loss(folder.file("x-000008.safetensors"));
  CHECK(mean != last);
  CHECK(mean == Approx((last + earlier) / 2).margin(0.2));
  CHECK(run_program("train --resume " + out + " --steps 15").code == 0);
  CHECK(loss(run) == last);
}

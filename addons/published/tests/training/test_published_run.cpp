// A published model as a run: it has the folder's weights and loss, trains on, forks with another wiring and keeps what
// fits.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "addons/published/tests/training/opened_folder.h"
#include "addons/published/training/token_task.h"
#include "engine/support/helpers.h"
#include "folder.h"
#include "training/files/config_file.h"

namespace normscope::test_published_run {
using namespace test;
using test_opened_folder::kFolder, test_opened_folder::loss_of_folder, test_opened_folder::near,
    test_opened_folder::FolderModel;
namespace fs = std::filesystem;

TEST_CASE("published run: a decoder begins at the loss of the folder's weights, in every family") {
  int decoders = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const std::string name = entry.path().filename().string();
    if (!fs::exists(entry.path() / "config.json")) continue;
    INFO(name);
    FolderModel opened(name.c_str());
    if (opened.spec.model.architecture != Architecture::Decoder) continue;
    ++decoders;
    const auto run = opened.run();
    run->step();
    CHECK(near(static_cast<double>(run->losses()[0]), loss_of_folder(name.c_str(), {5, 17, 3, 5, 9, 4, 8})));
    for (int i = 0; i < 20; ++i) run->step();
    CHECK(run->losses().back() < run->losses()[0]);  // it learns the passage
  }
  CHECK(decoders > 40);
}

TEST_CASE("published run: the specification is kept as every other") {
  const FolderModel opened("gemma2");
  const std::vector<ConfigRun> one{{.spec = opened.spec, .edits = {}}};
  const std::vector<ConfigRun> again = parse_config(write_config(one), "again");
  REQUIRE(again.size() == 1);
  CHECK(again[0].spec == opened.spec);
}

TEST_CASE("published run: a folder stands wherever a configuration does") {
  const std::vector<ConfigRun> runs = read_config((kFolder / "gpt2").string());
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].spec.train.init_from == (kFolder / "gpt2").string());
  // It has no tokenizer: the passage that comes with the program is words, so it reads sixteen numbers.
  CHECK(make_task(runs[0].spec.data)->encode(passage_of(runs[0].spec.data)).size() == 16);
}

TEST_CASE("published run: with another wiring what fits is taken over") {
  FolderModel opened("gpt2");
  const auto whole = opened.run();
  set_field(opened.spec, "wiring.L01.ffn", "before=none");
  const auto changed = opened.run();
  const auto weight = [](Run& run, const char* name) { return run.store().read(run.store().find(name)); };
  for (const char* name : {"emb.tokens", "emb.positions", "L01.attn.wq", "L02.ffn.w2", "final.gain"})
    CHECK(weight(*whole, name) == weight(*changed, name));
  CHECK(changed->store().find("L01.ffn.before.gain") < 0);
  whole->step();
  changed->step();
  CHECK(whole->last_loss() != changed->last_loss());
}

TEST_CASE("published run: what is no published model is refused before anything is read") {
  const Folder folder;
  CHECK_FALSE(published::is_published(folder.path.string()));
  folder.write("config.json", "{}");
  CHECK_FALSE(published::is_published(folder.path.string()));
  CHECK(published::is_published((kFolder / "gpt2").string()));
  CHECK(contains(error_of([] { published::run_of((kFolder / "gpt2").string(), "5"); }),
                 "1 tokens: expected a text of at least 2 tokens"));
}

// The time of one text through a published folder, hidden from the test command: addons/bench/peers/torch_inspect.py
// runs it in turn with PyTorch. NORMSCOPE_FOLDER names the folder, NORMSCOPE_BENCH_THREADS the threads.

namespace {

/// The median of several replays after one that warms up; `then` belongs to each.
template <typename Then>
double milliseconds(Look& look, Then then) {
  std::vector<double> times;
  for (int i = 0; i < 8; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    look.replay();
    then();
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
    if (i > 0) times.push_back(taken.count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace

TEST_CASE("look: the time of a text through a published folder", "[.bench]") {
  const char* folder = std::getenv("NORMSCOPE_FOLDER");
  const char* threads = std::getenv("NORMSCOPE_BENCH_THREADS");
  REQUIRE(folder != nullptr);
  constexpr int32_t kTokens = 64;
  const auto backend = make_cpu_backend(threads ? std::atoi(threads) : 2);
  const published::PublishedModel model = published::open(folder, kTokens);
  Store store(*backend);
  published::declare(model, store);
  published::load(model, store);
  std::vector<int32_t> tokens(kTokens);
  for (int32_t i = 0; i < kTokens; ++i) tokens[static_cast<size_t>(i)] = i * 97 % model.spec.model.vocabulary;
  const Batch text = passage_batch(model.spec.model, tokens);
  double forward = 0, backward = 0;
  {
    Look look(store, model.spec.model, shape_of(text), Look::Gradients::None, false);
    look.put(text);
    forward = milliseconds(look, [] {});
  }
  {
    Look look(store, model.spec.model, shape_of(text), Look::Gradients::Norms, false);
    look.put(text);
    double sum = 0;
    backward = milliseconds(look, [&] {
      for (const ParameterInfo& p : store.parameters())
        if (p.trainable && p.shape.rank == 2) sum += look.gradient_norm(p.name);
    });
    CHECK(sum > 0);
  }
  fmt::print("{{\"forward_ms\": {:.2f}, \"gradients_ms\": {:.2f}}}\n", forward, backward);
}

}  // namespace normscope::test_published_run

// The time of one text through a published folder, hidden from the test command: addons/bench/peers/torch_inspect.py
// runs it in turn with PyTorch. NORMSCOPE_FOLDER names the folder, NORMSCOPE_BENCH_THREADS the threads.
#include "addons/published/training/passage.h"
#include "addons/published/training/published.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "training/measure/look.h"

namespace normscope::test_look_speed {
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
    Look look(store, model.spec.model, shape_of(text), false, false);
    look.put(text);
    forward = milliseconds(look, [] {});
  }
  {
    Look look(store, model.spec.model, shape_of(text), true, false);
    look.put(text);
    double sum = 0;
    backward = milliseconds(look, [&] {
      for (const ParameterInfo& p : store.parameters())
        if (p.trainable && p.shape.rank == 2) sum += look.program().gradient_norm(p.name);
    });
    CHECK(sum > 0);
  }
  fmt::print("{{\"forward_ms\": {:.2f}, \"gradients_ms\": {:.2f}}}\n", forward, backward);
}

}  // namespace normscope::test_look_speed

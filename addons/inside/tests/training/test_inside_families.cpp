// What is inside published models, against what the library transformers computes in float64: states, logits, loss.
#include "addons/inside/tests/training/inside_fixture.h"
#include "addons/published/training/published.h"
#include "catch.hpp"
#include "test_paths.h"
#include "training/io/safetensors.h"

namespace normscope::test {
namespace {
namespace fs = std::filesystem;

/// One text of a folder.
struct Reference {
  const SafetensorsFile& file;
  size_t text, T;

  std::vector<double> part(const std::string& name) const {
    const std::vector<double> all = file.doubles(name);
    const auto size = static_cast<std::ptrdiff_t>(all.size() / 2);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(text) * size;
    return {begin, begin + size};
  }
  std::vector<int32_t> numbers(const std::string& name) const {
    const std::vector<int32_t> all = file.int32s(name);
    const auto size = static_cast<std::ptrdiff_t>(T), at = static_cast<std::ptrdiff_t>(text) * size;
    return {all.begin() + at, all.begin() + at + size};
  }
  /// Compares to a part of the largest one.
  void check_norms(const std::vector<float>& norms, const std::string& name) const {
    INFO(name);
    const std::vector<double> states = part(name);
    const size_t width = states.size() / T;
    std::vector<double> expected;
    for (size_t t = 0; t < T; ++t) expected.push_back(length(&states[t * width], width));
    const double largest = *std::ranges::max_element(expected);
    REQUIRE(norms.size() == T);
    for (size_t t = 0; t < T; ++t) CHECK(std::abs(norms[t] - expected[t]) < 1e-5 * largest);
  }
};

/// The sum of the losses of its targets.
double check_text(const Reference& reference, Store& store, const ModelConfig& config) {
  Batch text(1, static_cast<int32_t>(reference.T));
  text.tokens = reference.numbers("input/x");
  text.targets = reference.numbers("input/y");
  CHECK(text.targets == passage_batch(config, text.tokens).targets);
  const Inside inside = inside_of(store, config, text, {.gradients = false});
  reference.check_norms(inside.embedding, "hidden/00");
  for (size_t l = 1; l <= inside.sublayers.size() / 2; ++l)
    reference.check_norms(inside.sublayers[2 * l - 1].norms, fmt::format("hidden/{:02}", l));
  const std::vector<double> logits = reference.part("logits");
  const size_t V = logits.size() / reference.T;
  double sum = 0;
  for (size_t t = 0; t < reference.T; ++t) {
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(t * V);
    const std::vector<double> logs = log_softmax({begin, begin + static_cast<std::ptrdiff_t>(V)});
    const Inside::Guess& guess = inside.lens.back().guesses[t * 5];
    CHECK(std::abs(guess.probability - std::exp(*std::ranges::max_element(logs))) < 1e-5);
    CHECK(std::abs(guess.probability - std::exp(logs[static_cast<size_t>(guess.token)])) < 1e-5);
    if (text.targets[t] < 0) continue;
    const double loss = -logs[static_cast<size_t>(text.targets[t])];
    CHECK(std::abs(inside.token_loss[t] - loss) < 1e-5);
    sum += loss;
  }
  CHECK(std::abs(inside.loss * static_cast<double>(reference.T - 1) - sum) < 1e-4);
  return sum;
}

}  // namespace

TEST_CASE("inside: published decoders have the states, logits and losses that the library computes",
          "[published]") {
  int families = 0;
  for (const auto& entry : fs::directory_iterator(
           fs::path(NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers"))) {
    if (!fs::exists(entry.path() / "config.json")) continue;
    const SafetensorsFile file = SafetensorsFile::load((entry.path() / "reference.safetensors").string());
    if (file.contains("input/key_len")) continue;  // BERT reads types beside its symbols
    INFO(entry.path());
    ++families;
    const auto T = static_cast<size_t>(file.shape("input/x")[1]);
    const published::PublishedModel model = published::open(entry.path().string(), static_cast<int32_t>(T));
    const auto backend = make_cpu_backend(1);
    Store store(*backend);
    published::declare(model, store);
    published::load(model, store);
    double sum = 0;
    for (const size_t text : {0, 1}) sum += check_text({file, text, T}, store, model.spec.model);
    CHECK(std::abs(sum / static_cast<double>(2 * (T - 1)) - file.doubles("loss")[0]) < 1e-6);
  }
  CHECK(families >= 17);
}

}  // namespace normscope::test

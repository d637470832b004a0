// fill() puts what fits of a published folder into the Store of a model that may be wired otherwise.
#include "addons/published/training/published.h"
#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/model/transformer.h"
#include "engine/model/wiring.h"
#include "engine/support/helpers.h"
#include "folder.h"
#include "test_paths.h"

namespace normscope::test_fill {
using namespace test;
namespace {
namespace fs = std::filesystem;

const fs::path kFolders = fs::path(NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers");

/// A Store with moments for a model, as training has it.
struct Trained {
  explicit Trained(const ModelConfig& config) {
    Tape tape(store);
    record_transformer(tape, config, {.batch = 1, .sequence = 1, .training = false, .probes = false});
    store.materialize(7);
    for (size_t i = 0; i < store.parameters().size(); ++i)
      started.push_back(store.read(static_cast<int32_t>(i)));
  }
  std::vector<float> read(const char* name) const { return store.read(store.find(name)); }
  bool kept(const char* name) const {
    return same_bits(read(name), started[static_cast<size_t>(store.find(name))]);
  }

  std::unique_ptr<Backend> backend = make_cpu_backend(1);
  Store store{*backend};
  std::vector<std::vector<float>> started;
};

}  // namespace

TEST_CASE("fill: a model of the same wiring gets what load gives it", "[published]") {
  for (const auto& entry : fs::directory_iterator(kFolders)) {
    if (!entry.is_directory()) continue;
    INFO(entry.path().filename());
    const published::PublishedModel model = published::open(entry.path().string(), 8);
    const auto backend = make_cpu_backend(1);
    Store loaded(*backend);
    published::declare(model, loaded);
    published::load(model, loaded);
    Trained filled(model.spec.model);
    int32_t trainable = 0;
    for (const ParameterInfo& parameter : loaded.parameters()) trainable += parameter.trainable;
    CHECK(published::fill(model, filled.store) == trainable);
    for (const ParameterInfo& parameter : loaded.parameters()) {
      INFO(parameter.name);
      CHECK(same_bits(loaded.read(loaded.find(parameter.name)), filled.read(parameter.name.c_str())));
    }
  }
}

TEST_CASE("fill: what a changed model has beside the folder's keeps its values", "[published]") {
  const published::PublishedModel model = published::open((kFolders / "gpt2").string(), 8);
  ModelConfig config = model.spec.model;
  config.layers = 3;
  config.sequence = 8;  // the folder's table has 16 positions
  config.feed_forward *= 2;
  set_placement(config, Placement::Post);
  Trained run(config);
  // The tables, and of two layers four matrices and four biases of attention and the bias behind the network.
  CHECK(published::fill(model, run.store) == 2 + 2 * 9);
  for (const char* name : {"L01.attn.stream.gain", "L01.ffn.w1", "L02.ffn.b1", "L03.attn.wq", "L03.attn.bo"})
    CHECK(run.kept(name));
  const SafetensorsFile file = SafetensorsFile::load((kFolders / "gpt2/model.safetensors").string());
  CHECK(same_bits(run.read("emb.tokens"), file.floats("wte.weight")));
  std::vector<float> positions = file.floats("wpe.weight");
  positions.resize(size_t{8} * 24);
  CHECK(same_bits(run.read("emb.positions"), positions));
  for (size_t i = 0; i < run.store.parameters().size(); ++i)
    for (const Store::Block moment : {Store::Block::M, Store::Block::V})
      for (const float value : run.store.read(static_cast<int32_t>(i), moment)) REQUIRE(value == 0);
}

TEST_CASE("fill: positions that begin with another row, and a table that is too short", "[published]") {
  const published::PublishedModel model = published::open((kFolders / "opt-pre").string(), 8);
  const SafetensorsFile file = SafetensorsFile::load((kFolders / "opt-pre/model.safetensors").string());
  ModelConfig config = model.spec.model;
  config.sequence = 8;
  Trained shorter(config);
  published::fill(model, shorter.store);
  const std::vector<float> table = file.floats("model.decoder.embed_positions.weight");
  CHECK(same_bits(shorter.read("emb.positions"),
                  std::vector(table.begin() + 2 * 24, table.begin() + (2 + 8) * 24)));
  config.sequence = 32;
  Trained longer(config);
  published::fill(model, longer.store);
  CHECK(longer.kept("emb.positions"));
}

TEST_CASE("fill: a tensor without floats is refused before anything changes", "[published]") {
  const Folder folder;
  for (const char* name : {"config.json", "model.safetensors"})
    fs::copy_file(kFolders / "gpt2" / name, folder.path / name);
  std::string text = read_all(folder.path / "model.safetensors");
  const size_t last = text.find("\"F32\"", text.find("wte.weight"));
  REQUIRE(last != text.npos);
  folder.write("model.safetensors", text.replace(last, 5, "\"I32\""));
  const published::PublishedModel model = published::open(folder.path.string(), 8);
  Trained run(model.spec.model);
  CHECK(contains(error_of([&] { published::fill(model, run.store); }),
                 "tensor \"wte.weight\": dtype I32, expected F32, F64, F16 or BF16"));
  for (const ParameterInfo& parameter : run.store.parameters()) CHECK(run.kept(parameter.name.c_str()));
}

}  // namespace normscope::test_fill

// save() and load(): what is saved comes back bit for bit and training goes on to the same bits; whatever does not fit is
// named in one line or in the report, and a Store that could not be filled is as it was.
#include <algorithm>

#include "engine/core/philox.h"
#include "engine/engine.h"
#include "engine/io/safetensors.h"
#include "engine/support/helpers.h"
#include "folder.h"

using namespace normscope;
using namespace normscope::test;

namespace {

using Block = Store::Block;

/// A network of two layers that fits random numbers.
struct Net {
  decltype(make_cpu_backend()) backend = make_cpu_backend();
  Store store{*backend};
  Tape tape{store};
  ValueId loss;
  std::optional<Program> program;

  explicit Net(int outputs = 3, const char* last = "logits") {
    const ValueId x = tape.input("x", {8, 4}), target = tape.input("target", {8, outputs});
    const ValueId hidden = relu(tape, "relu", layer_norm(tape, "norm", linear(tape, "hidden", x, 16)));
    loss = mean_squared_error(tape, "loss", linear(tape, last, hidden, outputs), target);
  }
  Net& materialized(uint64_t seed) {
    store.materialize(seed);
    return *this;
  }
  void train(int steps) {
    if (!program) program.emplace(seal(tape, {.loss = loss}));
    for (int i = 0; i < steps; ++i) {
      const uint32_t t = store.steps();
      for (const char* input : {"x", "target"})
        for (size_t n = 0; float& to : program->floats(input))
          to = static_cast<float>(random_word(n++, site_of(input), t, Purpose::Batch, 1)) * 0x1p-31f - 1.0f;
      program->replay(Adam{.lr = 0.01f});
    }
  }
  std::vector<float> block(const char* parameter, Block block = Block::Value) const {
    return store.read(store.find(parameter), block);
  }
  std::vector<float> state() const {
    std::vector<float> all;
    for (size_t i = 0; i < store.parameters().size(); ++i)
      for (const Block b : {Block::Value, Block::M, Block::V})
        for (const float v : store.read(static_cast<int32_t>(i), b)) all.push_back(v);
    return all;
  }
};

std::string load_message(Net& net, const std::string& path, const LoadOptions& options = {}) {
  const std::string message = error_of([&] { load(net.store, path, options); });
  CHECK_FALSE(contains(message, "\n"));
  return message;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("weights: training goes on from a file to the same bits") {
  const Folder folder;
  const std::string path = folder.file("x.safetensors");
  Net whole;
  whole.materialized(1).train(20);
  Net first;
  first.materialized(1).train(10);
  save(first.store, path);
  CHECK(folder.files() == 1);
  for (const bool memory : {false, true}) {
    Net second;
    if (memory) second.materialized(7).train(3);
    const LoadReport report = load(second.store, path);
    CHECK(report.missing.empty());
    CHECK(report.other_shape.empty());
    CHECK(report.unused.empty());
    CHECK(report.optimizer);
    CHECK(report.steps == 10);
    CHECK(second.store.steps() == 10);
    CHECK(same_bits(second.state(), first.state()));
    second.train(10);
    CHECK(same_bits(second.state(), whole.state()));
  }
  CHECK_FALSE(same_bits(first.state(), whole.state()));
}

TEST_CASE("weights: a file is not loaded before the network is recorded") {
  const Folder folder;
  const std::string path = folder.file("x.safetensors");
  Net saved;
  saved.materialized(1);
  save(saved.store, path);
  Store empty = make_cpu_store(1);
  CHECK(error_of([&] { load(empty, path, {.partial = true}); }) ==
        "[safetensors " + path +
            "] the store has no parameters yet: expected the network to be recorded before");
  CHECK_FALSE(empty.materialized());
}

TEST_CASE("weights: a file names parameters, moments, format and steps, and what the caller adds") {
  const Folder folder;
  const std::string path = folder.file("x.safetensors");
  Net net;
  net.materialized(1).train(2);
  save(net.store, path, {.metadata = {{"data", "random \"numbers\""}}});
  const SafetensorsFile file = SafetensorsFile::load(path);
  CHECK(file.names().size() == 3 * net.store.parameters().size());
  CHECK(file.shape("hidden.w") == TensorShape{4, 16});
  CHECK(same_bits(file.floats("v/norm.gain"), net.block("norm.gain", Block::V)));
  CHECK(file.metadata() == std::map<std::string, std::string>{{"data", "random \"numbers\""},
                                                              {"format", "normscope weights 1"},
                                                              {"steps", "2"}});
  save(net.store, path, {.optimizer = false});
  CHECK(SafetensorsFile::load(path).names().size() == net.store.parameters().size());
  CHECK_FALSE(SafetensorsFile::load(path).metadata().contains("steps"));
  CHECK(error_of([&] {
          save(net.store, path, {.metadata = {{"steps", "9"}}});
        }) == "[safetensors " + path + "] metadata steps is written by save(): expected another key");
}

TEST_CASE("weights: without the optimizer, moments and steps stay as they were") {
  const Folder folder;
  const std::string all = folder.file("all"), values = folder.file("values");
  Net saved;
  saved.materialized(1).train(5);
  save(saved.store, all);
  save(saved.store, values, {.optimizer = false});
  for (const bool asked : {false, true}) {
    Net net;
    net.materialized(2).train(3);
    const std::vector<float> m = net.block("hidden.w", Block::M);
    const LoadReport report = load(net.store, asked ? values : all, {.optimizer = asked});
    CHECK_FALSE(report.optimizer);
    CHECK(report.steps == 3);
    CHECK(report.unused.size() == (asked ? 0 : 2 * net.store.parameters().size()));
    CHECK(same_bits(net.block("hidden.w"), saved.block("hidden.w")));
    CHECK(same_bits(net.block("hidden.w", Block::M), m));
  }
  Net frozen;  // there is no room for moments
  frozen.store.materialize_values();
  CHECK_FALSE(load(frozen.store, all).optimizer);
  CHECK(same_bits(frozen.block("hidden.w"), saved.block("hidden.w")));
  save(frozen.store, values);
  CHECK(SafetensorsFile::load(values).names().size() == frozen.store.parameters().size());
}

TEST_CASE("weights: a part is loaded by name, and the report has the rest") {
  const Folder folder;
  const std::string path = folder.file("x.safetensors");
  Net saved;
  saved.materialized(1).train(4);
  save(saved.store, path);
  Net wider(5);
  const std::vector<float> before = wider.materialized(2).block("logits.w");
  LoadReport report = load(wider.store, path, {.partial = true});
  CHECK(report.other_shape ==
        Names{"logits.w", "m/logits.w", "v/logits.w", "logits.b", "m/logits.b", "v/logits.b"});
  CHECK(report.missing.empty());
  CHECK(report.optimizer);
  CHECK(report.steps == 4);
  CHECK(same_bits(wider.block("hidden.w"), saved.block("hidden.w")));
  CHECK(same_bits(wider.block("logits.w"), before));

  Net other(3, "head");
  report = load(other.materialized(2).store, path, {.optimizer = false, .partial = true});
  CHECK(report.missing == Names{"head.w", "head.b"});
  CHECK(std::ranges::count(report.unused, "logits.w") == 1);
  CHECK(std::ranges::count(report.unused, "m/hidden.w") == 1);
  CHECK(same_bits(other.block("norm.gain"), saved.block("norm.gain")));

  Net empty(3, "head");
  CHECK(load_message(empty, path, {.partial = true}) ==
        "[safetensors " + path +
            "] has 4 of the store's 6 parameters: expected materialize() before, for the others");
  CHECK_FALSE(empty.store.materialized());

  Net seeded(3, "head"), usual(3, "head");
  seeded.store.materialize_at_seal(2);
  load(seeded.store, path, {.partial = true});  // what the file lacks has the values of the seed
  CHECK(same_bits(seeded.block("head.w"), usual.materialized(2).block("head.w")));
}

TEST_CASE("weights: what does not fit is one line, and leaves the store as it was") {
  const Folder folder;
  const std::string path = folder.file("x.safetensors"), where = "[safetensors " + path + "] ";
  Net saved;
  saved.materialized(1).train(4);
  save(saved.store, path);
  const std::string bytes = read_all(path);

  Net other(3, "logit"), wider(5);
  other.materialized(2);
  wider.materialized(2);
  const std::vector<float> before = other.state(), before_wider = wider.state();
  CHECK(
      load_message(other, path, {.optimizer = false}) ==
      where +
          "tensor \"logit.w\": not in the file, expected it with shape (16,3), and 1 more do not fit; the nearest "
          "names in it are \"logits.w\" (16,3), \"logits.b\" (3) and \"m/logits.w\" (16,3)");
  CHECK(load_message(wider, path) ==
        where + "tensor \"logits.w\": shape (16,3) in the file, expected (16,5), and 5 more do not fit");
  for (size_t cut : {size_t{0}, size_t{7}, size_t{100}, bytes.size() - 1}) {
    folder.write("x.safetensors", bytes.substr(0, cut));
    CHECK(contains(load_message(other, path), where));
  }
  folder.write("x.safetensors", replaced(bytes, "\"steps\":\"4\"", "\"steps\":\"x\""));
  CHECK(load_message(saved, path) ==
        where + "metadata steps is \"x\": expected a whole number from 0 to 4294967295");
  folder.write("x.safetensors", replaced(bytes, "\"steps\":\"4\"", "\"stops\":\"4\""));
  CHECK(
      load_message(saved, path) ==
      where +
          "has an optimizer's moments, but not its steps: expected metadata steps, or to be loaded without its "
          "moments");
  folder.write("x.safetensors", replaced(bytes, "\"dtype\":\"F32\"", "\"dtype\":\"I32\""));
  CHECK(load_message(saved, path) ==
        where + "tensor \"hidden.w\": dtype I32, expected F32, F64, F16 or BF16");
  CHECK(load_message(saved, folder.file("none")) ==
        "[safetensors " + folder.file("none") + "] no such file: check the path");
  CHECK(same_bits(other.state(), before));
  CHECK(same_bits(wider.state(), before_wider));
}

TEST_CASE("weights: a file that cannot be written is one line, and a former file stays whole") {
  const Folder folder;
  const std::string path = folder.write("x.safetensors", "former");
  Net net;
  CHECK(error_of([&] { save(net.store, path); }) ==
        "[store] the parameters have no memory yet: expected materialize() or the first seal() before");
  CHECK(read_all(path) == "former");
  net.materialized(1);
  for (const std::string& bad : {folder.file("none/x"), folder.file(""), std::string("/proc/self/x")}) {
    const std::string message = error_of([&] { save(net.store, bad); });
    CHECK(message.starts_with("[safetensors " + bad + "] cannot be written: "));
    CHECK_FALSE(contains(message, "\n"));
  }
  CHECK(folder.files() == 1);
}

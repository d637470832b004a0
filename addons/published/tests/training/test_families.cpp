// PublishedModel folders, read by the tables of addons/published/families, against what the library transformers
// computes from them: logits, every hidden state, the loss, and the gradient of every parameter under its published
// name. tests/fixtures/transformers/README.md says what the references hold.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "addons/published/training/gguf.h"
#include "addons/published/training/published.h"
#include "answers.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/model/transformer.h"
#include "engine/model/wiring.h"
#include "engine/support/helpers.h"
#include "engine/tape/seal.h"
#include "folder.h"
#include "refusals/refusals.h"
#include "test_paths.h"
#include "training/io/text.h"
#include "training/spec/spec_text.h"

namespace normscope::test {
namespace {
namespace fs = std::filesystem;
using Numbers = std::vector<double>;

const fs::path kFolder = fs::path(NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers");

/// A folder whose model has read the texts of its reference, and knows its gradients.
struct ReferenceModel {
  /// `place`: of the model, where the folder has the reference alone.
  explicit ReferenceModel(const fs::path& folder, const fs::path& place)
      : reference(SafetensorsFile::load((folder / "reference.safetensors").string())),
        shape(reference.shape("input/x")),
        model(published::open(place.string(), static_cast<int32_t>(shape[1]))),
        named(published::is_gguf_file(place.string()) ? published::open(folder.string(), published::kFewest)
                                                      : model),
        backend(make_cpu_backend(1)),
        store(*backend),
        tape(store),
        values(record_transformer(tape, model.spec.model,
                                  {.batch = static_cast<int32_t>(shape[0]),
                                   .sequence = static_cast<int32_t>(shape[1]),
                                   .key_lengths = reference.contains("input/key_len"),
                                   .training = false,
                                   .probes = false})),
        program(sealed()) {
    fill("tokens", "input/x");
    fill("targets", "input/y");
    fill("types", "input/types");
    fill("key_lengths", "input/key_len");
    program.replay({});
  }

  Program sealed() {
    published::load(model, store);
    return seal(tape, {.loss = values.loss, .update = kNoOp});
  }
  void fill(const char* input, const char* of) {
    if (reference.contains(of)) std::ranges::copy(reference.int32s(of), program.tokens(input).begin());
  }
  std::vector<float> read(ValueId value) const {
    std::vector<float> host(
        static_cast<size_t>(program.data().values[static_cast<size_t>(value)].shape.size()));
    program.read_part(value, host);
    return host;
  }
  /// The largest difference of a value, in parts of its largest number. A row of RoBERTa's that is padding has
  /// the position of padding there; here it has its own. Nothing reads such rows.
  double off(ValueId value, const std::string& name) const {
    const std::vector<float> ours = read(value);
    const Numbers theirs = reference.doubles(name);
    REQUIRE(ours.size() == theirs.size());
    std::vector<int32_t> lengths(static_cast<size_t>(shape[0]), static_cast<int32_t>(shape[1]));
    if (reference.contains("input/key_len")) lengths = reference.int32s("input/key_len");
    const size_t rows = static_cast<size_t>(shape[0] * shape[1]), width = ours.size() / rows;
    double largest = 0, apart = 0;
    for (size_t i = 0; i < ours.size(); ++i) {
      const size_t row = i / width, text = row / static_cast<size_t>(shape[1]),
                   place = row % static_cast<size_t>(shape[1]);
      if (static_cast<int32_t>(place) >= lengths[text]) continue;
      largest = std::max(largest, std::abs(theirs[i]));
      apart = std::max(apart, std::abs(ours[i] - theirs[i]));
    }
    return apart / largest;
  }
  /// The gradients of the published tensors: what is in one of them there is put together again.
  std::map<std::string, Numbers> gradients() const {
    std::map<std::string, Numbers> all;
    for (const ParameterInfo& parameter : store.parameters()) {
      if (!published::has_place(named, parameter)) continue;
      const published::Place place = published::place_of(named, parameter);
      Numbers& theirs = all[place.tensor];
      if (theirs.empty()) theirs.resize(named.weights.tensor(place.tensor).size());
      const std::vector<float> ours = program.read(parameter.name, true);
      const size_t columns = place.column.size();
      for (size_t i = 0; i < ours.size(); ++i)
        theirs.at(static_cast<size_t>(place.first + static_cast<int64_t>(i / columns) * place.row_step +
                                      place.column[i % columns])) += ours[i];
    }
    return all;
  }

  SafetensorsFile reference;
  TensorShape shape;
  published::PublishedModel model, named;  ///< whose tensors have the reference's names
  std::unique_ptr<Backend> backend;
  Store store;
  Tape tape;
  ModelValues values;
  Program program;
};

/// The largest of a folder.
struct Deviations {
  double logits = 0, hidden = 0, loss = 0, norm = 0, along = 0;
};

void compare_gradients(const ReferenceModel& opened, const fs::path& folder, Deviations& worst) {
  std::ifstream file(folder / "gradients.json");
  const nlohmann::json expected = nlohmann::json::parse(file);
  const std::map<std::string, Numbers> gradients = opened.gradients();
  double all = 0;
  for (const auto& [name, numbers] : expected.items())
    all += numbers[0].get<double>() * numbers[0].get<double>();
  for (const auto& [name, gradient] : gradients) CHECK(expected.contains(name));
  for (const auto& [name, numbers] : expected.items()) {
    INFO(name);
    REQUIRE(gradients.contains(name));
    const Numbers& g = gradients.at(name);
    double square = 0, along = 0;
    for (size_t i = 0; i < g.size(); ++i) {
      square += g[i] * g[i];
      along += g[i] * std::cos(static_cast<double>(i));
    }
    // Where the gradient is zero by symmetry, what rounding leaves is a part of all of it.
    const double norm = numbers[0], size = norm + 0.01 * std::sqrt(all);
    const double norm_off = std::abs(std::sqrt(square) - norm) / size,
                 along_off = std::abs(along - numbers[1].get<double>()) / size;
    CHECK(norm_off < 1e-4);
    CHECK(along_off < 1e-4);
    worst.norm = std::max(worst.norm, norm_off);
    worst.along = std::max(worst.along, along_off);
  }
}

Deviations compare(const fs::path& folder, const fs::path& place) {
  const ReferenceModel opened(folder, place);
  Deviations worst;
  const auto hidden = [&](ValueId value, const std::string& name) {
    INFO(name);
    const double off = opened.off(value, name);
    CHECK(off < 1e-5);
    worst.hidden = std::max(worst.hidden, off);
  };
  worst.logits = opened.off(opened.values.logits, "logits");
  CHECK(worst.logits < 1e-5);
  hidden(opened.values.embedding, "hidden/00");
  const auto& sublayers = opened.values.sublayers;
  for (size_t layer = 1; layer <= sublayers.size() / 2; ++layer)
    hidden(sublayers[2 * layer - 1].output, fmt::format("hidden/{:02}", layer));
  const ValueId narrow = opened.tape.find("narrow");
  hidden(narrow == kNone ? opened.values.hidden : narrow, "final");
  const double loss = opened.reference.doubles("loss")[0];
  worst.loss = std::abs(opened.program.loss() - loss) / loss;
  CHECK(worst.loss < 1e-6);
  compare_gradients(opened, folder, worst);
  return worst;
}

std::vector<fs::path> folders() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.is_directory()) all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

TEST_CASE("published: every family computes what the library computes", "[published]") {
  for (const fs::path& folder : folders()) DYNAMIC_SECTION(folder.filename().string()) {
      compare(folder, folder);
    }
}

// The table of README.md, by kinds of file.

using Places = std::vector<std::pair<fs::path, fs::path>>;  // of a reference and its model

/// A fixture of PyTorch, copied under a name beside the config.json of Granite, whose weights it has.
Places beside_config(const Folder& made, const char* from, const std::string& name) {
  const fs::path folder = made.path / from;
  fs::create_directories(folder);
  fs::copy_file(kFolder / "granite" / "config.json", folder / "config.json");
  fs::copy_file(kFolder.parent_path() / from, folder / name);
  return {{kFolder / "granite", folder / name}};
}

Places snapshot(const Folder& made) {
  const fs::path models = made.path / "models--org--granite";
  fs::create_directories(models / "snapshots");
  fs::copy(kFolder / "granite", models / "snapshots" / "0a1b");
  return {{kFolder / "granite", models}};
}

std::vector<std::pair<std::string, Places>> kinds_of_files(const Folder& made) {
  const fs::path torch = kFolder.parent_path() / "torch", gguf = kFolder.parent_path() / "gguf";
  Places all, converted;
  for (const fs::path& folder : folders()) all.emplace_back(folder, folder);
  for (const char* name : {"bloom", "cohere", "ernie4_5", "exaone4", "falcon", "glm4", "granite", "olmo",
                           "phi", "pythia", "stablelm", "stablelm-parallel"})
    converted.emplace_back(kFolder / name, gguf / (std::string(name) + ".gguf"));
  return {
      {fmt::format("{} tiny models of all families", all.size()), all},
      {"in shards", {{kFolder / "llama", kFolder / "llama"}}},
      {"float16", beside_config(made, "transformers/granite/model.safetensors", "model.fp16.safetensors")},
      {"a snapshot in the cache", snapshot(made)},
      {"`pytorch_model.bin`", beside_config(made, "torch/zip.bin", "pytorch_model.bin")},
      {"the same of before PyTorch 1.6", beside_config(made, "torch/older-model.bin", "pytorch_model.bin")},
      {"nanoGPT's `ckpt.pt`",
       {{torch / "nanogpt", torch / "nanogpt/ckpt.pt"},
        {torch / "nanogpt-biases", torch / "nanogpt-biases/ckpt.pt"}}},
      {"Lightning's `.ckpt` beside a config.json", beside_config(made, "torch/lightning.ckpt", "last.ckpt")},
      {"`torch.save(model)`",
       {{torch / "nanogpt", torch / "nanogpt/model.pt"}, {kFolder / "granite", torch / "whole.pt"}}},
      {fmt::format("GGUF in F16, of {} architectures", converted.size() - 1), converted}};
}

TEST_CASE("published: the table of files has the deviations that are measured", "[published]") {
  const Folder made;
  const std::string path = NORMSCOPE_SOURCE_DIR "/addons/published/README.md";
  std::vector<std::string> lines = lines_in(read_all(path));
  for (const auto& [kind, places] : kinds_of_files(made)) {
    INFO(kind);
    Deviations worst;
    for (const auto& [folder, place] : places) {
      const Deviations one = compare(folder, place);
      for (double Deviations::*part :
           {&Deviations::hidden, &Deviations::logits, &Deviations::loss, &Deviations::norm})
        worst.*part = std::max(worst.*part, one.*part);
    }
    const double measured[] = {worst.hidden, worst.logits, worst.loss, worst.norm};
    const auto row = std::ranges::find_if(
        lines, [&](const std::string& line) { return line.starts_with("| " + kind + " |"); });
    REQUIRE(row != lines.end());
    std::vector<std::string> cells = split(*row, " | ");
    REQUIRE(cells.size() == 7);
    for (size_t i = 0; i < 4; ++i) {
      float said = 0;
      const bool reads = parse_real(cells[3 + i].substr(0, cells[3 + i].find(' ')), said);
      // Another machine rounds otherwise, and what is below the rounding of a number tells nothing.
      constexpr double kRounding = 1e-7;
      const double here = std::max(measured[i], kRounding), there = std::max<double>(said, kRounding);
      if (!std::getenv("NORMSCOPE_ACCEPT")) CHECK((reads && here < 4 * there && there < 4 * here));
      cells[3 + i] = fmt::format("{:.1e}", measured[i]);
    }
    *row = fmt::format("{} |", fmt::join(cells, " | "));
  }
  if (std::getenv("NORMSCOPE_ACCEPT")) write_text(path, fmt::format("{}\n", fmt::join(lines, "\n")));
}

// Fill() puts what fits of a published folder into the Store of a model that may be wired otherwise.

/// A Store with moments for a model, as training has it.
struct TrainingStore {
  explicit TrainingStore(const ModelConfig& config) {
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
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (!entry.is_directory()) continue;
    INFO(entry.path().filename());
    const published::PublishedModel model = published::open(entry.path().string(), 8);
    const auto backend = make_cpu_backend(1);
    Store loaded(*backend);
    published::declare(model, loaded);
    published::load(model, loaded);
    TrainingStore filled(model.spec.model);
    int32_t trainable = 0;
    for (const ParameterInfo& parameter : loaded.parameters())
      trainable += published::has_place(model, parameter);
    CHECK(published::fill(model, filled.store) == trainable);
    for (const ParameterInfo& parameter : loaded.parameters()) {
      INFO(parameter.name);
      CHECK(same_bits(loaded.read(loaded.find(parameter.name)), filled.read(parameter.name.c_str())));
    }
  }
}

TEST_CASE("fill: what a changed model has beside the folder's keeps its values", "[published]") {
  const published::PublishedModel model = published::open((kFolder / "gpt2").string(), 8);
  ModelConfig config = model.spec.model;
  config.layers = 3;
  config.sequence = 8;  // the folder's table has 16 positions
  config.feed_forward *= 2;
  set_placement(config, Placement::Post);
  TrainingStore run(config);
  // The tables, and of two layers four matrices and four biases of attention and the bias behind the network.
  CHECK(published::fill(model, run.store) == 2 + 2 * 9);
  for (const char* name : {"L01.attn.stream.gain", "L01.ffn.w1", "L02.ffn.b1", "L03.attn.wq", "L03.attn.bo"})
    CHECK(run.kept(name));
  const SafetensorsFile file = SafetensorsFile::load((kFolder / "gpt2/model.safetensors").string());
  CHECK(same_bits(run.read("emb.tokens"), file.floats("wte.weight")));
  std::vector<float> positions = file.floats("wpe.weight");
  positions.resize(size_t{8} * 24);
  CHECK(same_bits(run.read("emb.positions"), positions));
  for (size_t i = 0; i < run.store.parameters().size(); ++i)
    for (const Store::Block moment : {Store::Block::M, Store::Block::V})
      for (const float value : run.store.read(static_cast<int32_t>(i), moment)) REQUIRE(value == 0);
}

TEST_CASE("fill: positions that begin with another row, and a table that is too short", "[published]") {
  const published::PublishedModel model = published::open((kFolder / "opt-pre").string(), 8);
  const SafetensorsFile file = SafetensorsFile::load((kFolder / "opt-pre/model.safetensors").string());
  ModelConfig config = model.spec.model;
  config.sequence = 8;
  TrainingStore shorter(config);
  published::fill(model, shorter.store);
  const std::vector<float> table = file.floats("model.decoder.embed_positions.weight");
  CHECK(same_bits(shorter.read("emb.positions"),
                  std::vector(table.begin() + 2 * 24, table.begin() + (2 + 8) * 24)));
  config.sequence = 32;
  TrainingStore longer(config);
  published::fill(model, longer.store);
  CHECK(longer.kept("emb.positions"));
}

TEST_CASE("load: numbers that are not finite are refused by the name of their tensor", "[published]") {
  const Folder folder;
  fs::copy_file(kFolder / "gpt2" / "config.json", folder.path / "config.json");
  std::string bytes = read_all(kFolder / "gpt2" / "model.safetensors");
  const SafetensorsFile whole = SafetensorsFile::map((kFolder / "gpt2" / "model.safetensors").string());
  std::string tensor;
  for (const std::string& name : whole.names())
    if (name.ends_with("ln_f.weight")) tensor = name;
  const auto values = whole.bytes(tensor);
  const std::string numbers(reinterpret_cast<const char*>(values.data()), values.size());
  const size_t at = bytes.find(numbers);
  REQUIRE(at != bytes.npos);
  for (const size_t number : {0, 3}) bytes.replace(at + 4 * number, 4, "\0\0\xc0\x7f", 4);
  folder.write("model.safetensors", bytes);
  const published::PublishedModel model = published::open(folder.path.string(), 8);
  const auto backend = make_cpu_backend(1);
  Store store(*backend);
  published::declare(model, store);
  CHECK(contains(error_of([&] { published::load(model, store); }),
                 fmt::format("tensor \"{}\": 2 of {} numbers are not finite", tensor, values.size() / 4)));
}

TEST_CASE("fill: a tensor without floats is refused before anything changes", "[published]") {
  const Folder folder;
  for (const char* name : {"config.json", "model.safetensors"})
    fs::copy_file(kFolder / "gpt2" / name, folder.path / name);
  std::string text = read_all(folder.path / "model.safetensors");
  const size_t last = text.find("\"F32\"", text.find("wte.weight"));
  REQUIRE(last != text.npos);
  folder.write("model.safetensors", text.replace(last, 5, "\"I32\""));
  const published::PublishedModel model = published::open(folder.path.string(), 8);
  TrainingStore run(model.spec.model);
  CHECK(contains(error_of([&] { published::fill(model, run.store); }),
                 "tensor \"wte.weight\": dtype I32, expected F32, F64, F16 or BF16"));
  for (const ParameterInfo& parameter : run.store.parameters()) CHECK(run.kept(parameter.name.c_str()));
}

}  // namespace normscope::test

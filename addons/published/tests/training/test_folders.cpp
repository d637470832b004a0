// What is wrong with a published folder is one line that names it, before the weights take any memory; and what is read
// comes in every type and spelling that files have.
#include <algorithm>
#include <cstring>

#include "addons/published/training/family.h"
#include "addons/published/training/model_folder.h"
#include "addons/published/training/published.h"
#include "addons/published/training/torch_file.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/io/safetensors.h"
#include "engine/support/helpers.h"
#include "refusals/refusals.h"
#include "training/io/text.h"
#include "training/io/toml.h"
#include "training/run/checkpoint.h"

namespace normscope::test {
namespace {
namespace fs = std::filesystem;

/// A folder of the references, to be changed.
struct FolderCopy {
  explicit FolderCopy(const char* name) {
    for (const auto& entry : fs::directory_iterator(
             fs::path(NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers") / name))
      fs::copy_file(entry.path(), folder.path / entry.path().filename());
  }
  /// Replaces a part of a file, which must be there.
  void change(const char* file, const std::string& from, const std::string& to) const {
    folder.write(file, test::replaced(test::read_all(folder.path / file), from, to));
  }
  /// The line with which it is refused, without the path of the folder.
  std::string refused() const {
    std::string line = error_of([&] {
      const auto backend = make_cpu_backend(1);
      const published::PublishedModel model = published::open(folder.path.string(), 8);
      Store store(*backend);
      published::declare(model, store);
      published::load(model, store);
    });
    CHECK_FALSE(test::contains(line, "\n"));
    for (size_t at; (at = line.find(folder.path.string())) != line.npos;)
      line.replace(at, folder.path.string().size(), "DIR");
    return line;
  }
  Folder folder;
};

}  // namespace

TEST_CASE("published: a config.json, an index or weights that cannot be used are refused by their place") {
  for (const std::vector<std::string>& row : refusals("config-json")) {
    const std::vector<std::string> name = split(row[0] + " config.json", " "), change = split(row[1], " => ");
    const FolderCopy copied(name[0].c_str());
    if (change.size() == 2)
      copied.change(name[1].c_str(), change[0], change[1]);
    else
      copied.folder.write(name[1], row[1]);
    INFO(row[0] << ": " << row[1]);
    CHECK(says(copied.refused(), row[2]));
  }
  const FolderCopy none("gpt2");
  fs::remove(none.folder.path / "config.json");
  CHECK(contains(none.refused(), "[published DIR] there is no config.json"));
  none.folder.write("adapter_config.json", "{}");
  CHECK(contains(none.refused(), "[published DIR] is an adapter (LoRA), and no whole model: merge it first"));
}

TEST_CASE("published: an older config.json has the class alone, and what nobody reads may be infinite") {
  for (const auto& entry : fs::directory_iterator(
           fs::path(NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers"))) {
    if (!entry.is_directory()) continue;
    const FolderCopy copied(entry.path().filename().c_str());
    const auto type_of = [&] { return published::open(copied.folder.path.string(), 8).family->type; };
    const std::string type = type_of();
    copied.change("config.json", "\"model_type\"", "\"unread\": [NaN, -Infinity], \"was\"");
    CHECK(type_of() == type);
  }
}

TEST_CASE("published: the folder is found by the paths that people have") {
  const FolderCopy copied("gpt2");
  const Folder hub;
  const fs::path models = hub.path / "models--org--small", snapshot = models / "snapshots" / "0a1b";
  fs::create_directories(snapshot);
  fs::create_directories(models / "refs");
  for (const auto& entry : fs::directory_iterator(copied.folder.path))
    fs::create_symlink(entry.path(), snapshot / entry.path().filename());
  test::write_text(models / "refs" / "main", "0a1b\n");
  const Variable cache("HF_HUB_CACHE", hub.path.string());
  const std::string folder = copied.folder.path.string();
  for (const std::string& file : {std::string("model.safetensors"), std::string("config.json")})
    CHECK(published::folder_of(copied.folder.file(file)) == folder);
  for (const std::string& path : {models.string(), models.string() + "/", std::string("org/small")}) {
    CHECK(published::folder_of(path) == snapshot.string());
    CHECK(published::is_published(path));
    CHECK(published::open(path, 8).family->type == "gpt2");
  }
  CHECK(published::title_of(snapshot.string()) == "small");
  CHECK(published::folder_of("org/other") == "org/other");
  CHECK(contains(
      error_of([] { published::open("org/other", 8); }),
      "[published org/other] there is no such folder, and none of this name in " + hub.path.string()));
  CHECK(published::folder_of((models / "snapshots").string()) == snapshot.string());
  test::write_text(models / "refs" / "main", "../../0a1b");
  CHECK(published::folder_of("org/small") == "org/small");
  fs::remove_all(models / "refs");  // fetched by a revision: the newest snapshot
  fs::create_directories(models / "snapshots" / "0000");
  fs::last_write_time(models / "snapshots" / "0000",
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  CHECK(published::folder_of("org/small") == snapshot.string());
  fs::remove(snapshot / "config.json");
  fs::create_symlink("gone", snapshot / "config.json");
  CHECK(contains(error_of([] { published::open("org/small", 8); }),
                 "config.json is a link to a file that is gone"));
  fs::create_symlink("loop", hub.path / "loop");
  CHECK(contains(error_of([&] { published::open(hub.file("loop"), 8); }), "cannot be read (Too many levels"));
  CHECK(published::folder_of(copied.folder.file("tokenizer.json")) == copied.folder.file("tokenizer.json"));
  CHECK(published::folder_of(copied.folder.write("pytorch_model.bin", "")) == folder);
}

TEST_CASE("published: weights of another name, shards without an index, and the model in an older folder") {
  const FolderCopy copied("gpt2");
  const std::string folder = copied.folder.path.string();
  const auto tensors = published::Weights::open(folder).names();
  fs::rename(copied.folder.file("model.safetensors"), copied.folder.file("model.fp16.safetensors"));
  CHECK(published::Weights::open(folder).names() == tensors);
  CHECK(copied.refused() == "no error");
  copied.folder.write("model-2.safetensors", test::read_all(copied.folder.path / "model.fp16.safetensors"));
  CHECK(contains(copied.refused(), "is in another file too"));
  const Folder older;
  fs::copy(copied.folder.path, older.path / "0_Transformer");
  fs::remove(older.path / "0_Transformer" / "model-2.safetensors");
  older.write("modules.json", R"([{"idx": 0, "name": "0", "path": "0_Transformer", "type": "x"}])");
  CHECK(published::folder_of(older.path.string()) == older.file("0_Transformer"));
  older.write("modules.json", R"([{"idx": 0, "name": "0", "path": "../0_Transformer", "type": "x"}])");
  CHECK(published::folder_of(older.path.string()) == older.path.string());
}

TEST_CASE("published: weights that are cut, not there or pickled") {
  const FolderCopy copied("gpt2");
  const std::string whole = test::read_all(copied.folder.path / "model.safetensors");
  CHECK(copied.refused() == "no error");
  copied.folder.write("model.safetensors", whole.substr(0, whole.size() - 4));
  CHECK(contains(copied.refused(), "[safetensors DIR/model.safetensors]"));
  fs::remove(copied.folder.path / "model.safetensors");
  CHECK(contains(copied.refused(),
                 "there is none of model.safetensors, model.safetensors.index.json and pytorch_model.bin"));
  const std::string torch = NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/torch/";
  copied.folder.write("pytorch_model.bin", test::read_all(torch + "evil.bin"));
  CHECK(contains(copied.refused(), "asks for \"posix.system\", which makes no tensor: nothing of it is run"));
  copied.folder.write("pytorch_model.bin", test::read_all(torch + "grow.bin"));
  CHECK(contains(copied.refused(), "is a broken pickle"));
}

namespace {

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
published::WeightTensors read_torch(const std::string& bytes) {
  return published::tensors_of_torch(bytes_of(bytes), "f.bin");
}

/// A file that is cut is refused; wrong bytes are refused, or are other numbers.
void survives_damage(const std::string& whole) {
  for (size_t length = 0; length < whole.size(); length += 7)
    CHECK_THROWS_AS(read_torch(whole.substr(0, length)), Error);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 0x41);
    try {
      read_torch(other);
    } catch (const Error&) {
    }
  }
}

}  // namespace

TEST_CASE("published: PyTorch's own file has the numbers that it has as safetensors") {
  const std::string folder = NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/torch/";
  const published::Weights weights = published::Weights::open(folder);
  const SafetensorsFile twin = SafetensorsFile::map(folder + "twin.safetensors");
  CHECK(weights.names().size() == twin.names().size());
  for (const std::string& name : twin.names()) {
    INFO(name);
    CHECK(weights.tensor(name).shape == twin.shape(name));
    CHECK(std::ranges::equal(weights.tensor(name).bytes, twin.bytes(name)));
  }
  const std::string whole = test::read_all(folder + "pytorch_model.bin");
  CHECK(contains(error_of([&] { read_torch(whole.substr(0, whole.size() / 2)); }), "(is it truncated?)"));
  CHECK(contains(error_of([&] { read_torch(test::replaced(whole, "data/1PK", "data/0PK")); }),
                 "is there twice"));
  survives_damage(whole);
}

TEST_CASE("published: PyTorch's file of before version 1.6 is read, views and transposed matrices too") {
  const std::string folder = NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/torch/";
  const SafetensorsFile twin = SafetensorsFile::map(folder + "twin.safetensors");
  for (const char* name : {"older.bin", "strided.bin", "checkpoint.bin"}) {
    INFO(name);
    const std::string whole = test::read_all(folder + name);
    const published::WeightTensors all = read_torch(whole);
    CHECK(all.size() == twin.names().size());
    for (const std::string& tensor : twin.names()) {
      INFO(tensor);
      REQUIRE(all.contains(tensor));
      CHECK(all.at(tensor).shape == twin.shape(tensor));
      CHECK(std::ranges::equal(all.at(tensor).bytes, twin.bytes(tensor)));
    }
    survives_damage(whole);
  }
  CHECK(contains(error_of([&] { read_torch(test::read_all(folder + "repeated.bin")); }),
                 "\"w\" repeats numbers"));
}

TEST_CASE("published: a checkpoint of a training stands for a folder, and its class is never looked for") {
  const std::string torch = NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/torch/";
  const std::string path = torch + "nanogpt/ckpt.pt";
  CHECK(published::is_published(path));
  CHECK(published::folder_of(path) == path);
  CHECK(published::title_of(path) == "ckpt");
  const RunSpec run = published::run_of(path, "5 17 3");
  CHECK(run.model.sequence == 16);
  CHECK(run.train.init_from == fs::weakly_canonical(path).string());
  CHECK(contains(published::config_of_torch(bytes_of(read_all(torch + "whole.pt")), "f.pt"),
                 "\"architectures\":[\"GraniteForCausalLM\"]"));
  survives_damage(read_all(torch + "nanogpt/model.pt"));
  std::string broken = read_all(torch + "whole.pt");
  replace_each(broken, {"G\x3f\x84\x7a\xe1\x47\xae\x14\x7b", 9}, {"G\x7f\xf8\0\0\0\0\0\0", 9});  // 0.01
  const Folder folder;
  const std::string nan = folder.write("nan.pt", broken);
  CHECK(contains(error_of([&] { published::open(nan, 8); }), "'nan' is not a number"));
  // Lightning's says nothing of its model.
  const std::string lightning = folder.write("last.ckpt", read_all(torch + "lightning.ckpt"));
  CHECK(
      contains(error_of([&] { published::open(lightning, 8); }),
               "last.ckpt] holds weights, and does not say of what model: expected a config.json beside it"));
  const std::string granite =
      NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers/granite/config.json";
  CHECK(look_at_model(path)->opens);
  CHECK_FALSE(look_at_model(lightning)->opens);
  CHECK(contains(look_at_model(lightning)->words, "last.ckpt holds weights, and does not say"));
  const std::string other = folder.write("other.pt", read_all(torch + "evil.bin"));
  CHECK(contains(look_at_model(other)->words, "asks for \"posix.system\", which makes no tensor"));
  folder.write("config.json", read_all(granite));
  CHECK(published::open(lightning, 8).weights.contains("model.embed_tokens.weight"));
  folder.write("config.json", replaced(read_all(granite), "\"granite\"", "\"gpt2\""));
  CHECK(contains(error_of([&] {
                   const auto backend = make_cpu_backend(1);
                   Store store(*backend);
                   const published::PublishedModel model = published::open(lightning, 8);
                   published::declare(model, store);
                   published::load(model, store);
                 }),
                 "tensor \"wte.weight\" is missing in last.ckpt: expected it for emb.tokens"));
}

TEST_CASE("published: a config.json that names nothing leaves the family to the tensors") {
  const FolderCopy copied("bert");
  copied.change("config.json", "\"model_type\"", "\"was\"");
  copied.change("config.json", "\"architectures\"", "\"were\"");
  CHECK(published::open(copied.folder.path.string(), 8).family->type == "bert");
  // Saved without what stands before the names, as bert_ft of the package rxnfp.
  std::string bytes = test::read_all(copied.folder.path / "model.safetensors");
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  std::string header = bytes.substr(sizeof(length), length);
  replace_each(header, "\"bert.", "\"");
  header.resize(length, ' ');
  copied.folder.write("model.safetensors", bytes.replace(sizeof(length), length, header));
  CHECK(copied.refused() == "no error");
  CHECK(published::open(copied.folder.path.string(), 8).family->type == "bert");
  copied.change("config.json", "\"type_vocab_size\": 2", "\"type_vocab_size\": 1");
  CHECK(contains(copied.refused(), "model_type is missing"));
  const FolderCopy other("gpt2");
  other.change("config.json", "\"model_type\"", "\"was\"");
  other.change("config.json", "\"architectures\"", "\"were\"");
  CHECK(contains(other.refused(), "model_type is missing"));
}

TEST_CASE("published: shards of PyTorch hold what their index says, and nothing else") {
  const Folder folder;
  const std::string torch = NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/torch/";
  fs::copy_file(torch + "pytorch_model.bin", folder.file("a.bin"));
  const auto opened = [&](const std::string& more, std::string_view without = "") {
    std::string names;
    for (const std::string& name : SafetensorsFile::map(torch + "twin.safetensors").names())
      if (name != without) names += fmt::format("\"{}\": \"a.bin\", ", name);
    names.resize(names.size() - 2);
    folder.write("pytorch_model.bin.index.json", fmt::format("{{\"weight_map\": {{{}{}}}}}", names, more));
    return error_of([&] { published::Weights::open(folder.path.string()); });
  };
  CHECK(opened("") == "no error");
  CHECK(contains(opened(", \"lost\": \"a.bin\""),
                 "tensor \"lost\" is said to be in a.bin, which has none of that name"));
  CHECK(contains(opened("", "rows"), "it does not name tensor \"rows\" of "));
}

TEST_CASE("published: a tensor that two shards have is the same in both") {
  const Folder folder;
  const auto shard = [&](const char* file, const std::string& header, std::vector<float> numbers) {
    const uint64_t length = header.size();
    folder.write(file, std::string(reinterpret_cast<const char*>(&length), sizeof length) + header +
                           std::string(reinterpret_cast<const char*>(numbers.data()), 4 * numbers.size()));
    return error_of([&] { published::Weights::open(folder.path.string()); });
  };
  const std::string one = R"("one":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})",
                    two = R"("two":{"dtype":"F32","shape":[1],"data_offsets":[4,8]})";
  folder.write("model.safetensors.index.json",
               R"({"weight_map": {"one": "a.safetensors", "two": "b.safetensors"}})");
  shard("a.safetensors", "{" + one + "}", {1});
  CHECK(shard("b.safetensors", "{" + one + "," + two + "}", {1, 3}) == "no error");
  CHECK(contains(
      shard("b.safetensors", "{" + one + "," + two + "}", {2, 3}),
      "b.safetensors] tensor \"one\" has other numbers than in a.safetensors, where the index has it"));
}

TEST_CASE("published: a head beside a tied table counts where it is another matrix") {
  const FolderCopy copied("llama");
  copied.change("config.json", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true");
  CHECK_FALSE(published::open(copied.folder.path.string(), 8).spec.model.tied_output);
  const FolderCopy tied("smollm");
  CHECK(published::open(tied.folder.path.string(), 8).spec.model.tied_output);
}

TEST_CASE("published: what is RoBERTa by another name is that model") {
  const FolderCopy copied("roberta");
  const RunSpec before = published::open(copied.folder.path.string(), 8).spec;
  const auto same = [&](const char* from, const std::string& to, const char* type) {
    copied.change("config.json", from, to);
    const auto model = published::open(copied.folder.path.string(), 8);
    CHECK(model.family->type == type);
    CHECK(model.spec == before);
    CHECK(copied.refused() == "no error");
  };
  same("\"roberta\"", "\"camembert\"", "camembert");
  same("\"camembert\"", "\"xlm-roberta\"", "xlm-roberta");
  copied.change("config.json", "RobertaForMaskedLM", "XLMRobertaForMaskedLM");
  same("\"model_type\"", "\"was\"", "xlm-roberta");
}

TEST_CASE("published: files without a head are the stack alone") {
  constexpr struct {
    const char *name, *prefix, *head;
  } kCases[] = {{"bert", "bert.", "cls."},
                {"roberta", "roberta.", "lm_head."},
                {"llama", "model.", "lm_head."},
                {"modernbert", "", "decoder."},
                {"albert", "albert.", "predictions."},
                {"electra-narrow", "electra.", "generator_"}};
  for (const auto& [name, prefix, head] : kCases) {
    INFO(name);
    const FolderCopy copied(name);
    const auto before = published::open(copied.folder.path.string(), 8);
    CHECK_FALSE(before.headless);
    SafetensorsWriter bare;
    const std::vector<float> classes(1);
    bare.add(before.spec.model.masked_head ? "classifier.weight" : "score.weight", {1}, classes);
    std::vector<std::vector<float>> kept;
    kept.reserve(before.weights.names().size());
    for (const std::string& tensor : before.weights.names()) {
      const published::WeightTensor& found = before.weights.tensor(tensor);
      if (!found.type->read || tensor.starts_with(head)) continue;
      std::vector<float> room;
      const auto numbers = found.numbers(0, found.size(), room);
      kept.emplace_back(numbers.begin(), numbers.end());
      bare.add(replaced(tensor, prefix, ""), found.shape, kept.back());
    }
    bare.write(copied.folder.file("model.safetensors"));
    CHECK(copied.refused() == "no error");
    const auto model = published::open(copied.folder.path.string(), 8);
    CHECK(model.headless);
    CHECK(model.spec.model.tied_output);
    CHECK_FALSE(model.spec.model.masked_head);
    const std::string title = published::run_of(copied.folder.path.string(), "5 17 3").name;
    CHECK(title.ends_with(model.one_layer ? ", no head, layers untied" : ", no head"));
    CHECK(model.one_layer == (name == std::string("albert")));
  }
}

TEST_CASE("published: floats of 16 bits are the floats that they stand for") {
  CHECK(F16{0x3c00}.to_float() == 1.0f);
  CHECK(F16{0xc000}.to_float() == -2.0f);
  CHECK(F16{0x7bff}.to_float() == 65504.0f);
  CHECK(F16{0x0001}.to_float() == 0x1p-24f);
  CHECK(F16{0x83ff}.to_float() == -1023 * 0x1p-24f);
  CHECK(F16{0x0400}.to_float() == 0x1p-14f);
  CHECK(std::signbit(F16{0x8000}.to_float()));
  CHECK(std::isinf(F16{0x7c00}.to_float()));
  CHECK(std::isnan(F16{0x7e00}.to_float()));
  CHECK(BF16{0x3f80}.to_float() == 1.0f);
  CHECK(BF16{0xc2f7}.to_float() == -123.5f);
}

TEST_CASE("published: a file of a family says what it cannot say") {
  CHECK(published::families().size() + 2 ==
        published::family_files().size());  // gguf.toml is of all, refused.toml of none
  for (const std::vector<std::string>& row : refusals("family"))
    CHECK(says(error_of([&] { published::parse_family(row[0], "x"); }), row[1]));
  const auto refused = std::ranges::find(published::family_files(), "refused", &published::FamilyFile::type);
  for (const auto& [lack, types] : parse_toml(refused->text, "refused.toml"))
    for (const auto& [type, nearest] : *types.as_table()) {
      INFO(type.str());
      CHECK(published::families().contains(nearest.value_or<std::string>("")));
      CHECK_FALSE(published::families().contains(std::string(type.str())));
    }
}

}  // namespace normscope::test

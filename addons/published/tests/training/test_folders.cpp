// What is wrong with a published folder is one line that names it, before the weights take any memory; and what is read
// comes in every type and spelling that files have.
#include "addons/published/training/family.h"
#include "addons/published/training/model_folder.h"
#include "addons/published/training/published.h"
#include "addons/published/training/published_run.h"
#include "catch.hpp"
#include "engine/core/half.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/support/helpers.h"
#include "folder.h"
#include "test_paths.h"

namespace normscope::test {
namespace {
namespace fs = std::filesystem;

/// A folder of the references, to be changed.
struct Copied {
  explicit Copied(const char* name) {
    for (const auto& entry : fs::directory_iterator(
             fs::path(NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers") / name))
      fs::copy_file(entry.path(), folder.path / entry.path().filename());
  }
  /// Replaces a part of a file, which must be there.
  void change(const char* file, const std::string& from, const std::string& to) const {
    folder.write(file, test::replaced(test::read_all(folder.path / file), from, to));
  }
  /// Puts a member at the beginning of config.json.
  void add(const std::string& member) const { change("config.json", "{", "{" + member + ","); }
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

/// The line for a folder whose config.json has one member more.
std::string refused_with(const char* name, const std::string& member) {
  const Copied copied(name);
  copied.add(member);
  return copied.refused();
}

}  // namespace

TEST_CASE("published: a setting that is not there here is refused by its name", "[published]") {
  CHECK(
      refused_with("gpt2", R"("scale_attn_by_inverse_layer_idx": true)") ==
      "[published DIR/config.json] scale_attn_by_inverse_layer_idx is true: expected false, the only one that there "
      "is here");
  CHECK(contains(refused_with("opt-pre", R"("enable_bias": false)"), "enable_bias is false: expected true"));
  CHECK(contains(refused_with("bert", R"("is_decoder": true)"), "is_decoder is true: expected false"));
  CHECK(contains(refused_with("llama", R"("quantization_config": {"bits": 4})"),
                 "quantization_config is an object: expected weights as floats"));
  CHECK(contains(refused_with("gemma2", R"("use_bidirectional_attention": true)"), "expected false"));
  for (const char* type : {"dynamic", "longrope", "proportional"}) {
    const Copied copied("llama3");
    copied.change("config.json", "\"llama3\"", fmt::format("\"{}\"", type));
    CHECK(contains(
        copied.refused(),
        fmt::format("rope_scaling.rope_type is \"{}\": expected default, linear, llama3 or yarn", type)));
  }
  const Copied factor("llama-yarn");
  factor.change("config.json", "\"factor\": 4.0", "\"factor\": 4.0, \"attention_factor\": 1.5");
  CHECK(contains(factor.refused(), "rope_scaling.attention_factor is 1.5: expected null"));
  const Copied activation("llama");
  activation.change("config.json", "\"silu\"", "\"mish\"");
  CHECK(contains(activation.refused(), "hidden_act is \"mish\": expected relu, gelu"));
}

TEST_CASE("published: a damaged config.json", "[published]") {
  const Copied copied("gpt2");
  copied.folder.write("config.json", "{");
  CHECK(contains(copied.refused(), "[published DIR/config.json] is damaged: no JSON at byte"));
  copied.folder.write("config.json", "{}");
  CHECK(copied.refused() == "[published DIR/config.json] model_type is missing");
  copied.folder.write("config.json", R"({"architectures": ["T5ForConditionalGeneration"]})");
  CHECK(copied.refused() == "[published DIR/config.json] model_type is missing");
  copied.folder.write("config.json", R"({"model_type": "t5"})");
  CHECK(contains(copied.refused(), "model_type is \"t5\": expected bert, gemma2, "));
  copied.folder.write("config.json", R"({"model_type": "gpt2", "n_layer": -1})");
  CHECK(contains(copied.refused(), "[published DIR/config.json] n_layer: [model.layers]"));
  copied.folder.write("config.json", R"({"model_type": "gpt2", "n_layer": {"x": [1]}})");
  CHECK(contains(copied.refused(), "n_layer is an object: expected a text, a number, true or false"));
  copied.folder.write("config.json", R"({"model_type": "gpt2", "n_positions": 4})");
  CHECK(contains(copied.refused(), "the model has 4 positions and the text 8"));
  // Python writes these, which are no JSON.
  copied.folder.write("config.json", R"({"model_type": "gpt2", "layer_norm_epsilon": Infinity})");
  CHECK(contains(copied.refused(), "layer_norm_epsilon: [model.eps] 'Infinity' is not a number"));
  copied.folder.write("config.json", R"({"x": NaN, "model_type": "gpt2", "n_layer": "\"NaN"})");
  CHECK(contains(copied.refused(), "n_layer: [model.layers] '\"NaN' is not a whole number"));
  fs::remove(copied.folder.path / "config.json");
  CHECK(contains(copied.refused(), "[published DIR] there is no config.json"));
  copied.folder.write("adapter_config.json", "{}");
  CHECK(
      contains(copied.refused(), "[published DIR] is an adapter (LoRA), and no whole model: merge it first"));
}

TEST_CASE("published: an older config.json has the class alone, and what nobody reads may be infinite",
          "[published]") {
  for (const auto& entry : fs::directory_iterator(
           fs::path(NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers"))) {
    if (!entry.is_directory()) continue;
    const Copied copied(entry.path().filename().c_str());
    const auto type_of = [&] { return published::open(copied.folder.path.string(), 8).family->type; };
    const std::string type = type_of();
    copied.change("config.json", "\"model_type\"", "\"unread\": [NaN, -Infinity], \"was\"");
    CHECK(type_of() == type);
  }
}

TEST_CASE("published: numbers that the library wants, or that mean another model here", "[published]") {
  const Copied odd("pythia");
  odd.change("config.json", "\"rotary_pct\": 0.25", "\"rotary_pct\": 0.2");
  CHECK(contains(odd.refused(),
                 "rotary_pct is 0.2: expected a share that is an even number of the 16 of a head"));
  for (const auto& [name, part] : {std::pair{"llama3", "low_freq_factor"},
                                   {"llama3", "high_freq_factor"},
                                   {"llama3", "\"factor"},
                                   {"llama-yarn", "\"factor"},
                                   {"llama-biases", "\"factor"}}) {
    const Copied copied(name);
    const std::string key = part[0] == '"' ? part + 1 : part;
    copied.change("config.json", key + "\":", "was\":");
    INFO(name << " " << part);
    CHECK(contains(copied.refused(), "." + key + " is missing"));
  }
  const Copied capped("gemma2");
  capped.change("config.json", "\"attn_logit_softcapping\": 2.0", "\"attn_logit_softcapping\": 1e-45");
  CHECK(contains(capped.refused(), "[model.attention_cap]"));
}

TEST_CASE("published: the folder is found by the paths that people have", "[published]") {
  const Copied copied("gpt2");
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
  test::write_text(models / "refs" / "main", "../../0a1b");
  CHECK(published::folder_of("org/small") == "org/small");
  fs::create_symlink("loop", hub.path / "loop");
  CHECK(contains(error_of([&] { published::open(hub.file("loop"), 8); }), "cannot be read (Too many levels"));
  CHECK(published::folder_of(copied.folder.file("tokenizer.json")) == copied.folder.file("tokenizer.json"));
}

TEST_CASE("published: weights that are not there, of another shape, too many or pickled", "[published]") {
  const Copied copied("gpt2");
  const std::string whole = test::read_all(copied.folder.path / "model.safetensors");
  copied.change("model.safetensors", "\"h.0.ln_1.bias\"", "\"h.0.ln_1.bios\"");
  CHECK(contains(copied.refused(),
                 "tensor \"h.0.ln_1.bias\" is missing: expected it for L01.attn.before.bias"));
  copied.folder.write("model.safetensors", whole);
  copied.change("config.json", "\"n_embd\": 24", "\"n_embd\": 48");
  CHECK(contains(copied.refused(), "expected (67,48)"));
  copied.change("config.json", "\"n_embd\": 48", "\"n_embd\": 24");
  copied.change("config.json", "\"n_layer\": 2", "\"n_layer\": 1");
  CHECK(contains(copied.refused(), "a GPT-2 model with these settings has no place for it"));
  copied.change("config.json", "\"n_layer\": 1", "\"n_layer\": 2");
  CHECK(copied.refused() == "no error");
  copied.folder.write("model.safetensors", whole.substr(0, whole.size() - 4));
  CHECK(contains(copied.refused(), "[safetensors DIR/model.safetensors]"));
  fs::remove(copied.folder.path / "model.safetensors");
  CHECK(contains(copied.refused(), "there is neither model.safetensors nor model.safetensors.index.json"));
  copied.folder.write("pytorch_model.bin", "PK");
  CHECK(contains(copied.refused(),
                 "pytorch_model.bin holds Python objects, which run code when they are read"));
}

TEST_CASE("published: an index and its shards agree", "[published]") {
  const char* const kIndex = "model.safetensors.index.json";
  const Copied copied("llama");
  const std::string whole = test::read_all(copied.folder.path / kIndex);
  const auto with = [&](const std::string& from, const std::string& to) {
    copied.folder.write(kIndex, whole);
    copied.change(kIndex, from, to);
    return copied.refused();
  };
  CHECK(contains(with("\"model-00001-of-00003.safetensors\"", "\"../model-00001-of-00003.safetensors\""),
                 "expected the name of a file in the same folder"));
  CHECK(contains(with("\"model-00001-of-00003.safetensors\"", "7"), "is 7: expected a text"));
  CHECK(contains(with("\"model-00001-of-00003.safetensors\"", "\"other.safetensors\""), "no such file"));
  CHECK(contains(with("\"lm_head.weight\"", "\"lm_head.other\""), "which has none of that name"));
  CHECK(contains(with("\"weight_map\"", "\"weight_maps\""), "weight_map is missing"));
  copied.folder.write(kIndex, whole);
  CHECK(copied.refused() == "no error");
}

TEST_CASE("published: a head beside a tied table counts where it is another matrix", "[published]") {
  const Copied copied("llama");
  copied.change("config.json", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true");
  CHECK_FALSE(published::open(copied.folder.path.string(), 8).spec.model.tied_output);
  const Copied tied("smollm");
  CHECK(published::open(tied.folder.path.string(), 8).spec.model.tied_output);
}

TEST_CASE("published: floats of 16 bits are the floats that they stand for", "[published]") {
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

TEST_CASE("published: a file of a family says what it cannot say", "[published]") {
  const auto error = [](const char* text) { return error_of([&] { published::parse_family(text, "x"); }); };
  CHECK(published::families().size() == published::family_files().size());
  CHECK(contains(error("[settings]\n\"model.nothing\" = 1"), "x.toml: [family] model.nothing is no setting"));
  CHECK(contains(error("[settings]\n\"model.layers\" = { keys = \"n\" }"), "keys is unknown"));
  CHECK(contains(error("[settings]\n\"model.layers\" = { take = \"luck\" }"), "there is no function luck"));
  CHECK(contains(error("[tensors]\n\"L*.attn.w{q,k,v}\" = \"a.{q,k}\""), "expected 3, or one"));
  CHECK(contains(error("like = \"nothing\""), "there is no nothing"));
  CHECK(contains(error("titel = \"X\""), "titel is unknown"));
}

}  // namespace normscope::test

// These tests open published models and saved runs by normscope inspect: a text by its own tokenizer, and what is said
// of it as tables, as JSON and as a picture.
#include <nlohmann/json.hpp>

#include "addons/published/tests/massive.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "test_paths.h"
#include "training/io/safetensors.h"

using namespace normscope;
using namespace normscope::test;

namespace {

const std::string kModels = NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/transformers/";

/// Knows three words.
constexpr const char* kTokenizer = R"({"version": "1.0", "added_tokens": [], "normalizer": null,
  "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": null, "decoder": {"type": "WordPiece",
  "prefix": "##", "cleanup": true}, "model": {"type": "WordPiece", "unk_token": "[UNK]",
  "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
  "vocab": {"[UNK]": 0, "norm": 5, "scope": 17, "looks": 3}}})";

/// A copy of a model that knows three words; the third breaks a line.
std::string with_tokenizer(const Folder& folder, const std::string& name = "gpt2") {
  const std::string model = folder.file(name);
  std::filesystem::copy(kModels + name, model);
  std::ofstream(model + "/tokenizer.json") << kTokenizer;
  return model;
}

nlohmann::json inspected(const std::string& arguments) {
  const Outcome outcome = run_program("inspect " + arguments + " --json");
  INFO(arguments << ": " << outcome.err);
  CHECK(outcome.err.empty());
  REQUIRE(outcome.code == 0);
  return nlohmann::json::parse(outcome.out);
}

}  // namespace

TEST_CASE("inspect: a text is the numbers that the model's own tokenizer gives") {
  const Folder folder;
  const std::string model = with_tokenizer(folder);
  const Outcome by_text = run_program("inspect " + model + " --text 'norm scope looks norm' --json");
  CHECK(by_text.err.empty());
  REQUIRE(by_text.code == 0);
  CHECK(by_text.out == run_program("inspect " + model + " --ids '5 17 3 5' --json").out);
  CHECK(by_text.out != run_program("inspect " + model + " --ids '5 17 3 3' --json").out);
  const auto all = nlohmann::json::parse(by_text.out);
  CHECK(all["family"] == "GPT-2");
  CHECK(all["sublayers"].size() == 2 * all["layers"].size());
  CHECK(all["loss"].get<double>() > 0);
}

TEST_CASE("inspect: every family is opened and measured") {
  int families = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kModels)) {
    if (!std::filesystem::exists(entry.path() / "config.json")) continue;
    INFO(entry.path());
    ++families;
    const Outcome outcome = run_program("inspect " + entry.path().string() + " --ids '5 17 3 5 9' --json");
    CHECK(outcome.err.empty());
    REQUIRE(outcome.code == 0);
    const auto all = nlohmann::json::parse(outcome.out);
    for (const auto& sublayer : all["sublayers"]) CHECK(sublayer["beta2"].get<double>() > 0);
    for (const auto& gradient : all["gradients"]) CHECK(gradient["norm"].get<double>() >= 0);
  }
  CHECK(families >= 19);
}

TEST_CASE("inspect: of files without a head it says what needs none") {
  const Folder folder;
  std::filesystem::copy_file(kModels + "bert/config.json", folder.file("config.json"));
  const SafetensorsFile whole = SafetensorsFile::load(kModels + "bert/model.safetensors");
  SafetensorsWriter bare;
  std::map<std::string, std::vector<float>> kept;
  for (const std::string& name : whole.names())
    if (!name.starts_with("cls.")) bare.add(name, whole.shape(name), kept[name] = whole.floats(name));
  bare.write(folder.file("model.safetensors"));
  const std::string text = " --ids '5 17 3 5 9' --leave-out";
  const auto all = inspected(folder.path.string() + text), before = inspected(kModels + "bert" + text);
  CHECK(all["loss"].is_null());
  for (const char* key : {"lens", "gradients", "left_out"}) CHECK_FALSE(all.contains(key));
  CHECK(all["sublayers"][3]["norms"] == before["sublayers"][3]["norms"]);
  CHECK(all["attention"] == before["attention"]);
  const Outcome tables = run_program("inspect " + folder.path.string() + text);
  CHECK(tables.code == 0);
  CHECK(contains(tables.out, "the files have no head that says tokens: no loss, no gradients"));
  CHECK_FALSE(contains(tables.out, "perplexity"));
}

TEST_CASE("inspect: a GGUF file that is damaged ends with exit code 3") {
  const Folder folder;
  const Outcome outcome = run_program("inspect " + folder.write("a.gguf", "GGUF\3") + " --ids '5 17'");
  CHECK(outcome.code == 3);
  CHECK(contains(outcome.err, "a.gguf] is truncated or damaged: "));
  CHECK(std::ranges::count(outcome.err, '\n') == 1);
}

TEST_CASE("inspect: JSON has everything, and what is not asked for is not there") {
  const Folder folder;
  const std::string text = with_tokenizer(folder) + " --text 'norm scope looks norm'";
  const auto all = inspected(text + " --leave-out");
  const size_t layers = all["layers"].size(), sublayers = all["sublayers"].size();
  REQUIRE(all["tokens"].size() == 4);
  CHECK(all["tokens"][1] == nlohmann::json{{"token", 17},
                                           {"text", "scope"},
                                           {"target", 3},
                                           {"loss", all["tokens"][1]["loss"]},
                                           {"embedding_norm", all["tokens"][1]["embedding_norm"]},
                                           {"embedding_gradient", all["tokens"][1]["embedding_gradient"]}});
  CHECK(all["tokens"][3]["target"].is_null());
  CHECK(all["tokens"][3]["loss"].is_null());
  double sum = 0;
  for (int t = 0; t < 3; ++t) sum += all["tokens"][static_cast<size_t>(t)]["loss"].get<double>();
  CHECK(std::abs(sum / 3 - all["loss"].get<double>()) < 1e-5);
  for (size_t i = 0; i < sublayers; ++i) {
    CHECK(all["sublayers"][i]["norms"].size() == 4);
    CHECK(all["sublayers"][i]["shares"].size() == i + 2);
    CHECK(all["sublayers"][i]["beta2"] == all["sublayers"][i]["shares"][i + 1]);
    auto by_token = all["sublayers"][i]["beta2_by_token"].get<std::vector<double>>();
    REQUIRE(by_token.size() == 4);
    std::ranges::sort(by_token);
    CHECK(std::abs((by_token[1] + by_token[2]) / 2 - all["sublayers"][i]["beta2_median"].get<double>()) <
          1e-6);
  }
  double square = 0;
  for (const auto& norm : all["sublayers"][1]["norms"]) square += std::pow(norm.get<double>(), 2) / 4;
  CHECK(std::abs(all["layers"][0]["stream_norm"].get<double>() - std::sqrt(square)) <
        1e-6);  // digits of floats
  REQUIRE(all["attention"].size() == layers);
  const auto& heads = all["attention"][0]["probabilities"];
  CHECK(heads.size() == all["attention"][0]["entropy"].size());
  for (const auto& head : heads)
    for (size_t q = 0; q < 4; ++q) {
      REQUIRE(head[q].size() == q + 1);  // nothing of what a decoder does not see
      double row = 0;
      for (size_t k = 0; k <= q; ++k) row += head[q][k].get<double>();
      CHECK(std::abs(row - 1) < 1e-5);
    }
  REQUIRE(all["lens"].size() == layers + 1);
  CHECK(all["lens"][layers]["loss"] == all["loss"]);
  CHECK(all["lens"][0]["name"] == "embedding");
  CHECK(all["lens"][1]["tokens"][2]["guesses"].size() == 5);
  CHECK(all["left_out"].size() == sublayers + layers);
  CHECK(all["left_out"][2]["name"] == "L01");
  CHECK(all["gradients"][0]["norm"].get<double>() > 0);

  auto less = inspected(text + " --no-gradients --no-attention"), same = all;
  CHECK(all["tokens"][0]["embedding_gradient"].get<double>() > 0);
  CHECK_FALSE(less["tokens"][0].contains("embedding_gradient"));
  for (auto& sublayer : same["sublayers"]) {
    REQUIRE(sublayer["state_gradients"].size() == 4);
    sublayer.erase("state_gradients");
  }
  CHECK_FALSE(less.contains("gradients"));
  CHECK_FALSE(less.contains("attention"));
  CHECK_FALSE(less.contains("left_out"));
  CHECK(less["loss"] == all["loss"]);
  CHECK(less["sublayers"] == same["sublayers"]);
  CHECK(less["bytes_here"].get<int64_t>() < all["bytes_here"].get<int64_t>());
}

TEST_CASE("inspect: tables name the symbols, and escape what would move a cursor") {
  const Folder folder;
  const std::string model = with_tokenizer(folder);
  std::string tokenizer = kTokenizer;
  tokenizer.replace(tokenizer.find("looks"), 5, "lo\\u001b");
  const Outcome outcome = run_program("inspect " + model + " --text 'norm scope looks norm' --leave-out");
  CHECK(outcome.code == 0);
  for (const char* said :
       {"GPT-2 (gpt2)", "the tokens, and what each is worth in nats", "2: \"scope\"",
        "the stream:", "shares of the state's variance after each layer; they add up to more than 1",
        "entropy of attention", "(the logit lens)", "left out", "gradients"}) {
    INFO(said);
    CHECK(contains(outcome.out, said));
  }
  std::ofstream(model + "/tokenizer.json") << tokenizer;
  const Outcome escaped = run_program("inspect " + model + " --ids '5 17 3 5'");
  CHECK(contains(escaped.out, R"(3: "lo\u001b")"));
  CHECK_FALSE(contains(escaped.out, "\x1b"));
  const Outcome numbers = run_program("inspect " + kModels + "gpt2 --ids '5 17 3 5'");
  CHECK(contains(numbers.out, "2: 17"));
  CHECK_FALSE(contains(numbers.out, "scope"));
}

TEST_CASE("inspect: a picture has a cell for every symbol and layer, and both axes named") {
  const Folder folder;
  const std::string model = with_tokenizer(folder), file = folder.file("norms.svg");
  const Outcome outcome = run_program("inspect " + model + " --text 'norm scope looks norm' --svg " + file);
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "wrote " + file));
  const std::string svg = read_all(file);
  CHECK(svg.starts_with("<?xml"));
  for (const char* said : {"Length of the states in GPT-2", ">token<", ">layer<", ">emb.<", ">L01<",
                           "2: &quot;scope&quot;", "logarithmic"})
    CHECK(contains(svg, said));
  const auto all = inspected(model + " --text 'norm scope looks norm' --svg " + file);
  CHECK(contains(svg, fmt::format(">{:.3g}<", all["sublayers"][1]["norms"][2].get<double>())));
  CHECK(run_program("inspect " + model + " --ids '5 17' --svg " + folder.file("none/there.svg")).code == 5);
}

TEST_CASE("inspect: a token that dominates is named, and the shares are medians by token") {
  const Folder folder;
  const std::string text = massive_first(folder) + " --ids '5 17 3 5 9 4'";
  const auto all = inspected(text), plain = inspected(kModels + "gpt2 --ids '5 17 3 5 9 4'");
  CHECK(plain["dominant"].is_null());
  CHECK(all["dominant"]["position"] == 1);
  CHECK(all["dominant"]["times"].get<double>() > 10);
  const auto &last = all["sublayers"].back(), &before = plain["sublayers"].back();
  CHECK(last["beta2"].get<double>() < 0.01 * before["beta2"].get<double>());
  CHECK(last["beta2_median"].get<double>() > 0.3 * before["beta2_median"].get<double>());
  const Outcome tables = run_program("inspect " + text);
  CHECK(contains(tables.out, "1: 5 dominates: after "));
  CHECK(contains(tables.out, "median over the tokens"));
  CHECK_FALSE(contains(run_program("inspect " + kModels + "gpt2 --ids '5 17 3'").out, "dominates"));
}

TEST_CASE("inspect: JSON has a line for a list of numbers, and no digits that tell no floats apart") {
  const Outcome outcome = run_program("inspect " + kModels + "gpt2 --ids '5 17 3 5 9 4 8 2' --json");
  const auto all = nlohmann::json::parse(outcome.out);
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  CHECK(2 * lines(outcome.out) < lines(all.dump(2)));
  CHECK(contains(outcome.out, "[1],"));
  for (const auto& number : all["sublayers"][0]["norms"]) CHECK(number.dump().size() <= 12);
}

TEST_CASE("inspect: a saved run reads a text in its own symbols") {
  const Folder folder;
  const std::string run = folder.file("run.safetensors");
  REQUIRE(run_program("train --run A=pre" + tiny_options() + " --steps 3 --save " + run).code == 0);
  const auto all = inspected(run + " --text 'the dog' --leave-out");
  CHECK(all["step"] == 3);
  CHECK(all["file"] == run);
  REQUIRE(all["tokens"].size() == 7);
  CHECK(all["tokens"][4]["text"] == "d");
  CHECK(all["tokens"][0]["target"] == all["tokens"][1]["token"]);
  CHECK(all["sublayers"].size() == 4);
  CHECK(all["lens"][2]["loss"] == all["loss"]);
  CHECK(all["left_out"].size() == 6);
  std::string ids;
  for (const auto& token : all["tokens"]) ids += token["token"].dump() + " ";
  CHECK(inspected(run + " --ids '" + ids + "' --leave-out") == all);
  const Outcome unknown = run_program("inspect " + run + " --text 'the \xe2\x82\xac'");
  CHECK(unknown.code == 3);
  CHECK(contains(unknown.err, "at byte 4"));
  CHECK(run_program("inspect " + run + " --ids '5 17 1000'").code == 2);
  const Outcome longer = run_program("inspect " + run + " --text 'the dog and the dog'");
  CHECK(longer.code == 2);
  CHECK(contains(longer.err, "19 symbols, and the model 16 positions"));
}

#ifdef __linux__
TEST_CASE("open: a published folder with no weights in its file is refused before a display is asked for") {
  const Folder folder;
  std::filesystem::copy_file(kModels + "gpt2/config.json", folder.file("config.json"));
  std::ofstream(folder.file("pytorch_model.bin")) << "x";
  const Outcome pickled = run_program("open " + folder.file(""), "env -u DISPLAY -u WAYLAND_DISPLAY ");
  CHECK(pickled.code == 3);
  CHECK(test::contains(pickled.err, "is no zip archive, as PyTorch writes since version 1.6"));
}
#endif

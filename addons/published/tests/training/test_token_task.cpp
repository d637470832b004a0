// A text in a published model's own tokens: what a step reads of it, and what is refused.
#include <algorithm>

#include "addons/published/tests/training/small_model.h"
#include "addons/published/training/passage.h"
#include "addons/published/training/token_task.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/support/helpers.h"
#include "engine/tape/seal.h"
#include "folder.h"
#include "training/measure/look.h"

namespace normscope::test_token_task {
using namespace test;
namespace {

/// Cuts at blanks, knows five words, and puts its marks around a text.
constexpr const char* kTokenizer = R"({"version": "1.0", "added_tokens": [
  {"id": 6, "content": "[CLS]", "special": true, "single_word": false, "lstrip": false, "rstrip": false,
   "normalized": false},
  {"id": 7, "content": "[MASK]", "special": true, "single_word": false, "lstrip": false, "rstrip": false,
   "normalized": false},
  {"id": 8, "content": "[SEP]", "special": true, "single_word": false, "lstrip": false, "rstrip": false,
   "normalized": false}],
  "normalizer": null, "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [], "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [6], "tokens": ["[CLS]"]}}},
  "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
    "vocab": {"[UNK]": 0, "a": 1, "dog": 2, "is": 3, "good": 4, "old": 5}}})";

struct Model {
  explicit Model(bool words = true) {
    folder.write("config.json", R"({"vocab_size": 12})");
    if (words) folder.write("tokenizer.json", kTokenizer);
  }
  DataSpec data(const std::string& passage, TaskForm form = TaskForm::NextSymbol,
                int32_t context = 16) const {
    DataSpec spec;
    spec.name = "passage";
    spec.added.of<PassageData>().text = passage;
    spec.tokenizer_path = folder.path.string();
    spec.form = form;
    spec.context = context;
    return spec;
  }
  Folder folder;
};

using Ids = std::vector<int32_t>;

}  // namespace

TEST_CASE("token task: a passage no longer than the context is every row of every batch") {
  const Model model;
  const auto task = make_task(model.data("a dog is good"));
  CHECK(task->vocabulary() == 12);  // config.json's, which may be more than the tokenizer has
  for (const Split split : {Split::Train, Split::Validation}) {
    const Batch batch = task->draw(1, 3, split, 2, 16);
    CHECK(batch.T == 5);
    CHECK(batch.tokens == Ids{6, 1, 2, 3, 4, 6, 1, 2, 3, 4});
    CHECK(batch.targets == Ids{1, 2, 3, 4, -1, 1, 2, 3, 4, -1});
  }
  CHECK(std::abs(task->unigram_entropy() - std::log(5.0)) < 1e-12);
  CHECK(task->decode(Ids{6, 1, 2}) == "a dog");
  CHECK(task->label(6) == "[CLS]");
  CHECK(task->encode("old dog") == Ids{6, 5, 2});
}

TEST_CASE("token task: what follows a [SEP] is of the next kind, where the model tells kinds apart") {
  const Model model;
  DataSpec data = model.data("a dog [SEP] is good [SEP] old [SEP] a", TaskForm::Masked);
  CHECK(make_task(data)->draw(1, 1, Split::Train, 1, 16).types.empty());
  data.token_types = 2;  // the third sentence and the fourth are of the last kind too
  const auto task = make_task(data);
  const Ids two{0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  for (const Split split : {Split::Train, Split::Validation}) {
    const Batch batch = task->draw(1, 3, split, 2, 16);
    REQUIRE(batch.types.size() == 2 * two.size());
    CHECK(Ids(batch.types.begin(), batch.types.begin() + 10) == two);
    CHECK(Ids(batch.types.begin() + 10, batch.types.end()) == two);
  }
  data.token_types = 3;
  CHECK(make_task(data)->types(task->encode(passage_of(data))) == Ids{0, 0, 0, 0, 1, 1, 1, 2, 2, 2});
  CHECK(task->types(task->encode("a dog")).empty());
  CHECK(task->types(task->encode("a dog [SEP]")).empty());  // nothing follows it
  data.added.of<PassageData>().text = "a dog is good";
  CHECK(make_task(data)->draw(1, 1, Split::Train, 1, 16).types.empty());
}

TEST_CASE("token task: kinds reach the model's table") {
  const Model model;
  DataSpec data = model.data("a dog [SEP] is good", TaskForm::Masked);
  data.token_types = 2;
  const auto task = make_task(data);
  ModelConfig config = small_config(Placement::Post, Architecture::Encoder);
  config.vocabulary = task->vocabulary();
  config.token_types = 2;
  const std::unique_ptr<Backend> backend = make_cpu_backend(1);
  Store store(*backend);
  const Batch batch = task->draw(1, 1, Split::Train, 1, config.sequence);
  Tape tape(store);
  const ModelValues values = record_transformer(tape, config, record_options(shape_of(batch), false));
  store.materialize(1);
  Program program = seal(tape, {.loss = values.loss, .update = kNoOp});
  put(batch, program);
  const std::span<const int32_t> given = program.tokens("types");
  const Ids read(given.begin(), given.end());
  CHECK(read == batch.types);
  CHECK(std::ranges::count(read, 1) == 2);
}

TEST_CASE("token task: a longer passage is read in windows, and validates on its beginning") {
  const Model model;
  const auto task = make_task(model.data("a dog is good a dog is old", TaskForm::NextSymbol, 4));
  std::set<Ids> windows;
  for (uint64_t step = 1; step <= 60; ++step) {
    const Batch batch = task->draw(1, step, Split::Train, 1, 4);
    REQUIRE(batch.T == 4);
    windows.insert(batch.tokens);
  }
  CHECK(windows.size() ==
        6);  // nine tokens have as many windows of four, of which two look alike: "a dog is ..."
  CHECK(task->draw(1, 7, Split::Validation, 1, 4).tokens == Ids{6, 1, 2, 3});
  CHECK(task->draw(1, 7, Split::Validation, 1, 4).targets == Ids{1, 2, 3, 4});
}

TEST_CASE("token task: an encoder fills in words and never the marks around them") {
  const Model model;
  const auto task = make_task(model.data("a dog is good", TaskForm::Masked));
  int hidden = 0;
  for (uint64_t step = 1; step <= 200; ++step) {
    const Batch batch = task->draw(1, step, Split::Train, 1, 16);
    const Ids whole{6, 1, 2, 3, 4};
    CHECK(batch.tokens[0] == 6);
    CHECK(batch.targets[0] == -1);
    CHECK(std::ranges::count_if(batch.targets, [](int32_t t) { return t >= 0; }) >= 1);
    for (size_t t = 1; t < whole.size(); ++t) {
      if (batch.targets[t] >= 0) CHECK(batch.targets[t] == whole[t]);
      if (batch.targets[t] < 0) CHECK(batch.tokens[t] == whole[t]);
      hidden += batch.tokens[t] == 7;
    }
  }
  CHECK(hidden > 100);
}

TEST_CASE("token task: a file is cut by the tokenizer and keeps its last tenth for validation") {
  const Model model;
  std::string text;
  for (int i = 0; i < 50; ++i) text += "a dog is good ";
  for (int i = 0; i < 6; ++i) text += "a dog is old ";
  model.folder.write("text.txt", text);
  DataSpec spec;
  spec.name = "text";
  spec.text_path = (model.folder.path / "text.txt").string();
  spec.tokenizer_path = model.folder.path.string();
  spec.context = 2;
  const auto task = make_task(spec);
  CHECK(task->unit() == "token");
  const auto has_old = [&](Split split) {
    for (uint64_t step = 1; step <= 100; ++step) {
      const Batch batch = task->draw(1, step, split, 4, 2);
      if (std::ranges::count(batch.tokens, 5) > 0) return true;
    }
    return false;
  };
  CHECK_FALSE(has_old(Split::Train));
  CHECK(has_old(Split::Validation));
}

TEST_CASE("token task: without a tokenizer a text is the numbers of tokens") {
  const Model model(false);
  const auto task = make_task(model.data("5, 3 11"));
  CHECK(task->draw(1, 1, Split::Train, 1, 16).tokens == Ids{5, 3, 11});
  CHECK(task->decode(Ids{5, 3}) == "5 3");
  CHECK(contains(error_of([&] { task->encode("5 dog"); }), "\"dog\" is no number of a token"));
  CHECK(contains(error_of([&] { task->encode("5 12"); }),
                 "token 12 is beyond the model's table of symbols: expected 0 to 11"));
}

TEST_CASE("token task: what cannot be read is refused in one line") {
  const Model model;
  CHECK(contains(error_of([&] { make_task(model.data("")); }), "tokens are too few"));
  const Folder empty;
  DataSpec spec = model.data("a");
  spec.tokenizer_path = empty.path.string();
  CHECK(contains(error_of([&] { make_task(spec); }),
                 "has neither a tokenizer nor a config.json: expected the folder of a published model"));
}

// A passage: what a model is asked about a text.

TEST_CASE("passage: a decoder is asked for the next symbol, an encoder for each where it stands") {
  const Batch next = passage_batch(small_config(Placement::Pre), {3, 1, 4}),
              same = passage_batch(small_config(Placement::Pre, Architecture::Encoder), {3, 1, 4});
  CHECK(next.B == 1);
  CHECK(next.T == 3);
  CHECK(next.tokens == std::vector<int32_t>{3, 1, 4});
  CHECK(next.targets == std::vector<int32_t>{1, 4, -1});
  CHECK(same.tokens == same.targets);
}

TEST_CASE("passage: what a model cannot be asked is refused") {
  ModelConfig classifier = small_config(Placement::Pre, Architecture::Encoder);
  classifier.classes = 3;
  CHECK(error_of([&] { passage_batch(classifier, {3}); }) ==
        "[inside] the model says a class and no symbols: expected a language model");
  const ModelConfig decoder = small_config(Placement::Pre);
  CHECK(contains(error_of([&] { passage_batch(decoder, {3, 17}); }), "token 17"));
  CHECK(contains(error_of([&] { passage_batch(decoder, {3, -1}); }), "token -1"));
  CHECK(contains(error_of([&] { passage_batch(decoder, {}); }), "empty"));
  CHECK(contains(error_of([&] { passage_batch(decoder, std::vector<int32_t>(12)); }), "12 symbols"));
}

}  // namespace normscope::test_token_task

// See tokenizer.h. No other file uses SentencePiece.
#include "addons/translation/training/tokenizer.h"

#include <unordered_map>

#include "engine/io/output_file.h"
#include "training/io/input_value.h"

#ifdef NORMSCOPE_WITH_SENTENCEPIECE
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#endif

namespace normscope {

#ifdef NORMSCOPE_WITH_SENTENCEPIECE

std::string tokenizer_unavailable() { return {}; }

struct Tokenizer::Impl {
  sentencepiece::SentencePieceProcessor processor;
};

namespace {

class Sentences final : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const std::vector<std::string_view>& all) : all_(all) { take(); }
  bool done() const override { return at_ >= all_.size(); }
  void Next() override {
    ++at_;
    take();
  }
  const std::string& value() const override { return value_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  void take() {
    if (at_ < all_.size()) value_ = all_[at_];
  }
  const std::vector<std::string_view>& all_;
  size_t at_ = 0;
  std::string value_;
};

}  // namespace

Tokenizer::Tokenizer(std::string model) : model_(std::move(model)) {
  auto impl = std::make_shared<Impl>();
  const auto status = impl->processor.LoadFromSerializedProto(model_);
  if (!status.ok()) fail("tokenizer", "not a SentencePiece model: {}", status.ToString());
  const auto& p = impl->processor;
  if (p.pad_id() != kPad || p.unk_id() != kUnknown || p.bos_id() != kBegin || p.eos_id() != kEnd)
    fail("tokenizer",
         "padding, unknown, begin and end are {}, {}, {}, {}: expected 0, 1, 2, 3, as made by normscope",
         p.pad_id(), p.unk_id(), p.bos_id(), p.eos_id());
  impl_ = std::move(impl);
}

Tokenizer Tokenizer::train(const std::vector<std::string_view>& sentences, int32_t vocabulary,
                           bool or_fewer) {
  // One thread: the pieces must not depend on the machine. All options are set because defaults change.
  std::unordered_map<std::string, std::string> options = {{"model_type", "bpe"},
                                                          {"vocab_size", std::to_string(vocabulary)},
                                                          {"character_coverage", "1.0"},
                                                          {"pad_id", "0"},
                                                          {"unk_id", "1"},
                                                          {"bos_id", "2"},
                                                          {"eos_id", "3"},
                                                          {"num_threads", "1"},
                                                          {"normalization_rule_name", "nmt_nfkc"},
                                                          {"max_sentence_length", "65536"},
                                                          {"minloglevel", "2"}};
  std::string model;
  const auto learn = [&] {
    Sentences iterator(sentences);
    model.clear();
    return sentencepiece::SentencePieceTrainer::Train(options, &iterator, &model);
  };
  auto status = learn();
  if (!status.ok() && or_fewer) {
    // A small text has fewer pieces: then all of them are used. The option is added only here, because the model's
    // bytes contain the options and are part of a saved run's data.
    options.emplace("hard_vocab_limit", "false");
    status = learn();
  }
  if (!status.ok())
    fail("tokenizer", "{} sentences give no vocabulary of {} ({}): expected more sentences, or another size",
         sentences.size(), vocabulary, status.ToString());
  return Tokenizer(std::move(model));
}

int32_t Tokenizer::vocabulary() const { return impl_->processor.GetPieceSize(); }

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<int> ids;
  const auto status = impl_->processor.Encode(absl::string_view(text.data(), text.size()), &ids);
  if (!status.ok()) fail("tokenizer", "{}", status.ToString());
  return {ids.begin(), ids.end()};
}

std::string Tokenizer::decode(std::span<const int32_t> symbols) const {
  std::vector<int> ids;
  for (int32_t symbol : symbols) {
    if (symbol == kEnd) break;
    if (symbol != kPad && symbol != kBegin && symbol >= 0 && symbol < vocabulary()) ids.push_back(symbol);
  }
  std::string text;
  const auto status = impl_->processor.Decode(ids, &text);
  if (!status.ok()) fail("tokenizer", "{}", status.ToString());
  return text;
}

#else

namespace {
constexpr const char* kUnavailable =
#ifdef __EMSCRIPTEN__
    "the program in a browser has no SentencePiece: sentence pairs need the desktop's";
#else
    "this program was built without SentencePiece: install it (Debian: libsentencepiece-dev, vcpkg: "
    "sentencepiece) and build again";
#endif
}  // namespace

std::string tokenizer_unavailable() { return kUnavailable; }

struct Tokenizer::Impl {};

Tokenizer::Tokenizer(std::string) { fail("tokenizer", "{}", kUnavailable); }
Tokenizer Tokenizer::train(const std::vector<std::string_view>&, int32_t, bool) {
  return Tokenizer(std::string());
}
int32_t Tokenizer::vocabulary() const { return 0; }
std::vector<int32_t> Tokenizer::encode(std::string_view) const { return {}; }
std::string Tokenizer::decode(std::span<const int32_t>) const { return {}; }

#endif

namespace {
constexpr int32_t kMaxPieces = 200'000;
}

Tokenizer Tokenizer::load(const std::string& path) {
  return parse(read_input_file(path, input::kTokenizer), path);
}

Tokenizer Tokenizer::parse(std::string model, const std::string& name) {
  try {
    Tokenizer made(std::move(model));
    require_range({"tokenizer {}", name}, "pieces", made.vocabulary(), 5, kMaxPieces);
    return made;
  } catch (const Error& error) {
    if (where_of(error.message) != "tokenizer") throw;
    fail({"tokenizer {}", name}, without_where(error.message));
  } catch (const std::exception& error) {  // of the library
    fail({"tokenizer {}", name}, "not a SentencePiece model: {}", error.what());
  }
}

void Tokenizer::save(const std::string& path) const { write_file(path, model_, "tokenizer", Access::Own); }

}  // namespace normscope

// A GGUF file: of what is accepted every tensor is read, and its settings and tokens are accepted or refused.
#include "addons/published/training/gguf.h"

#include "addons/published/training/family.h"
#include "addons/published/training/tokenizer/published_tokenizer.h"
#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(published_gguf) {
  fuzz::accepts([&] {
    const auto file = published::GgufFile::parse(fuzz::bytes_of(input), "fuzz");
    std::vector<float> room;
    for (const auto& [name, tensor] : file.tensors()) tensor.numbers(0, tensor.size(), room);
    fuzz::accepts([&] {
      const InputValue config = file.config();
      published::spec_of(published::family_of(config), config, "fuzz", 8);
    });
    if (const std::string words = file.has_tokens() ? file.tokenizer() : ""; !words.empty())
      tokenizer::PublishedTokenizer::parse(words, "fuzz")
          .encode("The cat's  sat 123\n \u4f60\u597d <s> \xff");
  });
}

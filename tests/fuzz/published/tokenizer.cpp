// A tokenizer.json: what is accepted encodes a text, and decodes what it made.
#include "training/tokenizer/published_tokenizer.h"

#include "fuzz.h"

using namespace normscope;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return fuzz::mutate_json(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::accepts([&] {
    const auto tokenizer = tokenizer::PublishedTokenizer::parse(fuzz::text_of(data, size), "fuzz");
    const auto ids = tokenizer.encode("The cat's  sat 123\n \u4f60\u597d e\u0301 <s> \xff");
    tokenizer.decode(ids);
    tokenizer.decode(ids, tokenizer::Special::Kept);
  });
  return 0;
}

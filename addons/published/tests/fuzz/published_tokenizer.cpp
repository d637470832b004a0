// A tokenizer.json: what is accepted encodes a text, and decodes what it made.
#include "addons/published/training/tokenizer/published_tokenizer.h"

#include "fuzz.h"

using namespace normscope;

FUZZ_TARGET(published_tokenizer, fuzz::mutate_json) {
  fuzz::accepts([&] {
    const auto tokenizer = tokenizer::PublishedTokenizer::parse(input, "fuzz");
    const auto ids = tokenizer.encode("The cat's  sat 123\n \u4f60\u597d e\u0301 <s> \xff");
    tokenizer.decode(ids);
    tokenizer.decode(ids, tokenizer::Special::Kept);
  });
}

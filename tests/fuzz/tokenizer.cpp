// A SentencePiece model, as far as it is ours to refuse: what is accepted encodes and decodes.
#include "training/tokenizer/tokenizer.h"

#include "fuzz.h"

using namespace normscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::accepts([&] {
    const Tokenizer tokenizer = Tokenizer::parse(std::string(fuzz::text_of(data, size)), "fuzz.model");
    tokenizer.decode(tokenizer.encode("the cat sat on the mat"));
  });
  return 0;
}

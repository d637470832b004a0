// A tokenizer of before tokenizer.json, as a folder: vocab.txt alone, or vocab.json, merges.txt and
// tokenizer_config.json, which a form feed parts. What is accepted encodes a text, and decodes what it made.
#include <array>
#include <cstdio>

#include "fuzz.h"
#include "training/tokenizer/published_tokenizer.h"

using namespace normscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::array<const char*, 3> kFiles = {"vocab.json", "merges.txt", "tokenizer_config.json"};
  const fuzz::Folder& folder = fuzz::Folder::instance();
  for (const char* file : {"vocab.txt", kFiles[0], kFiles[1], kFiles[2]})
    std::remove(folder.path(file).c_str());
  std::string_view rest = fuzz::text_of(data, size);
  if (!fuzz::shallow(rest)) return 0;
  if (rest.find('\f') == std::string_view::npos) {
    folder.write("vocab.txt", rest);
  } else {
    for (const char* file : kFiles) {
      const size_t end = rest.find('\f');
      folder.write(file, rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
  }
  fuzz::accepts([&] {
    const auto tokenizer = tokenizer::PublishedTokenizer::load(folder.path());
    const auto ids = tokenizer.encode("The cat's  sat 123\n \u4f60\u597d e\u0301 <s> \xff");
    tokenizer.decode(ids);
    tokenizer.decode(ids, tokenizer::Special::Kept);
  });
  return 0;
}

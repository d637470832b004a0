// These tests cover UTF-8, the vocabulary and text files: what is read, and what is refused with which words.
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "training/data/corpus.h"
#include "training/data/text_source.h"

using namespace normscope;
using namespace normscope::test;

namespace {

// Lives as long as the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes) {
    static int count = 0;
    const auto stamp = std::chrono::steady_clock::now().time_since_epoch().count();
    path_ = (std::filesystem::temp_directory_path() /
             ("normscope-text-" + std::to_string(stamp) + "-" + std::to_string(count++) + ".txt"))
                .string();
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("utf8: code points of every length come back as they went in", "[data]") {
  for (char32_t c :
       {0x1, 0x41, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, 0x10ffff}) {
    std::string text;
    append_utf8(c, text);
    const CodePoint point = read_code_point(text, 0);
    CHECK(point.value == c);
    CHECK(point.bytes == static_cast<int32_t>(text.size()));
    for (size_t cut = 1; cut < text.size(); ++cut) CHECK(read_code_point(text.substr(0, cut), 0).bytes == 0);
  }
}

TEST_CASE("utf8: what the standard forbids is invalid", "[data]") {
  const std::vector<std::string> invalid = {
      "\x80",              // a continuation byte alone
      "\xbf",              //
      "\xc0\x80",          // overlong NUL
      "\xc1\xbf",          // overlong, two bytes
      "\xe0\x80\x80",      // overlong, three bytes
      "\xe0\x9f\xbf",      //
      "\xf0\x80\x80\x80",  // overlong, four bytes
      "\xf0\x8f\xbf\xbf",  //
      "\xed\xa0\x80",      // surrogates
      "\xed\xbf\xbf",      //
      "\xf4\x90\x80\x80",  // above U+10FFFF
      "\xf5\x80\x80\x80",  //
      "\xff",              //
      "\xfe",              //
      "\xc3(",             // second byte is not a continuation
      "\xe2\x82(",         // third
      "\xf0\x9f\x98(",     // fourth
      "\xe2(\xac",         //
  };
  for (const std::string& bytes : invalid) {
    CAPTURE(bytes.size(), static_cast<int>(static_cast<unsigned char>(bytes[0])));
    CHECK(read_code_point(bytes, 0).bytes == 0);
    CHECK(contains(error_of([&] { Vocabulary::from_text("abc" + bytes + "x"); }),
                   "not valid UTF-8 at byte 3 (0x"));
  }
  CHECK(read_code_point("", 0).bytes == 0);
}

TEST_CASE("vocabulary: distinct code points in order, there and back", "[data]") {
  const std::string text = "h\xc3\xa9llo \xe4\xb8\x96\xf0\x9f\x98\x80 hello";
  const Vocabulary vocabulary = Vocabulary::from_text(text);
  CHECK(vocabulary.symbols() == std::vector<char32_t>{' ', 'e', 'h', 'l', 'o', 0xe9, 0x4e16, 0x1f600});
  const auto tokens = vocabulary.encode(text);
  CHECK(tokens.size() == 14);
  CHECK(vocabulary.decode(std::vector<int32_t>(tokens.begin(), tokens.end())) == text);
  CHECK(vocabulary.decode(std::vector<int32_t>{-1, 8, 2}) == "\xef\xbf\xbd\xef\xbf\xbdh");
  CHECK(error_of([&] { vocabulary.encode("hex"); }) ==
        "[text] the character U+0078 at byte 2 is not in the vocabulary");
  CHECK(contains(error_of([&] { vocabulary.encode("h\xff"); }), "not valid UTF-8 at byte 1 (0xff)"));
}

TEST_CASE("vocabulary: 4096 distinct characters are the limit", "[data]") {
  std::string text;
  for (char32_t c = 0x100; c < 0x100 + 4096; ++c) append_utf8(c, text);
  CHECK(Vocabulary::from_text(text).size() == 4096);
  text += "a";
  CHECK(contains(error_of([&] { Vocabulary::from_text(text); }), "more than 4096 different characters"));
  CHECK(contains(error_of([&] { TextSource(text, "many"); }),
                 "[text many] more than 4096 different characters"));
}

TEST_CASE("text: the splits are the first nine tenths and the last tenth", "[data]") {
  const std::string text = corpus_text(1, 12'345);
  const TextSource source(text, "corpus");
  const auto train = source.tokens(Split::Train), validation = source.tokens(Split::Validation);
  CHECK(validation.size() == 1234);
  CHECK(train.size() == 12'345 - 1234);
  CHECK(train.data() + train.size() == validation.data());
  std::vector<int32_t> all(train.begin(), train.end());
  all.insert(all.end(), validation.begin(), validation.end());
  CHECK(source.vocabulary().decode(all) == text);
}

TEST_CASE("text: unigram entropy and hash", "[data]") {
  const TextSource even("abababab", "t"), uneven("aaab", "t");
  CHECK(even.unigram_entropy() == Approx(std::log(2.0)));
  CHECK(uneven.unigram()[0] == Approx(0.75));
  CHECK(uneven.unigram_entropy() == Approx(-0.75 * std::log(0.75) - 0.25 * std::log(0.25)));
  CHECK(hash_bytes("") == 0xcbf29ce484222325u);  // the published values of FNV-1a
  CHECK(hash_bytes("foobar") == 0x85944171f73967e8u);
  CHECK(even.hash() == TextSource("abababab", "other name").hash());
  CHECK(even.hash() != uneven.hash());
}

TEST_CASE("text: a good file loads, its byte order mark and carriage returns do not", "[data]") {
  const TemporaryFile file("\xef\xbb\xbfone\r\ntwo\rthree\n");
  const TextSource source = TextSource::load(file.path());
  const auto train = source.tokens(Split::Train), validation = source.tokens(Split::Validation);
  std::vector<int32_t> all(train.begin(), train.end());
  all.insert(all.end(), validation.begin(), validation.end());
  CHECK(source.vocabulary().decode(all) == "one\ntwo\rthree\n");
  CHECK(source.hash() == hash_bytes("one\ntwo\rthree\n"));
  CHECK(source.name() == file.path());
}

TEST_CASE("text: files that cannot be used are refused in one line", "[data]") {
  CHECK(error_of([] { TextSource::load("/no/such/file.txt"); }) ==
        "[text /no/such/file.txt] no such file: check the path");
  CHECK(contains(error_of([] { TextSource::load("/"); }), "[text /] is a folder"));
  CHECK(contains(error_of([] { TextSource::load(""); }), "no such file"));
}

#ifdef __unix__
TEST_CASE("text: a device is not read", "[data]") {
  CHECK(contains(error_of([] { TextSource::load("/dev/zero"); }), "not a regular file"));
}
#endif

TEST_CASE("text: more than 50 MB is refused before it is read", "[data]") {
  const TemporaryFile file("x");
  std::filesystem::resize_file(file.path(), TextSource::kMaxBytes + 1);  // sparse: costs no disk
  CHECK(contains(error_of([&] { TextSource::load(file.path()); }),
                 "is too large (50.0 MB): expected at most 50 MB"));
}

TEST_CASE("text: each split must hold four windows", "[data]") {
  const TextSource enough(corpus_text(1, 2600), "enough"), short_one(corpus_text(1, 2599), "short");
  CHECK(error_of([&] { enough.require_context(64); }) == "no error");
  CHECK(
      error_of([&] { short_one.require_context(64); }) ==
      "[text short] is too short: 2599 characters, of which the last tenth, 259, is for validation; a context "
      "of 64 needs 260 there, so expected at least 2600 characters or a shorter context");
}

TEST_CASE("text: 50 MB load in seconds", "[data][slow]") {
  std::string text = corpus_text(1, 1'000'000);
  text.replace(10, 2, "\xc3\xa9");
  std::string large;
  while (large.size() + text.size() <= TextSource::kMaxBytes) large += text;
  const TemporaryFile file(large);
  const auto start = std::chrono::steady_clock::now();
  const TextSource source = TextSource::load(file.path());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(source.tokens(Split::Train).size() + source.tokens(Split::Validation).size() == 50 * 999'999);
  CHECK(seconds < 10);  // about 0.5 s; generous for a busy machine
}

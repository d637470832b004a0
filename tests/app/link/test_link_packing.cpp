// These tests cover the packed form of a link: it comes back to the bit, has the same bytes for ever, is refused where
// it is damaged, and bounded where it is made to do harm.
#include "app/link/packing.h"

#include <random>
#include <string>

#include "catch.hpp"
#include "engine/core/error.h"

using namespace normscope;
using namespace normscope::link;

namespace {

// `kText` is a link of version 1 that another program packed, written from the description in docs/links.md.
constexpr const char* kText =
    "run=A=post\nset=model.layers=24\nset=A:wiring.L01.attn=before=ln after=rms\n"
    "set=A:wiring.L01.ffn=trunk=dyt\nedit=A:12:train.lr=0.002\nstep=300\ncursor=17\nend\n";
constexpr const char* kPacked = "AJhWbnm96c86vUyj2WvIMtitUcYRLC0TX84qWemB_CNo";

std::string any_bytes(std::mt19937& random, size_t count) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) bytes += static_cast<char>(random() % 256);
  return bytes;
}

}  // namespace

TEST_CASE("a packed link of version 1 is read for ever, and written the same") {
  CHECK(to_base64url(packed(kText)) == kPacked);
  CHECK(unpacked(from_base64url(kPacked)) == kText);
}

TEST_CASE("any bytes come back from their packed form, and settings take few") {
  std::mt19937 random(7);
  for (const size_t count : {0u, 1u, 2u, 3u, 100u, 3000u}) {
    const std::string bytes = any_bytes(random, count);
    CHECK(unpacked(packed(bytes)) == bytes);
    CHECK(from_base64url(to_base64url(bytes)) == bytes);
    CHECK(percent_decoded(percent_encoded(bytes)) == bytes);
  }
  std::string text;
  for (int layer = 1; layer <= 24; ++layer)
    for (const char* sublayer : {"attn", "ffn"})
      text += fmt::format("set=A:wiring.L{:02}.{}=trunk=ln\n", layer, sublayer);
  CHECK(packed(text).size() < text.size() / 20);
  CHECK(packed(std::string(kMostText, 'a')).size() < 1000);
  CHECK_THROWS_AS(packed(std::string(kMostText + 1, 'a')), Error);
}

TEST_CASE("a packed link that was cut, changed or made up is refused") {
  const std::string whole = packed(kText);
  for (size_t length = 0; length + 1 < whole.size(); ++length) {
    INFO(length);
    CHECK_THROWS_AS(unpacked(whole.substr(0, length)), Error);
  }
  for (size_t at = 0; at + 1 < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    INFO(at);
    CHECK_THROWS_AS(unpacked(changed), Error);
  }
  std::mt19937 random(11);
  for (int i = 0; i < 10; ++i) {
    std::string made_up = any_bytes(random, 60);
    made_up[0] = 0;  // a length that is possible
    CHECK_THROWS_AS(unpacked(made_up), Error);
  }
  // A few bytes that ask for much: more than there may be, and as much as there may be.
  CHECK_THROWS_AS(unpacked(std::string("\xff\xff\0\0", 4) + std::string(40, '\0')), Error);
  CHECK_THROWS_AS(unpacked(std::string("\x80\0\0\1", 4) + std::string(40, '\0')), Error);
}

TEST_CASE("what is no base64 or percent encoding is refused") {
  for (const char* text : {"AA=A", "A A", "A+", "A/", "\xc3\xa4"})
    CHECK_THROWS_AS(from_base64url(text), Error);
  for (const char* text : {"%", "a%2", "%zz", "%2", "%%41", "% 41"})
    CHECK_THROWS_AS(percent_decoded(text), Error);
  CHECK(percent_decoded("a+b%2Bc%C3%A4") == "a b+c\xc3\xa4");
  CHECK(percent_encoded("a b+c&d=e") == "a+b%2Bc%26d=e");
}

// These tests demand that the substitute for std::from_chars, where a standard library lacks it, reads the same.
#include <bit>
#include <charconv>
#include <clocale>

#include "catch.hpp"
#include "engine/core/initial_values.h"
#include "engine/core/real_text.h"

using namespace normscope;

namespace {

template <typename Real>
void check_same(const std::string& text) {
  INFO("'" << text << "'");
  Real expected = 42, got = 42;
  const char* const end = text.data() + text.size();
  const auto by_standard = std::from_chars(text.data(), end, expected);
  const auto by_c = read_real_by_c(text.data(), end, got);
  CHECK(by_c.ec == by_standard.ec);
  if (by_standard.ec != std::errc::invalid_argument) CHECK(by_c.ptr == by_standard.ptr);
  if (std::isnan(expected))
    CHECK(std::isnan(got));
  else
    CHECK(got == expected);
}

/// Between bars.
const std::string kTexts =
    "0|-0|1|-1.5|1.|.5|-.5|.|-||+1| 1|1 |1e5|1e|1e+|1e+5|1E-3|1e-3x|0x1p3|1,5|1.2.3|inf|-inf|"
    "infinity|INF|nan|-nan|nanx|infx|1e400|-1e400|1e-400|1e39|1e-50|0e400|0.1|3e-3|"
    "0.30000001192092896|123456789012345678901234567890|4.9e-324|1.17549435e-38|3.4028235e38|e5|"
    "--1|1e5e5";

TEST_CASE("numbers in text: the C library's reading ends where std::from_chars ends, with the same value") {
  std::istringstream texts(kTexts);
  for (std::string text; std::getline(texts, text, '|');) {
    check_same<float>(text);
    check_same<double>(text);
  }
}

TEST_CASE("numbers in text: a locale with a comma changes nothing") {
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "C"}) {
    if (!std::setlocale(LC_ALL, locale)) continue;  // not installed here; "C" always is
    double value = 0;
    const std::string text = "1.5";
    const auto read = read_real_by_c(text.data(), text.data() + text.size(), value);
    std::setlocale(LC_ALL, "C");
    CHECK(read.ec == std::errc{});
    CHECK(value == 1.5);
  }
}

// Initial weights have the same bits on every processor: these checksums are of x86-64 and of AArch64, with glibc.

/// FNV-1a over the numbers' bits.
uint64_t bits_of(const std::vector<float>& values) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const float value : values) hash = (hash ^ std::bit_cast<uint32_t>(value)) * 0x100000001b3u;
  return hash;
}

}  // namespace

TEST_CASE("initial values have the same bits whatever the processor") {
  Init unit{Init::Kind::Normal, 0.25}, turns{Init::Kind::Turns, 1.0};
  unit.unit = Init::Unit::Rows;
  for (int i = 0; i < 32; ++i) turns.rates.push_back(1.0 / (1.0 + i * 3.7));
  CHECK(bits_of(initial_values("L00.ffn.1", {512, 2048}, {Init::Kind::Normal, 0.02}, 1)) ==
        0x669d9f68905ac396u);
  CHECK(bits_of(initial_values("L01.attn.q", {512, 512}, unit, 2)) == 0xd8e41e9e54d9b24cu);
  CHECK(bits_of(initial_values("positions", {512, 256}, {Init::Kind::Sinusoid}, 3)) == 0xe80d2ccfb7c487c8u);
  CHECK(bits_of(initial_values("rotary", {512, 64}, turns, 4)) == 0xdb92e82d11490541u);
  CHECK(bits_of(initial_values("L00.ffn.1", {512, 2048}, {Init::Kind::Normal, 0.02}, 2)) !=
        0x669d9f68905ac396u);
}

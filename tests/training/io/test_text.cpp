// These tests cover what takes short texts apart and changes them.
#include "training/io/text.h"

#include "catch.hpp"

using namespace normscope;
using Parts = std::vector<std::string_view>;

TEST_CASE("text: a text is split into one part more than it has marks") {
  CHECK(split("a,bc,,d", ',') == Parts{"a", "bc", "", "d"});
  CHECK(split("abc", ',') == Parts{"abc"});
  CHECK(split(",", ',') == Parts{"", ""});
  CHECK(split("", ',') == Parts{""});
}

TEST_CASE("text: blanks around it go, letters get small, places are filled once") {
  CHECK(trimmed(" \t a b\r\n") == "a b");
  CHECK(trimmed(" \n").empty());
  CHECK(small_letters("Post-LN, Ä") == "post-ln, Ä");
  std::string text = "aXbXX";
  replace_each(text, "X", "XY");
  CHECK(text == "aXYbXYXY");
  replace_each(text, "XY", "");
  CHECK(text == "ab");
  CHECK(in_words(Parts{"a", "b", "c"}, "or") == "a, b or c");
  CHECK(in_words(Parts{"a"}, "or") == "a");
}

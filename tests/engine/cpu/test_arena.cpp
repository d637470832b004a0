// These tests cover the arena that programs share: what one of them gives back is still there for the others.
#include "catch.hpp"
#include "engine/cpu/arena.h"
#include "skip.h"

namespace normscope::test {

TEST_CASE("arena: of two programs of one size the end of one leaves the other its pages", "[memory]") {
  constexpr size_t kFloats = size_t{4} << 20;
  cpu::Arena arena;
  if (!arena.fits(kFloats)) SKIP_CASE("this system has no such range of addresses");
  arena.claim(kFloats);
  arena.claim(kFloats);
  float& last = arena.base()[kFloats - 1];
  last = 1;
  arena.release(kFloats);
  CHECK(last == 1);
  arena.release(kFloats);
}

}  // namespace normscope::test

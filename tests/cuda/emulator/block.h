// The emulator runs one grid of threads on the host: each thread of a block is a fiber, blocks run one by one. The
// order of blocks, of warps and of the lanes of a warp is another one in every launch, so that a result that depends on
// it (a missing barrier, a sum in order of arrival) differs from run to run. Barriers are checked: a thread that waits
// where others do not, or a shuffle without all lanes of its warp, ends the program with a line that says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

namespace emulated {

struct Stream;
struct Event;
struct Graph;

struct Index {
  unsigned x = 0, y = 0, z = 0;
};
struct GridShape {
  Index blocks, threads;
  size_t shared = 0;  ///< dynamic shared memory in bytes
};

/// What a running thread is.
struct Lane {
  Index thread;
  unsigned lane = 0;          ///< in its warp
  uint64_t* slots = nullptr;  ///< of its warp: two of a lane, used in turns
  unsigned turn = 0;
};
extern Lane* current;

struct Block {
  Index index, threads, blocks;
};
extern Block block;

void run_grid(const GridShape& shape, const std::function<void()>& kernel);

void meet_block(int line);
void meet_warp(int line);
[[noreturn]] void stop(const char* what, int line);

/// Another number each time, in the same series in every run of the program.
uint32_t random_number();

template <class T>
T shuffle(uint32_t mask, T value, unsigned from, int line) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  if (mask != 0xffffffffu) stop("a shuffle without all lanes", line);
  const unsigned turn = current->turn ^= 1;
  std::memcpy(&current->slots[2 * current->lane + turn], &value, sizeof value);
  meet_warp(line);
  const unsigned source = from < 32 ? from : current->lane;
  std::memcpy(&value, &current->slots[2 * source + turn], sizeof value);
  return value;
}

inline uint32_t ballot(uint32_t mask, bool condition, int line) {
  uint32_t bits = condition ? 1u << current->lane : 0u;
  for (unsigned step = 1; step < 32; step *= 2) bits |= shuffle(mask, bits, current->lane ^ step, line);
  return bits;
}

}  // namespace emulated

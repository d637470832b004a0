// What the fuzz targets share. A target reads one format: it takes any bytes, and the reader either succeeds or
// throws normscope::Error. Any other exception, a sanitizer's report, an allocation beyond reason and more than a
// second for 64 kB are faults. All are one program, with libFuzzer where the compiler is Clang, else with driver.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/error.h"

// `LLVMFuzzerInitialize` and the two below it are called by libFuzzer or by driver.cpp; the first learns from the name
// that the program was called by which target is meant. `LLVMFuzzerMutate` is theirs, the plain mutation of bytes.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed);
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace normscope::fuzz {

/// Reads one format, and brings a mutator of its own where the plain one seldom gets past the parser.
struct Target {
  void (*read)(std::string_view input);
  size_t (*mutate)(uint8_t* data, size_t size, size_t max_size, unsigned seed) = nullptr;
};

/// Holds all of them, as fuzz_NAME; `target` is the one that this process was called for.
std::map<std::string, Target>& targets();
const Target& target();

/// `FUZZ_TARGET(NAME[, MUTATOR]) { ... }` adds a target, whose body gets `input`.
#define FUZZ_TARGET(name, ...)                                                               \
  static void fuzz_##name(std::string_view input);                                           \
  static const bool added_##name =                                                           \
      normscope::fuzz::targets().insert({"fuzz_" #name, {fuzz_##name, __VA_ARGS__}}).second; \
  static void fuzz_##name(std::string_view input)

inline std::span<const uint8_t> bytes_of(std::string_view input) {
  return {reinterpret_cast<const uint8_t*>(input.data()), input.size()};
}

/// Runs the reader; false when it refused the input with an Error.
template <typename Read>
bool accepts(Read&& read) {
  try {
    std::forward<Read>(read)();
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Ends the program where something that every accepted input promises does not hold.
void require(bool holds, const char* what);

/// Holds files in memory for the readers that take a path. There is one folder per process, removed at its end.
class Folder {
 public:
  static Folder& instance();
  std::string path(const std::string& name = "") const;
  std::string write(const std::string& name, std::string_view bytes) const;
  ~Folder();

 private:
  Folder();
  std::string path_;
};

/// Limits the depth of brackets, because the library writes JSON by recursion, which is not tested here.
bool shallow(std::string_view json);

/// Changes the header of a file as what it is: numbers to the edges of their types, values of
/// another type, names taken away and doubled, JSON inside of metadata likewise, its length kept right.
size_t mutate_safetensors(uint8_t* data, size_t size, size_t max_size, unsigned seed);
/// Does the same for a file that is JSON.
size_t mutate_json(uint8_t* data, size_t size, size_t max_size, unsigned seed);

}  // namespace normscope::fuzz

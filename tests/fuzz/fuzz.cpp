#include "fuzz.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <vector>

namespace normscope::fuzz {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kDeepest = 6;  // of JSON in a string in JSON

const Target* chosen = nullptr;

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  size_t below(size_t n) { return n == 0 ? 0 : random_() % n; }

  Json number() {
    static const std::vector<double> kEdges = [] {
      std::istringstream words(
          "0 1 -1 2 -3 7 19 20 255 256 4096 65536 2147483646 2147483647 -2147483648 4294967295 4294967296 "
          "9007199254740993 0.5 1e-30 1e30 -1e300");
      return std::vector<double>{std::istream_iterator<double>(words), {}};
    }();
    const double value = kEdges[below(kEdges.size())];
    if (below(8) == 0) return std::numeric_limits<int64_t>::max() - static_cast<int64_t>(below(2));
    if (below(8) == 0) return std::numeric_limits<int64_t>::min();
    if (std::abs(value) < 1e18 && value == std::floor(value) && below(4) != 0)
      return static_cast<int64_t>(value);
    return value;
  }

  std::string word(std::string text) {
    switch (below(6)) {
      case 0:
        return "";
      case 1:
        return text + text;
      case 2:
        return text.substr(0, below(text.size() + 1));
      case 3:
        return number().dump();
      case 4:
        return std::string(below(300), 'a') + "\xff/../\n";
      default:
        if (!text.empty()) text[below(text.size())] = static_cast<char>(below(256));
        return text;
    }
  }

  Json other() {
    switch (below(6)) {
      case 0:
        return nullptr;
      case 1:
        return below(2) == 0;
      case 2:
        return Json::array();
      case 3:
        return Json::object();
      case 4:
        return "x";
      default:
        return number();
    }
  }

  void change(Json& at, int depth = 0) {
    if (below(12) == 0) {
      at = other();
    } else if (at.is_string()) {
      change_text(at, depth);
    } else if (at.is_number()) {
      at = number();
    } else if (at.is_boolean()) {
      at = !at.get<bool>();
    } else if (at.is_structured() && !at.empty()) {
      change_inside(at, depth);
    } else {
      at = other();
    }
  }

 private:
  void change_text(Json& at, int depth) {
    std::string text = at.get<std::string>();
    if (depth < kDeepest && below(8) != 0) {  // metadata: a number or JSON as text
      Json inner = Json::parse(text, nullptr, false);
      if (!inner.is_discarded()) {
        change(inner, depth + 1);
        at = inner.dump(-1, ' ', false, Json::error_handler_t::replace);
        return;
      }
    }
    at = word(std::move(text));
  }

  void change_inside(Json& at, int depth) {
    auto item = at.begin();
    std::advance(item, static_cast<std::ptrdiff_t>(below(at.size())));
    switch (below(10)) {
      case 0:
        at.erase(item);
        return;
      case 1:
        if (at.is_array())
          at.push_back(Json(*item));
        else
          at[word(item.key())] = Json(*item);
        return;
      default:
        change(*item, depth);
    }
  }

  std::minstd_rand random_;
};

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

size_t put(uint8_t* data, size_t max_size, const std::string& bytes) {
  if (bytes.size() > max_size) return 0;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

}  // namespace

std::map<std::string, Target>& targets() {
  static std::map<std::string, Target> all;
  return all;
}

const Target& target() { return *chosen; }

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

Folder::Folder() {
  std::error_code error;
  const fs::path memory = "/dev/shm";
  const fs::path base = fs::is_directory(memory, error) ? memory : fs::temp_directory_path();
  path_ = (base / ("normscope-fuzz-" + std::to_string(::getpid()))).string();
  fs::create_directories(path_);
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Folder& Folder::instance() {
  static Folder folder;
  return folder;
}

std::string Folder::path(const std::string& name) const { return name.empty() ? path_ : path_ + "/" + name; }

std::string Folder::write(const std::string& name, std::string_view bytes) const {
  const std::string path = this->path(name);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

size_t mutate_safetensors(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  Mutator mutator(seed);
  uint64_t length = 0;
  if (size >= 8) std::memcpy(&length, data, 8);
  // One in four as bytes: the length, the quotes, the numbers of the tensors.
  if (size < 8 || length > size - 8 || mutator.below(4) == 0) return LLVMFuzzerMutate(data, size, max_size);
  const char* header = reinterpret_cast<const char*>(data) + 8;
  Json json = Json::parse(header, header + length, nullptr, false);
  if (json.is_discarded()) return LLVMFuzzerMutate(data, size, max_size);
  std::string rest(header + length, size - 8 - length);
  // Half of the time what the file says of itself, else the tensors; sometimes their bytes too.
  for (size_t changes = 1 + mutator.below(2); changes-- > 0;) {
    if (json.contains("__metadata__") && mutator.below(2) == 0)
      mutator.change(json["__metadata__"]);
    else
      mutator.change(json);
  }
  if (!rest.empty() && mutator.below(3) == 0) {
    const auto at = reinterpret_cast<uint8_t*>(rest.data());
    const size_t first = mutator.below(rest.size()) / 4 * 4, room = std::min<size_t>(4, rest.size() - first);
    const int64_t number = mutator.number().is_number() ? static_cast<int64_t>(mutator.below(3)) - 1 : 0;
    if (mutator.below(2) == 0)
      LLVMFuzzerMutate(at + first, room, room);
    else
      std::memcpy(at + first, &number, room);
  }
  const std::string text = dumped(json);
  const uint64_t now = text.size();
  std::string bytes(reinterpret_cast<const char*>(&now), 8);
  const size_t made = put(data, max_size, bytes + text + rest);
  return made ? made : LLVMFuzzerMutate(data, size, max_size);
}

bool shallow(std::string_view json) {
  int depth = 0;
  for (const char c : json) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > 200) return false;
  }
  return true;
}

size_t mutate_json(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  Mutator mutator(seed);
  if (!shallow({reinterpret_cast<const char*>(data), size})) return LLVMFuzzerMutate(data, size, max_size);
  Json json = Json::parse(data, data + size, nullptr, false);
  if (json.is_discarded() || mutator.below(4) == 0) return LLVMFuzzerMutate(data, size, max_size);
  for (size_t changes = 1 + mutator.below(3); changes-- > 0;) mutator.change(json);
  const size_t made = put(data, max_size, dumped(json));
  return made ? made : LLVMFuzzerMutate(data, size, max_size);
}

}  // namespace normscope::fuzz

using namespace normscope;

extern "C" int LLVMFuzzerInitialize(int*, char*** argv) {
  const auto found = fuzz::targets().find(std::filesystem::path(**argv).filename().string());
  if (found == fuzz::targets().end()) {
    std::fprintf(stderr, "fuzz: call this program by a link to it that is named after a target, one of:\n");
    for (const auto& [name, target] : fuzz::targets()) std::fprintf(stderr, "  %s\n", name.c_str());
    std::exit(2);
  }
  fuzz::chosen = &found->second;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::target().read({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  const auto mutate = fuzz::target().mutate;
  return mutate ? mutate(data, size, max_size, seed) : LLVMFuzzerMutate(data, size, max_size);
}

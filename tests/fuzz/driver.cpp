// The main program of the fuzz targets where there is no libFuzzer: a small deterministic mutator of ours that
// takes the same options.
//
//   TARGET [-runs=N] [-max_total_time=SECONDS] [-seed=N] [-max_len=BYTES] [-dict=FILE] FILE|FOLDER...
//
// First every input as it is, then mutations of them: bits and bytes, the edges of integers, pieces taken away, doubled
// and moved, two inputs spliced, tokens of the format out of the dictionary. The same seed gives the same inputs. An
// input that is a fault is written to crash-TARGET in the working folder; giving that file alone runs it once.
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "fuzz.h"

extern "C" {
void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));
// No reader needs half a gigabyte for a small file, so more is a fault.
const char* __asan_default_options() {
  return "max_allocation_size_mb=512:allocator_may_return_null=0:handle_abort=1:handle_sigfpe=1";
}
}

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;
using Clock = std::chrono::steady_clock;

constexpr double kSecondsForSmall = 1;  // of the processor, for an input below kSmall
constexpr size_t kSmall = size_t{64} << 10;
constexpr long kMaxMemory = 2 << 20;  // kB
constexpr unsigned kHang = 60;        // seconds of the clock

struct Options {
  uint64_t runs = 0, seconds = 0, seed = 1;
  size_t longest = kSmall;
  std::vector<std::string> inputs;
  std::vector<Bytes> tokens;
};

std::string program = "target";
const Bytes* current = nullptr;  // what the target is reading

void keep_input() {
  if (!current) return;
  const std::string path = "crash-" + program;
  if (std::FILE* file = std::fopen(path.c_str(), "wb")) {
    std::fwrite(current->data(), 1, current->size(), file);
    std::fclose(file);
    std::fprintf(stderr, "fuzz: the input is kept as %s (%zu bytes)\n", path.c_str(), current->size());
  }
}

[[noreturn]] void fault(const char* what) {
  std::fprintf(stderr, "fuzz: %s: %s\n", program.c_str(), what);
  std::abort();
}

void on_signal(int signal) {
  std::fprintf(stderr, "fuzz: %s: signal %d\n", program.c_str(), signal);
  keep_input();
  std::_Exit(1);
}

[[noreturn]] void on_terminate() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz: %s: an exception that is no Error: %s\n", program.c_str(), error.what());
  } catch (...) {
    std::fprintf(stderr, "fuzz: %s: an unknown exception\n", program.c_str());
  }
  std::abort();
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void run(const Bytes& input) {
  current = &input;
  alarm(kHang);
  const double begin = processor_seconds();
  LLVMFuzzerTestOneInput(input.data(), input.size());
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  if (used.ru_maxrss > kMaxMemory) fault("more than two gigabytes");
  if (input.size() < kSmall && processor_seconds() - begin > kSecondsForSmall) fault("more than a second");
  alarm(0);
  current = nullptr;
}

std::mt19937_64 random_numbers;
std::vector<Bytes> corpus;
const std::vector<Bytes>* dictionary = nullptr;

size_t below(size_t n) { return n == 0 ? 0 : random_numbers() % n; }

void insert(Bytes& bytes, size_t at, const Bytes& piece, size_t most) {
  const size_t room = most - std::min(most, bytes.size());
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), piece.begin(),
               piece.begin() + static_cast<std::ptrdiff_t>(std::min(room, piece.size())));
}

Bytes piece_of(const Bytes& bytes) {
  if (bytes.empty()) return {};
  const size_t from = below(bytes.size()), length = 1 + below(std::min<size_t>(bytes.size() - from, 64));
  return {bytes.begin() + static_cast<std::ptrdiff_t>(from),
          bytes.begin() + static_cast<std::ptrdiff_t>(from + length)};
}

// Makes a number of the text one at the edge of a type.
void change_number(Bytes& bytes, size_t most) {
  static const std::vector<std::string> kNumbers = [] {
    std::istringstream words(
        "0 -1 1 2147483647 2147483648 -2147483648 1e9 4294967296 -9223372036854775808 "
        "9223372036854775807 1e308 -0.0 nan inf 1e-320 007");
    return std::vector<std::string>{std::istream_iterator<std::string>(words), {}};
  }();
  const auto digit = [](uint8_t c) { return c >= '0' && c <= '9'; };
  const size_t start = below(bytes.size());
  const auto first = std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(start), bytes.end(), digit);
  if (first == bytes.end()) return;
  const auto last = std::find_if_not(first, bytes.end(), digit);
  const std::string& number = kNumbers[below(kNumbers.size())];
  const size_t at = static_cast<size_t>(first - bytes.begin());
  bytes.erase(first, last);
  insert(bytes, at, Bytes(number.begin(), number.end()), most);
}

void change_integer(Bytes& bytes) {
  static const int64_t kEdges[] = {
      0, 1, -1, 127, -128, 255, 32767, 65535, 2147483647, -2147483648LL, 4294967295LL, INT64_MAX, INT64_MIN};
  const size_t width = std::array<size_t, 4>{1, 2, 4, 8}[below(4)];
  if (bytes.size() < width) return;
  const int64_t value = kEdges[below(std::size(kEdges))];
  std::memcpy(bytes.data() + below(bytes.size() - width + 1), &value, width);
}

void mutate_once(Bytes& bytes, size_t most) {
  if (bytes.empty()) bytes.push_back(static_cast<uint8_t>(below(256)));
  const size_t at = below(bytes.size());
  switch (below(10)) {
    case 0:
      bytes[at] ^= static_cast<uint8_t>(1u << below(8));
      break;
    case 1:
      bytes[at] = static_cast<uint8_t>(below(256));
      break;
    case 2: {
      const size_t length = 1 + below(std::min<size_t>(bytes.size() - at, 32));
      bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                  bytes.begin() + static_cast<std::ptrdiff_t>(at + length));
      break;
    }
    case 3:
      insert(bytes, at, piece_of(bytes), most);
      break;
    case 4:
      insert(bytes, at, piece_of(corpus[below(corpus.size())]), most);
      break;
    case 5:
      change_integer(bytes);
      break;
    case 6:
      change_number(bytes, most);
      break;
    case 7: {  // one piece many times: nesting, long lines
      const Bytes piece = piece_of(bytes);
      for (size_t i = below(200); i-- > 0;) insert(bytes, at, piece, most);
      break;
    }
    default:
      if (dictionary && !dictionary->empty())
        insert(bytes, at, (*dictionary)[below(dictionary->size())], most);
      else
        bytes[at] = static_cast<uint8_t>(below(256));
  }
}

Bytes mutation(size_t longest) {
  Bytes bytes = corpus[below(corpus.size())];
  if (below(8) == 0) {  // the beginning of one, the end of another
    const Bytes& other = corpus[below(corpus.size())];
    bytes.resize(below(bytes.size() + 1));
    insert(bytes, bytes.size(),
           {other.begin() + static_cast<std::ptrdiff_t>(below(other.size())), other.end()}, longest);
  }
  const size_t most = std::max(longest, bytes.size());
  for (size_t changes = 1 + below(4); changes-- > 0;) {
    if (!normscope::fuzz::target().mutate) {
      mutate_once(bytes, most);
      continue;
    }
    const size_t size = bytes.size();
    bytes.resize(most + 4096);
    bytes.resize(
        LLVMFuzzerCustomMutator(bytes.data(), size, bytes.size(), static_cast<unsigned>(random_numbers())));
  }
  return bytes;
}

Bytes read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Reads libFuzzer's format: one "token" a line, with \xHH, \\ and \".
std::vector<Bytes> read_dictionary(const std::string& path) {
  std::vector<Bytes> tokens;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find('"'), last = line.rfind('"');
    if (line.starts_with('#') || first == std::string::npos || last <= first) continue;
    Bytes token;
    for (size_t i = first + 1; i < last; ++i) {
      if (line[i] != '\\') {
        token.push_back(static_cast<uint8_t>(line[i]));
      } else if (line[++i] == 'x') {
        token.push_back(static_cast<uint8_t>(std::stoul(line.substr(i + 1, 2), nullptr, 16)));
        i += 2;
      } else {
        token.push_back(static_cast<uint8_t>(line[i]));
      }
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t sign = argument.find('=');
    const std::string key = argument.substr(0, sign),
                      value = sign == std::string::npos ? "" : argument.substr(sign + 1);
    if (key == "-runs")
      options.runs = std::stoull(value);
    else if (key == "-max_total_time")
      options.seconds = std::stoull(value);
    else if (key == "-seed")
      options.seed = std::stoull(value);
    else if (key == "-max_len")
      options.longest = std::stoull(value);
    else if (key == "-dict")
      options.tokens = read_dictionary(value);
    else if (!argument.starts_with('-'))
      options.inputs.push_back(argument);
  }
  return options;
}

void read_corpus(const std::vector<std::string>& inputs) {
  std::vector<fs::path> files;
  for (const std::string& input : inputs) {
    if (!fs::is_directory(input)) {
      files.emplace_back(input);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(input))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) corpus.push_back(read(file));
  corpus.emplace_back();
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) {
  Bytes bytes(data, data + size);
  mutate_once(bytes, max_size);
  bytes.resize(std::min(bytes.size(), max_size));
  std::ranges::copy(bytes, data);
  return bytes.size();
}

int main(int argc, char** argv) {
  program = fs::path(argv[0]).filename().string();
  LLVMFuzzerInitialize(&argc, &argv);
  std::set_terminate(on_terminate);
  if (__sanitizer_set_death_callback)
    __sanitizer_set_death_callback(keep_input);
  else
    for (const int signal : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(signal, on_signal);
  std::signal(SIGALRM, on_signal);
  const Options options = options_of(argc, argv);
  random_numbers.seed(options.seed);
  dictionary = &options.tokens;
  read_corpus(options.inputs);

  const auto begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  uint64_t done = 0;
  for (const Bytes& input : corpus) {
    run(input);
    ++done;
  }
  while ((options.runs == 0 && options.seconds > 0) || done < options.runs) {
    if (options.seconds > 0 && seconds() >= static_cast<double>(options.seconds)) break;
    run(mutation(options.longest));
    ++done;
  }
  std::printf("%s: %llu executions in %.1f s, no fault\n", program.c_str(),
              static_cast<unsigned long long>(done), seconds());
  return 0;
}

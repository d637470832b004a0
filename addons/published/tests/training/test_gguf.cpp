// GGUF files: every type of blocks by hand, the models of the fixtures as such files, their tokenizers, and what is
// refused.
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "addons/published/tests/training/opened_folder.h"
#include "addons/published/training/family.h"
#include "addons/published/training/gguf.h"
#include "addons/published/training/model_folder.h"
#include "addons/published/training/tokenizer/published_tokenizer.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "folder.h"
#include "refusals/refusals.h"
#include "skip.h"
#include "training/io/text.h"
#include "training/run/checkpoint.h"
#include "training/spec/spec_text.h"

// Writes a GGUF file.

namespace normscope::test {

template <typename T>
void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}
inline void put_text(std::string& to, std::string_view text) {
  put<uint64_t>(to, text.size());
  to += text;
}

struct GgufWriter {
  uint32_t version = 3;
  uint64_t keys = 0, tensors = 0;
  std::string head{}, names{}, data{};

  /// `value` is a number, a text, a flag or a list of these.
  template <typename T>
  GgufWriter& key(std::string_view name, const T& value) {
    put_text(head, name);
    put_type(value);
    put_value(value);
    ++keys;
    return *this;
  }
  /// `shape` is from the last dimension on, as the file has it.
  GgufWriter& tensor(std::string_view name, const std::vector<uint64_t>& shape, uint32_t type,
                     std::string_view bytes) {
    data.resize((data.size() + 31) / 32 * 32);
    put_text(names, name);
    put(names, static_cast<uint32_t>(shape.size()));
    for (const uint64_t length : shape) put(names, length);
    put(names, type);
    put<uint64_t>(names, data.size());
    data += bytes;
    ++tensors;
    return *this;
  }
  std::string bytes() const {
    std::string all = "GGUF";
    put(all, version);
    put(all, tensors);
    put(all, keys);
    all += head + names;
    all.resize((all.size() + 31) / 32 * 32);
    return all + data;
  }

 private:
  template <typename T>
  static constexpr uint32_t type_of() {
    if constexpr (std::is_same_v<T, bool>) return 7;
    if constexpr (std::is_same_v<T, float>) return 6;
    if constexpr (std::is_same_v<T, uint32_t>) return 4;
    if constexpr (std::is_same_v<T, int32_t>) return 5;
    return 8;
  }
  template <typename T>
  void put_type(const T&) {
    put(head, type_of<T>());
  }
  template <typename T>
  void put_type(const std::vector<T>& list) {
    put<uint32_t>(head, 9);
    put(head, type_of<T>());
    put<uint64_t>(head, list.size());
  }
  template <typename T>
  void put_value(const T& value) {
    if constexpr (type_of<T>() == 8)
      put_text(head, value);
    else
      put(head, value);
  }
  template <typename T>
  void put_value(const std::vector<T>& list) {
    for (const T& value : list) put_value(value);
  }
};

}  // namespace normscope::test

namespace normscope::test_gguf {
using namespace test;
using published::GgufFile, test_opened_folder::kFolder, test_opened_folder::FolderModel;
using Json = nlohmann::json;
using Numbers = std::vector<float>;
namespace {
namespace fs = std::filesystem;

constexpr uint16_t kOne = 0x3c00, kHalf = 0x3800, kMinusTwo = 0xc000;  // as F16

GgufFile parse(const std::string& bytes) {
  return GgufFile::parse({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "t.gguf");
}

/// The numbers of a tensor of one block, or so many.
Numbers numbers_of(uint32_t type, uint64_t count, const std::string& block) {
  const std::string bytes = GgufWriter().tensor("t", {count}, type, block).bytes();
  const GgufFile file = parse(bytes);
  std::vector<float> room;
  const auto read = file.tensors().at("t").numbers(0, count, room);
  return {read.begin(), read.end()};
}

template <typename Number>
Numbers made(int count, Number number) {
  Numbers all;
  for (int i = 0; i < count; ++i) all.push_back(static_cast<float>(number(i)));
  return all;
}

/// Scales and minima of six bits as the long blocks have them: of block j of eight 7 j + 3 and 60 - 8 j.
int scale(int j) { return 7 * j + 3; }
int minimum(int j) { return 60 - 8 * j; }
std::string packed_scales() {
  std::string bytes(12, '\0');
  for (int j = 0; j < 4; ++j) {
    const auto put = [&](int at, int value) { bytes[static_cast<size_t>(at)] = static_cast<char>(value); };
    put(j, scale(j) | scale(j + 4) >> 4 << 6);
    put(j + 4, minimum(j) | minimum(j + 4) >> 4 << 6);
    put(j + 8, (scale(j + 4) & 15) | (minimum(j + 4) & 15) << 4);
  }
  return bytes;
}

}  // namespace

TEST_CASE("gguf: every type of numbers is read as by hand", "[published]") {
  std::string block;
  for (const float number : {1.5f, -2.0f}) put(block, number);
  CHECK(numbers_of(0, 2, block) == Numbers{1.5f, -2});
  block.clear();
  for (const uint16_t number : {kHalf, kMinusTwo}) put(block, number);
  CHECK(numbers_of(1, 2, block) == Numbers{0.5f, -2});
  CHECK(numbers_of(30, 2, std::string("\x80\x3f\xf7\xc2", 4)) == Numbers{1, -123.5f});

  std::string nibbles;  // i beside 15 - i
  for (int i = 0; i < 16; ++i) nibbles += static_cast<char>(i | (15 - i) << 4);
  const auto nibble = [](int i) { return i < 16 ? i : 31 - i; };
  const std::string half_scale("\x00\x38", 2), one("\x00\x3c", 2), fifth("\x0f\x00\xf0\x00", 4);
  const auto with_fifth = [&](int i) { return nibble(i) + (i < 4 || (i >= 20 && i < 24) ? 16 : 0); };
  CHECK(numbers_of(2, 32, half_scale + nibbles) == made(32, [&](int i) { return 0.5 * (nibble(i) - 8); }));
  CHECK(numbers_of(3, 32, half_scale + one + nibbles) ==
        made(32, [&](int i) { return 0.5 * nibble(i) + 1; }));
  CHECK(numbers_of(6, 32, half_scale + fifth + nibbles) ==
        made(32, [&](int i) { return 0.5 * (with_fifth(i) - 16); }));
  CHECK(numbers_of(7, 32, half_scale + one + fifth + nibbles) ==
        made(32, [&](int i) { return 0.5 * with_fifth(i) + 1; }));
  block = half_scale;
  for (int i = 0; i < 32; ++i) block += static_cast<char>(8 * i - 128);
  CHECK(numbers_of(8, 32, block) == made(32, [](int i) { return 0.5 * (8 * i - 128); }));
  // Of a stretch from the middle of one block into the next, the numbers asked for.
  const std::string two = GgufWriter().tensor("t", {32, 2}, 8, block + block).bytes();
  const GgufFile file = parse(two);
  std::vector<float> room;
  const auto stretch = file.tensors().at("t").numbers(30, 4, room);
  CHECK(Numbers(stretch.begin(), stretch.end()) == Numbers{56, 60, -64, -60});
  CHECK(file.tensors().at("t").shape == TensorShape{2, 32});
}

TEST_CASE("gguf: every type of blocks of 256 is read as by hand", "[published]") {
  const std::string factors("\x00\x3c\x00\x38", 4), scales = packed_scales();  // 1 and 0.5
  std::string low, last;
  for (int i = 0; i < 128; ++i) low += static_cast<char>(i % 16 | (15 - i % 16) << 4);
  for (int i = 0; i < 32; ++i) last += static_cast<char>(i);
  const auto value = [](int i) { return i / 32 % 2 == 0 ? i % 16 : 15 - i % 16; };
  CHECK(numbers_of(12, 256, factors + scales + low) ==
        made(256, [&](int i) { return scale(i / 32) * value(i) - 0.5 * minimum(i / 32); }));
  CHECK(numbers_of(13, 256, factors + scales + last + low) == made(256, [&](int i) {
          const int with_last = value(i) + ((i % 32) >> (i / 32) & 1) * 16;
          return scale(i / 32) * with_last - 0.5 * minimum(i / 32);
        }));
  std::string high, small;
  for (int i = 0; i < 64; ++i) high += static_cast<char>(0b11100100);  // 0, 1, 2, 3 for the four parts
  for (int i = 0; i < 16; ++i) small += static_cast<char>(i - 8);
  CHECK(numbers_of(14, 256, low + high + small + std::string("\x00\x38", 2)) == made(256, [](int i) {
          const int part = i / 32 % 4, four = part < 2 ? i % 16 : 15 - i % 16;
          return 0.5 * (i / 16 - 8) * (four + 16 * part - 32);
        }));
}

TEST_CASE("gguf: blocks of two and three bits are read as by hand", "[published]") {
  // Number i of a half is i + (i / 32) modulo 4 in its part of four; scale j is j, and its minimum 15 - j.
  std::string two, both;
  for (int i = 0; i < 64; ++i) {
    int packed = 0;
    for (int part = 0; part < 4; ++part) packed |= ((i + part) & 3) << (2 * part);
    two += static_cast<char>(packed);
  }
  for (int j = 0; j < 16; ++j) both += static_cast<char>(j | (15 - j) << 4);
  const auto value = [](int i) { return ((i / 128 * 32 + i % 32) + i / 32 % 4) & 3; };
  CHECK(numbers_of(10, 256, both + two + std::string("\x00\x38\x00\x3c", 4)) ==
        made(256, [&](int i) { return 0.5 * (i / 16) * value(i) - (15 - i / 16); }));
  // The third bit of number i is set where its part is odd; scale j is 3 j, 32 taken off.
  std::string third, scales(12, '\0');
  for (int i = 0; i < 32; ++i) third += static_cast<char>(0b10101010);
  for (int j = 0; j < 16; ++j) {
    const auto add = [&](int at, int bits) {
      scales[static_cast<size_t>(at)] = static_cast<char>(scales[static_cast<size_t>(at)] | bits);
    };
    add(j % 8, (3 * j & 15) << (j / 8 * 4));
    add(8 + j % 4, (3 * j >> 4) << (j / 4 * 2));
  }
  CHECK(numbers_of(11, 256, third + two + scales + std::string("\x00\x38", 2)) ==
        made(256, [&](int i) { return 0.5 * (3 * (i / 16) - 32) * (value(i) - (i / 32 % 2 == 1 ? 0 : 4)); }));
}

TEST_CASE("gguf: blocks of uneven values and of small floats are read as by hand", "[published]") {
  constexpr int kUneven[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  constexpr double kFloats[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6};
  std::string nibbles;
  for (int i = 0; i < 16; ++i) nibbles += static_cast<char>(i | (15 - i) << 4);
  const auto nibble = [](int i) { return i % 32 < 16 ? i % 32 : 31 - i % 32; };
  const std::string half_scale("\x00\x38", 2);
  CHECK(numbers_of(20, 32, half_scale + nibbles) ==
        made(32, [&](int i) { return 0.5 * kUneven[nibble(i)]; }));
  // Scale j of eight is 7 j + 1: four low bits in nibbles, two high ones in a number of 16 bits.
  std::string low(4, '\0'), eight;
  uint16_t high = 0;
  for (int j = 0; j < 8; ++j) {
    low[static_cast<size_t>(j / 2)] =
        static_cast<char>(low[static_cast<size_t>(j / 2)] | ((7 * j + 1) & 15) << (j % 2 * 4));
    high = static_cast<uint16_t>(high | ((7 * j + 1) >> 4) << (2 * j));
    eight += nibbles;
  }
  std::string high_bits;
  put(high_bits, high);
  CHECK(numbers_of(23, 256, half_scale + high_bits + low + eight) ==
        made(256, [&](int i) { return 0.5 * (7 * (i / 32) + 1 - 32) * kUneven[nibble(i)]; }));
  CHECK(numbers_of(39, 32, "\x82" + nibbles) == made(32, [&](int i) { return 8 * kFloats[nibble(i)]; }));
}

namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

/// A table of gguf-names.txt: theirs, and what the converter of llama.cpp makes of it.
const Names& names_in(const std::string& table) {
  static const std::map<std::string, Names> tables = [] {
    std::map<std::string, Names> all;
    std::ifstream lines(NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/gguf-names.txt");
    for (std::string line, name, theirs, ours; std::getline(lines, line);)
      if (std::istringstream words(line); line[0] != '#' && words >> name >> theirs >> ours)
        all[name].emplace_back(theirs, ours);
    return all;
  }();
  return tables.at(table);
}

struct Conversion {
  const char *folder, *architecture;
  const char* names;
  bool interleaved = false, transposed = false, one_more = false;
};

/// Rows of heads of which the halves are put beside each other, one by one.
Numbers interleaved(const Numbers& rows, size_t columns, size_t heads) {
  Numbers all;
  const size_t head = rows.size() / columns / heads;
  for (size_t h = 0; h < heads; ++h)
    for (size_t i = 0; i < head; ++i) {
      const auto row =
          rows.begin() + static_cast<std::ptrdiff_t>((h * head + i % 2 * (head / 2) + i / 2) * columns);
      all.insert(all.end(), row, row + static_cast<std::ptrdiff_t>(columns));
    }
  return all;
}

/// A folder of the fixtures as the converter of llama.cpp writes it.
GgufWriter converted(const Conversion& how) {
  const fs::path folder = kFolder / how.folder;
  const Json config = Json::parse(read_all(folder / "config.json"));
  GgufWriter file;
  const std::string prefix = std::string(how.architecture) + ".";
  file.key("general.architecture", std::string(how.architecture));
  for (const auto& [theirs, key] : names_in("whole"))
    if (config.contains(theirs) && config[theirs].is_number_integer())
      file.key(prefix + key, config[theirs].get<uint32_t>());
  for (const auto& [theirs, key] : names_in("real"))
    if (config.contains(theirs) && !(config[theirs].is_null()))
      file.key(prefix + key, config[theirs].get<float>());
  if (config.contains("rope_parameters"))
    file.key(prefix + "rope.freq_base", config["rope_parameters"]["rope_theta"].get<float>());
  const published::Weights weights = published::Weights::open(folder.string());
  for (const std::string& tensor : weights.names()) {
    std::string name = tensor;
    if (name.starts_with("h.")) name = "blk" + name.substr(1);
    for (const Names* names : {&names_in(how.names), &names_in("all")})
      for (const auto& [theirs, ours] : *names) replace_each(name, theirs, ours);
    if (name.find(".attn.") != name.npos || name.find("rotary_emb") != name.npos ||
        name.starts_with("cls.") || name.find("pooler") != name.npos)
      continue;  // masks, angles, heads
    const published::WeightTensor& found = weights.tensor(tensor);
    Numbers room;
    const auto read = found.numbers(0, found.size(), room);
    Numbers numbers(read.begin(), read.end());
    std::vector<uint64_t> shape(found.shape.rbegin(), found.shape.rend());
    const bool query = name.find("attn_q.") != name.npos, key = name.find("attn_k.") != name.npos;
    if (how.interleaved && (query || key))
      numbers = interleaved(numbers, shape.size() > 1 ? shape[0] : 1,
                            config[query ? "num_attention_heads" : "num_key_value_heads"].get<size_t>());
    if (how.transposed && shape.size() == 2 && name.starts_with("blk.")) {
      Numbers turned;
      for (size_t c = 0; c < shape[0]; ++c)
        for (size_t r = 0; r < shape[1]; ++r) turned.push_back(numbers[r * shape[0] + c]);
      numbers = turned;
      std::swap(shape[0], shape[1]);
    }
    if (how.one_more && name.find("norm") != name.npos)
      for (float& number : numbers) number += 1;
    file.tensor(name, shape, 0,
                {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)});
  }
  return file;
}

const Conversion kConverted[] = {{"llama", "llama", "pre", true},
                                 {"smollm", "llama", "pre", true},
                                 {"phi3", "phi3", "phi3"},
                                 {"qwen2", "qwen2", "pre"},
                                 {"qwen3", "qwen3", "pre"},
                                 {"gemma2", "gemma2", "sandwich", false, false, true},
                                 {"gemma3", "gemma3", "sandwich", false, false, true},
                                 {"olmo2", "olmo2", "sandwich"},
                                 {"gpt2", "gpt2", "gpt2", false, true},
                                 {"bert", "bert", "bert"}};

/// The parameters of a model, by their names.
std::map<std::string, Numbers> parameters_of(const published::PublishedModel& model) {
  const auto backend = make_cpu_backend(1);
  Store store(*backend);
  published::declare(model, store);
  published::load(model, store);
  std::map<std::string, Numbers> all;
  for (const ParameterInfo& parameter : store.parameters())
    all[parameter.name] = store.read(store.find(parameter.name));
  return all;
}

/// Compares a file with the folder that it was made of, of which it says something else in the given fields.
void check_same(const std::string& path, const fs::path& folder,
                const std::vector<std::pair<std::string, std::string>>& others) {
  const published::PublishedModel file = published::open(path, 8),
                                  before = published::open(folder.string(), 8);
  RunSpec expected = before.spec;
  for (const auto& [field, value] : others) {
    INFO(field);
    CHECK(get_field(expected, field) != value);
    set_field(expected, field, value);
    CHECK(get_field(file.spec, field) == get_field(expected, field));
  }
  CHECK(file.headless == before.spec.model.masked_head);
  if (file.headless) set_field(expected, "model.masked_head", "false");
  // The file has how many of a head's numbers turn, and the table of angles tells whether they are the same.
  for (const char* field : {"model.rotary_share", "model.rotary_trained"})
    set_field(expected, field, get_field(file.spec, field));
  CHECK(kv_heads(file.spec.model) == kv_heads(before.spec.model));
  set_field(expected, "model.kv_heads", get_field(file.spec, "model.kv_heads"));
  complete(expected);
  CHECK(file.spec == expected);
  const auto ours = parameters_of(file);
  auto theirs = parameters_of(before);
  if (file.headless)
    std::erase_if(theirs,
                  [](const auto& row) { return row.first.starts_with("head.") || row.first == "out.b"; });
  if (!others.empty() && others[0].first == "model.rotary_base") theirs["rotary"] = ours.at("rotary");
  CHECK(ours.size() == theirs.size());
  const bool one_more = before.spec.model.gain_offset && !file.spec.model.gain_offset;
  for (const auto& [name, numbers] : theirs) {
    INFO(name);
    Numbers stored = numbers;
    if (one_more && name.ends_with(".gain"))
      for (float& number : stored) number += 1;
    if (one_more && same_bits(ours.at(name), stored)) continue;
    if (!one_more || !name.ends_with(".gain")) CHECK(same_bits(ours.at(name), stored));
    for (size_t i = 0; i < stored.size(); ++i)  // the sum may have been rounded to 16 bits
      CHECK(std::abs(ours.at(name)[i] - stored[i]) <= 0x1p-11f * std::abs(stored[i]));
  }
}

}  // namespace

TEST_CASE("gguf: a file is the model of the folder that it was made of", "[published]") {
  for (const Conversion& how : kConverted) {
    INFO(how.folder);
    const Folder folder;
    std::vector<std::pair<std::string, std::string>> others;
    if (how.one_more) {  // and of the scale the file says nothing
      const auto model = published::open((kFolder / how.folder).string(), 8).spec.model;
      others = {{"model.gain_offset", "false"},
                {"model.attention_scale", real_text(1 / std::sqrt(static_cast<float>(head_width(model))))}};
    }
    check_same(folder.write("a.gguf", converted(how).bytes()), kFolder / how.folder, others);
  }
}

TEST_CASE("gguf: what llama.cpp's converter writes is the model of the folder", "[published]") {
  // What the folder says and the file does not: llama.cpp then takes these.
  const std::map<std::string, std::vector<std::pair<std::string, std::string>>> others{
      {"gemma", {{"model.gain_offset", "false"}}},
      {"mpt", {{"model.eps", "1e-5"}, {"model.attention_scale", "0"}}},
      {"neox-serial", {{"model.rotary_base", "10000"}}},
      {"smollm3", {{"model.rotary_pattern", "rrrn"}}},
      {"starcoder2", {{"model.attention_window", "0"}}}};
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(kFolder.parent_path() / "gguf")) {
    if (entry.path().extension() != ".gguf") continue;
    const std::string name = entry.path().stem().string();
    INFO(name);
    ++files;
    check_same(entry.path().string(), kFolder / name,
               others.contains(name) ? others.at(name) : std::vector<std::pair<std::string, std::string>>());
  }
  CHECK(files == 18);
}

TEST_CASE("gguf: a file stands wherever a folder does", "[published]") {
  const Folder folder;
  const std::string path = folder.write("small.gguf", converted(kConverted[1]).bytes());
  CHECK(published::is_published(path));
  CHECK(published::folder_of(folder.path.string()) == path);
  CHECK(published::title_of(path) == "small");
  CHECK(look_at_model(path)->opens);
  CHECK(format_of_weights(path) == format_of_model((kFolder / "smollm").string()));
  FolderModel from_folder("smollm"), from_file(path.c_str());
  CHECK(from_file.spec.train.init_from == path);
  const auto a = from_folder.run(), b = from_file.run();
  a->step();
  b->step();
  CHECK(a->losses() == b->losses());
  folder.write("other.gguf", "GGUF");
  CHECK(contains(error_of([&] { published::open(folder.path.string(), 8); }), "there is no config.json"));
}

TEST_CASE("gguf: the factors of Llama 3's rotary rates are its settings", "[published]") {
  GgufWriter file = converted({"llama3", "llama", "pre", true});
  Numbers factors;
  for (int i = 0; i < 6; ++i) {
    const double rate = std::pow(10000.0, -i / 6.0),
                 kept = std::clamp((8192 * rate / (2 * 3.141592653589793) - 1) / 3, 0.0, 1.0);
    factors.push_back(static_cast<float>(1 / (kept + (1 - kept) / 32)));
  }
  const auto open = [&] {
    const Folder folder;
    GgufWriter whole = file;
    whole.tensor("rope_freqs.weight", {6}, 0, {reinterpret_cast<const char*>(factors.data()), 24});
    return published::open(folder.write("a.gguf", whole.bytes()), 8).spec;
  };
  CHECK(get_field(open(), "model.rotary_scaling") == "llama3");
  CHECK(get_field(open(), "model.rotary_factor") == "32");
  CHECK(get_field(open(), "model.rotary_trained") == "8192");
  factors[5] = 31;
  CHECK(contains(error_of(open), "tensor rope_freqs.weight: number "));
}

namespace {

const fs::path kTokenizers = NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/tokenizers";

/// The keys of a tokenizer of the fixtures as the converter of llama.cpp writes them.
GgufWriter words_of(const std::string& kind, const std::string& model, const std::string& pre) {
  const Json json = Json::parse(read_all(kTokenizers / kind / "tokenizer.json"));
  std::vector<std::string> tokens, merges;
  std::vector<int32_t> kinds;
  const auto put = [&](const std::string& text, size_t id, int32_t of) {
    tokens.resize(std::max(tokens.size(), id + 1));
    kinds.resize(tokens.size(), 1);
    tokens[id] = text;
    kinds[id] = of;
  };
  for (const auto& [token, id] : json["model"]["vocab"].items()) {
    const bool bare = model != "bert" || (token.starts_with("[") && token.ends_with("]"));
    put(bare ? token : token.starts_with("##") ? token.substr(2) : "\u2581" + token, id, 1);
  }
  for (const Json& added : json["added_tokens"])
    if (model != "bert") put(added["content"], added["id"], added["special"] ? 3 : 4);
  std::vector<float> scores(tokens.size(), 0);
  for (const Json& merge : json["model"].value("merges", Json::array())) {
    merges.push_back(merge.is_string() ? merge.get<std::string>()
                                       : merge[0].get<std::string>() + " " + merge[1].get<std::string>());
    const std::string made = replaced(merges.back(), " ", "");
    if (model == "llama") scores[json["model"]["vocab"][made]] = -static_cast<float>(merges.size());
  }
  GgufWriter file;
  file.key("tokenizer.ggml.model", model).key("tokenizer.ggml.pre", pre).key("tokenizer.ggml.tokens", tokens);
  file.key("tokenizer.ggml.token_type", kinds).key("tokenizer.ggml.merges", merges);
  if (model == "llama") file.key("tokenizer.ggml.scores", scores);
  return file;
}

}  // namespace

TEST_CASE("gguf: a file's tokens are those of the tokenizer.json that it was made of", "[published]") {
  using tokenizer::PublishedTokenizer;
  if (!tokenizer::unicode_unavailable().empty()) SKIP_CASE(tokenizer::unicode_unavailable());
  const struct {
    const char *kind, *model, *pre, *begins;
    bool prefix = true;
  } kinds[] = {{"gpt2", "gpt2", "gpt-2", ""},
               {"gpt2", "gpt2", "mpt", ""},
               {"smollm", "gpt2", "smollm", ""},
               {"smollm", "gpt2", "command-r", ""},
               {"llama3", "gpt2", "llama-bpe", "<|begin_of_text|>"},
               {"qwen2", "gpt2", "qwen2", ""},
               {"olmo2", "gpt2", "dbrx", ""},
               {"gpt2", "gpt2", "exaone4", ""},
               {"olmo2", "gpt2", "glm4", ""},
               {"qwen2", "gpt2", "stablelm2", ""},
               {"bloom", "gpt2", "bloom", ""},
               {"falcon", "gpt2", "falcon", ""},
               {"bert-uncased", "bert", "", ""},
               {"llama2", "llama", "default", "<s>"},
               {"gemma", "llama", "default", "<bos>", false}};
  const auto texts = Json::parse(read_all(kTokenizers / "strings.json")).get<std::vector<std::string>>();
  for (const auto& [kind, model, pre, begins, prefix] : kinds) {
    INFO(kind);
    const PublishedTokenizer before = PublishedTokenizer::load((kTokenizers / kind).string());
    GgufWriter file = words_of(kind, model, pre);
    if (*begins) file.key("tokenizer.ggml.bos_token_id", static_cast<uint32_t>(*before.id_of(begins)));
    if (!prefix) file.key("tokenizer.ggml.add_space_prefix", false);
    if (const auto unknown = before.id_of("<unk>"))
      file.key("tokenizer.ggml.unknown_token_id", static_cast<uint32_t>(*unknown));
    const Folder folder;
    const PublishedTokenizer ours = PublishedTokenizer::load(folder.write("a.gguf", file.bytes()));
    size_t wrong = 0;
    for (const std::string& text : texts) {
      const auto ids = before.encode(text);
      if (ours.encode(text) != ids || ours.decode(ids) != before.decode(ids)) {
        if (wrong++ < 3)
          UNSCOPED_INFO(Json(text).dump()
                        << " " << Json(ours.encode(text)).dump() << " " << Json(ids).dump());
      }
    }
    CHECK(wrong == 0);
  }
}

namespace {

/// The file of a row of refusals/gguf.txt: keys with values as in JSON, tensors of a type and a shape, or bare numbers,
/// texts and counts of what the file has.
std::string written(const std::string& row) {
  GgufWriter file;
  for (const std::string& line : split(row, "; ")) {
    std::istringstream words(line);
    std::string verb, name;
    words >> verb;
    if (verb == "key") {
      words >> name;
      const Json value = Json::parse(words);
      if (value.is_boolean())
        file.key(name, value.get<bool>());
      else if (value.is_number())
        file.key(name, value.get<uint32_t>());
      else if (value.is_string())
        file.key(name, value.get<std::string>());
      else if (value[0].is_string())
        file.key(name, value.get<std::vector<std::string>>());
      else
        file.key(name, value.get<Numbers>());
      continue;
    }
    if (verb == "text") {
      words >> name;
      put_text(file.head, name);
      continue;
    }
    const std::vector<uint64_t> numbers{std::istream_iterator<uint64_t>(words), {}};
    const uint64_t first = numbers.at(0);
    if (verb == "tensor") file.tensor("t", {numbers.begin() + 1, numbers.end()}, uint32_t(first), "12345678");
    if (verb == "version") file.version = uint32_t(first);
    if (verb == "u32") put(file.head, uint32_t(first));
    if (verb == "u64") put(file.head, first);
    if (verb == "zeros") file.head.append(first, '\0');
    if (verb == "keys") file.keys = first;
    if (verb == "tensors") file.tensors = first;
  }
  return file.bytes();
}

}  // namespace

TEST_CASE("gguf: what is damaged, foreign or unknown is refused in one line", "[published]") {
  const std::string whole = converted(kConverted[1]).bytes();
  const Folder folder;
  const auto refused = [&](const std::string& bytes, bool words = false) {
    const std::string path = folder.write("a.gguf", bytes);
    std::string line = error_of([&] {
      if (words) tokenizer::PublishedTokenizer::load(path);
      published::open(path, 8);
      tokenizer::has_tokenizer(path);
    });
    CHECK_FALSE(contains(line, "\n"));
    replace_each(line, folder.path.string(), "DIR");
    return line;
  };
  CHECK(refused(whole) == "no error");
  for (size_t length = 4; length < whole.size(); length = length * 5 / 4 + 1)
    CHECK(contains(refused(whole.substr(0, length)), "[gguf DIR/a.gguf] "));
  CHECK(error_of([] { parse("GGML" + std::string(100, 'x')); }) ==
        "[gguf t.gguf] is no GGUF file: expected one that begins with GGUF");
  for (const auto& row : refusals("gguf")) {
    const std::string line = refused(written(row[0]), row[0].starts_with("key tokenizer"));
    INFO(row[0] << ": " << line);
    CHECK(says(line, row[1]));
  }
}

}  // namespace normscope::test_gguf

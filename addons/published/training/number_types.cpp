// The numbers of weights: floats of safetensors and PyTorch, and the blocks of GGUF, which have the layout of ggml, the
// library of llama.cpp.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "addons/published/training/weights.h"
#include "training/io/text.h"

namespace normscope::published {
namespace {

template <typename From>
From at(const uint8_t* from) {
  From value;
  std::memcpy(&value, from, sizeof value);  // the data need not be aligned
  return value;
}
float half(const uint8_t* from) { return at<F16>(from).to_float(); }

template <typename From>
void plain(const uint8_t* from, float* to) {
  if constexpr (requires(From value) { value.to_float(); })
    *to = at<From>(from).to_float();
  else
    *to = static_cast<float>(at<From>(from));
}

/// 32 numbers: a scale, maybe a minimum, with five bits the fifth bits, then numbers i and i + 16 in a byte.
template <int bits, bool minimum>
void short_block(const uint8_t* from, float* to) {
  const float scale = half(from), least = minimum ? half(from + 2) : 0;
  const uint8_t* packed = from + (minimum ? 4 : 2);
  uint32_t last = 0;
  if constexpr (bits == 5) {
    last = at<uint32_t>(packed);
    packed += sizeof last;
  }
  const auto number = [&](uint32_t low, int i) {
    const auto value = static_cast<int>(low | (last >> i & 1) << 4);
    return minimum ? scale * static_cast<float>(value) + least
                   : scale * static_cast<float>(value - (1 << (bits - 1)));
  };
  for (int i = 0; i < 16; ++i) {
    to[i] = number(packed[i] & 15u, i);
    to[i + 16] = number(packed[i] >> 4u, i + 16);
  }
}

void q8_0(const uint8_t* from, float* to) {
  const float scale = half(from);
  for (int i = 0; i < 32; ++i) to[i] = scale * static_cast<float>(static_cast<int8_t>(from[2 + i]));
}

/// Scale or minimum j of eight, packed in twelve bytes: six bits each, split in two for the last four.
float six_bits(const uint8_t* packed, int j, bool minimum) {
  const int own = minimum ? j + 4 : j;
  if (j < 4) return static_cast<float>(packed[own] & 63);
  return static_cast<float>((packed[j + 4] >> (minimum ? 4 : 0) & 15) | (packed[minimum ? j : j - 4] >> 6)
                                                                            << 4);
}

/// 256 numbers, a scale and a minimum for each 32: two common factors, the scales and minima, with five bits the fifth
/// bits, then numbers i and i + 32 in a byte.
template <int bits>
void long_block(const uint8_t* from, float* to) {
  const float scales = half(from), minima = half(from + 2);
  const uint8_t *packed = from + 4, *last = packed + 12, *low = bits == 5 ? last + 32 : last;
  for (int j = 0; j < 8; ++j) {
    const float scale = scales * six_bits(packed, j, false), least = minima * six_bits(packed, j, true);
    for (int i = 0; i < 32; ++i) {
      int value = low[j / 2 * 32 + i] >> (j % 2 * 4) & 15;
      if constexpr (bits == 5) value |= (last[i] >> j & 1) << 4;
      to[j * 32 + i] = scale * static_cast<float>(value) - least;
    }
  }
}

/// 256 numbers, a scale for each 16: the low four bits of all, the high two bits, the scales, a common factor.
void q6_k(const uint8_t* from, float* to) {
  const float factor = half(from + 208);
  for (int i = 0; i < 256; ++i) {
    const int whole = i / 128, part = i / 32 % 4, in_part = i % 32;
    const int low = from[whole * 64 + part % 2 * 32 + in_part] >> (part / 2 * 4) & 15;
    const int high = from[128 + whole * 32 + in_part] >> (part * 2) & 3;
    const float scale = factor * static_cast<float>(static_cast<int8_t>(from[192 + i / 16]));
    to[i] = scale * static_cast<float>((low | high << 4) - 32);
  }
}

/// 256 numbers of two bits, a scale and a minimum of four bits for each 16: the scales and minima, the numbers, two
/// common factors.
void q2_k(const uint8_t* from, float* to) {
  const float scales = half(from + 80), minima = half(from + 82);
  for (int i = 0; i < 256; ++i) {
    const int whole = i / 128, part = i / 32 % 4;
    const int value = from[16 + whole * 32 + i % 32] >> (part * 2) & 3;
    const uint8_t both = from[i / 16];
    to[i] = scales * static_cast<float>(both & 15) * static_cast<float>(value) -
            minima * static_cast<float>(both >> 4);
  }
}

/// 256 numbers of three bits, a scale of six bits for each 16: the third bits, which say that 4 is not to be taken off,
/// the low two bits, the scales, a common factor.
void q3_k(const uint8_t* from, float* to) {
  const uint8_t *low = from + 32, *packed = from + 96;
  const float factor = half(from + 108);
  for (int i = 0; i < 256; ++i) {
    const int whole = i / 128, part = i / 32 % 4, j = i / 16;
    const int six = (packed[j % 8] >> (j / 8 * 4) & 15) | (packed[8 + j % 4] >> (j / 4 * 2) & 3) << 4;
    const int third = from[i % 32] >> (whole * 4 + part) & 1;
    const int value = (low[whole * 32 + i % 32] >> (part * 2) & 3) - (third ? 0 : 4);
    to[i] = factor * static_cast<float>(six - 32) * static_cast<float>(value);
  }
}

/// The sixteen values that four bits stand for, close to each other around zero.
constexpr int8_t kUneven[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
/// Those of a float of four bits (one of the sign, two of the exponent, one of the fraction), twice as large.
constexpr int8_t kFourBits[] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// 32 numbers of four bits: i and i + 16 in a byte.
void nibbles(const uint8_t* packed, const int8_t (&values)[16], float scale, float* to) {
  for (int i = 0; i < 16; ++i) {
    to[i] = scale * static_cast<float>(values[packed[i] & 15]);
    to[i + 16] = scale * static_cast<float>(values[packed[i] >> 4]);
  }
}

void iq4_nl(const uint8_t* from, float* to) { nibbles(from + 2, kUneven, half(from), to); }

/// 256 numbers, a scale of six bits for each 32: a common factor, the high two bits of the scales, their low four bits,
/// the numbers.
void iq4_xs(const uint8_t* from, float* to) {
  const auto high = at<uint16_t>(from + 2);
  for (int j = 0; j < 8; ++j) {
    const int six = (from[4 + j / 2] >> (j % 2 * 4) & 15) | (high >> (2 * j) & 3) << 4;
    nibbles(from + 8 + 16 * j, kUneven, half(from) * static_cast<float>(six - 32), to + 32 * j);
  }
}

/// 32 floats of four bits, and a power of two before them.
void mxfp4(const uint8_t* from, float* to) {
  nibbles(from + 1, kFourBits, std::ldexp(1.0f, from[0] - 128), to);
}

template <auto read, size_t numbers, size_t bytes>
void each(const uint8_t* from, size_t blocks, float* to) {
  for (size_t i = 0; i < blocks; ++i) read(from + i * bytes, to + i * numbers);
}
template <auto read, size_t numbers, size_t bytes>
constexpr NumberType type(std::string_view name) {
  return {name, numbers, bytes, each<read, numbers, bytes>};
}

constexpr NumberType kF32 = type<plain<float>, 1, 4>("F32"), kF64 = type<plain<double>, 1, 8>("F64"),
                     kF16 = type<plain<F16>, 1, 2>("F16"), kBF16 = type<plain<BF16>, 1, 2>("BF16");

constexpr struct {
  uint32_t number;
  NumberType type;
} kInGguf[] = {{0, kF32},
               {1, kF16},
               {2, type<short_block<4, false>, 32, 18>("Q4_0")},
               {3, type<short_block<4, true>, 32, 20>("Q4_1")},
               {6, type<short_block<5, false>, 32, 22>("Q5_0")},
               {7, type<short_block<5, true>, 32, 24>("Q5_1")},
               {8, type<q8_0, 32, 34>("Q8_0")},
               {10, type<q2_k, 256, 84>("Q2_K")},
               {11, type<q3_k, 256, 110>("Q3_K")},
               {12, type<long_block<4>, 256, 144>("Q4_K")},
               {13, type<long_block<5>, 256, 176>("Q5_K")},
               {14, type<q6_k, 256, 210>("Q6_K")},
               {20, type<iq4_nl, 32, 18>("IQ4_NL")},
               {23, type<iq4_xs, 256, 136>("IQ4_XS")},
               {30, kBF16},
               {39, type<mxfp4, 32, 17>("MXFP4")}};

/// Types that are not read.
constexpr std::pair<uint32_t, std::string_view> kOthersInGguf[] = {
    {9, "Q8_1"},   {15, "Q8_K"},  {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {18, "IQ3_XXS"}, {19, "IQ1_S"},
    {21, "IQ3_S"}, {22, "IQ2_S"}, {24, "I8"},      {25, "I16"},    {26, "I32"},     {27, "I64"},
    {28, "F64"},   {29, "IQ1_M"}, {34, "TQ1_0"},   {35, "TQ2_0"},  {40, "NVFP4"},   {41, "Q1_0"}};

}  // namespace

const NumberType& number_type(TensorType type) {
  static const std::vector<NumberType> all = [] {
    std::vector<NumberType> types;
    for (auto i = TensorType::F32; i <= TensorType::F8_E5M2;
         i = static_cast<TensorType>(static_cast<int>(i) + 1)) {
      types.push_back({name_of(i), 1, bytes_of(i), nullptr});
      for (const NumberType& floats : {kF32, kF64, kF16, kBF16})
        if (floats.name == name_of(i)) types.back() = floats;
    }
    return types;
  }();
  return all[static_cast<size_t>(type)];
}

const NumberType* gguf_type(uint32_t number) {
  for (const auto& row : kInGguf)
    if (row.number == number) return &row.type;
  return nullptr;
}

Message gguf_type_name(uint32_t number) {
  if (const NumberType* known = gguf_type(number)) return known->name;
  for (const auto& [other, name] : kOthersInGguf)
    if (other == number) return name;
  return Message("type {}", number);
}

Message gguf_types() {
  std::vector<std::string_view> names;
  for (const auto& row : kInGguf) names.push_back(row.type.name);
  return one_of(names);
}

}  // namespace normscope::published

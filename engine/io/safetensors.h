// safetensors: the file format of weights, checkpoints and fixtures.
//
//   8 bytes   length N of the header, little-endian
//   N bytes   JSON  {"__metadata__": {string: string},
//                    NAME: {"dtype", "shape", "data_offsets": [begin, end]}, ...}
//   the rest  raw data, row-major, little-endian, without gaps or overlaps
//
// Promises: a file that is truncated, foreign or inconsistent is refused with one line that names the file
// and, where there is one, the tensor; nothing that a file can contain makes the reader crash or read outside
// it; a written file appears whole or not at all. Called by checkpoints, by the fixtures' check and by tests.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace normscope {

class InputFile;

// The types of elements that published files have. normscope writes the first five; of the others, F16
// and BF16 are read as floats, and the rest can be passed over.
enum class TensorType : uint8_t {
  F32,
  F64,
  I32,
  I64,
  U8,
  F16,
  BF16,
  BOOL,
  I8,
  I16,
  U16,
  U32,
  U64,
  F8_E4M3,
  F8_E5M2
};

using TensorShape = std::vector<int64_t>;  // {} is a scalar: one element

std::string_view name_of(TensorType type);
size_t bytes_of(TensorType type);
std::string shape_text(const TensorShape& shape);  // "(16,64)"

inline constexpr std::string_view kOurRun = "normscope run 1";  // the format in the metadata of a saved run

// Floats of 16 bits, in which files keep weights: IEEE's binary16, and bfloat16, the upper half of a float. Each
// converts to a float without rounding.
struct BF16 {
  uint16_t bits;
  float to_float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

struct F16 {
  uint16_t bits;
  /// The exponent grows from 5 bits to 8, the fraction from 10 to 23. Numbers below the normal ones are multiples of
  /// 2^-24.
  float to_float() const {
    const uint32_t sign = uint32_t{bits & 0x8000u} << 16, exponent = bits >> 10 & 0x1fu,
                   fraction = bits & 0x3ffu;
    if (exponent == 0) {
      const float size = static_cast<float>(fraction) * 0x1p-24f;
      return sign ? -size : size;
    }
    // Infinities and NaN; else the bias grows from 15 to 127.
    const uint32_t wide = exponent == 0x1f ? 0xffu : exponent + 112;
    return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
  }
};

class SafetensorsFile {
 public:
  // Reads and checks the whole file, the header before it takes memory for the data. Throws Error.
  static SafetensorsFile load(const std::string& path);
  // Reads names, shapes and metadata. Reading elements then throws Error.
  static SafetensorsFile load_header(const std::string& path);
  // Reads the header and lets the system load the data from the file on access, so that no second copy of them takes
  // memory. A file that somebody shortens meanwhile ends the program.
  static SafetensorsFile map(const std::string& path);
  // Reads and checks bytes in memory; `name` is the path in messages.
  static SafetensorsFile parse(std::span<const uint8_t> bytes, const std::string& name);

  const std::string& path() const { return path_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  // The value for the key; throws Error if there is none.
  const std::string& metadata(const std::string& key) const;

  std::vector<std::string> names() const;  // in the order of the data
  bool contains(std::string_view name) const;
  // These throw Error if there is no such tensor.
  const TensorShape& shape(std::string_view name) const;
  TensorType type(std::string_view name) const;
  std::span<const uint8_t> bytes(std::string_view name) const;
  void require_shape(std::string_view name, const TensorShape& expected) const;  // Error names both shapes
  void require_floats(std::string_view name) const;  // that floats() and doubles() can read it

  // These read the elements, row-major. They throw Error if the stored type does not allow it:
  std::vector<double> doubles(std::string_view name) const;  // F32, F64, F16, BF16
  std::vector<float> floats(std::string_view name) const;    // F32, F64 (rounded), F16, BF16
  std::vector<int32_t> int32s(std::string_view name) const;  // I32, U8, I64 where every value fits
  std::vector<int64_t> int64s(std::string_view name) const;  // I32, U8, I64

 private:
  struct Tensor {
    std::string name;
    TensorType type = TensorType::F32;
    TensorShape shape;
    size_t begin = 0, end = 0;
  };
  struct HeaderReader;

  static SafetensorsFile open(InputFile& in, const std::string& path);
  void read_header(const std::string& header, size_t data_size);
  const Tensor& find(std::string_view name) const;
  template <typename To, typename... From>
  std::vector<To> convert(std::string_view name, std::string_view expected) const;

  std::string path_;
  std::map<std::string, std::string> metadata_;
  std::vector<Tensor> tensors_;                       // in the order of the data
  std::map<std::string, size_t, std::less<>> index_;  // name -> place in tensors_
  size_t data_size_ = 0;                              // in the file
  std::shared_ptr<const void> held_;  // owns the data: memory of our own, or mapped pages of the file
  std::span<const uint8_t> data_;
};

// Collects references to tensors, then writes them. It copies nothing: the data must live until write().
class SafetensorsWriter {
 public:
  void set_metadata(const std::string& key, const std::string& value) { metadata_[key] = value; }

  // Throws Error for a repeated name or a shape that does not match the number of elements.
  void add(const std::string& name, const TensorShape& shape, std::span<const float> data);
  void add(const std::string& name, const TensorShape& shape, std::span<const double> data);
  void add(const std::string& name, const TensorShape& shape, std::span<const int32_t> data);
  void add(const std::string& name, const TensorShape& shape, std::span<const int64_t> data);
  void add(const std::string& name, const TensorShape& shape, std::span<const uint8_t> data);

  // Writes the file atomically (AtomicFile). Throws Error; a former file is then untouched.
  void write(const std::string& path) const;

 private:
  struct Tensor {
    std::string name;
    TensorType type;
    TensorShape shape;
    const void* data;
    size_t bytes;
  };

  void add_bytes(const std::string& name, const TensorShape& shape, TensorType type, const void* data,
                 size_t count);
  std::vector<const Tensor*> in_file_order() const;
  std::string header(const std::vector<const Tensor*>& order) const;

  std::map<std::string, std::string> metadata_;
  std::vector<Tensor> tensors_;
};

}  // namespace normscope

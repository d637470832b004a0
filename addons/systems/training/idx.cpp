// See idx.h.
#include "addons/systems/training/idx.h"

#include <array>
#include <cstring>
#include <vector>

#include "engine/core/error.h"

namespace normscope {
namespace {

constexpr uint32_t kImages = 2051, kLabels = 2049;

uint32_t word(std::string_view bytes, size_t index) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[4 * index + i]);
  return value;
}

/// The words of the header, and what follows it. Only counts that the file has the bytes for pass.
struct Header {
  std::array<uint32_t, 3> counts{1, 1, 1};  ///< images, rows, columns; or labels
  std::string_view bytes;
};

void check_counts(const std::string& where, const Header& header, size_t words) {
  if (header.counts[0] < 1 || header.counts[0] > kMostImages)
    fail(where, "{} images or labels: expected 1 to {}", header.counts[0], kMostImages);
  for (size_t i = 1; i < words; ++i)
    if (header.counts[i] < 1 || header.counts[i] > kLongestSide)
      fail(where, "images of {} x {} pixels: expected 1 to {} a side", header.counts[1], header.counts[2],
           kLongestSide);
  const uint64_t wanted = uint64_t{header.counts[0]} * header.counts[1] * header.counts[2];
  if (header.bytes.size() != wanted)
    fail(where, "{} bytes after the header: expected {}, as it says", header.bytes.size(), wanted);
}

Header header_of(std::string_view bytes, const std::string& name, uint32_t magic) {
  const std::string where = "idx " + name;
  const char* kind = magic == kImages ? "an IDX file of images" : "an IDX file of labels";
  if (bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b')
    fail(where, "is compressed: expected the file that gunzip makes of it");
  const size_t words = magic == kImages ? 3 : 1;
  if (bytes.size() < 4 * (words + 1)) fail(where, "has {} bytes: expected {}", bytes.size(), kind);
  if (word(bytes, 0) != magic) fail(where, "begins with {}: expected {}, {}", word(bytes, 0), magic, kind);
  Header header;
  for (size_t i = 0; i < words; ++i) header.counts[i] = word(bytes, i + 1);
  header.bytes = bytes.substr(4 * (words + 1));
  check_counts(where, header, words);
  return header;
}

std::vector<uint8_t> bytes_of(std::string_view text) {
  std::vector<uint8_t> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

}  // namespace

ImageSet parse_idx(std::string_view images, const std::string& images_name, std::string_view labels,
                   const std::string& labels_name) {
  const Header of_images = header_of(images, images_name, kImages),
               of_labels = header_of(labels, labels_name, kLabels);
  if (of_images.counts[0] != of_labels.counts[0])
    fail("idx " + labels_name, "{} labels for the {} images of {}: expected one each", of_labels.counts[0],
         of_images.counts[0], images_name);
  ImageSet set;
  set.height = static_cast<int32_t>(of_images.counts[1]);
  set.width = static_cast<int32_t>(of_images.counts[2]);
  set.pixels = bytes_of(of_images.bytes);
  set.labels = bytes_of(of_labels.bytes);
  return set;
}

ImageSet read_idx(const std::string& images_path, const std::string& labels_path) {
  return parse_idx(read_input_file(images_path, input::kIdx), images_path,
                   read_input_file(labels_path, input::kIdx), labels_path);
}

}  // namespace normscope

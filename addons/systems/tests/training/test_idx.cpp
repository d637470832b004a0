// These tests read IDX files; a wrong header is refused by name and number before anything is built.
#include <unistd.h>

#include "addons/systems/tests/training/idx_words.h"
#include "addons/systems/training/image_task.h"
#include "catch.hpp"
#include "engine/support/helpers.h"

namespace normscope::test::idx {
namespace {

std::string images_of(uint32_t count, uint32_t rows, uint32_t columns, size_t bytes) {
  std::string text = idx_words({2051, count, rows, columns});
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(i * 7 % 256);
  return text;
}

std::string labels_of(uint32_t count, size_t bytes) {
  std::string text = idx_words({2049, count});
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(i % 10);
  return text;
}

const std::string kImages = images_of(3, 2, 5, 30), kLabels = labels_of(3, 3);

std::string says(const std::string& images, const std::string& labels = kLabels) {
  return error_of([&] { parse_idx(images, "i", labels, "l"); });
}

}  // namespace

TEST_CASE("idx: images and labels stand as they are in the files", "[images]") {
  const ImageSet set = parse_idx(kImages, "i", kLabels, "l");
  CHECK(set.size() == 3);
  CHECK(set.height == 2);
  CHECK(set.width == 5);
  CHECK(set.pixels.size() == 30);
  CHECK(set.image(1)[0] == 70);
  CHECK(set.image(2)[9] == 29 * 7);
  CHECK(set.labels == std::vector<uint8_t>{0, 1, 2});
}

TEST_CASE("idx: what is no such file is refused with the reason", "[images][gate]") {
  CHECK(says("") == "[idx i] has 0 bytes: expected an IDX file of images");
  CHECK(says(kImages.substr(0, 15)) == "[idx i] has 15 bytes: expected an IDX file of images");
  CHECK(says(kLabels + std::string(9, 'x')) ==
        "[idx i] begins with 2049: expected 2051, an IDX file of images");
  CHECK(says(kImages, kImages) == "[idx l] begins with 2051: expected 2049, an IDX file of labels");
  CHECK(says("\x1f\x8b" + kImages) == "[idx i] is compressed: expected the file that gunzip makes of it");
  CHECK(says(images_of(0, 2, 5, 0)) == "[idx i] 0 images or labels: expected 1 to 10000000");
  CHECK(says(images_of(0xffffffffu, 2, 5, 30)) ==
        "[idx i] 4294967295 images or labels: expected 1 to 10000000");
  CHECK(says(images_of(3, 0, 5, 30)) == "[idx i] images of 0 x 5 pixels: expected 1 to 1024 a side");
  CHECK(says(images_of(3, 2, 1025, 30)) == "[idx i] images of 2 x 1025 pixels: expected 1 to 1024 a side");
  // A header that promises ten terabytes takes no memory.
  CHECK(says(images_of(10'000'000, 1024, 1024, 30)) ==
        "[idx i] 30 bytes after the header: expected 10485760000000, as it says");
  CHECK(says(images_of(3, 2, 5, 29)) == "[idx i] 29 bytes after the header: expected 30, as it says");
  CHECK(says(images_of(3, 2, 5, 31)) == "[idx i] 31 bytes after the header: expected 30, as it says");
  CHECK(says(kImages, labels_of(3, 2)) == "[idx l] 2 bytes after the header: expected 3, as it says");
  CHECK(says(kImages, labels_of(4, 4)) == "[idx l] 4 labels for the 3 images of i: expected one each");
}

TEST_CASE("idx: files are read through the gate", "[images][gate]") {
  const std::string base =
      (std::filesystem::temp_directory_path() / ("normscope-idx-" + std::to_string(::getpid()))).string();
  const std::string images = base + "-images", labels = base + "-labels";
  std::ofstream(images, std::ios::binary) << kImages;
  std::ofstream(labels, std::ios::binary) << kLabels;
  CHECK(read_idx(images, labels).pixels.size() == 30);
  CHECK(error_of([&] { read_idx(labels, images); }) ==
        "[idx " + labels + "] has 11 bytes: expected an IDX file of images");
  std::filesystem::remove(images);
  CHECK(error_of([&] { read_idx(images, labels); }) == "[idx " + images + "] no such file: check the path");
  std::filesystem::remove(labels);
}

}  // namespace normscope::test::idx

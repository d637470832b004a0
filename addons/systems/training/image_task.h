// The class of a grey image: what a convolutional network learns, from drawn digits or from IDX files.
//
// A batch's `source` holds the pixels, 0 to 255, and `targets` one class for each row; there are no tokens. The last
// twelfth of the images validates, in their order, as 5,000 of MNIST's 60,000 do in Xu et al. (2019); training images
// are drawn at random from the others. Called by make_task.
#pragma once

#include "engine/io/input_file.h"
#include "training/data/task.h"

namespace normscope {

// Grey images with a class each, in memory: from the IDX reader or drawn digits, for the task.

/// In `pixels` 0 is paper and 255 ink; image after image, row by row.
struct ImageSet {
  int32_t height = 0, width = 0;
  std::vector<uint8_t> pixels;
  std::vector<uint8_t> labels;  ///< one for each image, from 0

  size_t size() const { return labels.size(); }
  size_t pixels_of_image() const { return static_cast<size_t>(height) * static_cast<size_t>(width); }
  std::span<const uint8_t> image(size_t i) const {
    return std::span(pixels).subspan(i * pixels_of_image(), pixels_of_image());
  }
};

// The IDX reader reads files such as MNIST's: images and their labels in two files of unsigned bytes.
//
// Format (LeCun, yann.lecun.com/exdb/mnist): big-endian 32-bit words magic, count and, for images, rows and columns;
// magic 2051 for images, 2049 for labels; then the bytes. Every number is checked against the bytes that there are
// before anything is built. Called by make_idx_task.

namespace input {
inline constexpr InputKind kIdx{"idx", "an IDX file, such as train-images-idx3-ubyte", 2'000'000'000};
}

inline constexpr uint32_t kMaxImages = 10'000'000;
inline constexpr uint32_t kLongestSide = 1024;  ///< pixels

/// Throws Error as "[idx PATH] ..." for a file that is compressed, of another kind or cut off, for no
/// images or too many, and where the two files do not have the same number.
ImageSet read_idx(const std::string& images_path, const std::string& labels_path);

/// Reads the same from memory; the names begin the messages.
ImageSet parse_idx(std::string_view images, const std::string& images_name, std::string_view labels,
                   const std::string& labels_name);

// Made-up digits that look drawn by hand: the images of the data set "digits".
//
// Each digit has one to three skeletons of curves, drawn for this program. An image is a skeleton bent, turned,
// slanted, stretched and shifted at random, traced by a pen of random width and darkness, with random noise on the
// paper. All arithmetic is in whole numbers, so that image i of a seed is the same bytes on every machine. Called by
// make_digits_task.

inline constexpr int32_t kDigitSide = 28;       ///< pixels
inline constexpr int32_t kMaxDigits = 200'000;  ///< most images of a data set: 157 MB

/// Draws images 0 to count - 1. Throws Error unless 1 <= count <= kMaxDigits.
ImageSet draw_digits(uint64_t seed, int32_t count);

/// The data of a run with data.name "digits" or "idx".
struct ImageData {
  std::string images, labels;  ///< IDX files, such as MNIST's
  int32_t digits = 6000;       ///< how many digits are drawn, those that validate among them
  bool operator==(const ImageData&) const = default;
};

class ImageTask final : public Task {
 public:
  /// `name` begins the error messages. Throws Error for fewer than 24 images or fewer than two classes.
  ImageTask(ImageSet set, std::string name);

  int32_t vocabulary() const override { return 256; }  ///< levels of grey
  TaskForm form() const override { return TaskForm::Classify; }
  int32_t classes() const override { return static_cast<int32_t>(unigram_.size()); }
  std::string class_name(int32_t label) const override { return std::to_string(label); }
  BatchShape shape(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T) const override;
  void fill(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t T,
            const BatchView& to) const override;
  int32_t validation_batches(int32_t B, int32_t T) const override;
  void require_context(int32_t) const override {}
  std::string decode(std::span<const int32_t> pixels) const override;
  std::string question(const Batch& row) const override {
    return "an image of " + class_name(row.targets.front());
  }

  const ImageSet& set() const { return set_; }

 private:
  ImageSet set_;
  std::string name_;
  size_t train_ = 0;  ///< images that train, from the first
};

}  // namespace normscope

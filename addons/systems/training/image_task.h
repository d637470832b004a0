// The class of a grey image: what a convolutional network learns, from drawn digits or from IDX files.
//
// A batch's `source` holds the pixels, 0 to 255, and `targets` one class for each row; there are no tokens. The last
// twelfth of the images validates, in their order, as 5,000 of MNIST's 60,000 do in Xu et al. (2019); training images
// are drawn at random from the others. Called by make_task.
#pragma once

#include <string>

#include "addons/systems/training/image_set.h"
#include "training/data/task.h"

namespace normscope {

/// What a run learns from with data.name "digits" or "idx".
struct ImageData {
  std::string images, labels;  ///< IDX files, such as MNIST's
  int32_t digits = 6000;       ///< how many digits are drawn, those that validate among them
  bool operator==(const ImageData&) const = default;
};

class ImageTask final : public Task {
 public:
  /// Begins the error messages. Throws Error for fewer than 24 images or fewer than two classes.
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

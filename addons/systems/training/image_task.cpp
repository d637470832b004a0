// See image_task.h.
#include "addons/systems/training/image_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "addons/systems/training/digits.h"
#include "addons/systems/training/idx.h"
#include "engine/core/error.h"
#include "training/data/batch_draws.h"
#include "training/data/task.h"

namespace normscope {
namespace {

constexpr size_t kTwelfth = 12;  // one of so many parts validates

std::string_view text_of(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

ImageTask::ImageTask(ImageSet set, std::string name)
    : Task("class"), set_(std::move(set)), name_(std::move(name)) {
  if (set_.size() < 2 * kTwelfth)
    fail({"data {}", name_}, "{} images: expected at least {}", set_.size(), 2 * kTwelfth);
  train_ = set_.size() - set_.size() / kTwelfth;
  const auto largest = static_cast<size_t>(*std::ranges::max_element(set_.labels));
  if (largest == 0) fail({"data {}", name_}, "all images have the label 0: expected two classes at least");
  unigram_.assign(largest + 1, 0);
  for (size_t i = 0; i < train_; ++i) unigram_[set_.labels[i]] += 1.0 / static_cast<double>(train_);
  hash_ = hash_bytes(fmt::format("images {} {}", set_.height, set_.width));
  hash_ = hash_bytes(text_of(set_.pixels), hash_bytes(text_of(set_.labels), hash_));
}

BatchShape ImageTask::shape(uint64_t, uint64_t, Split, int32_t B, int32_t) const {
  return {B, 1, static_cast<int32_t>(set_.pixels_of_image()), false};
}

int32_t ImageTask::validation_batches(int32_t B, int32_t) const {
  return batches_of(set_.size() - train_, B);
}

void ImageTask::fill(uint64_t seed, uint64_t step, Split split, int32_t B, int32_t,
                     const BatchView& to) const {
  const size_t rows = static_cast<size_t>(B), each = set_.pixels_of_image();
  if (to.source.size() != rows * each || to.targets.size() != rows)
    fail({"data {}", name_}, "places for {} pixels and {} classes: expected {} and {}", to.source.size(),
         to.targets.size(), rows * each, rows);
  const size_t before = split == Split::Train ? 0 : train_;
  for (size_t r = 0; r < rows; ++r) {
    const size_t index = before + example_of(seed, step, split, B, r, train_);
    const std::span<int32_t> pixels = to.source.subspan(r * each, each);
    if (index < set_.size()) {
      std::ranges::copy(set_.image(index), pixels.begin());
      to.targets[r] = set_.labels[index];
    } else {  // the last batch of a validation may be short
      std::ranges::fill(pixels, 0);
      to.targets[r] = -1;
    }
  }
}

std::string ImageTask::decode(std::span<const int32_t> pixels) const {
  return fmt::format("an image of {} pixels", pixels.size());
}

namespace {

std::shared_ptr<const Task> make_digits_task(const DataSpec& spec) {
  const int32_t count = spec.added.of<ImageData>().digits;
  return std::make_shared<ImageTask>(draw_digits(spec.data_seed, count), "digits");
}

std::shared_ptr<const Task> make_idx_task(const DataSpec& spec) {
  const ImageData& data = spec.added.of<ImageData>();
  if (data.images.empty() || data.labels.empty())
    fail("data", "the task \"idx\" needs two files: give data.images and data.image_labels");
  return std::make_shared<ImageTask>(read_idx(data.images, data.labels), data.images);
}

const std::string& images_path(const DataSpec& spec) { return spec.added.of<ImageData>().images; }

void check_labels(const DataSpec& spec) {
  if (spec.added.of<ImageData>().labels.empty())
    fail("data.image_labels", "no file is named: expected a path, because data.name is {}", spec.name);
}

}  // namespace

constinit const TaskKind kDigitsKind{.name = "digits",
                                     .make = make_digits_task,
                                     .learners = "convolutional",
                                     .unit = "class",
                                     .made_up = "drawn digits",
                                     .seeded = true};
constinit const TaskKind kIdxKind{.name = "idx",
                                  .make = make_idx_task,
                                  .learners = "convolutional",
                                  .unit = "class",
                                  .file = "data.images",
                                  .path = images_path,
                                  .check = check_labels};

}  // namespace normscope

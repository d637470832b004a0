// These tests draw digits: the same bytes on every machine, all different, and the task that asks for their class.
#include <algorithm>
#include <initializer_list>

#include "addons/systems/training/image_task.h"
#include "engine/support/helpers.h"
#include "folder.h"

// The words of an IDX file: its magic number and its sizes, which tests put together.

namespace normscope::test {

/// Four bytes of each number, the largest first.
inline std::string idx_words(std::initializer_list<uint32_t> values) {
  std::string bytes;
  for (uint32_t v : values)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(v >> shift & 255);
  return bytes;
}

namespace {

uint64_t hash_of(std::span<const uint8_t> bytes) {
  return hash_bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

DataSpec data_of(int32_t count, uint64_t seed = 1) {
  DataSpec spec;
  spec.name = "digits";
  spec.added.of<ImageData>().digits = count;
  spec.form = TaskForm::Classify;
  spec.data_seed = seed;
  return spec;
}

// The hashes come from a second program in another language, which has whole numbers of any length.
TEST_CASE("digits: the bytes are fixed") {
  const ImageSet set = draw_digits(1, 20);
  CHECK(set.height == 28);
  CHECK(set.width == 28);
  CHECK(hash_of(set.image(7)) == 0x8b7436aa600b35b3u);
  CHECK(hash_of(set.pixels) == 0xfaa88d5dc90967acu);
  const int sums[] = {24481, 24253, 23698, 34435, 37735, 34013, 20798, 21678, 22731, 30652};
  for (size_t i = 0; i < 10; ++i) {
    const auto image = set.image(i);
    CHECK(std::accumulate(image.begin(), image.end(), 0) == sums[i]);
    CHECK(set.labels[i] == i);
  }
}

TEST_CASE("digits: an image depends on seed and number alone, and no two are the same") {
  const ImageSet few = draw_digits(3, 40), more = draw_digits(3, 400), other = draw_digits(4, 40);
  CHECK(std::equal(few.pixels.begin(), few.pixels.end(), more.pixels.begin()));
  CHECK(few.pixels != other.pixels);
  std::set<uint64_t> different;
  for (size_t i = 0; i < more.size(); ++i) {
    different.insert(hash_of(more.image(i)));
    CHECK(*std::ranges::max_element(more.image(i)) > 120);  // somebody wrote something
  }
  CHECK(different.size() == more.size());
  CHECK(error_of([] { draw_digits(1, 0); }) == "[digits] 0 images: expected 1 to 200000");
  CHECK(error_of([] { draw_digits(1, kMaxDigits + 1); }) == "[digits] 200001 images: expected 1 to 200000");
}

TEST_CASE("digits: a batch holds pixels and classes, and validation goes through the last twelfth in order") {
  const auto task = make_task(data_of(60));
  CHECK(task->form() == TaskForm::Classify);
  CHECK(task->classes() == 10);
  CHECK(dynamic_cast<const ImageTask&>(*task).set().height == 28);
  CHECK(task->vocabulary() == 256);
  CHECK(task->unigram_entropy() == Approx(std::log(10.0)).epsilon(0.01));
  const BatchShape shape = task->shape(1, 1, Split::Train, 4, 64);
  CHECK(shape == BatchShape{4, 1, 784, false});
  Batch batch(shape), again(shape), next(shape);
  task->fill(1, 1, Split::Train, 4, 64, batch.view());
  task->fill(1, 1, Split::Train, 4, 64, again.view());
  task->fill(1, 2, Split::Train, 4, 64, next.view());
  CHECK(batch.source == again.source);
  CHECK(batch.source != next.source);
  CHECK(*std::ranges::max_element(batch.source) <= 255);
  // 60 images: 55 to train, 5 to validate, in two batches of four.
  const ImageSet set = draw_digits(1, 60);
  CHECK(task->validation_batches(4, 64) == 2);
  Batch valid = task->draw(1, 2, Split::Validation, 4, 64);
  CHECK(valid.targets == std::vector<int32_t>{9, -1, -1, -1});
  const auto last = set.image(59);
  CHECK(std::equal(last.begin(), last.end(), valid.source.begin()));
  CHECK(std::all_of(valid.source.begin() + 784, valid.source.end(), [](int32_t p) { return p == 0; }));
  for (uint64_t step = 1; step <= 40; ++step) {
    task->fill(2, step, Split::Train, 4, 64, batch.view());
    for (size_t r = 0; r < 4; ++r)
      for (size_t i = 55; i < 60; ++i)
        CHECK_FALSE(std::equal(set.image(i).begin(), set.image(i).end(),
                               batch.source.begin() + static_cast<std::ptrdiff_t>(r * 784)));
  }
  CHECK(task->hash() != make_task(data_of(60, 2))->hash());
  CHECK(error_of([] { make_task(data_of(23)); }) == "[data digits] 23 images: expected at least 24");
  Batch wrong(2, 1);
  CHECK(contains(error_of([&] { task->fill(1, 1, Split::Train, 2, 64, wrong.view()); }),
                 "places for 0 pixels"));
}

TEST_CASE("images: a set of one class is refused") {
  ImageSet set = draw_digits(1, 30);
  std::ranges::fill(set.labels, uint8_t{0});
  CHECK(error_of([&] { ImageTask(set, "x"); }) ==
        "[data x] all images have the label 0: expected two classes at least");
}

// These tests read IDX files; a wrong header is refused by name and number before anything is built.

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

TEST_CASE("idx: images and labels stand as they are in the files") {
  const ImageSet set = parse_idx(kImages, "i", kLabels, "l");
  CHECK(set.size() == 3);
  CHECK(set.height == 2);
  CHECK(set.width == 5);
  CHECK(set.pixels.size() == 30);
  CHECK(set.image(1)[0] == 70);
  CHECK(set.image(2)[9] == 29 * 7);
  CHECK(set.labels == std::vector<uint8_t>{0, 1, 2});
}

TEST_CASE("idx: what is no such file is refused with the reason") {
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

TEST_CASE("idx: files are read through the gate") {
  const Folder folder;
  const std::string images = folder.write("images", kImages), labels = folder.write("labels", kLabels);
  CHECK(read_idx(images, labels).pixels.size() == 30);
  CHECK(error_of([&] { read_idx(labels, images); }) ==
        "[idx " + labels + "] has 11 bytes: expected an IDX file of images");
  std::filesystem::remove(images);
  CHECK(error_of([&] { read_idx(images, labels); }) == "[idx " + images + "] no such file: check the path");
}

}  // namespace normscope::test

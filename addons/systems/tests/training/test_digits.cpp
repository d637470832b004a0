// These tests draw digits: the same bytes on every machine, all different, and the task that asks for their class.
#include <numeric>

#include "addons/systems/training/image_task.h"
#include "catch.hpp"
#include "engine/support/helpers.h"

namespace normscope::test::digits {
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

}  // namespace

// The hashes come from a second program in another language, which has whole numbers of any length.
TEST_CASE("digits: the bytes are fixed", "[images]") {
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

TEST_CASE("digits: an image depends on seed and number alone, and no two are the same", "[images]") {
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
  CHECK(error_of([] { draw_digits(1, kMostDigits + 1); }) == "[digits] 200001 images: expected 1 to 200000");
}

TEST_CASE("digits: a batch holds pixels and classes, and validation goes through the last twelfth in order",
          "[images]") {
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

TEST_CASE("images: a set of one class is refused", "[images]") {
  ImageSet set = draw_digits(1, 30);
  std::ranges::fill(set.labels, uint8_t{0});
  CHECK(error_of([&] { ImageTask(set, "x"); }) ==
        "[data x] all images have the label 0: expected two classes at least");
}

}  // namespace normscope::test::digits

// These tests run the command line on images: drawn digits, IDX files, what changes on the way, what is refused.
#include "addons/systems/tests/training/idx_words.h"
#include "app/support/refused.h"
#include "catch.hpp"

namespace normscope::test::cli_images {
namespace {

const std::string kTrain =
    "train --preset convnet --threads 1 --set model.channels=2 --set model.channels_2=3 ";

/// 36 images of 12 x 12 pixels in three classes: a bright band in another place each.
std::string images() {
  std::string text = idx_words({2051, 36, 12, 12});
  for (int i = 0; i < 36; ++i)
    for (int p = 0; p < 144; ++p) text += static_cast<char>(p / 48 == i % 3 ? 200 + i : i);
  return text;
}

std::string labels() {
  std::string text = idx_words({2049, 36});
  for (int i = 0; i < 36; ++i) text += static_cast<char>(i % 3);
  return text;
}

}  // namespace

TEST_CASE("images: train reads IDX files, and names what is wrong with them") {
  const Folder folder;
  const auto with = [&](const std::string& image_file, const std::string& label_file) {
    return kTrain + "--set model.window=3 --steps 2 --set data.images=" + image_file +
           " --set data.image_labels=" + label_file;
  };
  const std::string good = folder.write("images", images()), named = folder.write("labels", labels());
  const Outcome outcome = run_program(with(good, named));
  CHECK(outcome.code == 0);
  CHECK(contains(outcome.out, "accuracy"));
  refuses(with(named, good), 3, "[idx " + named + "] ");
  refuses(with(good, folder.file("none")), 3, "no such file");
  refuses(with(folder.write("short", images().substr(0, 1000)), named), 3,
          "984 bytes after the header: expected 5184");
  refuses(with(folder.write("packed", "\x1f\x8b\x08"), named), 3, "is compressed");
}

}  // namespace normscope::test::cli_images

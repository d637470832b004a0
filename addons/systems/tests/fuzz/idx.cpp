// Images and their labels in IDX files: either file, beside a good one.
#include "addons/systems/training/image_task.h"

#include <string>

#include "fuzz.h"

using namespace normscope;

namespace {

/// Three images of 2 x 2 pixels and their labels.
const std::string kImages = std::string("\0\0\x08\x03\0\0\0\x03\0\0\0\x02\0\0\0\x02", 16) + "twelve bytes";
const std::string kLabels = std::string("\0\0\x08\x01\0\0\0\x03\0\x01\x02", 11);

void check(std::string_view images, std::string_view labels) {
  fuzz::accepts([&] {
    const ImageSet set = parse_idx(images, "fuzz-images", labels, "fuzz-labels");
    fuzz::require(set.size() > 0 && set.pixels.size() == set.size() * set.pixels_of_image(),
                  "an image has no pixels of its own");
  });
}

}  // namespace

FUZZ_TARGET(idx) {
  check(input, kLabels);
  check(kImages, input);
}

// PNG files of an Image, by stb_image_write.
#include "app/headless/raster.h"
#include "engine/core/error.h"
#include "training/io/output_file.h"

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace normscope::headless {

std::vector<uint8_t> encode_png(const Image& image) {
  std::vector<uint8_t> bytes;
  auto append = [](void* to, void* data, int size) {
    auto* p = static_cast<uint8_t*>(data);
    static_cast<std::vector<uint8_t>*>(to)->insert(static_cast<std::vector<uint8_t>*>(to)->end(), p,
                                                   p + size);
  };
  if (!stbi_write_png_to_func(append, &bytes, image.width, image.height, 4, image.pixels.data(),
                              image.width * 4))
    throw Error("cannot encode a PNG of " + std::to_string(image.width) + " x " +
                std::to_string(image.height));
  return bytes;
}

void write_png(const std::string& path, const Image& image) { write_png(path, encode_png(image)); }

void write_png(const std::string& path, const std::vector<uint8_t>& encoded) {
  write_file(path, {reinterpret_cast<const char*>(encoded.data()), encoded.size()}, "image");
}

}  // namespace normscope::headless

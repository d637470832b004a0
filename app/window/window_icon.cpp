#include "app/window/window_icon.h"

#include <GLFW/glfw3.h>

#include <vector>

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

#include "window_icon_data.h"  // written by app/CMakeLists.txt: kIcons, the bytes of assets/icon/normscope-*.png

namespace normscope::window {

void set_window_icon(GLFWwindow* window) {
  std::vector<GLFWimage> images;
  for (const auto& [bytes, size] : kIcons) {
    GLFWimage image{};
    image.pixels = stbi_load_from_memory(bytes, size, &image.width, &image.height, nullptr, 4);
    if (image.pixels) images.push_back(image);
  }
  glfwSetWindowIcon(window, static_cast<int>(images.size()), images.data());
  for (const GLFWimage& image : images) stbi_image_free(image.pixels);
}

}  // namespace normscope::window

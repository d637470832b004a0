#include "app/window/gl_window.h"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>

#ifdef __EMSCRIPTEN__
#include <emscripten/html5_webgl.h>
#endif

#include <algorithm>
#include <cstring>
#include <vector>

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

#include "app/headless/software_screen.h"
#include "app/window/main_window.h"
#include "window_icon_data.h"  // written by app/CMakeLists.txt: kIcons, the bytes of assets/icon/normscope-*.png

namespace normscope::window {
namespace {

#ifdef __EMSCRIPTEN__
constexpr const char* kShaders = "#version 300 es";
#else
constexpr const char* kShaders = "#version 330";

/// The sizes that window systems ask for, from the PNG files that the build put into the program.
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
#endif

void fit_monitor(int& width, int& height) {
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  if (!monitor) return;
  int x = 0, y = 0, w = 0, h = 0;
  glfwGetMonitorWorkarea(monitor, &x, &y, &w, &h);
  if (w > 0) width = std::min(width, w);
  if (h > 0) height = std::min(height, h);
}

}  // namespace

GlWindow::~GlWindow() {
  if (backends_) {
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
  }
  if (contexts_) ImGui::DestroyContext();
  if (handle_) glfwDestroyWindow(handle_);
  if (glfw_) glfwTerminate();
}

int GlWindow::open(const std::string& title, int width, int height) {
  glfwSetErrorCallback([](int, const char*) {});  // the result says what the caller needs to know
  glfw_ = glfwInit() == GLFW_TRUE;
  if (!glfw_) return kWindowNoDisplay;
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  fit_monitor(width, height);
  handle_ = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
  if (!handle_) return kWindowNoOpenGl;
#ifndef __EMSCRIPTEN__  // a page has its own
  set_window_icon(handle_);
#endif
  glfwMakeContextCurrent(handle_);
  if (!headless::gl().complete()) return kWindowNoOpenGl;
#ifndef __EMSCRIPTEN__  // there the browser asks for frames
  glfwSwapInterval(1);
#endif
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  contexts_ = true;
  ImGui::GetIO().IniFilename = nullptr;
  ImGui::GetIO().ConfigInputTextCursorBlink = false;  // a blinking cursor would cost frames
  if (!ImGui_ImplGlfw_InitForOpenGL(handle_, true) || !ImGui_ImplOpenGL3_Init(kShaders))
    return kWindowNoOpenGl;
  backends_ = true;
  return kWindowClosed;
}

int GlWindow::monitor_width_px() {
  look_for_monitor();
  return monitor_px_;
}

int GlWindow::monitor_width_mm() {
  look_for_monitor();
  return monitor_mm_;
}

bool GlWindow::software_gl() const {
  GLenum renderer = GL_RENDERER;
#ifdef __EMSCRIPTEN__
  constexpr GLenum kUnmaskedRenderer = 0x9246;  // GL_RENDERER is "WebKit WebGL" everywhere
  if (emscripten_webgl_enable_extension(emscripten_webgl_get_current_context(), "WEBGL_debug_renderer_info"))
    renderer = kUnmaskedRenderer;
#endif
  const auto* name = reinterpret_cast<const char*>(headless::gl().string(renderer));
  if (!name) return true;
  for (const char* soft : {"llvmpipe", "softpipe", "SwiftShader", "Software"})
    if (std::strstr(name, soft)) return true;
  return false;
}

void GlWindow::wake() {
#ifndef __EMSCRIPTEN__  // nobody waits in a browser
  glfwPostEmptyEvent();
#endif
}

void GlWindow::look_for_monitor() {
#ifndef __EMSCRIPTEN__  // a page is told nothing of monitors
  if (glfwGetTime() < next_look_) return;
  next_look_ = glfwGetTime() + 1;
  int x = 0, y = 0, w = 0, h = 0, count = 0;
  glfwGetWindowPos(handle_, &x, &y);
  glfwGetWindowSize(handle_, &w, &h);
  GLFWmonitor** monitors = glfwGetMonitors(&count);
  for (int i = 0; i < count; ++i) {
    int mx = 0, my = 0, mm_w = 0, mm_h = 0;
    glfwGetMonitorPos(monitors[i], &mx, &my);
    glfwGetMonitorPhysicalSize(monitors[i], &mm_w, &mm_h);
    const GLFWvidmode* mode = glfwGetVideoMode(monitors[i]);
    if (!mode) continue;
    const int cx = x + w / 2 - mx, cy = y + h / 2 - my;
    if (cx >= 0 && cy >= 0 && cx < mode->width && cy < mode->height) {
      monitor_px_ = mode->width;
      monitor_mm_ = mm_w;
    }
  }
#endif
}

}  // namespace normscope::window

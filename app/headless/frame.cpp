#include "app/headless/frame.h"

#include <imgui.h>

#include "app/headless/raster.h"
#include "app/ui/keys.h"
#include "engine/core/error.h"
#include "training/io/output_file.h"

namespace normscope::headless {

void serve_textures() {
  for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
    switch (texture->Status) {
      case ImTextureStatus_WantCreate:
        // Nobody looks at the id: the rasteriser reads the pixels from the texture itself.
        texture->SetTexID(static_cast<ImTextureID>(texture->UniqueID + 1));
        texture->SetStatus(ImTextureStatus_OK);
        break;
      case ImTextureStatus_WantUpdates:
        texture->SetStatus(ImTextureStatus_OK);
        break;
      case ImTextureStatus_WantDestroy:
        texture->SetTexID(ImTextureID_Invalid);
        texture->SetStatus(ImTextureStatus_Destroyed);
        break;
      default:
        break;
    }
  }
}

void release_textures() {
  for (ImTextureData* texture : ImGui::GetPlatformIO().Textures) {
    texture->SetTexID(ImTextureID_Invalid);
    texture->SetStatus(ImTextureStatus_Destroyed);
  }
}

Frame::Frame(ui::Vec size_px, float delta_time) {
  IMGUI_CHECKVERSION();
  context_ = ImGui::CreateContext();
  ImGui::SetCurrentContext(context_);
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.DeltaTime = delta_time;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures | ImGuiBackendFlags_RendererHasVtxOffset |
                     ImGuiBackendFlags_HasMouseCursors;
  io.BackendPlatformName = "normscope frame";
  io.ConfigInputTextCursorBlink = false;
  io.ConfigErrorRecoveryEnableTooltip = false;
  resize(size_px);
}

Frame::~Frame() {
  make_current();
  release_textures();
  ImGui::DestroyContext(context_);
}

void Frame::make_current() const { ImGui::SetCurrentContext(context_); }

void Frame::resize(ui::Vec size_px) {
  make_current();
  ImGui::GetIO().DisplaySize = {size_px.x, size_px.y};
}

ImDrawData* Frame::step(const std::function<void()>& draw) {
  make_current();
  ui::new_frame();
  draw();
  ImGui::Render();
  serve_textures();
  ++frames_;
  return data_ = ImGui::GetDrawData();
}

}  // namespace normscope::headless

// PNG files of an Image, by stb_image_write.

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

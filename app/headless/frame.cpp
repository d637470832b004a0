#include "app/headless/frame.h"

#include <imgui.h>

#include "app/ui/keys.h"

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
